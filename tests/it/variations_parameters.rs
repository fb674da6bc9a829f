//! The parameters of carp's own flavors for Azure: every pair of values is what the manifests declare, and what is
//! rendered with it is valid against the CRDs and passes the rules of the webhooks.

use carp::model::api::Parameters;
use carp::model::{Flavor, Fleet};
use serde_json::Value;

use crate::support::{documents, fleet};
use crate::variations::{Choice, pairwise, valid};

const KEY: &str =
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ7kQm2vS1t5o9pWq3xYz0bR8uN4cE6fH1gT2iL5mKdA ops";

/// Says parameters for whatever may have them, in YAML.
fn say(fleet: &mut Fleet, text: &str) {
    let said: Parameters = serde_saphyr::from_str(text).unwrap();
    let has =
        |flavor: &Flavor, name: &String| flavor.parameters.schema.properties.contains_key(name);
    for (name, value) in said.0 {
        let mut told = 0;
        for cluster in fleet.clusters.values_mut() {
            if cluster.manifest().is_some_and(|flavor| has(flavor, &name)) {
                cluster.spec.parameters.0.insert(name.clone(), value.clone());
                told += 1;
            }
        }
        for worker in fleet.workers.values_mut() {
            if worker.manifest().is_some_and(|flavor| has(flavor, &name)) {
                worker.spec.parameters.0.insert(name.clone(), value.clone());
                told += 1;
            }
        }
        assert!(told > 0, "no flavor has `{name}`");
    }
}

/// What carp's own flavors for machines in Azure are told.
pub(crate) const PARAMETERS: &[Choice] = &[
    (
        "network",
        &[
            |_| (),
            |f| {
                say(
                    f,
                    "{vnet: {existing: {name: hub, resourceGroup: net}}, nodeSubnet: {name: nodes, routeTable: rt, \
                        securityGroup: sg}, controlPlaneSubnet: {name: planes, securityGroup: sg}}",
                );
            },
            |f| {
                say(
                    f,
                    "{vnet: {cidrs: [10.64.0.0/16], peerings: [{name: hub, resourceGroup: net}]}, nodeSubnet: \
                        {cidrs: [10.64.1.0/24]}, controlPlaneSubnet: {cidrs: [10.64.0.0/24]}}",
                );
            },
            |f| say(f, "{apiServerLB: {type: Internal}}"),
            |f| {
                say(
                    f,
                    "{vnet: {existing: {name: hub, resourceGroup: net}}, apiServerLB: {type: Internal}, \
                        outboundType: UserDefinedRouting}",
                );
            },
            |f| {
                say(
                    f,
                    "{vnet: {cidrs: [10.64.0.0/16]}, nodeSubnet: {cidrs: [10.64.1.0/24]}, controlPlaneSubnet: \
                        {cidrs: [10.64.0.0/24]}, apiServerLB: {type: Internal, privateIP: 10.64.0.9}}",
                );
            },
        ],
    ),
    (
        "machines",
        &[
            |_| (),
            |f| say(f, "{ephemeralOSDisk: true, etcdDiskSizeGB: 64}"),
            |f| {
                say(
                    f,
                    "{osDiskType: Premium_LRS, dataDisks: [{name: raw, sizeGB: 32, caching: ReadOnly}, {name: data, \
                        sizeGB: 64, type: StandardSSD_LRS, mountPath: /var/lib/data}]}",
                );
            },
        ],
    ),
    (
        "kubelets",
        &[
            |_| (),
            |f| say(f, "{maxPods: 250, kubeletExtraArgs: {kube-reserved: 'cpu=100m', v: '4'}}"),
        ],
    ),
    (
        "a pool of its own",
        &[
            |_| (),
            |f| {
                let own = "{maxPods: 30, dataDisks: [], nodeDrainTimeoutSeconds: 0, rollout: {}}";
                let own: Parameters = serde_saphyr::from_str(own).unwrap();
                let pools = f.clusters.values_mut().flat_map(|c| c.spec.node_pools.iter_mut());
                let pools =
                    pools.chain(f.workers.values_mut().flat_map(|w| w.spec.node_pools.iter_mut()));
                pools.for_each(|pool| pool.parameters = own.clone());
            },
        ],
    ),
    (
        "replacing",
        &[
            |_| (),
            |f| {
                say(
                    f,
                    "{rollout: {maxSurge: 25%, maxUnavailable: 1}, deletionOrder: Oldest, certificatesExpiryDays: 30}",
                );
            },
            |f| {
                say(
                    f,
                    "{rollout: {type: OnDelete}, nodeDrainTimeoutSeconds: 0, nodeVolumeDetachTimeoutSeconds: 60, \
                        nodeDeletionTimeoutSeconds: 30}",
                );
            },
        ],
    ),
    (
        "cloud-init",
        &[
            |_| (),
            |f| {
                say(
                    f,
                    "{preKubeadmCommands: [\"echo 'a: b'\"], postKubeadmCommands: [date], files: [{path: /etc/a, \
                        content: \"on\\nno: {{ x }}\\n\", permissions: '0644', owner: 'root:root'}, {path: /etc/b, \
                        contentFrom: {secret: {name: s, key: k}}}]}",
                );
            },
            |f| {
                let users = format!(
                    "{{users: [{{name: ops, sshAuthorizedKeys: ['{KEY}'], sudo: 'ALL=(ALL) ALL'}}]}}"
                );
                say(f, &users);
            },
        ],
    ),
    (
        "proxy",
        &[
            |_| (),
            |f| say(f, "{proxy: {https: 'http://proxy.example.com:3128'}}"),
            |f| {
                say(
                    f,
                    "{proxy: {http: 'http://proxy.example.com:3128', noProxy: [.example.com, 10.0.0.0/8]}}",
                );
            },
        ],
    ),
    (
        "API server",
        &[
            |_| (),
            |f| {
                say(
                    f,
                    "{oidc: {issuerURL: 'https://login.example.com/v2.0', clientID: x, groupsClaim: groups}, \
                        apiServerExtraArgs: {profiling: 'false'}}",
                );
            },
            |f| {
                say(
                    f,
                    "{auditPolicy: \"apiVersion: audit.k8s.io/v1\\nkind: Policy\\nrules: [{level: Metadata}]\\n\"}",
                );
            },
            |f| say(f, "{encryptionConfigSecret: encryption}"),
        ],
    ),
    ("add-ons", ADD_ONS),
];

