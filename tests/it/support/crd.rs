//! Objects against the definitions that the tests have, by the product's own checker; and what that leaves to the server, so
//! that no object of a test goes by unseen: kinds that are no custom resources, and kinds without a definition.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use carp::model::{CrdFiles, ObjectSchemas as _};
use carp::schemas::CrdSet;
use serde_json::Value;

/// Kinds that are not defined by a CRD: what of them may stand at the top, besides the usual.
const BUILT_IN: &[(&str, &str, &[&str])] = &[
    ("v1", "Namespace", &[]),
    ("v1", "ConfigMap", &["data"]),
    ("v1", "Secret", &["stringData", "type"]),
    ("v1", "ServiceAccount", &["automountServiceAccountToken"]),
    ("apps/v1", "Deployment", &["spec"]),
    ("batch/v1", "CronJob", &["spec"]),
    ("networking.k8s.io/v1", "NetworkPolicy", &["spec"]),
    ("policy/v1", "PodDisruptionBudget", &["spec"]),
    ("rbac.authorization.k8s.io/v1", "ClusterRole", &["rules"]),
    ("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", &["roleRef", "subjects"]),
    ("rbac.authorization.k8s.io/v1", "Role", &["rules"]),
    ("rbac.authorization.k8s.io/v1", "RoleBinding", &["roleRef", "subjects"]),
    (
        "storage.k8s.io/v1",
        "StorageClass",
        &[
            "provisioner",
            "parameters",
            "reclaimPolicy",
            "volumeBindingMode",
            "allowVolumeExpansion",
        ],
    ),
    ("apiextensions.k8s.io/v1", "CustomResourceDefinition", &["spec"]),
    ("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy", &["spec"]),
    ("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicyBinding", &["spec"]),
    ("kustomize.config.k8s.io/v1beta1", "Kustomization", &["resources"]),
];

/// Definitions that are not among those which the tests take from outside.
pub(crate) const OWN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/definitions");

/// The definitions of a folder, and carp's own.
pub(crate) struct Crds {
    set: CrdSet,
    groups: Vec<String>,
}

impl Crds {
    /// Those of the folder that the environment names, where it names one. They are read once a process.
    #[expect(clippy::disallowed_methods, reason = "tests read their environment")]
    pub(crate) fn given() -> Option<&'static Self> {
        static GIVEN: OnceLock<Option<Crds>> = OnceLock::new();
        let read = || Some(Self::read(Path::new(&std::env::var_os("CARP_CRDS")?)));
        GIVEN.get_or_init(read).as_ref()
    }

    /// The definitions in a folder, a file each, called `<plural>.<group>.yaml`.
    fn read(folder: &Path) -> Self {
        let mut files = files(folder);
        files.extend(self::files(Path::new(OWN)));
        for (name, crd) in carp::model::api::all_crds() {
            files.insert(name, Ok(Arc::from(serde_yaml::to_string(&crd).unwrap())));
        }
        let groups = files.keys().filter_map(|file| Some(file.split_once('.')?.1));
        let groups = groups.map(|group| group.trim_end_matches(".yaml").to_owned()).collect();
        let set = CrdSet::new("crds", &files);
        assert_eq!(set.unread().count(), 0, "{:?}", set.unread().collect::<Vec<_>>());
        Self { set, groups }
    }

    /// What is wrong with an object.
    pub(crate) fn findings(&self, object: &Value) -> Vec<String> {
        let text = |field: &str| object[field].as_str().unwrap_or_default();
        let (version, kind) = (text("apiVersion"), text("kind"));
        if let Some((_, _, fields)) = BUILT_IN.iter().find(|(v, k, _)| *v == version && *k == kind)
        {
            return built_in(object, fields);
        }
        let group = version.split_once('/').map_or("", |(group, _)| group);
        let is_known = self.groups.iter().any(|known| known == group);
        if !is_known || self.set.lacks(object) {
            return vec![format!("{version} {kind} is not served by any CRD")];
        }
        self.set.faults(object).into_iter().map(|fault| fault.problem).collect()
    }
}

/// The files of a folder of definitions.
#[expect(clippy::disallowed_methods, reason = "the definitions are files")]
pub(crate) fn files(folder: &Path) -> CrdFiles {
    let mut files = CrdFiles::new();
    for entry in folder.read_dir().unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|e| e == "yaml") {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            files.insert(name, Ok(Arc::from(std::fs::read_to_string(path).unwrap())));
        }
    }
    files
}

fn built_in(object: &Value, fields: &[&str]) -> Vec<String> {
    let usual = ["apiVersion", "kind", "metadata"];
    let known = |key: &&String| !usual.contains(&key.as_str()) && !fields.contains(&key.as_str());
    object.as_object().unwrap().keys().filter(known).map(|k| format!("unknown field {k}")).collect()
}
