//! Templates of a fleet, and their tests.

use std::collections::BTreeMap;

use super::super::show::{TemplateRow, TemplateTestRow};
use super::super::{Context, Error, FleetArgs, ObservedArgs};
use super::open::{self, failed};
use crate::load;
use crate::model::Memo;
use crate::render::{self, Templates};

/// carp's own templates, by path below `templates/`.
pub(in crate::cli) fn built_in() -> Vec<(&'static str, &'static str)> {
    Templates::built_in_files().collect()
}

/// Every template, and whose it is.
pub(in crate::cli) fn list(
    context: &Context<'_, '_>,
    fleet: &FleetArgs,
) -> Result<Vec<TemplateRow>, Error> {
    let own = own(context, fleet)?;
    let built_in = built_in();
    let mut rows: Vec<_> = built_in
        .iter()
        .map(|(path, _)| {
            let replaced = own.contains_key(*path);
            let whose = if replaced { "the fleet's, in place of carp's" } else { "carp's" };
            TemplateRow { path: (*path).to_owned(), whose: whose.to_owned() }
        })
        .collect();
    let others = own.keys().filter(|path| !built_in.iter().any(|(known, _)| known == path));
    rows.extend(others.map(|path| {
        let is_test = render::template_tests(&own).iter().any(|(_, test)| test == path);
        let whose = if is_test { "the fleet's, a test" } else { "the fleet's" };
        TemplateRow { path: path.clone(), whose: whose.to_owned() }
    }));
    rows.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(rows)
}

/// Runs the tests beside the fleet's templates.
pub(in crate::cli) fn test(
    context: &Context<'_, '_>,
    fleet: &FleetArgs,
) -> Result<Vec<TemplateTestRow>, Error> {
    let own = own(context, fleet)?;
    let templates = Templates::built_in().with(&own).0;
    let run = |(flavor, path): (&str, &str)| {
        let bytes = own.get(path).map(String::as_bytes).unwrap_or_default();
        let wrong = match load::read_yaml::<serde_json::Value>(bytes) {
            Ok(given) => render::run_template_test(flavor, &given, &templates),
            Err(why) => vec![format!("the test cannot be read: {why}")],
        };
        TemplateTestRow { path: path.to_owned(), wrong }
    };
    Ok(render::template_tests(&own).into_iter().map(run).collect())
}

/// The fleet's own templates, by path below their root.
fn own(context: &Context<'_, '_>, fleet: &FleetArgs) -> Result<BTreeMap<String, String>, Error> {
    let observed = ObservedArgs::default();
    let look = open::look_at_input(context, fleet, &observed, false)?;
    let input = &look.snapshot.input;
    let loaded = look.sources.with(|store| load::load(input, store, &mut Memo::default()));
    let loaded = loaded.map_err(|error| failed(&error))?;
    let loaded =
        loaded.map_err(|error| Error::failed("failed to read the fleet").because(error))?;
    Ok(loaded.templates)
}