const ADD_ONS: &[fn(&mut Fleet)] = &[
    |_| (),
    |f| say(f, "{addOns: {cni: own, ccm: own, csi: own}}"),
    |f| say(f, "{addOns: {csi: own}, helmCharts: []}"),
    |f| {
        say(
            f,
            "{addOns: {cni: own}, helmCharts: [{name: cilium, repoURL: 'https://helm.cilium.io', chartName: cilium, \
                version: 1.18.2, namespace: kube-system, values: \"ipam:\\n  mode: kubernetes\\n\"}, {name: ours, repoURL: \
                'oci://r.example.com:5000/charts', chartName: ours, version: v2.0.0-rc.1, namespace: ours, credentials: \
                {name: registry, key: config.json}, values: \"alert: '{{ $value }}'\\n\"}]}",
        );
    },
    by_flux,
];

/// Charts that Flux installs, which is for ManagedClusters.
fn by_flux(fleet: &mut Fleet) {
    say(
        fleet,
        "{helmReleases: [{name: certificates, repoURL: 'oci://r.example.com:5000/charts', chartName: certificates, \
            version: v2.0.0-rc.1, namespace: certificates, crds: CreateReplace, correctDrift: true}, {name: ingress, \
            repoURL: 'https://charts.example.com/stable', chartName: ingress-nginx, version: 4.13.3, namespace: ingress, \
            dependsOn: [certificates], values: \"controller:\\n  replicaCount: 2\\n\"}]}",
    );
    fleet.spec.flux_releases = true;
    fleet.workers.values_mut().for_each(|w| drop(w.spec.parameters.0.remove("helmReleases")));
}

