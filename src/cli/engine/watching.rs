//! Rendering again on every save.

use std::path::{Path, PathBuf};

use super::super::{Context, Error, FleetArgs, ObservedArgs};
use super::open::{as_reconcile, find, look_for, write_out};
use super::{RenderPart, Rendered};
use crate::reconcile::{Keep, Observing};
use crate::store::{FilesStand, Prune};

/// What is rendered again and again: the files of a folder as they stand.
pub struct Watching<'a> {
    fleet: &'a FleetArgs,
    observed: &'a ObservedArgs,
    out: &'a Path,
    part: &'a RenderPart,
    /// The fleet's folder.
    folder: PathBuf,
    /// How its files stood when they were rendered last.
    stand: FilesStand,
}

impl<'a> Watching<'a> {
    /// Looks at how the files stand. What is rendered after this is rendered again once they do not stand so any more.
    ///
    /// # Errors
    /// There is no fleet, or it is no folder whose files change.
    pub fn begin(
        context: &Context<'_, '_>,
        fleet: &'a FleetArgs,
        observed: &'a ObservedArgs,
        out: &'a Path,
        part: &'a RenderPart,
    ) -> Result<Self, Error> {
        let place = find(context, fleet)?;
        let folder = place.folder.filter(|_| place.revision.is_none()).ok_or_else(|| {
            Error::usage("only a folder can be watched: a commit stays as it is")
                .help("name the folder with the files that you edit")
        })?;
        let stand = FilesStand::of(&folder, out);
        Ok(Self { fleet, observed, out, part, folder, stand })
    }

    /// Renders again if something was saved; `None` where nothing was. What is not made any more is removed, and where
    /// the fleet cannot be read what was written last stays.
    ///
    /// # Errors
    /// The fleet cannot be read or the folder cannot be written to. The next save is another try.
    pub fn turn(&mut self, context: &mut Context<'_, '_>) -> Result<Option<Rendered>, Error> {
        let now = FilesStand::of(&self.folder, self.out);
        if now == self.stand {
            return Ok(None);
        }
        // Of what is saved meanwhile the next look says so.
        self.stand = now;
        let _progress = context.progress("rendering the fleet");
        let asked = (Keep::Bytes, self.part.sought());
        // What was written last time goes or changes while this is written, so nothing may be read there.
        let except = Some(self.out.to_owned());
        let observing = Observing { except, ..as_reconcile(self.observed) };
        let look = look_for(context, self.fleet, &observing, asked)?;
        if look.opened.proposal.stopped {
            let (changed, files) = (crate::store::CheckedOut::default(), 0);
            return Ok(Some(Rendered { opened: look.opened, changed, files }));
        }
        write_out(look, self.out, self.part, Prune::Remove).map(Some)
    }
}
