//! `unknown-parameter`, `invalid-parameter`: what a flavor is told is what its manifest declares
//! (`parameters.openAPIV3Schema`). What the class says for the cluster is shown where the class is named.

use super::{CheckContext, Subject};
use crate::diag::{Code, FieldPath, Step};
use crate::load::finding::Findings;
use crate::load::kind::DocumentSpec;
use crate::model::Flavor;
use crate::model::api::{NodePool, Parameters};
use crate::model::parameters::{ParameterFault, ParameterSchema};

/// The most that parameters may say, in bytes of JSON.
const MAX_BYTES: usize = 32 * 1024;

pub(super) fn check(subject: &Subject<'_>, scene: &CheckContext<'_>, out: &mut Findings) {
    let Some((own, resolved)) = parameters(subject) else { return };
    let at = FieldPath::keys("spec.parameters");
    let mut fits = bounded(own, &at, out);
    for (path, pool) in subject.node_pools() {
        fits &= bounded(&pool.parameters, &path.key("parameters"), out);
    }
    let (Some(name), Some(flavor)) = (subject.flavor(), subject.manifest(scene)) else { return };
    if !fits || lacks_class(subject, scene) {
        return;
    }
    let schema = &flavor.parameters.schema;
    for fault in of_cluster(subject, schema, own, resolved) {
        add(fault, name, flavor, out);
    }
    for fault in of_pools(subject, schema) {
        add(fault, name, flavor, out);
    }
    not_tenants(subject, scene, schema, own, out);
}

/// What reaches beyond the cluster is not for a tenant to say: networks that others have, and what the API server on the
/// worker reads and whom it asks.
fn not_tenants(
    subject: &Subject<'_>,
    scene: &CheckContext<'_>,
    schema: &ParameterSchema,
    own: &Parameters,
    out: &mut Findings,
) {
    let is_cluster = matches!(&subject.body.spec, DocumentSpec::ManagedCluster(_));
    let tenant = scene.tenant(subject.body).filter(|tenant| !tenant.paths.is_empty());
    let Some(tenant) = tenant.filter(|_| is_cluster && !own.0.is_empty()) else { return };
    for field in schema.platform_fields() {
        let mut steps = field.iter();
        let first = steps.next().and_then(|name| own.0.get(*name));
        if steps
            .try_fold(first, |value, name| value.map(|value| value.get(*name)))
            .flatten()
            .is_none()
        {
            continue;
        }
        let at = field.iter().fold(FieldPath::keys("spec.parameters"), |at, name| at.key(name));
        let message =
            format!("`{}` is not for the tenant `{}` to say", field.join("."), tenant.name);
        let help = "a class of the platform may say it: name that in `class`";
        out.add(Code::InvalidParameter, at, message, help);
    }
}

/// Whether the class is not there, which has its own finding: it may say the flavor and more.
fn lacks_class(subject: &Subject<'_>, scene: &CheckContext<'_>) -> bool {
    match &subject.body.spec {
        DocumentSpec::ManagedCluster(own) => {
            own.class.as_ref().is_some_and(|class| !scene.classes.contains_key(class))
        }
        _ => false,
    }
}

/// What is wrong with the parameters of the whole.
fn of_cluster(
    subject: &Subject<'_>,
    schema: &ParameterSchema,
    own: &Parameters,
    resolved: &Parameters,
) -> Vec<ParameterFault> {
    // Most clusters say nothing, and most flavors need nothing.
    if resolved.0.is_empty() && schema.required.is_empty() {
        return Vec::new();
    }
    let at = FieldPath::keys("spec.parameters");
    let whole = resolved.value();
    let faults = match (&subject.body.spec, whole.as_object()) {
        // Clusters of the class may say the rest.
        (DocumentSpec::ManagedClusterClass(_), Some(part)) => schema.faults_of_part(part, &at),
        _ => schema.faults(&schema.filled(&whole), &at),
    };
    faults.into_iter().map(|fault| shown(fault, own, resolved)).collect()
}

