//! Fields of objects that stay as they are, by kind: what the validating webhooks of Cluster API, CAPZ and
//! Kamaji compare with the object before, and what nobody refuses and nothing happens of.

use serde_json::Value;

use super::object::Object;

/// Fields that may be set once, and then stay as they are.
const ONCE: &[(&str, &[&str])] = &[
    (
        // cluster-api-provider-azure v1.26.0, internal/webhooks/azurecluster_webhook.go and
        // azurecluster_validation.go. A cluster does not get or lose a control plane, and its virtual network is
        // found by its name.
        "AzureCluster",
        &[
            "/spec/bastionSpec/azureBastion",
            "/spec/controlPlaneEnabled",
            "/spec/controlPlaneEndpoint/host",
            "/spec/controlPlaneEndpoint/port",
            "/spec/networkSpec/apiServerLB/availabilityZones",
            "/spec/networkSpec/apiServerLB/idleTimeoutInMinutes",
            "/spec/networkSpec/apiServerLB/name",
            "/spec/networkSpec/apiServerLB/sku",
            "/spec/networkSpec/apiServerLB/type",
            "/spec/networkSpec/nodeOutboundLB/availabilityZones",
            "/spec/networkSpec/nodeOutboundLB/id",
            "/spec/networkSpec/nodeOutboundLB/idleTimeoutInMinutes",
            "/spec/networkSpec/nodeOutboundLB/name",
            "/spec/networkSpec/nodeOutboundLB/sku",
            "/spec/networkSpec/nodeOutboundLB/type",
            "/spec/networkSpec/vnet/name",
        ],
    ),
    // internal/webhooks/azuremachinetemplate_webhook.go
    ("AzureMachineTemplate", &["/spec/template/spec"]),
    // internal/webhooks/azureclusteridentity_webhook.go
    ("AzureClusterIdentity", &["/spec/type"]),
    // cluster-api v1.13.5, internal/webhooks/cluster.go; nodes keep their addresses.
    ("Cluster", &["/spec/clusterNetwork", "/spec/controlPlaneRef", "/spec/infrastructureRef"]),
    // internal/webhooks/machinedeployment.go; a selector would forget its machines.
    ("MachineDeployment", &["/spec/clusterName", "/spec/selector"]),
    ("MachineHealthCheck", &["/spec/clusterName"]),
    ("ClusterResourceSet", &["/spec/clusterSelector", "/spec/strategy"]),
    // clastix/kamaji, api/v1alpha1/tenantcontrolplane_types.go: the CRD's own rules.
    ("KamajiControlPlane", &["/spec/dataStoreName", "/spec/dataStoreSchema"]),
    // kind cannot change a cluster: nobody would refuse it, and nothing would happen.
    (
        "KINDCluster",
        &[
            "/spec/clusterName",
            "/spec/kubernetesVersion",
            "/spec/controlPlaneNodes",
            "/spec/workerNodes",
            "/spec/config",
        ],
    ),
    // A member of etcd would begin anew, without what it has.
    ("KubeadmControlPlane", &["/spec/kubeadmConfigSpec/clusterConfiguration/etcd/local/dataDir"]),
];

/// A field, and what it is where it is not said.
type Always = (&'static str, Option<&'static str>);

/// Fields that are from the beginning what they are: one that is not said has a value too, the one here or none
/// (`cluster-api-provider-azure`, `util/webhook/validator.go`, `ValidateImmutable`).
const ALWAYS: &[(&str, &[Always])] = &[
    (
        "AzureCluster",
        &[
            ("/spec/azureEnvironment", Some("AzurePublicCloud")),
            ("/spec/cloudProviderConfigOverrides", None),
            ("/spec/location", None),
            ("/spec/networkSpec/controlPlaneOutboundLB", None),
            ("/spec/networkSpec/privateDNSZone", None),
            ("/spec/networkSpec/privateDNSZoneName", None),
            ("/spec/networkSpec/privateDNSZoneResourceGroup", None),
            ("/spec/resourceGroup", None),
            ("/spec/subscriptionID", None),
        ],
    ),
    (
        "KubeadmControlPlane",
        &[("/spec/kubeadmConfigSpec/clusterConfiguration/etcd/external", None)],
    ),
];

/// Fields of a subnet that stay as they are, the subnet being found by its name
/// (`internal/webhooks/azurecluster_validation.go`, `validateAzureClusterSubnetUpdate`).
const SUBNET: &[&str] = &["cidrBlocks", "natGateway/name", "routeTable/name", "securityGroup/name"];
const SUBNETS: &str = "/spec/networkSpec/subnets";

