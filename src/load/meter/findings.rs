//! `too-much`: what is told of each that has more than it may, and what did not load because of it.

use super::super::amounts::Amounts;
use super::{Meter, Over};
use crate::diag::{Code, Diagnostic, Place};
use crate::model::Unloaded;

impl Meter<'_> {
    /// What is told of each that has too much, with what did not load because of it; `None` for the platform,
    /// without whose files nothing can be decided.
    pub(in crate::load) fn findings(&self, root: &str) -> Vec<(Diagnostic, Option<Unloaded>)> {
        self.over.iter().map(|(owner, over)| self.finding(owner, *over, root)).collect()
    }

    fn finding(&self, owner: &[&str], over: Over, root: &str) -> (Diagnostic, Option<Unloaded>) {
        let (what, most) = (Amounts::NAMES[over.which], over.most);
        let folder = self.folders.folder_of(owner).unwrap_or(root).to_owned();
        let tenants = owner.join("` and `");
        let (message, help) = match (owner.is_empty(), over.whole) {
            (true, _) => (
                format!("the fleet holds more than {most} {what}, so nothing of it is decided"),
                "take out what is not wanted, or make two fleets of it".to_owned(),
            ),
            (false, true) => (
                format!("the fleet holds more than {most} {what}, most of them in the folders of `{tenants}`"),
                "nothing of these folders is read until there are fewer; lower `limits` of the tenant".to_owned(),
            ),
            (false, false) => (
                format!("the folders of `{tenants}` hold more than {most} {what}"),
                "nothing of these folders is read until there are fewer, or `limits` of the tenant in \
                 `carp.yaml` allow more"
                    .to_owned(),
            ),
        };
        let finding = Diagnostic::new(Code::TooMuch, message).at(Place::file(&*folder)).help(help);
        let unloaded = Unloaded {
            file: folder,
            document: None,
            kind: None,
            name: None,
            blocks_placements: true,
            tenants: Vec::new(),
        };
        (finding, (!owner.is_empty()).then_some(unloaded))
    }
}
