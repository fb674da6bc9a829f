//! The service accounts that apply the folders of a worker's clusters: what each may do, asked of a real API
//! server with the roles that carp renders, and of the admission policy that carp renders, whose expressions
//! are evaluated here (the server of the tests is older than such policies).

use carp::model::Fleet;
use carp::model::api::Tenant;
use kube_cel::cel::{Context, Program, Value as Cel};
use serde_json::{Value, json};

use crate::support::apiserver::ApiServer;
use crate::support::objects::Objects;
use crate::support::{documents, fleet, skip};

const BASE: &str = "system:serviceaccount:flux-system:carp-clusters";
const PAY: &str = "system:serviceaccount:flux-system:carp-clusters-pay";
const SHOP: &str = "system:serviceaccount:flux-system:carp-clusters-shop";
const RBAC: &str = "rbac.authorization.k8s.io";
/// The label by which Flux says which Kustomization made an object.
const FLUX: &str = "kustomize.toolkit.fluxcd.io/name";

/// A fleet with two tenants, one of which has a cluster; a second cluster is of nobody's.
fn two_tenants() -> Fleet {
    let mut fleet = fleet::plain();
    let tenant = |name: &str| Tenant { name: name.to_owned(), ..Tenant::default() };
    fleet.spec.tenants = vec![tenant("pay"), tenant("shop")];
    let mut other = fleet.clusters.values().next().unwrap().clone();
    other.name = carp::model::Name::parse("lab").unwrap();
    "default".clone_into(&mut other.tenant);
    fleet.clusters.insert(other.name.clone(), other);
    fleet
}

fn platform(fleet: &Fleet) -> Vec<Value> {
    let files = documents(&fleet::tree(fleet, "")).into_iter();
    let own = files.filter(|(path, _)| path == "workers/wk-weu-1/platform/platform.yaml");
    own.map(|(_, object)| object).collect()
}

#[test]
fn a_tenants_clusters_are_applied_as_that_tenant() {
    let tree = documents(&fleet::tree(&two_tenants(), ""));
    let index = tree.iter().filter(|(path, _)| path == "workers/wk-weu-1/clusters.yaml");
    let accounts: Vec<_> = index
        .map(|(_, object)| (&object["metadata"]["name"], &object["spec"]["serviceAccountName"]))
        .collect();
    assert_eq!(
        json!(accounts),
        json!([["cluster-lab", "carp-clusters"], ["cluster-pay-eu", "carp-clusters-pay"]])
    );
}

#[test]
fn an_account_may_write_what_is_rendered_and_reads_nothing_else() {
    let test = "an_account_may_write_what_is_rendered_and_reads_nothing_else";
    let Some(server) = ApiServer::start() else {
        return skip(test, "KUBEBUILDER_ASSETS is unset");
    };
    server.kubectl(&["create", "namespace", "flux-system"]);
    let objects = server.objects();
    let rights = platform(&two_tenants()).into_iter().filter(|object| {
        let kind = object["kind"].as_str().unwrap();
        kind == "ServiceAccount" || kind.starts_with("ClusterRole")
    });
    for object in rights {
        objects.create(&object);
    }
    server.wait_for_rights();
    for user in [BASE, PAY, SHOP] {
        for (verb, group, resource, name, allowed) in [
            ("create", "", "namespaces", "", true),
            ("patch", "", "configmaps", "a", true),
            ("get", "controlplane.cluster.x-k8s.io", "kamajicontrolplanes", "a", true),
            ("delete", "cluster.x-k8s.io", "clusters", "a", true),
            ("bind", RBAC, "clusterroles", "carp-cluster-autoscaler", true),
            ("bind", RBAC, "clusterroles", "cluster-admin", false),
            ("list", "", "configmaps", "", false),
            ("watch", "cluster.x-k8s.io", "clusters", "", false),
            ("get", "", "secrets", "a", false),
            ("patch", "", "secrets", "a-kubeconfig", false),
            ("list", "", "secrets", "", false),
            ("patch", "", "secrets", "aso-credential", true),
            ("get", "", "pods", "a", false),
            ("impersonate", "", "serviceaccounts", "a", false),
            ("create", RBAC, "clusterrolebindings", "", false),
            ("escalate", RBAC, "clusterroles", "carp-clusters", false),
            ("patch", "kustomize.toolkit.fluxcd.io", "kustomizations", "cluster-a", false),
            ("patch", "kamaji.clastix.io", "datastores", "default", false),
        ] {
            let may = reviewed(&objects, user, [verb, group, resource, name]);
            assert_eq!(may, allowed, "{user}: {verb} {resource}.{group} {name}");
        }
    }
    let nobody = "system:serviceaccount:flux-system:carp-clusters-lab";
    let create = ["create", "", "namespaces", ""];
    assert!(!reviewed(&objects, nobody, create), "a tenant that there is not");
}

