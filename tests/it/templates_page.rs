//! `docs/templates.md` lists what templates get: `UPDATE=1 cargo test templates_page` writes its tables anew.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use carp::model::Fleet;
use carp::render::{self, CONTEXT, FILTERS, Templates};
use serde_json::Value;

use crate::support::fleet;
use crate::{federation, variations};

/// Where the tables begin and end.
const BEGIN: &str = "<!-- made by a test: from here -->\n";
const END: &str = "<!-- to here -->\n";
/// Maps whose keys are data.
const DATA: &[&str] =
    &["components", "labels", "machineLabels", "settings", "networking", "requests", "parameters"];

/// The paths in a value.
fn paths(value: &Value, path: &str, found: &mut BTreeSet<String>) {
    let key_of = path.rsplit('.').next().unwrap_or_default();
    match value {
        Value::Object(map) if !DATA.contains(&key_of) => {
            for (key, value) in map {
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                if !matches!(value, Value::Array(_)) {
                    found.insert(path.clone());
                }
                paths(value, &path, found);
            }
        }
        Value::Array(list)
            if list.iter().all(Value::is_object)
                || CONTEXT.iter().any(|(p, _)| *p == format!("{path}[]")) =>
        {
            found.insert(format!("{path}[]"));
            for value in list {
                paths(value, &format!("{path}[]"), found);
            }
        }
        Value::Array(_) => drop(found.insert(path.to_owned())),
        _ => {}
    }
}

fn add(into: &mut BTreeMap<String, BTreeSet<&'static str>>, who: &'static str, context: &Value) {
    let mut found = BTreeSet::new();
    paths(context, "", &mut found);
    for path in found {
        let known = |p: &String| CONTEXT.iter().any(|(known, _)| known == p);
        let plain = path.trim_end_matches("[]").to_owned();
        let path = if !known(&path) && known(&plain) { plain } else { path };
        into.entry(path).or_default().insert(who);
    }
}

/// Every path, with the folders of templates that get it.
fn contexts() -> BTreeMap<String, BTreeSet<&'static str>> {
    let templates = Templates::built_in();
    let mut all = BTreeMap::new();
    let mut of = |fleet: &Fleet, names: [&'static str; 3]| {
        let worker = fleet.workers.values().next().unwrap();
        for cluster in fleet.clusters.values() {
            let job = render::cluster_job(fleet, cluster, &worker.name, &templates);
            add(&mut all, names[0], job.context());
        }
        let job = render::control_plane_worker_job(fleet, worker, &templates, "").unwrap();
        add(&mut all, names[1], job.context());
        add(&mut all, names[2], render::worker_job(fleet, worker, &templates, "").context());
    };
    of(&fleet::full(), ["clusters", "workers", "components"]);
    of(&fleet::plain(), ["clusters", "workers", "components"]);
    let mut stores = fleet::plain();
    variations::data_stores(&mut stores);
    of(&stores, ["clusters", "workers", "components"]);
    of(&fleet::kind(), ["kind", "kind", "components"]);
    let mut federated = fleet::plain();
    federation::federated(&mut federated);
    of(&federated, ["clusters", "workers", "components"]);
    let mut releases = fleet::plain();
    releases.spec.flux_releases = true;
    of(&releases, ["clusters", "workers", "components"]);
    let mut peers = fleet::plain();
    peers.spec.vnet_peerings = true;
    of(&peers, ["clusters", "workers", "components"]);
    let settings = render::RenderSettings::of(&federated.spec);
    let job = render::control_plane_job(&federated, &templates, "", settings);
    add(&mut all, "components", job.context());
    all
}

fn tables() -> String {
    let contexts = contexts();
    let mut page = "| value | meaning | for |\n|---|---|---|\n".to_owned();
    for (path, meaning) in CONTEXT {
        let who: Vec<_> = contexts.get(*path).into_iter().flatten().copied().collect();
        let _ = writeln!(page, "| `{path}` | {meaning} | {} |", who.join(", "));
    }
    page.push_str("\n| filter | use | what it does |\n|---|---|---|\n");
    for (name, usage, what) in FILTERS {
        let _ = writeln!(page, "| `{name}` | `{usage}` | {what} |");
    }
    page
}

#[test]
fn every_value_has_its_meaning_and_every_meaning_its_value() {
    let contexts = contexts();
    let found: BTreeSet<_> = contexts.keys().map(String::as_str).collect();
    let told: BTreeSet<_> = CONTEXT.iter().map(|(path, _)| *path).collect();
    let (untold, gone): (Vec<_>, Vec<_>) =
        (found.difference(&told).collect(), told.difference(&found).collect());
    assert!(untold.is_empty() && gone.is_empty(), "without a meaning: {untold:?}; gone: {gone:?}");
}

#[test]
fn the_page_has_these_tables() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/templates.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(BEGIN).unwrap();
    let (written, after) = rest.split_once(END).unwrap();
    let tables = tables();
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, format!("{before}{BEGIN}{tables}{END}{after}")).unwrap();
    } else {
        assert!(
            written == tables,
            "docs/templates.md is not what templates get; UPDATE=1 writes it"
        );
    }
}
