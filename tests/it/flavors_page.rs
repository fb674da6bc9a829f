//! `docs/flavors.md` lists the parameters of carp's own flavors: `UPDATE=1 cargo test flavors_page` writes the table
//! anew.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use carp::model::Catalogue;
use carp::model::parameters::ListedParameter;

/// Where the table begins and ends.
const BEGIN: &str = "<!-- made by a test: from here -->\n";
const END: &str = "<!-- to here -->\n";

fn table() -> String {
    let catalogue = Catalogue::default();
    // What two flavors declare otherwise under one name has a row for each.
    let mut all: BTreeMap<String, Vec<(ListedParameter, Vec<String>)>> = BTreeMap::new();
    for (name, flavor) in catalogue.flavors() {
        for listed in flavor.parameters.schema.listed() {
            let rows = all.entry(listed.name.clone()).or_default();
            let flavor = format!("`{name}`");
            match rows.iter_mut().find(|(same, _)| *same == listed) {
                Some((_, of)) => of.push(flavor),
                None => rows.push((listed, vec![flavor])),
            }
        }
    }
    let all = all
        .into_iter()
        .flat_map(|(name, rows)| rows.into_iter().map(move |row| (name.clone(), row)));
    let mut page = "| parameter | type | meaning | of |\n|---|---|---|---|\n".to_owned();
    for (name, (ListedParameter { kind, description, facts, .. }, of)) in all {
        let facts = facts.iter().map(|fact| format!("{fact}."));
        let meaning: Vec<_> = std::iter::once(description).chain(facts).collect();
        let meaning = meaning.join(" ").replace('|', "\\|");
        let _ = writeln!(page, "| `{name}` | {kind} | {meaning} | {} |", of.join(", "));
    }
    page
}

#[test]
fn the_page_has_the_parameters_of_carps_own_flavors() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/flavors.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(BEGIN).unwrap();
    let (written, after) = rest.split_once(END).unwrap();
    let table = table();
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, format!("{before}{BEGIN}{table}{END}{after}")).unwrap();
    } else {
        assert!(written == table, "docs/flavors.md is old; UPDATE=1 writes the table");
    }
}

#[test]
fn every_parameter_says_what_it_means() {
    for (flavor, manifest) in Catalogue::default().flavors() {
        for ListedParameter { name, description, .. } in manifest.parameters.schema.listed() {
            assert!(description.ends_with('.'), "{flavor}: `{name}` says {description:?}");
        }
    }
}