/// What AKS is told.
pub(crate) const OF_AKS: &[Choice] = &[
    (
        "network",
        &[
            |_| (),
            |f| {
                say(
                    f,
                    "{subnet: {vnet: hub, resourceGroup: net, name: nodes}, outboundType: userDefinedRouting}",
                );
            },
            |f| say(f, "{outboundType: managedNATGateway, addOns: {cni: own}}"),
            |f| {
                say(
                    f,
                    "{vnet: {cidrs: [10.64.0.0/16, 'fd00:64::/48'], peerings: [{name: hub, resourceGroup: net}, {name: \
                        hub, resourceGroup: other}]}, nodeSubnet: {cidrs: [10.64.1.0/24, 'fd00:64::/64']}}",
                );
                f.spec.vnet_peerings = true;
            },
            |f| say(f, "{vnet: {cidrs: [10.64.0.0/16]}}"),
        ],
    ),
    (
        "machines",
        &[
            |_| (),
            |f| say(f, "{maxPods: 110, osDiskType: Ephemeral}"),
            |f| {
                say(
                    f,
                    "{upgrade: {maxSurge: 33%, drainTimeoutMinutes: 60, nodeSoakMinutes: 5}, \
                        nodeOSUpgradeChannel: NodeImage}",
                );
            },
            |f| say(f, "{upgrade: {maxSurge: 2}, tier: Premium}"),
        ],
    ),
    (
        "charts",
        &[
            |_| (),
            |f| {
                say(
                    f,
                    "{helmCharts: [{name: cilium, repoURL: 'https://helm.cilium.io', chartName: cilium, version: \
                        1.18.2, namespace: kube-system}]}",
                );
            },
            by_flux,
        ],
    ),
];

/// What the manifests say of a fleet's parameters.
fn faults(fleet: &Fleet) -> Vec<String> {
    let of = |flavor: Option<&Flavor>, said: &Parameters| {
        let schema = &flavor.unwrap().parameters.schema;
        let faults =
            schema.faults(&schema.filled(&said.value()), &carp::diag::FieldPath::default());
        faults.into_iter().map(|fault| fault.message).collect::<Vec<_>>()
    };
    let clusters = fleet.clusters.values().flat_map(|c| of(c.manifest(), &c.spec.parameters));
    let workers = fleet.workers.values().flat_map(|w| of(w.manifest(), &w.spec.parameters));
    clusters.chain(workers).collect()
}

#[test]
fn every_pair_of_parameters_is_valid() {
    for (base, choices) in [(fleet::plain(), PARAMETERS), (fleet::of("aks"), OF_AKS)] {
        for value in choices.iter().flat_map(|(_, values)| *values) {
            let mut fleet = base.clone();
            value(&mut fleet);
            assert_eq!(faults(&fleet), Vec::<String>::new());
        }
    }
    assert!(valid(&fleet::of("aks"), OF_AKS, &pairwise(OF_AKS)) > 50);
    let all = pairwise(PARAMETERS);
    assert!(all.len() >= 18, "{}", all.len());
    assert!(valid(&fleet::plain(), PARAMETERS, &all) > 200);
}

/// The objects of a kind of the first cluster, or of the worker where it is said.
fn objects(text: &str, path: &str, kind: &str) -> Vec<Value> {
    let mut fleet = fleet::plain();
    say(&mut fleet, text);
    let tree = documents(&fleet::tree(&fleet, "")).into_iter();
    let of_kind = tree.filter(|(at, object)| at.starts_with(path) && object["kind"] == kind);
    of_kind.map(|(_, object)| object).collect()
}

const WORKER: &str = "control-plane/";
const CLUSTER: &str = "workers/";
const OWN: &str =
    "{vnet: {existing: {name: hub, resourceGroup: net}}, apiServerLB: {type: Internal}}";

