//! The agent on a worker with 1,000 clusters: what it asks, what it says, and what it holds in memory.

use carp::model::MAX_REPORT_BYTES;
use futures::{StreamExt as _, stream};
use kube::api::{DynamicObject, Patch, PatchParams, PostParams};
use serde_json::{Value, json};

use crate::support::objects::api;
use crate::support::observed::{Worker, applied, cluster};
use crate::support::proxy::{Proxy, client};
use crate::support::skip;

const CLUSTERS: usize = 1000;

/// The most memory that the agent may take, in MiB.
const MOST_MEMORY: u64 = 128;

fn name(number: usize) -> String {
    format!("c-{number:04}")
}

/// Creates the objects of a cluster, running.
async fn make(client: kube::Client, number: usize) {
    let name = name(number);
    for object in applied(&name) {
        let api = api(&client, &object);
        let object: DynamicObject = serde_json::from_value(object).unwrap();
        api.create(&PostParams::default(), &object).await.unwrap();
    }
    let running = cluster(&name, "True", true, vec![]);
    let patch = Patch::Merge(json!({"status": running["status"]}));
    let api = api(&client, &running);
    api.patch_status(&name, &PatchParams::default(), &patch).await.unwrap();
}

#[test]
fn a_thousand_clusters_are_listed_once_by_pages_and_fit_into_one_report() {
    let test = "a_thousand_clusters_are_listed_once_by_pages_and_fit_into_one_report";
    let Some(worker) = Worker::start() else {
        return skip(test, "KUBEBUILDER_ASSETS or CARP_CRDS is unset");
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let client = client(&worker.server.kubeconfig()).await;
        let all = stream::iter(0..CLUSTERS).map(|number| make(client.clone(), number));
        all.buffer_unordered(16).collect::<Vec<()>>().await;
    });
    let proxy = Proxy::start(&worker.server);
    let agent = worker.watch_by(&proxy.kubeconfig());
    let all_run = |r: &Value| {
        let rows = r["clusters"].as_array().unwrap();
        rows.len() == CLUSTERS && rows.iter().all(|row| row["phase"] == "Running")
    };
    let report = worker.wait_for("all there", all_run);
    assert_eq!(report["complete"], true);
    let bytes = worker.report_text().unwrap().len() as u64;
    assert!(bytes <= MAX_REPORT_BYTES / 2, "{bytes} bytes");
    // The client's page has 500 objects (kube-runtime, `watcher::Config`). Whether a full page is the
    // last one a server may say with one more, empty one.
    let listed = |kind: &str| proxy.asked(kind, "list");
    let pages = CLUSTERS / 500;
    for kind in ["namespaces", "managedclusters", "clusters"] {
        assert!((pages..=pages + 1).contains(&listed(kind)), "{kind}: {}", listed(kind));
    }
    let before = (listed("clusters"), listed("managedclusters"), listed("namespaces"));
    for kind in ["machinedeployments", "azuremachines", "kustomizations"] {
        assert_eq!(listed(kind), 1, "{kind}");
    }
    let written = proxy.asked("managedclusters", "patch");
    assert_eq!(written, CLUSTERS, "one status each");

    // One cluster changes: one status, one report, no list.
    worker.status(&cluster(&name(500), "False", true, vec![]));
    worker.wait_for("the change", |r| r["clusters"][500]["phase"] == "Degraded");
    assert_eq!(proxy.asked("managedclusters", "patch"), written + 1);
    let after = (listed("clusters"), listed("managedclusters"), listed("namespaces"));
    assert_eq!(after, before);
    if let Some(memory) = agent.peak_memory() {
        eprintln!(
            "{CLUSTERS} clusters: {} MiB at most, a report of {} KiB",
            memory >> 10,
            bytes >> 10
        );
        assert!(memory >> 10 <= MOST_MEMORY, "{memory} KiB");
    }
}
