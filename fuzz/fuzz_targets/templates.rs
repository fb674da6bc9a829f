//! Any text as the template of a cluster, with any facts: it renders to objects that may stand there, or
//! ends with findings, soon and within bounds. The input is the facts as YAML, a NUL, and the template;
//! without a NUL it is the template.
#![no_main]

use std::collections::BTreeMap;
use std::sync::OnceLock;

use carp::load;
use carp::model::{Fleet, Memo};
use carp::render::{Templates, cluster_job};
use carp::store::MemoryStore;
use carp_fuzz::{FLEET, WORKER, input, is_good_yaml, name, tree};
use libfuzzer_sys::fuzz_target;

const CLUSTER: &str = "\
apiVersion: carp.dev/v1alpha1
kind: ManagedCluster
metadata:
  name: alpha
  namespace: shop
spec:
  version: v1.34.2
  location: westeurope
  replicas: 2
";
/// More than any template may make.
const MOST_BYTES: usize = 16 << 20;

thread_local! {
    static BUILT_IN: Templates = Templates::built_in();
}

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let (facts, template) = text.split_once('\0').unwrap_or(("", text));
    let mut fleet = fleet().clone();
    let cluster = fleet.clusters.values_mut().next().expect("the fleet has a cluster");
    if let Ok(spec) = load::read_yaml(facts.as_bytes()) {
        cluster.spec = spec;
    }
    let cluster = cluster.clone();
    let overrides = BTreeMap::from([("kamaji-capz/cluster.yaml".to_owned(), template.to_owned())]);
    let (templates, _) = BUILT_IN.with(Clone::clone).with(&overrides);
    let job = cluster_job(&fleet, &cluster, &name("w-weu"), &templates);
    let first = job.render();
    let again = job.render();
    match (first, again) {
        (Ok(files), Ok(again)) => {
            assert_eq!(files, again, "a template renders to the same bytes twice");
            for (path, bytes) in &files {
                assert!(bytes.len() < MOST_BYTES, "{path} has {} bytes", bytes.len());
                if path == "cluster.yaml" {
                    is_good_yaml(path, bytes);
                }
            }
        }
        (Err(findings), Err(_)) => assert!(!findings.is_empty()),
        _ => panic!("a template renders once and not the next time"),
    }
});

fn fleet() -> &'static Fleet {
    static FLEET_OF_ONE: OnceLock<Fleet> = OnceLock::new();
    FLEET_OF_ONE.get_or_init(|| {
        let store = MemoryStore::new();
        let desired: [(&str, &[u8]); 3] = [
            ("carp.yaml", FLEET.as_bytes()),
            ("fleet/workers.yaml", WORKER.as_bytes()),
            ("fleet/clusters.yaml", CLUSTER.as_bytes()),
        ];
        let input = input(tree(&store, &desired));
        let loaded = load::load(&input, &store, &mut Memo::default()).expect("memory reads");
        assert_eq!(loaded.fleet.clusters.len(), 1, "{:?}", loaded.diagnostics);
        loaded.fleet
    })
}
