//! Tests of templates, beside them: given this cluster, expect these objects.
//!
//! `templates/FLAVOR/tests/NAME.yaml` has the `spec` of a ManagedCluster or of a Worker, and what of its folder
//! is expected. The cluster is called `test`, its tenant `team` and its worker `worker`; IDs are made up.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::object::{Object, objects};
use super::templates::{TESTS, Templates};
use super::{cluster_job, control_plane_worker_job};
use crate::diag::FieldPath;
use crate::model::api::{
    AZURE, AzureCredentials, Credentials, FleetSpec, ManagedClusterSpec, Parameters, WorkerSpec,
};
use crate::model::{Cluster, Digest, Fleet, Name, Resources, SharedMap, Worker};

/// The name of the cluster that is made.
const NAME: &str = "test";
/// The worker of a ManagedCluster.
const WORKER: &str = "worker";
/// The identity of the machines.
const NODES: &str = "/subscriptions/00000000-0000-4000-8000-000000000000/resourceGroups/test/providers/\
                     Microsoft.ManagedIdentity/userAssignedIdentities/nodes";

/// A file of tests.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct TemplateTest {
    /// The `spec` of a ManagedCluster.
    #[serde(default)]
    cluster: Option<ManagedClusterSpec>,
    /// The `spec` of a Worker.
    #[serde(default)]
    worker: Option<WorkerSpec>,
    /// The mirror, as `images.registry` of `carp.yaml`.
    #[serde(default)]
    registry: Option<String>,
    /// What its folder has.
    #[serde(default)]
    expect: Option<Vec<ExpectedObject>>,
    /// What it is refused with instead: words of the finding.
    #[serde(default)]
    refused: Option<String>,
}

/// An object that is expected.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct ExpectedObject {
    kind: String,
    #[serde(default)]
    name: Option<String>,
    /// That there is none.
    #[serde(default)]
    absent: bool,
    /// Fields, as JSON pointers, and what stands there; null where nothing does.
    #[serde(default)]
    has: BTreeMap<String, Value>,
}

/// The files of tests among a fleet's own templates, each with its flavor.
#[must_use]
pub fn template_tests(own: &BTreeMap<String, String>) -> Vec<(&str, &str)> {
    let of = |name: &'_ String| name.split_once(TESTS).map(|(flavor, _)| flavor.len());
    own.keys().filter_map(|name| Some((&name[..of(name)?], name.as_str()))).collect()
}

/// Runs one file of tests of a flavor, and says what was not as expected, a line each.
#[must_use]
pub fn run_template_test(flavor: &str, document: &Value, templates: &Templates) -> Vec<String> {
    let test: TemplateTest = match serde_json::from_value(document.clone()) {
        Ok(test) => test,
        Err(error) => return vec![format!("the test cannot be read: {error}")],
    };
    let made = made(flavor, &test, templates);
    match (&test.expect, &test.refused) {
        (Some(expect), None) => match made {
            Ok(objects) => expect.iter().flat_map(|expected| against(expected, &objects)).collect(),
            Err(why) => why,
        },
        (None, Some(words)) => match made {
            Ok(_) => vec![format!("wants to be refused with `{words}`, and renders")],
            Err(why) if why.iter().any(|why| why.contains(words)) => Vec::new(),
            Err(why) => why,
        },
        _ => vec!["write either `expect` or `refused`".to_owned()],
    }
}

fn made(
    flavor: &str,
    test: &TemplateTest,
    templates: &Templates,
) -> Result<Vec<Object>, Vec<String>> {
    let wrong = wrong_parameters(flavor, test, templates);
    if !wrong.is_empty() {
        return Err(wrong);
    }
    let mut fleet = fleet(test.registry.clone());
    fleet.spec.credentials.extend(made_up(flavor, templates));
    let job = match (&test.cluster, &test.worker) {
        (Some(spec), None) => {
            let worker = parsed(WORKER)?;
            cluster_job(&fleet, &cluster(flavor, spec, templates)?, &worker, templates)
        }
        (None, Some(spec)) => {
            let worker = worker(flavor, spec, templates)?;
            let job = control_plane_worker_job(&fleet, &worker, templates, "");
            job.ok_or_else(|| vec![format!("the flavor `{flavor}` makes no workers")])?
        }
        _ => return Err(vec!["write either `cluster` or `worker`".to_owned()]),
    };
    let files = job.render().map_err(|found| {
        found
            .iter()
            .map(|finding| format!("it does not render: {}", finding.message))
            .collect::<Vec<_>>()
    })?;
    objects(&files).map_err(|all| all.iter().map(ToString::to_string).collect())
}