/// What is wrong with the parameters of the pools: its own, or those of its class.
fn of_pools(subject: &Subject<'_>, schema: &ParameterSchema) -> Vec<ParameterFault> {
    let own =
        subject.node_pools().map(|(path, pool)| of_pool(schema, pool, &path.key("parameters")));
    let mut found: Vec<_> = own.flatten().collect();
    if let (DocumentSpec::ManagedCluster(own), Some(resolved)) =
        (&subject.body.spec, &subject.cluster)
        && own.node_pools.is_empty()
    {
        let class = FieldPath::keys("spec.class");
        let faults = resolved.node_pools.iter().flat_map(|pool| {
            let pools = FieldPath::keys("nodePools");
            of_pool(schema, pool, &pools.key(&pool.name).key("parameters"))
        });
        found.extend(faults.map(|fault| ParameterFault {
            field: class.clone(),
            is_unknown: false,
            ..fault
        }));
    }
    found
}

/// What a document says itself, and with what its class says for it.
fn parameters<'s>(subject: &'s Subject<'_>) -> Option<(&'s Parameters, &'s Parameters)> {
    match &subject.body.spec {
        DocumentSpec::ManagedCluster(own) => {
            let resolved = subject.cluster.as_ref().map_or(&own.parameters, |c| &c.parameters);
            Some((&own.parameters, resolved))
        }
        DocumentSpec::ManagedClusterClass(class) => Some((&class.parameters, &class.parameters)),
        DocumentSpec::Worker(worker) => Some((&worker.parameters, &worker.parameters)),
        _ => None,
    }
}

/// Whether parameters are no more than can be looked at and carried along.
fn bounded(parameters: &Parameters, at: &FieldPath, out: &mut Findings) -> bool {
    if parameters.0.is_empty() {
        return true;
    }
    let bytes = parameters.value().to_string().len();
    if bytes > MAX_BYTES {
        let message = format!("`{at}` is of {bytes} bytes; at most {MAX_BYTES} are read");
        let help = "say less here, or put it in a template of your own";
        out.add_on_key(Code::InvalidParameter, at.clone(), message, help);
    }
    bytes <= MAX_BYTES
}

/// A fault where somebody can mend it: in the document, or in the class that it names.
fn shown(fault: ParameterFault, own: &Parameters, resolved: &Parameters) -> ParameterFault {
    let Some(Step::Key(named)) = fault.field.0.get(2) else { return fault };
    if own.0.contains_key(&**named) || !resolved.0.contains_key(&**named) {
        return fault;
    }
    ParameterFault { field: FieldPath::keys("spec.class"), is_unknown: false, ..fault }
}

/// What is wrong with the parameters that a pool has for itself.
fn of_pool(schema: &ParameterSchema, pool: &NodePool, at: &FieldPath) -> Vec<ParameterFault> {
    let mut found = Vec::new();
    for (name, value) in &pool.parameters.0 {
        let place = at.key(name);
        match schema.properties.get(name) {
            Some(parameter) if parameter.per_pool => {
                found.extend(parameter.faults(&parameter.filled(value), &place));
            }
            Some(_) => found.push(ParameterFault {
                message: format!("`{place}`: the parameter `{name}` is of the whole cluster"),
                help: format!("write it as `spec.parameters.{name}`"),
                field: place,
                is_unknown: true,
            }),
            None => {
                let one = [(name.clone(), value.clone())].into_iter().collect();
                let pools = ParameterSchema {
                    properties: schema.of_pools().map(|(n, s)| (n.clone(), s.clone())).collect(),
                    ..ParameterSchema::object()
                };
                found.extend(pools.faults_of_part(&one, at));
            }
        }
    }
    found
}

