//! What templates can use, with its meaning: the reference in `docs/templates.md` is made of it. A test holds it
//! against what templates get.

/// Every value that a template gets, by its path, with its meaning. `[]` is each entry of a list.
pub const CONTEXT: &[(&str, &str)] = &[
    ("access", "Who reaches the API server."),
    ("access.allowedCIDRs", "The ranges of addresses from which it is reached; none means all."),
    ("access.endpoint", "Where its address is: `Public` or `Private`."),
    ("agent", "The agent that reports the cluster; null where there is none."),
    ("agent.branch", "What the names of the branches with reports begin with."),
    ("agent.gitSecret", "The Secret with which the agent pushes its reports."),
    ("agent.image", "The agent's image, with its tag."),
    ("agent.name", "Whom the agent reports as."),
    (
        "agent.observe[]",
        "A kind that it is told to look at, in JSON: the fleet's own templates declare it.",
    ),
    ("agent.ports[]", "The TCP ports of its repository and of API servers."),
    ("agent.repository", "Where the reports go."),
    ("agent.rules[]", "What it may read of these kinds; empty where there are none."),
    ("agent.signed", "Whether reports are signed."),
    ("agent.signingSecret", "The Secret with the key that signs them."),
    ("agent.ssh", "Whether the repository is reached by SSH."),
    (
        "applier",
        "The service account that applies the folders of clusters; one of a tenant's own ends in the tenant.",
    ),
    ("autoscaler", "The release of the cluster autoscaler; null where no pool has bounds."),
    ("azure", "The credentials, as IDs."),
    ("azure.clientID", "As whom Cluster API acts."),
    ("azure.environment", "The cloud; null for the public one."),
    ("azure.nodeIdentity", "The identity of the machines, as `azure://…`."),
    ("azure.resourceGroup", "The group of all that is made: the prefix and the name."),
    ("azure.subscriptionID", "The subscription."),
    ("azure.tenantID", "The tenant of Entra ID."),
    ("cloudImages", "Where the images of the cloud controller are, for this version."),
    ("components", "Versions of components by name, those that the templates use."),
    ("containers", "Whether clusters of kind may be made from here."),
    ("controlPlane", "The control plane, defaults filled in."),
    ("controlPlane.replicas", "How many replicas."),
    (
        "controlPlane.requests",
        "What the containers of each replica of a hosted one ask for; null where the class demands nothing of it.",
    ),
    ("controlPlane.vmSize", "The VM size of its machines; nothing for a hosted one."),
    ("controlPlaneNodes", "How many nodes of a cluster of kind are its control plane."),
    ("dataStore", "The data store that the cluster is in; not there where that is `default`."),
    (
        "dataStores[]",
        "The data stores of which the Worker says something; not there where it says nothing.",
    ),
    ("dataStores[].labels", "Its labels."),
    ("dataStores[].name", "Its name."),
    ("dataStores[].quota", "How many bytes it takes before it takes no more writes, as a text."),
    ("dataStores[].size", "The disk of each member."),
    ("dataStores[].snapshots", "Its snapshots; null where none are kept elsewhere."),
    ("dataStores[].snapshots.schedule", "When one is taken."),
    ("dataStores[].snapshots.secretRef", "The Secret with rclone's configuration."),
    ("dataStores[].snapshots.to", "The folder that they go to, of this worker and this store."),
    ("dataStores[].zones", "Whether the nodes of its members are in several zones."),
    ("dnsServiceIPs", "The address of the cluster's DNS, in a list."),
    (
        "federated[]",
        "The federated credentials that Azure Service Operator makes for a Worker; not there where it makes none.",
    ),
    ("federated[].account", "What its name ends in: which service account it is for."),
    ("federated[].identity", "The resource id of the identity."),
    (
        "federated[].issuer",
        "Who issues its tokens; null where the cloud says so once the worker is there.",
    ),
    ("federated[].subject", "The service account, as its token names it."),
    ("federates", "That Azure Service Operator makes federated credentials; not there elsewhere."),
    ("fluxReleases", "That Flux may install charts into clusters; not there elsewhere."),
    ("hostedTaint", "The taint of pools that carry hosted control planes."),
    ("hostedTaint.effect", "Its effect."),
    ("hostedTaint.key", "Its key."),
    ("hostedTaint.value", "Its value."),
    ("image", "The node image of kind behind the mirror; null without one."),
    ("issuer", "The issuer of the service accounts' tokens; null where none is published."),
    (
        "issuerStorage",
        "Where the issuer's documents are written; not there where people publish them.",
    ),
    (
        "issuerStorage.secretRef",
        "The Secret with the configuration of rclone; not there where none is needed.",
    ),
    ("issuerStorage.to", "A remote of rclone's and a path in it."),
    (
        "issuers[]",
        "Where the documents of workers' issuers may be written; not there where nobody writes them from here.",
    ),
    ("issuers[].prefix", "The address that Azure reads them below."),
    (
        "issuers[].secretRef",
        "The Secret with the configuration of rclone; not there where none is needed.",
    ),
    ("issuers[].to", "A remote of rclone's and a path in it."),
    ("kamaji", "Whether control planes are hosted here."),
    ("location", "The location."),
    ("name", "The name of the cluster, its namespace too."),
    (
        "networking",
        "The part `networking` of kind's configuration; null where it has its defaults.",
    ),
    (
        "parameters",
        "What the flavor is told besides, complete by its defaults: `carp templates explain FLAVOR` lists it.",
    ),
    ("paused", "Whether Cluster API leaves it alone."),
    ("podCIDRs", "The ranges of the pods."),
    ("poolTaints", "The keys of the pools' taints that keep pods out."),
    ("pools[]", "The node pools, in their order."),
    ("pools[].deployments[]", "A MachineDeployment for each zone, or one."),
    ("pools[].deployments[].autoscale", "Its part of the bounds; null where it has a number."),
    ("pools[].deployments[].autoscale.max", "The most nodes."),
    ("pools[].deployments[].autoscale.min", "The fewest nodes."),
    ("pools[].deployments[].name", "Its name."),
    ("pools[].deployments[].replicas", "Its part of the nodes."),
    ("pools[].deployments[].zone", "Its zone; null where the pool names none."),
    ("pools[].machineLabels", "Labels that Cluster API copies from a Machine to its Node."),
    ("pools[].name", "The pool's name."),
    ("pools[].nodeLabels", "The other labels, as the kubelet takes them."),
    ("pools[].osDiskGB", "The disk of the operating system, in GiB."),
    (
        "pools[].parameters",
        "Those of them that a pool may have for itself: its own, or else the cluster's.",
    ),
    ("pools[].repairs", "How many broken nodes are repaired of a small pool; null: a percentage."),
    ("pools[].spot", "Whether the machines are spot machines."),
    ("pools[].taints[]", "The taints of the nodes."),
    ("pools[].taints[].effect", "Its effect."),
    ("pools[].taints[].key", "Its key."),
    ("pools[].taints[].value", "Its value; null where it has none."),
    ("pools[].version", "The Kubernetes version of the nodes."),
    ("pools[].vmSize", "The VM size."),
    ("providers[]", "The providers of Cluster API."),
    (
        "providers[].aggregated",
        "What its controller may do besides by settings of `carp.yaml`; not there where that is nothing.",
    ),
    (
        "providers[].aggregated.label",
        "The label of the ClusterRole by which it may: its value is `true`.",
    ),
    ("providers[].aggregated.rules[]", "The rules."),
    ("providers[].aggregated.rules[].group", "The API group."),
    ("providers[].aggregated.rules[].resources[]", "The kinds, by their names in URLs."),
    ("providers[].aggregated.rules[].verbs[]", "What may be done with them."),
    ("providers[].beside[]", "Deployments of a provider besides its controller's."),
    ("providers[].beside[].container", "Its container."),
    ("providers[].beside[].deployment", "Its name."),
    ("providers[].beside[].hasInit", "Whether its init container has the provider's own image."),
    ("providers[].beside[].image", "Its image."),
    ("providers[].beside[].version", "Its version."),
    ("providers[].container", "The container of the controller."),
    (
        "providers[].crds",
        "The kinds that a Deployment of it is told to install by settings of `carp.yaml`; not there where it is told nothing.",
    ),
    ("providers[].crds.deployment", "The Deployment."),
    ("providers[].crds.patterns[]", "Each of them, as it wants them named."),
    ("providers[].featureGates[]", "The feature gates that are on."),
    ("providers[].image", "The controller's image, without a tag."),
    ("providers[].kind", "The operator's kind of it."),
    ("providers[].manifests", "Where its manifests are behind a mirror."),
    ("providers[].name", "Its name, as clusterctl has it."),
    ("providers[].namespace", "Its namespace."),
    (
        "providers[].settings",
        "What Azure Service Operator is told of a cloud; null for the public one.",
    ),
    ("providers[].version", "Its version."),
    ("registry", "The mirror of images; null without one."),
    ("rules[]", "What the service account may touch, by API group."),
    ("rules[].group", "The group."),
    (
        "rules[].leaves",
        "That nothing of it is rendered any more, or yet: what is there may be looked at and deleted.",
    ),
    (
        "rules[].names[]",
        "The only names that objects of it may have; not there where they may have any.",
    ),
    ("rules[].resources[]", "Its resources."),
    ("serviceCIDRs", "The ranges of the services."),
    ("sources", "The mirror of charts and manifests; null where they come from the internet."),
    ("storageClass", "Whether carp makes the default StorageClass."),
    ("tenant", "The tenant; null for a worker."),
    ("tenants[]", "The tenants whose clusters are applied by a service account of their own."),
    ("version", "The Kubernetes version; for kind its minor version."),
    ("vnetPeerings", "That networks of clusters of AKS may be peered; not there elsewhere."),
    ("workerNodes", "How many other nodes a cluster of kind has."),
];