/// What the autoscaler asks of the server: it reads and sets the size of whatever a pool is by its `scale`, and marks
/// the machines that go (kubernetes/autoscaler, `cluster-autoscaler/cloudprovider/clusterapi`,
/// `clusterapi_unstructured.go`, `Replicas`, `SetSize` and `MarkMachineForDeletion`).
#[test]
fn the_autoscaler_may_size_whatever_a_pool_is_made_of() {
    const CAPI: &str = "cluster.x-k8s.io";
    const AUTOSCALER: &str = "system:serviceaccount:pay-eu:cluster-autoscaler";
    let test = "the_autoscaler_may_size_whatever_a_pool_is_made_of";
    let Some(server) = ApiServer::start() else {
        return skip(test, "KUBEBUILDER_ASSETS is unset");
    };
    let name = "carp-cluster-autoscaler";
    let role = platform(&fleet::plain()).into_iter().find(|o| o["metadata"]["name"] == name);
    let objects = server.objects();
    objects.create(&role.unwrap());
    let (role, account) =
        (format!("--clusterrole={name}"), "--serviceaccount=pay-eu:cluster-autoscaler");
    server.kubectl(&["create", "clusterrolebinding", "autoscaler", &role, account]);
    server.wait_for_rights();
    for (verb, resource, allowed) in [
        ("get", "machinedeployments/scale", true),
        ("patch", "machinedeployments/scale", true),
        ("get", "machinepools/scale", true),
        ("patch", "machinepools/scale", true),
        ("update", "machines", true),
        ("watch", "machinesets", true),
        ("delete", "machines", false),
        ("get", "clusters", false),
    ] {
        let may = reviewed(&objects, AUTOSCALER, [verb, CAPI, resource, "a"]);
        assert_eq!(may, allowed, "{verb} {resource}");
    }
}

/// Whether the authorizer lets it.
fn reviewed(objects: &Objects, user: &str, [verb, group, resource, name]: [&str; 4]) -> bool {
    let (resource, subresource) = resource.split_once('/').unwrap_or((resource, ""));
    let what = json!({
        "namespace": "any", "verb": verb, "group": group, "resource": resource,
        "subresource": subresource, "name": name,
    });
    objects.may(user, what)
}

/// A request to the API server.
struct Request {
    operation: &'static str,
    resource: &'static str,
    /// The namespace of an object in one.
    within: Value,
    object: Value,
    old: Value,
}

/// A Namespace with labels.
fn namespace(name: &str, labels: Value) -> Value {
    json!({"metadata": {"name": name, "labels": labels}})
}

/// The Namespace of a tenant's cluster, as it is rendered.
fn of(tenant: &str) -> Value {
    namespace("x", json!({"carp.dev/cluster": "x", "carp.dev/tenant": tenant}))
}

fn write_in(within: Value) -> Request {
    let object = json!({"metadata": {"name": "a", "namespace": "x"}});
    Request { operation: "CREATE", resource: "configmaps", within, object, old: Value::Null }
}

fn write_secret(within: Value, name: &str) -> Request {
    let object = json!({"metadata": {"name": name, "namespace": "x"}});
    Request { operation: "CREATE", resource: "secrets", within, object, old: Value::Null }
}