/// Parameters that the flavor does not have so.
fn wrong_parameters(flavor: &str, test: &TemplateTest, templates: &Templates) -> Vec<String> {
    let Some(manifest) = templates.flavor(flavor) else { return Vec::new() };
    let schema = &manifest.parameters.schema;
    let of = |parameters: &Parameters, kind: &'static str| {
        let at = FieldPath::keys(kind).key("parameters");
        schema.faults(&schema.filled(&parameters.value()), &at)
    };
    let cluster = test.cluster.iter().flat_map(|spec| of(&spec.parameters, "cluster"));
    let worker = test.worker.iter().flat_map(|spec| of(&spec.parameters, "worker"));
    cluster.chain(worker).map(|fault| fault.message).collect()
}

/// What an expectation finds wrong.
fn against(expected: &ExpectedObject, objects: &[Object]) -> Vec<String> {
    let ExpectedObject { kind, name, absent, has } = expected;
    let is = |o: &&Object| o.kind() == kind && name.as_ref().is_none_or(|name| o.name() == name);
    let found: Vec<_> = objects.iter().filter(is).collect();
    let shown = name.as_ref().map_or_else(|| kind.clone(), |name| format!("{kind} {name}"));
    if *absent {
        return found.iter().map(|object| format!("there is a {object}")).collect();
    }
    if found.is_empty() {
        let same = objects.iter().filter(|o| o.kind() == kind).map(Object::name);
        let same: Vec<_> = same.collect();
        let there =
            if same.is_empty() { String::new() } else { format!("; there is {}", same.join(", ")) };
        return vec![format!("there is no {shown}{there}")];
    }
    let differs = |object: &Object| {
        let differing = |(path, wanted): (&String, &Value)| {
            let there = object.value.pointer(path).unwrap_or(&Value::Null);
            (there != wanted).then(|| format!("{shown} {path}: wants {wanted}, has {there}"))
        };
        has.iter().filter_map(differing).collect::<Vec<_>>()
    };
    // One of several is enough.
    let all: Vec<_> = found.iter().map(|object| differs(object)).collect();
    all.into_iter().min_by_key(Vec::len).unwrap_or_default()
}

fn parsed(name: &str) -> Result<Name, Vec<String>> {
    Name::parse(name).map_err(|error| vec![error.to_string()])
}

fn fleet(registry: Option<String>) -> Fleet {
    let azure = AzureCredentials {
        tenant_id: "10000000-0000-4000-8000-000000000000".to_owned(),
        subscription_id: "20000000-0000-4000-8000-000000000000".to_owned(),
        client_id: "30000000-0000-4000-8000-000000000000".to_owned(),
        node_identity: Some(NODES.to_owned()),
        ..AzureCredentials::default()
    };
    let images = crate::model::api::Images { registry, ..crate::model::api::Images::default() };
    let spec = FleetSpec {
        credentials: vec![Credentials {
            name: "test".to_owned(),
            azure: Some(azure),
            ..Credentials::default()
        }],
        images: Some(images),
        ..FleetSpec::default()
    };
    Fleet { spec, ..Fleet::default() }
}

/// Credentials of whatever the flavor needs, where that is not Azure's.
fn made_up(flavor: &str, templates: &Templates) -> Option<Credentials> {
    let needed = templates.flavor(flavor)?.credentials.as_ref()?;
    let values = needed.values.iter().map(|value| (value.clone(), format!("test-{value}")));
    let of_azure = needed.of == AZURE;
    (!of_azure).then(|| Credentials {
        name: needed.of.clone(),
        azure: None,
        provider: Some(needed.of.clone()),
        values: values.collect(),
    })
}

fn cluster(
    flavor: &str,
    spec: &ManagedClusterSpec,
    templates: &Templates,
) -> Result<Cluster, Vec<String>> {
    Ok(Cluster {
        name: parsed(NAME)?,
        tenant: "team".to_owned(),
        labels: SharedMap::new(),
        facts: Digest::of(b""),
        file: "test.yaml".into(),
        document: 0,
        spec: ManagedClusterSpec { flavor: Some(flavor.to_owned()), ..spec.clone() }.into(),
        demand: Resources::new(),
        catalogue: templates.catalogue().clone(),
    })
}