/// The filters that carp adds to those of minijinja, each with how it is used and what it does.
pub const FILTERS: &[(&str, &str, &str)] = &[
    (
        "address",
        "{{ serviceCIDRs[0] | address(10) }}",
        "The address of that number in a range, the range's own being 0.",
    ),
    ("block", "{{ text | block(6) }}", "A YAML text for a place that is indented by so much."),
    (
        "mirrored",
        "{{ image | mirrored(registry) }}",
        "An image as it is called behind the mirror; as it is where there is none.",
    ),
    (
        "sha8",
        "{{ text | sha8 }}",
        "The first 8 digits of the hash of a YAML text's value: the end of a name whose object may not change.",
    ),
    (
        "share",
        "{{ controlPlane.requests | share(70) }}",
        "So many percent of what the containers of a replica ask for together, where it is divided otherwise.",
    ),
    (
        "source",
        "{{ url | source(sources) }}",
        "A repository of charts as it is called behind the mirror; as it is where there is none.",
    ),
    ("to_yaml", "{{ value | to_yaml }}", "A value as YAML in block form."),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_sorted_and_say_something() {
        assert!(CONTEXT.is_sorted_by_key(|(path, _)| path) && FILTERS.is_sorted());
        assert!(CONTEXT.iter().all(|(_, meaning)| meaning.ends_with('.')));
        for (name, usage, _) in FILTERS {
            assert!(usage.contains(name));
            let mut env = super::super::engine::environment();
            let text = format!("{{{{ \"a: 1\" | {name} }}}}");
            let error = env.render_str(&text, ()).err();
            let unknown = error.is_some_and(|e| e.kind() == minijinja::ErrorKind::UnknownFilter);
            assert!(!unknown, "{name}");
            env.remove_filter(name);
            let error = env.render_str(&text, ()).unwrap_err();
            assert_eq!(error.kind(), minijinja::ErrorKind::UnknownFilter, "{name}");
        }
    }
}