fn create(object: Value) -> Request {
    let (within, old) = (Value::Null, Value::Null);
    Request { operation: "CREATE", resource: "namespaces", within, object, old }
}

fn update(old: Value, object: Value) -> Request {
    Request { operation: "UPDATE", resource: "namespaces", within: Value::Null, object, old }
}

fn delete(old: Value) -> Request {
    let (within, object) = (Value::Null, Value::Null);
    Request { operation: "DELETE", resource: "namespaces", within, object, old }
}

/// Whether the policy lets a request of somebody through; `None` where it does not look at it.
fn admits(policy: &Value, user: &str, request: &Request) -> Option<bool> {
    let Request { operation, resource, within, object, old } = request;
    let mut context = Context::default();
    let name = [object, old].into_iter().find_map(|object| object["metadata"]["name"].as_str());
    let told = json!({
        "userInfo": {"username": user}, "operation": operation, "name": name.unwrap_or_default(),
        "namespace": within["metadata"]["name"].as_str().unwrap_or_default(),
        "resource": {"group": "", "resource": resource},
    });
    for (name, value) in
        [("request", &told), ("namespaceObject", within), ("object", object), ("oldObject", old)]
    {
        context.add_variable(name, value.clone()).unwrap();
    }
    let holds = |expression: &Value, context: &Context<'_>| {
        let text = expression.as_str().unwrap();
        let program = Program::compile(text).unwrap_or_else(|e| panic!("{text}: {e}"));
        program.execute(context).unwrap_or_else(|e| panic!("{text}: {e}"))
    };
    let list = |field: &str| policy["spec"][field].as_array().unwrap().clone();
    let is_met = |all: Vec<Value>, context: &Context<'_>| {
        all.iter().all(|one| holds(&one["expression"], context) == Cel::Bool(true))
    };
    if !is_met(list("matchConditions"), &context) {
        return None;
    }
    let mut variables = std::collections::BTreeMap::<String, Value>::new();
    for variable in list("variables") {
        context.add_variable("variables", json!(variables)).unwrap();
        let value = match holds(&variable["expression"], &context) {
            Cel::Bool(is_so) => json!(is_so),
            Cel::String(text) => json!(*text),
            other => panic!("{other:?}"),
        };
        variables.insert(variable["name"].as_str().unwrap().to_owned(), value);
    }
    context.add_variable("variables", json!(variables)).unwrap();
    Some(is_met(list("validations"), &context))
}

#[test]
fn an_account_reaches_the_namespaces_of_its_tenant_and_no_other() {
    let platform = platform(&two_tenants());
    let policy = platform.iter().find(|o| o["kind"] == "ValidatingAdmissionPolicy").unwrap();
    let admits = |user: &str, request: &Request| admits(policy, user, request);
    let foreign = || namespace("monitoring", json!({"team": "obs"}));
    let bare = || json!({"metadata": {"name": "monitoring"}});
    let unlabelled = |by: &str| namespace("x", json!({FLUX: by}));
    let half = |by: &str| namespace("x", json!({FLUX: by, "carp.dev/cluster": "x"}));
    for (what, request, base, pay, shop) in [
        ("writes in pay's", write_in(of("pay")), false, true, false),
        ("writes in nobody's", write_in(of("default")), true, false, false),
        ("writes in a foreign one", write_in(foreign()), false, false, false),
        ("writes in one without labels", write_in(bare()), false, false, false),
        ("writes IDs", write_secret(of("pay"), "aso-credential"), false, true, false),
        ("writes a kubeconfig", write_secret(of("pay"), "x-kubeconfig"), false, false, false),
        ("makes pay's", create(of("pay")), false, true, false),
        ("makes one without labels", create(bare()), false, false, false),
        ("changes pay's", update(of("pay"), of("pay")), false, true, false),
        ("takes pay's", update(of("pay"), of("shop")), false, false, false),
        ("takes a foreign one", update(foreign(), of("pay")), false, false, false),
        ("strips pay's", update(of("pay"), bare()), false, false, false),
        ("labels what it made", update(unlabelled("cluster-x"), of("pay")), false, true, false),
        ("adds the tenant", update(half("cluster-x"), of("shop")), false, false, true),
        ("labels another's", update(unlabelled("monitoring"), of("pay")), false, false, false),
        ("deletes pay's", delete(of("pay")), false, true, false),
        ("deletes nobody's", delete(of("default")), true, false, false),
        ("deletes a foreign one", delete(foreign()), false, false, false),
        ("deletes one without labels", delete(bare()), false, false, false),
        ("deletes what has no label", delete(unlabelled("cluster-x")), false, false, false),
    ] {
        for (user, allowed) in [(BASE, base), (PAY, pay), (SHOP, shop)] {
            assert_eq!(admits(user, &request), Some(allowed), "{user} {what}");
        }
        let others = ["system:serviceaccount:flux-system:kustomize-controller", "admin"];
        assert!(others.iter().all(|user| admits(user, &request).is_none()), "people: {what}");
    }
}

