//! Objects against CustomResourceDefinitions, as an API server would check them, and stricter: a field
//! that the server would silently drop is a finding.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::{Map, Value, json};

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

/// A compiled schema.
struct Schema {
    original: Value,
    strict: jsonschema::Validator,
}

/// The CRDs of a folder, and carp's own, compiled when first needed.
pub(crate) struct Crds {
    /// File names and texts.
    files: BTreeMap<String, String>,
    compiled: BTreeMap<(String, String), Option<Schema>>,
}

impl Crds {
    /// The CRDs in a folder, a file each, called `<plural>.<group>.yaml`.
    #[expect(clippy::disallowed_methods, reason = "the CRDs are files")]
    pub(crate) fn read(folder: &Path) -> Self {
        let mut files = BTreeMap::new();
        for entry in folder.read_dir().unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|e| e == "yaml") {
                let name = path.file_name().unwrap().to_string_lossy().into_owned();
                files.insert(name, std::fs::read_to_string(path).unwrap());
            }
        }
        for (name, crd) in carp::model::api::all_crds() {
            files.insert(name, serde_yaml::to_string(&crd).unwrap());
        }
        Self { files, compiled: BTreeMap::new() }
    }

    /// What is wrong with an object.
    pub(crate) fn findings(&mut self, object: &Value) -> Vec<String> {
        let text = |field: &str| object[field].as_str().unwrap_or_default().to_owned();
        let key = (text("apiVersion"), text("kind"));
        if let Some((_, _, fields)) =
            BUILT_IN.iter().find(|(version, kind, _)| *version == key.0 && *kind == key.1)
        {
            return built_in(object, fields);
        }
        if !self.compiled.contains_key(&key) {
            let schema = self.find(&key.0, &key.1);
            self.compiled.insert(key.clone(), schema);
        }
        let Some(schema) = &self.compiled[&key] else {
            return vec![format!("{} {} is not served by any CRD", key.0, key.1)];
        };
        let mut found = schema.findings(object);
        // Resources of Azure Service Operator, whose schemas CAPZ's definitions do not have.
        if key.1.starts_with("AzureASOManaged") {
            for resource in object["spec"]["resources"].as_array().unwrap() {
                let of = format!("{} {}", resource["kind"], resource["metadata"]["name"]);
                let inner = self.findings(resource).into_iter();
                found.extend(inner.map(|finding| format!("{of}: {finding}")));
            }
        }
        found
    }

    fn find(&self, api_version: &str, kind: &str) -> Option<Schema> {
        let (group, version) = api_version.split_once('/')?;
        let named = format!("kind: {kind}");
        let text = self.files.iter().find(|(name, text)| {
            name.ends_with(&format!(".{group}.yaml")) && text.lines().any(|l| l.trim() == named)
        })?;
        let crd: Value = serde_yaml::from_str(text.1).unwrap();
        assert_eq!(crd["spec"]["names"]["kind"], kind, "{}", text.0);
        let versions = crd["spec"]["versions"].as_array().unwrap();
        let served = versions.iter().find(|v| v["name"] == version && v["served"] == true)?;
        let original = served["schema"]["openAPIV3Schema"].clone();
        let strict = jsonschema::options()
            .should_validate_formats(false)
            .build(&converted(&original, Strict::Object))
            .unwrap_or_else(|e| panic!("{}: {e}", text.0));
        Some(Schema { original, strict })
    }
}

fn built_in(object: &Value, fields: &[&str]) -> Vec<String> {
    let usual = ["apiVersion", "kind", "metadata"];
    let known = |key: &&String| !usual.contains(&key.as_str()) && !fields.contains(&key.as_str());
    object.as_object().unwrap().keys().filter(known).map(|k| format!("unknown field {k}")).collect()
}

impl Schema {
    fn findings(&self, object: &Value) -> Vec<String> {
        let object = without_nulls(&self.original, object);
        let object = kube_cel::apply_defaults(&self.original, &object);
        let mut found: Vec<_> = self
            .strict
            .iter_errors(&object)
            .map(|e| format!("{}: {e}", e.instance_path()))
            .collect();
        if let Err(errors) = kube_cel::validate(&self.original, &object, None) {
            found.push(format!("{errors:?}"));
        }
        repeated(&self.original, &object, "", &mut found);
        found
    }
}

/// How strict a schema node is about fields that it does not name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Strict {
    /// An object of its own: `apiVersion`, `kind` and `metadata` are allowed besides.
    Object,
    /// A part: only what is named.
    Part,
    /// Below `anyOf` and the like, which only judge values.
    Never,
}

