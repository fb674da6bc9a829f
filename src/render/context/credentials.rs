//! The credentials that a flavor needs, as its templates get them.

use serde_json::{Value, json};

use super::azure::azure;
use crate::diag::{Code, Diagnostic, Diagnostics, Place};
use crate::model::api::{AZURE, Credentials};
use crate::model::paths::FLEET_FILE;
use crate::model::{Flavor, Fleet};

/// Whose they are.
#[derive(Clone, Copy)]
pub(super) struct CredentialsOf<'a> {
    /// The cluster's name.
    pub(super) name: &'a str,
    /// The entry that was chosen for it.
    pub(super) chosen: Option<&'a str>,
}

/// Whether a flavor makes machines in Azure, for which its templates get more.
pub(super) fn are_azure(flavor: Option<&Flavor>) -> bool {
    let needed = flavor.and_then(|flavor| flavor.credentials.as_ref());
    needed.is_some_and(|needed| needed.of == AZURE)
}

/// Adds what the flavor needs: `azure`, or `credentials` with the values of the entry. A finding where there
/// is none.
pub(super) fn add(
    context: &mut Value,
    fleet: &Fleet,
    flavor: Option<&Flavor>,
    of: CredentialsOf<'_>,
    problems: &mut Diagnostics,
) {
    let Some(needed) = flavor.and_then(|flavor| flavor.credentials.as_ref()) else { return };
    if needed.of == AZURE {
        context["azure"] = azure(fleet, of.chosen, of.name, problems);
        // Only where it is so, that no other folder is made anew by it.
        if fleet.spec.vnet_peerings {
            context["vnetPeerings"] = true.into();
        }
        return;
    }
    let fits = |entry: &&Credentials| entry.of() == Some(&*needed.of);
    let mut all = fleet.spec.credentials.iter().filter(fits);
    let found = match of.chosen {
        Some(name) => all.find(|entry| entry.name == name),
        None => all.next(),
    };
    let missing = found.map(|entry| needed.values.iter().find(|v| !entry.values.contains_key(*v)));
    if let (Some(entry), Some(None)) = (found, missing) {
        context["credentials"] = json!(entry.values);
        return;
    }
    let (name, of) = (of.name, &needed.of);
    let message =
        format!("{name}: there are no credentials of `{of}` with all that the flavor needs");
    let help = format!(
        "add an entry with `provider: {of}` and `values: {{{}}}` to `credentials` in carp.yaml: IDs only, no secret",
        needed.values.join(", ")
    );
    let finding = Diagnostic::new(Code::UnknownCredentials, message);
    problems.push(finding.at(Place::file(FLEET_FILE)).help(help));
    context["credentials"] = Value::Null;
}