fn add(fault: ParameterFault, name: &str, flavor: &Flavor, out: &mut Findings) {
    let ParameterFault { field, is_unknown, message, help } = fault;
    if !is_unknown {
        out.add(Code::InvalidParameter, field, message, help);
    } else if flavor.parameters.schema.properties.is_empty() {
        let help = format!("the flavor `{name}` has none");
        out.add_on_key(Code::UnknownParameter, field, message, help);
    } else {
        let help = format!("{help}; `carp templates explain {name}` lists them");
        out.add_on_key(Code::UnknownParameter, field, message, help);
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{
        CARP, class, cluster, files_find, load_files, load_fleet, worker,
    };
    use super::*;
    use crate::diag::Diagnostic;
    use crate::load::Loaded;

    const FLAVOR: &str = "kind: [ManagedCluster, Worker]\nmobility: None\nobjects: []\nparameters:\n  \
        openAPIV3Schema:\n    type: object\n    required: [team]\n    properties:\n      \
        team: {type: string, description: who pays for it}\n      \
        maxPods: {type: integer, minimum: 10, default: 110, x-carp-per-pool: true}\n      \
        hosts: {type: array, items: {type: string}, default: [a]}\n";

    fn load(text: &str) -> Loaded {
        load_files(&[
            ("carp.yaml", CARP),
            ("fleet/x.yaml", text),
            ("templates/moon/flavor.yaml", FLAVOR),
        ])
    }

    fn found(text: &str, code: Code, path: &str) -> Diagnostic {
        let files = [("fleet/x.yaml", text), ("templates/moon/flavor.yaml", FLAVOR)];
        files_find(&files, code, path)
    }

    fn moon(parameters: &str) -> String {
        cluster(&format!("flavor: moon\n  parameters: {parameters}\n  "))
    }

    #[test]
    fn parameters_are_what_the_flavor_declares() {
        let loaded = load(&moon("{team: pay, maxPods: 30, hosts: []}"));
        assert!(!loaded.diagnostics.has_errors(), "{:?}", loaded.diagnostics);
        let all = &loaded.fleet.clusters["pay-eu"].spec.parameters.0;
        let told: Vec<_> = all.iter().map(|(name, value)| format!("{name}={value}")).collect();
        assert_eq!(told, ["hosts=[]", "maxPods=30", "team=\"pay\""], "an empty list is one");
        let path = "spec.parameters.maxPod";
        let slip = found(&moon("{team: pay, maxPod: 30}"), Code::UnknownParameter, path);
        assert_eq!(
            slip.help.as_deref(),
            Some("did you mean `maxPods`?; `carp templates explain moon` lists them")
        );
        found(&moon("{team: pay, maxPods: 9}"), Code::InvalidParameter, "spec.parameters.maxPods");
        found(&moon("{team: 1}"), Code::InvalidParameter, "spec.parameters.team");
        let missing = found(&moon("{}"), Code::InvalidParameter, "spec.parameters.team");
        assert_eq!(missing.help.as_deref(), Some("add `team:`, who pays for it"));
        found(&moon("[]"), Code::WrongType, "spec.parameters");
        found(&moon("{team: 2026-01-01}"), Code::WrongType, "spec.parameters.team");
    }

    #[test]
    fn what_reaches_beyond_a_cluster_is_not_for_a_tenant_with_a_folder() {
        let carp =
            format!("{CARP}  tenants: [{{name: shop, paths: [fleet/shop]}}, {{name: none}}]\n");
        let file = |parameters: &str| {
            cluster(&format!("flavor: capz\n  parameters: {parameters}\n  "))
                .replace("kamaji-capz", "capz")
        };
        let told = |path: &str, text: &str| {
            let loaded = load_files(&[("carp.yaml", &carp), (path, text)]);
            let said = |d: &Diagnostic| d.message.contains("is not for the tenant");
            let place = |d: &Diagnostic| {
                d.place.as_ref().and_then(|p| p.field.as_ref()).map(ToString::to_string)
            };
            loaded.diagnostics.iter().filter(|d| said(d)).filter_map(place).collect::<Vec<_>>()
        };
        let existing = file("{vnet: {existing: {name: pay, resourceGroup: pay}}}");
        assert_eq!(told("fleet/shop/a.yaml", &existing), ["spec.parameters.vnet.existing"]);
        let args = file("{apiServerExtraArgs: {v: '4'}, rollout: {maxSurge: 1}}");
        assert_eq!(told("fleet/shop/a.yaml", &args), ["spec.parameters.apiServerExtraArgs"]);
        assert_eq!(told("fleet/shop/a.yaml", &file("{rollout: {maxSurge: 1}}")), [""; 0]);
        let trusted = existing.replace("namespace: shop", "namespace: none");
        assert_eq!(told("fleet/a.yaml", &trusted), [""; 0]);
    }

    #[test]
    fn a_flavor_without_parameters_is_told_none() {
        let text = cluster("flavor: kind\n  parameters: {a: 1}\n  ");
        let told =
            files_find(&[("fleet/x.yaml", &*text)], Code::UnknownParameter, "spec.parameters.a");
        assert_eq!(told.help.as_deref(), Some("the flavor `kind` has none"));
        let plain = load_fleet(&[("fleet/x.yaml", &cluster("flavor: kind\n  parameters: {}\n  "))]);
        assert!(!plain.diagnostics.has_errors());
    }

    #[test]
    fn a_worker_and_a_pool_of_workers_have_them_too() {
        let text = worker("flavor: moon\n  parameters: {tea: x}\n  ");
        found(&text, Code::UnknownParameter, "spec.parameters.tea");
        found(&text, Code::InvalidParameter, "spec.parameters.team");
        let pool = "apiVersion: carp.dev/v1alpha1\nkind: WorkerPool\nmetadata:\n  name: eu\nspec:\n  max: 3\n  \
                    template:\n    spec:\n      version: v1.34.2\n      location: westeurope\n      flavor: moon\n      \
                    parameters: {team: a, hosts: []}\n";
        let loaded = load(pool);
        assert!(!loaded.diagnostics.has_errors(), "{:?}", loaded.diagnostics);
        let kept = &loaded.fleet.pools["eu"].spec.template.spec.parameters.0;
        assert!(kept.contains_key("hosts"), "{kept:?}");
        let wrong = pool.replace("hosts", "host");
        found(&wrong, Code::UnknownParameter, "spec.template.spec.parameters.host");
    }

    #[test]
    fn a_pool_says_what_is_declared_for_pools() {
        let pools = |parameters: &str| {
            cluster(&format!(
                "flavor: moon\n  parameters: {{team: a}}\n  nodePools: [{{name: a, replicas: 1, \
                 parameters: {parameters}}}]\n  "
            ))
        };
        assert!(!load(&pools("{maxPods: 30}")).diagnostics.has_errors());
        let path = "spec.nodePools[0].parameters";
        found(&pools("{maxPods: 1}"), Code::InvalidParameter, &format!("{path}.maxPods"));
        let whole = found(&pools("{team: b}"), Code::UnknownParameter, &format!("{path}.team"));
        assert!(whole.message.ends_with("is of the whole cluster"), "{}", whole.message);
        found(&pools("{maxPod: 1}"), Code::UnknownParameter, &format!("{path}.maxPod"));
    }

    #[test]
    fn a_class_says_them_one_by_one_for_its_clusters() {
        let class = |own: &str| class("small", &format!("flavor: moon\n  parameters: {own}\n  "));
        let of = |own: &str| cluster(&format!("class: small\n  parameters: {own}\n  "));
        let both = |a: &str, b: &str| format!("{}---\n{}", class(a), of(b));
        let loaded = load(&both("{maxPods: 30, hosts: [b, c]}", "{team: a, hosts: [d]}"));
        assert!(!loaded.diagnostics.has_errors(), "{:?}", loaded.diagnostics);
        let all = &loaded.fleet.clusters["pay-eu"].spec.parameters;
        assert_eq!(all.value().to_string(), r#"{"hosts":["d"],"maxPods":30,"team":"a"}"#);
        found(
            &both("{maxPods: 1}", "{team: a}"),
            Code::InvalidParameter,
            "spec.parameters.maxPods",
        );
        // The class is fine for its own flavor, and this cluster is of another.
        let other = both("{maxPods: 30}", "{}");
        let other = other.replace("class: small\n", "class: small\n  flavor: kind\n");
        found(&other, Code::InvalidParameter, "spec.class");
        let pools =
            "{maxPods: 30}\n  nodePools: [{name: a, replicas: 1, parameters: {maxPods: 40}}]";
        assert!(!load(&both(pools, "{team: a}")).diagnostics.has_errors());
    }

    #[test]
    fn there_are_not_more_than_can_be_carried_along() {
        let many = moon(&format!("{{team: {}}}", "x".repeat(MAX_BYTES)));
        let told = found(&many, Code::InvalidParameter, "spec.parameters");
        assert!(told.message.ends_with("at most 32768 are read"), "{}", told.message);
    }

    #[test]
    fn where_the_manifest_cannot_be_read_nobody_can_tell() {
        let loaded = load_files(&[
            ("carp.yaml", CARP),
            ("fleet/x.yaml", &moon("{anything: 1}")),
            ("templates/moon/flavor.yaml", "kind: ["),
        ]);
        assert_eq!(loaded.fleet.clusters.len(), 1);
    }
}