/// A structural schema as JSON Schema (2020-12).
fn converted(schema: &Value, strict: Strict) -> Value {
    let Some(schema) = schema.as_object() else { return schema.clone() };
    let is = |key: &str| schema.get(key) == Some(&Value::Bool(true));
    let int_or_string = is("x-kubernetes-int-or-string");
    let strict = if is("x-kubernetes-embedded-resource") { Strict::Object } else { strict };
    let mut out = Map::new();
    for (key, value) in schema {
        match key.as_str() {
            "default" | "example" | "description" | "title" | "format" | "nullable" => {}
            "anyOf" if int_or_string => {}
            key if key.starts_with("x-") => {}
            "exclusiveMinimum" | "exclusiveMaximum" if value.is_boolean() => {}
            "properties" => {
                let inner = if strict == Strict::Never { Strict::Never } else { Strict::Part };
                let each = |(k, v): (&String, &Value)| (k.clone(), converted(v, inner));
                out.insert(key.clone(), value.as_object().unwrap().iter().map(each).collect());
            }
            "items" | "additionalProperties" => {
                let inner = if strict == Strict::Never { Strict::Never } else { Strict::Part };
                out.insert(key.clone(), converted(value, inner));
            }
            "anyOf" | "oneOf" | "allOf" => {
                let each = value.as_array().unwrap().iter().map(|v| converted(v, Strict::Never));
                out.insert(key.clone(), each.collect());
            }
            "not" => drop(out.insert(key.clone(), converted(value, Strict::Never))),
            _ => drop(out.insert(key.clone(), value.clone())),
        }
    }
    for (flag, bound) in [("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")] {
        if is(flag)
            && let Some(value) = out.remove(bound)
        {
            out.insert(flag.to_owned(), value);
        }
    }
    if int_or_string {
        out.insert("type".to_owned(), json!(["integer", "string"]));
    }
    if is("nullable")
        && let Some(Value::String(one)) = out.get("type").cloned()
    {
        out.insert("type".to_owned(), json!([one, "null"]));
    }
    let open = is("x-kubernetes-preserve-unknown-fields") || strict == Strict::Never;
    if schema.contains_key("properties") && !schema.contains_key("additionalProperties") && !open {
        out.insert("additionalProperties".to_owned(), json!(false));
    }
    if strict == Strict::Object
        && let Some(properties) = out.get_mut("properties").and_then(Value::as_object_mut)
    {
        for key in ["apiVersion", "kind", "metadata"] {
            properties.insert(key.to_owned(), json!({}));
        }
    }
    Value::Object(out)
}

/// The value without null members, which an API server drops where the schema does not allow them.
fn without_nulls(schema: &Value, value: &Value) -> Value {
    match value {
        Value::Object(map) => map
            .iter()
            .map(|(k, v)| {
                let named = schema["properties"].get(k);
                (k, v, named.unwrap_or(&schema["additionalProperties"]))
            })
            .filter(|(_, v, inner)| !v.is_null() || inner["nullable"] == true)
            .map(|(k, v, inner)| (k.clone(), without_nulls(inner, v)))
            .collect(),
        Value::Array(items) => {
            items.iter().map(|item| without_nulls(&schema["items"], item)).collect()
        }
        scalar => scalar.clone(),
    }
}

/// Items that a list of type `map` or `set` has twice, which JSON Schema cannot say.
fn repeated(schema: &Value, value: &Value, path: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                let named = schema["properties"].get(key);
                let inner = named.unwrap_or(&schema["additionalProperties"]);
                repeated(inner, value, &format!("{path}/{key}"), found);
            }
        }
        Value::Array(items) => {
            let keys = schema["x-kubernetes-list-map-keys"].as_array();
            let kind = schema["x-kubernetes-list-type"].as_str().unwrap_or_default();
            let identity = |item: &Value| match keys {
                Some(keys) => {
                    keys.iter().map(|k| item[k.as_str().unwrap()].to_string()).collect::<String>()
                }
                None => item.to_string(),
            };
            let all: BTreeSet<_> = items.iter().map(identity).collect();
            if matches!(kind, "map" | "set") && all.len() != items.len() {
                found.push(format!("{path}: an item is there twice"));
            }
            for (at, item) in items.iter().enumerate() {
                repeated(&schema["items"], item, &format!("{path}/{at}"), found);
            }
        }
        _ => {}
    }
}