/// What is said, and where it comes to stand: the folder, the kind, the field and its value.
const SAID: &[(&str, &str, &str, &str, &str)] = &[
    (OWN, CLUSTER, "AzureCluster", "/spec/networkSpec/vnet/resourceGroup", "net"),
    (OWN, WORKER, "AzureCluster", "/spec/networkSpec/apiServerLB/type", "Internal"),
    (
        OWN,
        WORKER,
        "KubeadmControlPlane",
        "/spec/kubeadmConfigSpec/preKubeadmCommands/0",
        "if [ -f /run/kubeadm/kubeadm.yaml ]; then echo '127.0.0.1   apiserver.wk-weu-1.capz.io apiserver' >> \
             /etc/hosts; fi",
    ),
    (
        "{ephemeralOSDisk: true}",
        CLUSTER,
        "AzureMachineTemplate",
        "/spec/template/spec/osDisk/diffDiskSettings/option",
        "Local",
    ),
    (
        "{dataDisks: [{name: raw, sizeGB: 32}, {name: data, sizeGB: 64, mountPath: /data}]}",
        CLUSTER,
        "KubeadmConfigTemplate",
        "/spec/template/spec/diskSetup/filesystems/0/device",
        "/dev/disk/azure/scsi1/lun1",
    ),
    (
        "{maxPods: 60}",
        CLUSTER,
        "KubeadmConfigTemplate",
        "/spec/template/spec/joinConfiguration/nodeRegistration/kubeletExtraArgs/2/value",
        "60",
    ),
    (
        "{rollout: {maxSurge: 25%}}",
        CLUSTER,
        "MachineDeployment",
        "/spec/rollout/strategy/rollingUpdate/maxSurge",
        "25%",
    ),
    (
        "{oidc: {issuerURL: 'https://a.example.com', clientID: x}}",
        CLUSTER,
        "KamajiControlPlane",
        "/spec/apiServer/extraArgs/0",
        "--oidc-issuer-url=https://a.example.com",
    ),
    (
        "{encryptionConfigSecret: keys}",
        CLUSTER,
        "KamajiControlPlane",
        "/spec/deployment/extraVolumes/0/secret/secretName",
        "keys",
    ),
    (
        "{encryptionConfigSecret: keys}",
        WORKER,
        "KubeadmControlPlane",
        "/spec/kubeadmConfigSpec/files/1/contentFrom/secret/name",
        "keys",
    ),
];

#[test]
fn what_is_said_is_where_its_controller_reads_it() {
    for (text, path, kind, pointer, wanted) in SAID {
        let found = objects(text, path, kind);
        let said = found[0].pointer(pointer).and_then(Value::as_str);
        assert_eq!(said, Some(*wanted), "{text}: {kind} {pointer}");
    }
    let proxy =
        objects("{proxy: {https: 'http://p:1', noProxy: [.x]}}", CLUSTER, "KubeadmConfigTemplate");
    let content =
        proxy[0].pointer("/spec/template/spec/files/1/content").unwrap().as_str().unwrap();
    assert!(content.starts_with(
        "[Service]\nEnvironment=\"HTTPS_PROXY=http://p:1\"\nEnvironment=\"NO_PROXY=localhost,"
    ));
    assert!(content.ends_with(",.x\"\n"), "{content}");
}

#[test]
fn machines_follow_where_they_are_made_otherwise_and_only_there() {
    let names = |text: &str, kind: &str| -> Vec<String> {
        let all = objects(text, "workers/", kind).into_iter();
        all.map(|object| object["metadata"]["name"].to_string()).collect()
    };
    let (machine, bootstrap) = ("AzureMachineTemplate", "KubeadmConfigTemplate");
    let plain = (names("{}", machine), names("{}", bootstrap));
    for (text, other_machine, other_bootstrap) in [
        ("{maxPods: 60}", false, true),
        ("{ephemeralOSDisk: true}", true, true),
        (
            "{rollout: {maxSurge: 2}, deletionOrder: Newest, nodeDrainTimeoutSeconds: 5}",
            false,
            false,
        ),
        ("{oidc: {issuerURL: 'https://a.example.com', clientID: x}}", false, false),
    ] {
        assert_eq!(names(text, machine) != plain.0, other_machine, "{text}");
        assert_eq!(names(text, bootstrap) != plain.1, other_bootstrap, "{text}");
    }
}