fn worker(flavor: &str, spec: &WorkerSpec, templates: &Templates) -> Result<Worker, Vec<String>> {
    Ok(Worker {
        name: parsed(NAME)?,
        labels: SharedMap::new(),
        facts: Digest::of(b""),
        file: "test.yaml".into(),
        document: 0,
        spec: WorkerSpec { flavor: Some(flavor.to_owned()), ..spec.clone() }.into(),
        heartbeat_timeout_seconds: 3600,
        made_by: None,
        catalogue: templates.catalogue().clone(),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn run(flavor: &str, test: &Value) -> Vec<String> {
        run_template_test(flavor, test, &Templates::built_in())
    }

    fn spot(replicas: u32) -> Value {
        json!({
            "cluster": {
                "version": "v1.34.2",
                "location": "westeurope",
                "nodePools": [{"name": "np0", "replicas": 3, "spot": true}],
            },
            "expect": [
                {"kind": "MachineDeployment", "name": "test-np0", "has": {"/spec/replicas": replicas}},
                {"kind": "AzureMachineTemplate", "has": {
                    "/spec/template/spec/spotVMOptions/evictionPolicy": "Delete",
                    "/spec/template/spec/dataDisks": null,
                }},
                {"kind": "KubeadmControlPlane", "absent": true},
            ],
        })
    }

    #[test]
    fn what_is_expected_is_there() {
        assert_eq!(run("kamaji-capz", &spot(3)), Vec::<String>::new());
        let worker = json!({
            "worker": {"version": "v1.34.2", "location": "westeurope"},
            "expect": [{"kind": "MachineDeployment", "name": "test-system"}],
        });
        assert_eq!(run("capz", &worker), Vec::<String>::new());
    }

    #[test]
    fn what_is_not_as_expected_is_told() {
        assert_eq!(
            run("kamaji-capz", &spot(2)),
            ["MachineDeployment test-np0 /spec/replicas: wants 2, has 3"]
        );
        let mut test = spot(3);
        test["expect"] = json!([
            {"kind": "MachineDeployment", "name": "test-np1"},
            {"kind": "Cluster", "absent": true},
        ]);
        let told = run("kamaji-capz", &test);
        assert_eq!(
            told,
            [
                "there is no MachineDeployment test-np1; there is test-np0",
                "there is a Cluster test"
            ]
        );
        test["cluster"] = Value::Null;
        assert_eq!(run("kamaji-capz", &test), ["write either `cluster` or `worker`"]);
        let told = run("kamaji-capz", &json!({"expect": [], "given": 1}));
        assert!(told[0].contains("unknown field `given`"), "{told:?}");
    }

    #[test]
    fn what_is_to_be_refused_must_be() {
        let mut test = spot(3);
        test["refused"] = json!("there is no parameter");
        assert_eq!(run("kamaji-capz", &test), ["write either `expect` or `refused`"]);
        test.as_object_mut().unwrap().remove("expect");
        let told = run("kamaji-capz", &test);
        assert_eq!(told, ["wants to be refused with `there is no parameter`, and renders"]);
        test["cluster"]["parameters"] = json!({"nothing": 1});
        assert_eq!(run("kamaji-capz", &test), [""; 0]);
        test["refused"] = json!("something else");
        assert_eq!(
            run("kamaji-capz", &test),
            ["there is no parameter `cluster.parameters.nothing`"]
        );
    }

    #[test]
    fn a_test_says_parameters_that_the_flavor_has() {
        let mut test = spot(3);
        test["cluster"]["parameters"] = json!({"nothing": 1});
        assert_eq!(
            run("kamaji-capz", &test),
            ["there is no parameter `cluster.parameters.nothing`"]
        );
    }

    #[test]
    fn tests_lie_beside_the_templates_of_their_flavor() {
        let own = ["capz/tests/a.yaml", "capz/cluster.yaml", "own/tests/b.yaml"];
        let own = own.into_iter().map(|name| (name.to_owned(), String::new())).collect();
        let found = [("capz", "capz/tests/a.yaml"), ("own", "own/tests/b.yaml")];
        assert_eq!(template_tests(&own), found);
    }
}