#[test]
fn where_no_tenant_has_an_account_the_one_reaches_all_clusters() {
    let platform = platform(&fleet::plain());
    let policy = platform.iter().find(|o| o["kind"] == "ValidatingAdmissionPolicy").unwrap();
    assert_eq!(admits(policy, BASE, &write_in(of("pay"))), Some(true));
    assert_eq!(admits(policy, BASE, &delete(of("shop"))), Some(true));
    assert_eq!(admits(policy, PAY, &write_in(of("pay"))), Some(true), "and has no rights");
    let foreign = namespace("monitoring", json!({}));
    assert_eq!(admits(policy, BASE, &delete(foreign)), Some(false));
}

/// Flux administers the worker: what is made for it there reaches the cluster that it is of, whoever makes it.
#[test]
fn what_flux_installs_for_a_cluster_reaches_that_cluster_alone() {
    let mut fleet = two_tenants();
    fleet.spec.flux_releases = true;
    let platform = platform(&fleet);
    let policy = platform.iter().find(|o| o["kind"] == "ValidatingAdmissionPolicy").unwrap();
    let write = |resource: &'static str, spec: Value| {
        let object = json!({"metadata": {"name": "r", "namespace": "x"}, "spec": spec});
        Request { operation: "CREATE", resource, within: of("pay"), object, old: Value::Null }
    };
    let release = |spec: Value| admits(policy, PAY, &write("helmreleases", spec)).unwrap();
    let own = json!({"secretRef": {"name": "x-kubeconfig"}});
    let other = json!({"secretRef": {"name": "y-kubeconfig"}});
    let chart =
        json!({"spec": {"chart": "c", "sourceRef": {"kind": "HelmRepository", "name": "c"}}});
    let mut away = chart.clone();
    away["spec"]["sourceRef"]["namespace"] = json!("flux-system");
    assert!(release(json!({"kubeConfig": own, "chart": chart})));
    assert!(!release(json!({"chart": chart})), "on the worker");
    assert!(!release(json!({"kubeConfig": other, "chart": chart})), "in another cluster");
    assert!(!release(json!({"kubeConfig": {"configMapRef": {"name": "x"}}, "chart": chart})));
    assert!(!release(json!({"kubeConfig": own, "chart": away})), "a chart of the worker's");
    assert!(!release(json!({"kubeConfig": own, "chartRef": {"kind": "HelmChart", "name": "c"}})));
    let source = |spec: Value| admits(policy, PAY, &write("helmrepositories", spec)).unwrap();
    assert!(source(json!({"url": "https://charts.example.com"})));
    assert!(source(json!({"url": "oci://r.example.com", "provider": "generic"})));
    assert!(!source(json!({"url": "oci://r.example.com", "provider": "azure"})), "as Flux itself");
    let gone = write("helmreleases", json!({})).object;
    let within = of("pay");
    let delete = Request {
        operation: "DELETE",
        resource: "helmreleases",
        within,
        object: Value::Null,
        old: gone,
    };
    assert_eq!(admits(policy, PAY, &delete), Some(true), "what is there goes");
}
