//! What the integration tests share: fleets, worlds, people, repositories, remotes, and an HTTP server
//! in front of them.

pub(crate) mod apiserver;
pub(crate) mod controller;
pub(crate) mod crd;
pub(crate) mod definitions;
#[cfg(unix)]
pub(crate) mod disk;
pub(crate) mod fleet;
pub(crate) mod flux;
#[cfg(unix)]
pub(crate) mod forge;
pub(crate) mod generator;
pub(crate) mod golden;
mod http;
pub(crate) mod keys;
#[cfg(unix)]
pub(crate) mod kind;
pub(crate) mod manifests;
pub(crate) mod objects;
pub(crate) mod observed;
pub(crate) mod people;
pub(crate) mod prepared;
pub(crate) mod proxy;
pub(crate) mod reconciled;
pub(crate) mod releases;
pub(crate) mod replayed;
mod repositories;
#[cfg(unix)]
mod servers;
pub(crate) mod signed;
pub(crate) mod small;
pub(crate) mod world;

use std::collections::BTreeMap;

use carp::render::Files;
use serde_json::Value;

pub(crate) use http::{Access, Server};
pub(crate) use repositories::{Clone, Remote, draft, git, git_may_fail};
#[cfg(unix)]
pub(crate) use servers::{Daemon, Ssh};

/// A run that tells no forge anything.
pub(crate) fn nobody_is_told() -> carp::reconcile::ForgeOptions {
    carp::reconcile::ForgeOptions {
        choice: carp::reconcile::ForgeChoice::Off,
        url: None,
        token: Err(carp::forge::Error::NoToken),
        proxies: carp::forge::ProxySettings::default(),
        report: carp::cli::show::forge::report,
    }
}

/// Says that a test was skipped, and why. With `CARP_NO_SKIP=1` that is a failure.
pub(crate) fn skip(name: &str, why: &str) {
    let refused = std::env::var("CARP_NO_SKIP").is_ok_and(|value| value == "1");
    assert!(!refused, "{name} may not be skipped: {why}");
    eprintln!("skipped: {name}: {why}");
}

/// How much a test does: the first with every change, the second where `CARP_BREADTH=nightly` asks for more.
pub(crate) fn breadth<T>(gate: T, nightly: T) -> T {
    match std::env::var("CARP_BREADTH") {
        Ok(value) if value == "nightly" => nightly,
        Ok(value) => panic!("CARP_BREADTH={value}: it is `nightly` or unset"),
        Err(_) => gate,
    }
}

/// Whether one of many that are alike is looked at: every second with a change, the others on the next day, and at night
/// all. What day it is, the seed says.
pub(crate) fn is_todays(number: usize) -> bool {
    let seed = std::env::var("CARP_SEED").ok().and_then(|seed| seed.parse().ok());
    breadth((number + seed.unwrap_or(0)).is_multiple_of(2), true)
}

/// The YAML documents of a tree, each with its path; empty documents are left out.
pub(crate) fn documents(tree: &Files) -> Vec<(String, Value)> {
    let yaml = tree.iter().filter(|(path, _)| path.ends_with(".yaml"));
    yaml.flat_map(|(path, bytes)| {
        let text = std::str::from_utf8(bytes).unwrap();
        let values: Vec<Value> =
            serde_saphyr::from_multiple(text).unwrap_or_else(|e| panic!("{path}: {e}"));
        values.into_iter().filter(|v| !v.is_null()).map(|v| (path.clone(), v))
    })
    .collect()
}

/// The documents of one text.
pub(crate) fn documents_of(text: &str) -> Vec<Value> {
    documents(&Files::from([("text.yaml".to_owned(), text.as_bytes().to_vec())]))
        .into_iter()
        .map(|(_, object)| object)
        .collect()
}

/// Writes a tree below a folder.
pub(crate) fn write(tree: &BTreeMap<String, Vec<u8>>, root: &std::path::Path) {
    for (path, bytes) in tree {
        let path = root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
}