/// The fields of an object that have changed and may not, with the value before and after.
pub(super) fn changed<'a>(before: &'a Object, after: &'a Object) -> Vec<ChangedField<'a>> {
    let (old, new) = (&before.value, &after.value);
    let of = |field: &str| (old.pointer(field), new.pointer(field));
    let once = ONCE.iter().filter(|(kind, _)| *kind == before.kind()).flat_map(|(_, f)| *f);
    let once = once.map(|f| (*f, of(f))).filter(|(_, (old, new))| old.is_some() && old != new);
    let always = ALWAYS.iter().filter(|(kind, _)| *kind == before.kind()).flat_map(|(_, f)| *f);
    let always = always.filter(|(field, default)| {
        let said = |value: Option<&Value>| value.cloned().or_else(|| default.map(Value::from));
        let (old, new) = of(field);
        said(old) != said(new)
    });
    let always = always.map(|(field, _)| (*field, of(field)));
    let plain = once.chain(always).map(|(f, (old, new))| (f.to_owned(), old, new));
    plain.chain(subnets(old, new)).collect()
}

/// A field, and its value before and after.
pub(super) type ChangedField<'a> = (String, Option<&'a Value>, Option<&'a Value>);

fn subnets<'a>(old: &'a Value, new: &'a Value) -> impl Iterator<Item = ChangedField<'a>> {
    let all = |object: &'a Value| object.pointer(SUBNETS).and_then(Value::as_array);
    let (old, new) = (all(old).into_iter().flatten(), all(new));
    old.filter_map(move |before| {
        let name = before.get("name")?;
        let after = new.into_iter().flatten().find(|subnet| subnet.get("name") == Some(name))?;
        Some((name.as_str().unwrap_or_default(), before, after))
    })
    .flat_map(|(name, before, after)| {
        let of = move |field: &str| {
            let path = format!("/{field}");
            (before.pointer(&path), after.pointer(&path))
        };
        let differs = SUBNET.iter().map(move |field| (*field, of(field)));
        let differs = differs.filter(|(_, (old, new))| old.is_some() && old != new);
        differs.map(move |(field, (old, new))| (format!("{SUBNETS}/{name}/{field}"), old, new))
    })
}

#[cfg(test)]
mod tests {
    use super::super::Files;
    use super::super::object::objects;
    use super::*;

    fn object(kind: &str, spec: &str) -> Object {
        let text = format!("apiVersion: g/v1\nkind: {kind}\nmetadata: {{name: a}}\nspec: {spec}\n");
        let files = Files::from([("cluster.yaml".to_owned(), text.into_bytes())]);
        objects(&files).unwrap().remove(0)
    }

    fn fields(kind: &str, before: &str, after: &str) -> Vec<String> {
        let (before, after) = (object(kind, before), object(kind, after));
        changed(&before, &after).into_iter().map(|(field, ..)| field).collect()
    }

    /// `/spec/a/b` with a value, as YAML.
    fn with(field: &str, value: &str) -> String {
        let keys = field.trim_start_matches("/spec/").split('/');
        keys.rev().fold(value.to_owned(), |inner, key| format!("{{{key}: {inner}}}"))
    }

    #[test]
    fn what_is_set_once_stays() {
        for (kind, all) in ONCE {
            for field in *all {
                let (one, two) = (with(field, "one"), with(field, "two"));
                assert_eq!(fields(kind, &one, &two), [*field], "{kind}");
                assert_eq!(fields(kind, &one, "{}"), [*field], "{kind}: it cannot be taken away");
                assert!(fields(kind, "{}", &one).is_empty() && fields(kind, &one, &one).is_empty());
            }
        }
    }

    #[test]
    fn what_is_from_the_beginning_is_not_even_set_later() {
        for (kind, all) in ALWAYS {
            for (field, default) in *all {
                let (one, two) = (with(field, "one"), with(field, "two"));
                for (before, after) in [(&*one, &*two), (&one, "{}"), ("{}", &one)] {
                    assert_eq!(fields(kind, before, after), [*field], "{kind}");
                }
                let said = default.map_or_else(|| "{}".to_owned(), |value| with(field, value));
                assert!(fields(kind, "{}", &said).is_empty(), "{kind}: what it is by default");
            }
        }
    }

    #[test]
    fn a_subnet_is_found_by_its_name() {
        let of = |all: &str| format!("{{networkSpec: {{subnets: [{all}]}}}}");
        let before = of("{name: a, cidrBlocks: [x]}, {name: b, natGateway: {name: n}}");
        let found = |after: &str| fields("AzureCluster", &before, &of(after));
        let turned = "{name: b, natGateway: {name: n}}, {name: a, cidrBlocks: [x]}, {name: c}";
        assert!(found(turned).is_empty(), "order and new ones are free");
        assert_eq!(
            found("{name: a, cidrBlocks: [y]}, {name: b}"),
            [
                "/spec/networkSpec/subnets/a/cidrBlocks",
                "/spec/networkSpec/subnets/b/natGateway/name"
            ]
        );
    }
}
