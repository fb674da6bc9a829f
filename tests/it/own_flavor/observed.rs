//! The same provider on a real API server: the agent that carp renders reports its kinds, by the rights that carp renders,
//! and its cluster goes by these reports.

use serde_json::{Value, json};

use super::moon::{DOCUMENT, FOLDER, WORKER, world};
use super::{empty_report, hear, root, step};
use crate::support::definitions::learn;
use crate::support::observed::Worker;
use crate::support::people::printed;
use crate::support::skip;
use crate::support::world::{World, after_nine, cluster_status, record};

/// The documents of a file of the output.
fn documents(world: &World, path: &str) -> Vec<Value> {
    let text = world.output_text(path).unwrap();
    serde_saphyr::from_multiple(&text).unwrap()
}

/// The worker, whose agent may do what carp renders and no more.
struct Observed {
    worker: Worker,
    args: Vec<String>,
}

impl Observed {
    fn of(worker: Worker, world: &World) -> Self {
        let crds = root().join("tests/flavors/moon/crds.yaml");
        learn(&worker.server, &[crds]);
        let agent = documents(world, "workers/w-weu/agent/agent.yaml");
        let deployment = agent.iter().find(|o| o["kind"] == "Deployment").unwrap();
        let args = deployment["spec"]["template"]["spec"]["containers"][0]["args"].as_array();
        let args = args.unwrap().iter().map(|arg| arg.as_str().unwrap().to_owned());
        let mut args: Vec<_> = args.filter(|arg| arg.starts_with("--observe=")).collect();
        assert_eq!(args.len(), 3, "{args:?}");
        let rights = world.output_text("workers/w-weu/agent/rbac.yaml").unwrap();
        let file = worker.path().join("rbac.yaml");
        std::fs::write(&file, rights).unwrap();
        worker.server.kubectl(&["apply", "-f", file.to_str().unwrap()]);
        let own = agent.iter().find(|o| o["kind"] == "ClusterRole").unwrap();
        worker.create(own);
        for role in ["carp-agent", "carp-agent-own"] {
            let role = format!("--clusterrole={role}");
            let name = role.trim_start_matches("--clusterrole=");
            worker.server.kubectl(&[
                "create",
                "clusterrolebinding",
                &format!("test-{name}"),
                &role,
                "--user=agent",
            ]);
        }
        let system = ["create", "rolebinding", "test", "-n", "flux-system", "--role=carp-agent"];
        worker.server.kubectl(&[&system[..], &["--user=agent"]].concat());
        worker.server.wait_for_rights();
        let kubeconfig = std::fs::read_to_string(worker.server.kubeconfig()).unwrap();
        let file = worker.path().join("agent.kubeconfig");
        std::fs::write(&file, kubeconfig.replace("{token: ", "{as: agent, token: ")).unwrap();
        args.extend(["--kubeconfig".to_owned(), file.to_str().unwrap().to_owned()]);
        Self { worker, args }
    }

    /// What Flux does with the cluster's folder.
    fn apply(&self, world: &World) {
        let text = world.output_text(&format!("{FOLDER}/cluster.yaml")).unwrap();
        let file = self.worker.path().join("cluster.yaml");
        std::fs::write(&file, text).unwrap();
        let apply = ["apply", "--server-side", "--validate=false", "-f", file.to_str().unwrap()];
        self.worker.server.kubectl(&apply);
    }

    /// An object of the provider's, with a status.
    fn status(&self, kind: &str, name: &str, status: &Value) {
        self.worker.status(&json!({
            "apiVersion": "infrastructure.moon.example.com/v1", "kind": kind,
            "metadata": {"name": name, "namespace": "base"}, "status": status,
        }));
    }

    fn delete(&self, resource: &str, name: &str) {
        self.worker.server.kubectl(&["delete", resource, name, "-n", "base", "--wait=false"]);
    }

    /// The agent reports at a minute, and carp runs.
    fn hear(&self, world: &mut World, minute: i64) -> Value {
        world.now = after_nine(minute);
        let now = format!("--now={}", world.now);
        let mut args: Vec<&str> = self.args.iter().map(String::as_str).collect();
        args.push(&now);
        let output = self.worker.report(&args);
        assert!(output.status.success(), "{}", printed(&output));
        hear(world, WORKER, self.worker.report_text().unwrap());
        let proposal = world.run();
        assert!(proposal.diagnostics.is_empty(), "{:#?}", proposal.diagnostics);
        let report = self.worker.reported().unwrap();
        assert_eq!(report["complete"], true, "{report:#}");
        report["clusters"][0].clone()
    }
}

#[test]
fn its_agent_reports_it_and_it_goes_by_that() {
    let Some(worker) = Worker::called(WORKER, &[]) else {
        return skip(
            "its_agent_reports_it_and_it_goes_by_that",
            "KUBEBUILDER_ASSETS or CARP_CRDS is unset",
        );
    };
    let mut world = world();
    let system = ["get", "namespace", "kube-system", "-o", "jsonpath={.metadata.uid}"];
    let report = empty_report(&world, WORKER).replace("u-1", &worker.server.kubectl(&system));
    hear(&mut world, WORKER, report);
    world.run();
    let observed = Observed::of(worker, &world);
    observed.apply(&world);
    let rover = json!({
        "apiVersion": "infrastructure.moon.example.com/v1", "kind": "MoonRover",
        "metadata": {"name": "base-np0-1", "namespace": "base"}, "spec": {},
    });
    observed.worker.create(&rover);
    let failed = json!({"conditions": [{
        "type": "Landed", "status": "False", "severity": "Error", "reason": "Dust", "message": "too deep",
    }]});
    observed.status("MoonRover", "base-np0-1", &failed);
    observed.status("MoonControlPlane", "base", &json!({"running": "v1.34.2"}));
    let seen = observed.hear(&mut world, 1);
    assert_eq!(
        seen["present"],
        json!([
            "Cluster",
            "ManagedCluster",
            "MoonBase",
            "MoonControlPlane",
            "MoonRover",
            "Namespace"
        ])
    );
    assert_eq!(
        (&seen["version"], &seen["controlPlaneVersion"]),
        (&json!("v1.34.2"), &json!("v1.34.2"))
    );
    assert_eq!(seen["errors"][0]["code"], "MachineNotReady", "{seen:#}");
    assert_eq!(seen["errors"][0]["message"], "MoonRover base-np0-1: too deep");
    let status = world.status_text(&cluster_status("base")).unwrap();
    assert!(status.contains("too deep") && status.contains("v1.34.2"), "{status}");

    world.remove(DOCUMENT);
    world.now = after_nine(2);
    world.run();
    assert_eq!(step(&world, "base").as_deref(), Some("D1"));
    observed.apply(&world);
    observed.delete("clusters.cluster.x-k8s.io", "base");
    observed.delete("mooncontrolplanes.infrastructure.moon.example.com", "base");
    observed.delete("moonbases.infrastructure.moon.example.com", "base");
    // One rover is left, which carp never wrote: it is of the provider, and holds the cluster's name.
    let seen = observed.hear(&mut world, 3);
    assert_eq!(seen["present"], json!(["ManagedCluster", "MoonRover", "Namespace"]));
    assert_eq!(step(&world, "base").as_deref(), Some("D1"));
    observed.delete("moonrovers.infrastructure.moon.example.com", "base-np0-1");
    observed.hear(&mut world, 4);
    assert_eq!(step(&world, "base").as_deref(), Some("D2"));
    observed.apply(&world);
    observed.hear(&mut world, 5);
    assert_eq!((step(&world, "base"), world.output_text(&record("base"))), (None, None));
}
