//! Templates of a fleet, and their tests.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::super::show::{FlavorRow, TemplateRow, TemplateTestRow};
use super::super::{Context, Error, FleetArgs, ObservedArgs};
use super::open::{self, failed};
use crate::diag::suggest;
use crate::load::{self, Loaded};
use crate::model::{Memo, flavor_of};
use crate::render::{self, Templates};
use crate::schemas::CrdSet;

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

/// What a flavor may be told.
pub(in crate::cli) fn explain(
    context: &Context<'_, '_>,
    fleet: &FleetArgs,
    name: &str,
) -> Result<FlavorRow, Error> {
    let catalogue = look(context, fleet)?.fleet.catalogue;
    if let Some((path, fault)) = catalogue.broken().find(|(path, _)| flavor_of(path) == Some(name))
    {
        return Err(Error::failed(format!("templates/{path} cannot be read")).help(&fault.message));
    }
    let Some(flavor) = catalogue.flavor(name) else {
        let known: Vec<_> = catalogue.flavors().map(|(name, _)| name).collect();
        return Err(Error::usage(format!("there is no flavor `{name}`"))
            .help(suggest::help(name, known, "flavors")));
    };
    let makes = flavor.kinds.iter().map(|kind| format!("{kind:?}")).collect();
    Ok(FlavorRow { name: name.to_owned(), makes, parameters: flavor.parameters.schema.listed() })
}

/// Runs the tests beside the fleet's templates.
pub(in crate::cli) fn test(
    context: &Context<'_, '_>,
    fleet: &FleetArgs,
) -> Result<Vec<TemplateTestRow>, Error> {
    let Loaded { templates: own, crds, fleet, .. } = look(context, fleet)?;
    let mut templates = Templates::built_in().with(&own).0;
    if !crds.is_empty() {
        let root = fleet.spec.roots.unwrap_or_default().crds;
        templates = templates.held_against(Arc::new(CrdSet::new(&root, &crds)));
    }
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
    Ok(look(context, fleet)?.templates)
}

/// The fleet as it loads.
fn look(context: &Context<'_, '_>, fleet: &FleetArgs) -> Result<Loaded, Error> {
    let observed = ObservedArgs::default();
    let look = open::look_at_input(context, fleet, &observed, None)?;
    let input = &look.snapshot.input;
    let loaded = look.sources.with(|store| load::load(input, store, &mut Memo::default()));
    let loaded = loaded.map_err(|error| failed(&error))?;
    loaded.map_err(|error| Error::failed("failed to read the fleet").because(error))
}
