//! What somebody who may write override policies, and nothing else, would try on workers.

use crate::support::world::World;
use crate::worker_overrides::{of_workers, policy};

/// What they would try, by an object (`apiVersion kind name`) and what is merged into its spec.
const MERGED: &[(&str, &str)] = &[
    // Who may do what, and what carries Secrets.
    ("rbac.authorization.k8s.io/v1 ClusterRole", "{rules: []}"),
    ("rbac.authorization.k8s.io/v1 ClusterRoleBinding", "{subjects: []}"),
    ("admissionregistration.k8s.io/v1 ValidatingAdmissionPolicy", "{validations: []}"),
    ("v1 ServiceAccount", "{x: y}"),
    ("v1 Secret", "{x: y}"),
    ("v1 ConfigMap", "{x: y}"),
    ("addons.cluster.x-k8s.io/v1beta2 ClusterResourceSet", "{resources: []}"),
    ("external-secrets.io/v1 ExternalSecret", "{target: {name: x}}"),
    ("infrastructure.cluster.x-k8s.io/v1beta1 AzureClusterIdentity", "{allowedNamespaces: {}}"),
    // What delivers the fleet, and knows the worker.
    ("kustomize.toolkit.fluxcd.io/v1 Kustomization", "{prune: false}"),
    ("carp.dev/v1alpha1 Worker", "{version: v1.35.0}"),
    // The data stores.
    ("kamaji.clastix.io/v1alpha1 DataStore", "{driver: MySQL}"),
    ("helm.toolkit.fluxcd.io/v2 HelmRelease kamaji", "{values: {kamaji-etcd: {deploy: false}}}"),
    // What is run, and as whom.
    ("helm.toolkit.fluxcd.io/v2 HelmRelease", "{serviceAccountName: default}"),
    (
        "helm.toolkit.fluxcd.io/v2 HelmRelease",
        "{kubeConfig: {secretRef: {name: w-eus-kubeconfig}}}",
    ),
    ("helm.toolkit.fluxcd.io/v2 HelmRelease", "{targetNamespace: kube-system}"),
    ("helm.toolkit.fluxcd.io/v2 HelmRelease", "{suspend: true}"),
    (
        "helm.toolkit.fluxcd.io/v2 HelmRelease",
        "{valuesFrom: [{kind: Secret, name: carp-agent-git}]}",
    ),
    (
        "helm.toolkit.fluxcd.io/v2 HelmRelease",
        "{postRenderers: [{kustomize: {patches: [{patch: x}]}}]}",
    ),
    ("helm.toolkit.fluxcd.io/v2 HelmRelease", "{chartRef: {kind: OCIRepository, name: mine}}"),
    ("helm.toolkit.fluxcd.io/v2 HelmRelease", "{values: {extraObjects: [x]}}"),
    ("helm.toolkit.fluxcd.io/v2 HelmRelease", "{values: {global: {rbac: {create: false}}}}"),
    ("helm.toolkit.fluxcd.io/v2 HelmRelease", "{values: {webhook: {hostNetwork: true}}}"),
    ("helm.toolkit.fluxcd.io/v2 HelmRelease", "{values: {securityContext: {privileged: true}}}"),
    (
        "helm.toolkit.fluxcd.io/v2 HelmRelease",
        "{values: {key: \"-----BEGIN PRIVATE KEY-----\\nMIIE\\n-----END PRIVATE KEY-----\"}}",
    ),
    (
        "helm.toolkit.fluxcd.io/v2 HelmRelease cert-manager",
        "{values: {approveSignerNames: [\"*\"]}}",
    ),
    ("helm.toolkit.fluxcd.io/v2 HelmRelease cert-manager", "{values: {crds: {keep: false}}}"),
    ("source.toolkit.fluxcd.io/v1 OCIRepository", "{url: \"oci://evil.example.com/chart\"}"),
    ("source.toolkit.fluxcd.io/v1 GitRepository", "{ref: {branch: evil}}"),
    ("source.toolkit.fluxcd.io/v1 HelmRepository", "{url: \"https://evil.example.com\"}"),
    (
        "operator.cluster.x-k8s.io/v1alpha2 CoreProvider",
        "{manifestPatches: [\"kind: ClusterRole\"]}",
    ),
    ("operator.cluster.x-k8s.io/v1alpha2 CoreProvider", "{patches: [{patch: x}]}"),
    ("operator.cluster.x-k8s.io/v1alpha2 CoreProvider", "{additionalManifests: {name: evil}}"),
    (
        "operator.cluster.x-k8s.io/v1alpha2 CoreProvider",
        "{fetchConfig: {url: \"https://evil.example.com\"}}",
    ),
    ("operator.cluster.x-k8s.io/v1alpha2 CoreProvider", "{version: v1.0.0}"),
    (
        "operator.cluster.x-k8s.io/v1alpha2 CoreProvider",
        "{deployment: {serviceAccountName: admin}}",
    ),
    ("operator.cluster.x-k8s.io/v1alpha2 InfrastructureProvider", "{configSecret: {name: evil}}"),
    // The machines: whose identity they have, and what root runs on them.
    (
        "infrastructure.cluster.x-k8s.io/v1beta1 AzureMachineTemplate",
        "{template: {spec: {systemAssignedIdentityRole: {scope: /, definitionID: x}}}}",
    ),
    (
        "infrastructure.cluster.x-k8s.io/v1beta1 AzureMachineTemplate",
        "{template: {spec: {userAssignedIdentities: [{providerID: x}]}}}",
    ),
    (
        "controlplane.cluster.x-k8s.io/v1beta2 KubeadmControlPlane",
        "{kubeadmConfigSpec: {users: [{name: me, sudo: ALL}]}}",
    ),
    (
        "controlplane.cluster.x-k8s.io/v1beta2 KubeadmControlPlane",
        "{kubeadmConfigSpec: {preKubeadmCommands: [id]}}",
    ),
    (
        "controlplane.cluster.x-k8s.io/v1beta2 KubeadmControlPlane",
        "{kubeadmConfigSpec: {clusterConfiguration: {apiServer: {extraArgs: [{name: authorization-mode, value: AlwaysAllow}]}}}}",
    ),
    ("controlplane.cluster.x-k8s.io/v1beta2 KubeadmControlPlane", "{version: v1.35.0}"),
    ("cluster.x-k8s.io/v1beta2 Cluster", "{paused: true}"),
    ("cluster.x-k8s.io/v1beta2 MachineDeployment", "{replicas: 0}"),
    ("addons.cluster.x-k8s.io/v1alpha1 HelmChartProxy", "{repoURL: \"https://evil.example.com\"}"),
    ("v1 Namespace", "{finalizers: []}"),
    // What else would run as root, be somebody else's, or be gone.
    (
        "infrastructure.cluster.x-k8s.io/v1beta1 AzureMachineTemplate",
        "{template: {spec: {vmExtensions: [{name: x, publisher: y}]}}}",
    ),
    (
        "infrastructure.cluster.x-k8s.io/v1beta1 AzureMachineTemplate",
        "{template: {spec: {image: {id: x}}}}",
    ),
    (
        "controlplane.cluster.x-k8s.io/v1beta2 KubeadmControlPlane",
        "{kubeadmConfigSpec: {mounts: [[/dev/sdc, /etc/kubernetes/manifests]]}}",
    ),
    (
        "cluster.x-k8s.io/v1beta2 MachineDeployment",
        "{template: {spec: {bootstrap: {dataSecretName: evil}}}}",
    ),
    (
        "infrastructure.cluster.x-k8s.io/v1beta1 AzureASOManagedCluster",
        "{resources: [{apiVersion: v1, kind: Secret, stringData: {a: b}}]}",
    ),
    ("cluster.x-k8s.io/v1beta2 MachineHealthCheck", "{remediation: {}}"),
    (
        "operator.cluster.x-k8s.io/v1alpha2 CoreProvider",
        "{deployment: {containers: [{name: manager, imageUrl: evil.example.com/x}]}}",
    ),
    (
        "operator.cluster.x-k8s.io/v1alpha2 CoreProvider",
        "{deployment: {containers: [{name: manager, command: [id]}]}}",
    ),
    ("operator.cluster.x-k8s.io/v1alpha2 CoreProvider", "{deployment: {replicas: 0}}"),
    ("helm.toolkit.fluxcd.io/v2 HelmRelease", "{values: {image: {repository: evil}}}"),
    ("helm.toolkit.fluxcd.io/v2 HelmRelease", "{values: {volumes: [{hostPath: {path: /}}]}}"),
    ("helm.toolkit.fluxcd.io/v2 HelmRelease", "{values: {replicaCount: 0}}"),
];

