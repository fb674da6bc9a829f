//! `docs/findings.md`, held complete and true; and those of its findings that no other file has a test for.

use std::path::Path;

use carp::model::Fleet;
use serde_json::{Value, json};

use crate::failure_modes::tests_of_the_sources;
use crate::support::{documents, fleet};

/// How many findings there are.
const ALL: usize = 19;
/// The cluster's folder, and that of the cluster that its worker is.
const HOSTED: &str = "workers/wk-weu-1/clusters/pay-eu/";
const SELF_MANAGED: &str = "control-plane/wk-weu-1/";

#[test]
fn every_finding_says_before_and_after_and_is_held() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/findings.md");
    let page = std::fs::read_to_string(page).unwrap();
    let rows = page.lines().filter(|line| line.starts_with("| ")).skip(1);
    let there = tests_of_the_sources();
    let mut found = 0;
    for row in rows {
        let cells: Vec<_> = row.trim_matches('|').split(" | ").map(str::trim).collect();
        assert_eq!(cells.len(), 4, "{row}");
        assert!(cells[1..3].iter().all(|cell| cell.ends_with('.')), "{row}");
        let tests: Vec<_> = cells[3].split('`').skip(1).step_by(2).collect();
        assert!(!tests.is_empty(), "{row}");
        for test in tests {
            assert!(there.contains(test), "{}: there is no test {test}", cells[0]);
        }
        found += 1;
    }
    assert_eq!(found, ALL);
}

fn object(fleet: &Fleet, folder: &str, kind: &str, name: &str) -> Value {
    let all = documents(&fleet::tree(fleet, "")).into_iter();
    let is_it = |(path, o): &(String, Value)| {
        path.starts_with(folder) && o["kind"] == kind && o["metadata"]["name"] == name
    };
    let mut found = all.filter(is_it).map(|(_, object)| object);
    found.next().unwrap_or_else(|| panic!("{folder}: {kind} {name}"))
}

/// The values of an add-on.
fn values(fleet: &Fleet, folder: &str, name: &str) -> Value {
    let chart = object(fleet, folder, "HelmChartProxy", name);
    serde_yaml::from_str(chart["spec"]["valuesTemplate"].as_str().unwrap()).unwrap()
}

#[test]
fn a_hosted_cluster_has_one_allocator_of_ranges_and_a_dns() {
    let fleet = fleet::plain();
    let of =
        |folder| values(&fleet, folder, "cloud-provider-azure")["cloudControllerManager"].clone();
    let hosted = of(HOSTED);
    assert_eq!(hosted["allocateNodeCidrs"], "false");
    assert_eq!(hosted["configureCloudRoutes"], "false");
    assert!(of(SELF_MANAGED).get("allocateNodeCidrs").is_none(), "nobody else gives them there");
    let plane = object(&fleet, HOSTED, "KamajiControlPlane", "pay-eu");
    let dns = plane["spec"]["addons"]["coreDNS"]["dnsServiceIPs"].as_array().unwrap();
    assert_eq!(dns.len(), 1);
}

#[test]
fn a_small_control_plane_is_repaired() {
    let limit = |replicas: u32| {
        let mut fleet = fleet::plain();
        for worker in fleet.workers.values_mut() {
            let mut planes = worker.spec.control_plane.clone().unwrap_or_default();
            planes.replicas = Some(replicas);
            worker.spec.control_plane = Some(planes);
        }
        let check = object(&fleet, SELF_MANAGED, "MachineHealthCheck", "wk-weu-1-control-plane");
        check["spec"]["remediation"]["triggerIf"]["unhealthyLessThanOrEqualTo"].clone()
    };
    assert_eq!((limit(1), limit(3)), (json!("100%"), json!("34%")));
}

#[test]
fn what_a_drain_drives_out_stays_away() {
    let values = values(&fleet::full(), HOSTED, "calico");
    let typha = "/installation/typhaDeployment/spec/template/spec/tolerations";
    for tolerations in [values.pointer("/tolerations"), values.pointer(typha)] {
        let all = tolerations.unwrap().as_array().unwrap();
        let without_key = all.iter().filter(|one| one.get("key").is_none());
        let effects: Vec<_> = without_key.map(|one| one["effect"].clone()).collect();
        assert_eq!(effects, [json!("NoExecute")], "a drained node has NoSchedule");
        let has = |key: &str| all.iter().any(|one| one["key"] == key);
        assert!(has("node.kubernetes.io/not-ready") && has("batch"), "the pools' own too");
        assert!(!has("node.kubernetes.io/unschedulable"));
    }
}