/// The same by other ways of writing.
const WRITTEN: &[(&str, &str)] = &[
    (
        "helm.toolkit.fluxcd.io/v2 HelmRelease",
        "{jsonPatch: [{op: move, from: /spec/values, path: /spec/valuesFrom}]}",
    ),
    (
        "helm.toolkit.fluxcd.io/v2 HelmRelease",
        "{jsonPatch: [{op: replace, path: /spec, value: {}}]}",
    ),
    (
        "helm.toolkit.fluxcd.io/v2 HelmRelease",
        "{jsonPatch: [{op: add, path: /spec/values, value: {serviceAccount: {name: a}}}]}",
    ),
    (
        "helm.toolkit.fluxcd.io/v2 HelmRelease",
        "{jsonPatch: [{op: replace, path: /metadata/name, value: x}]}",
    ),
    (
        "helm.toolkit.fluxcd.io/v2 HelmRelease",
        "{annotations: {set: {kustomize.toolkit.fluxcd.io/prune: disabled}}}",
    ),
    (
        "helm.toolkit.fluxcd.io/v2 HelmRelease",
        "{annotations: {set: {carp.dev/not-secret: \"spec.values.key: no\"}}}",
    ),
    (
        "helm.toolkit.fluxcd.io/v2 HelmRelease kamaji",
        "{field: {path: /spec/chart/spec/chart, mergePatch: {a: b}}}",
    ),
    (
        "cluster.x-k8s.io/v1beta2 Cluster",
        "{annotations: {set: {cluster.x-k8s.io/paused: \"true\"}}}",
    ),
    ("v1 Namespace", "{labels: {set: {carp.dev/tenant: red}}}"),
    ("v1 Namespace", "{labels: {set: {pod-security.kubernetes.io/enforce: privileged}}}"),
    (
        "cluster.x-k8s.io/v1beta2 MachineDeployment",
        "{labels: {set: {cluster.x-k8s.io/disable-machine-create: \"\"}}}",
    ),
    (
        "cluster.x-k8s.io/v1beta2 MachineDeployment",
        "{annotations: {set: {cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size: \"900\"}}}",
    ),
    ("cluster.x-k8s.io/v1beta2 Cluster", "{labels: {remove: [cni]}}"),
];

#[test]
fn an_override_of_a_worker_escapes_nowhere() {
    let world = World::small();
    let before = of_workers(&world);
    let merged =
        MERGED.iter().map(|(of, patch)| (of, format!("{{mergePatch: {{spec: {patch}}}}}")));
    let written = WRITTEN.iter().map(|(of, change)| (of, (*change).to_owned()));
    for (object, change) in merged.chain(written) {
        let mut words = object.split(' ');
        let (api, kind) = (words.next().unwrap(), words.next().unwrap());
        let name = words.next().map(|name| format!(", name: {name}")).unwrap_or_default();
        let selector = format!("{{apiVersion: {api}, kind: {kind}{name}}}");
        let mut world = world.clone();
        world.write("policies/o.yaml", &policy("o", "", &selector, &change));
        let proposal = world.run();
        assert!(proposal.diagnostics.has_errors(), "{object} {change}");
        assert_eq!(of_workers(&world), before, "{object} {change}");
        let at_policy = |finding: &carp::diag::Diagnostic| {
            finding.place.as_ref().is_some_and(|place| place.file == "policies/o.yaml")
        };
        assert!(proposal.diagnostics.iter().all(at_policy), "{:#?}", proposal.diagnostics);
    }
}
