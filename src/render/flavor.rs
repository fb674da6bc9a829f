//! A flavor's manifest: what its folders may hold, and when a deletion takes it out of them.

use std::fmt;

use serde::de::value::SeqAccessDeserializer;
use serde::de::{self, IntoDeserializer as _, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

/// `flavor.yaml` in a flavor's folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Flavor {
    /// What the flavor makes: one kind, or a list.
    #[serde(rename = "kind", deserialize_with = "one_or_more")]
    pub kinds: Vec<FlavorKind>,
    /// Whether a cluster of it can move to another worker.
    pub mobility: Mobility,
    /// Whether a cluster of it may have the addresses of its worker.
    #[serde(default)]
    pub networks: Networks,
    /// The kinds that its folders may hold.
    pub objects: Vec<FlavorObject>,
    /// What brings a cluster of it up, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub readiness: Vec<FlavorStep>,
}

/// One step from nothing to a cluster that runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FlavorStep {
    /// What happens, in a word or two.
    pub step: String,
    /// The kind of the objects that do it.
    pub kind: String,
    /// Their name, where only one of the kind does it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The steps that it waits for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<String>,
    /// A field with the name of an object on the worker that it needs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub needs: Option<Need>,
}

/// An object on the worker that a cluster's object names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Need {
    /// The field, as a JSON pointer.
    pub path: String,
    /// The kind of what it names.
    pub kind: String,
}

/// What a flavor makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FlavorKind {
    /// Clusters on a worker.
    ManagedCluster,
    /// Workers.
    Worker,
}

/// Whether a cluster can move to another worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Mobility {
    /// It never moves: its state is on the worker.
    None,
}

/// Whether a cluster may have the addresses of its worker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Networks {
    /// It may: nothing routes between the two.
    #[default]
    Any,
    /// Its pods and services need addresses that the worker's have not.
    Apart,
}

/// One kind of a flavor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FlavorObject {
    /// The `apiVersion`.
    pub api_version: String,
    /// The `kind`.
    pub kind: String,
    /// The kind of flavor that has it, where only one of several does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<FlavorKind>,
    /// When a deletion takes objects of it out of the folder.
    pub on_deletion: OnDeletion,
}

/// When a deletion takes an object out of the folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum OnDeletion {
    /// At the first step, D1; Cluster API deletes it in its own order.
    Drop,
    /// At the second step, D2, once the cluster is gone: the end of the cluster needs it.
    Follow,
    /// With the folder: everything else lies in it, or acts by it.
    Keep,
}

impl Flavor {
    /// What is declared for a kind; `None` where the flavor does not have it.
    #[must_use]
    pub fn object(&self, api_version: &str, kind: &str) -> Option<&FlavorObject> {
        self.objects.iter().find(|o| o.api_version == api_version && o.kind == kind)
    }

    /// What in it can mean nothing, for its author.
    pub(super) fn nonsense(&self) -> Option<String> {
        if self.kinds.is_empty() {
            return Some("`kind` is an empty list".to_owned());
        }
        if let Some(step) = self.unknown_step() {
            return Some(step);
        }
        self.objects.iter().enumerate().find_map(|(i, object)| {
            let FlavorObject { api_version, kind, of, .. } = object;
            let same = |other: &FlavorObject| {
                let both = other.of.is_none() || of.is_none() || other.of == *of;
                both && other.kind == *kind && other.api_version == *api_version
            };
            if !is_kind(kind) || !is_api_version(api_version) {
                Some(format!("`{kind}` of `{api_version}` can be no kind of an object"))
            } else if of.is_some_and(|of| !self.kinds.contains(&of)) {
                Some(format!("`{kind}` is `of` what the flavor does not make"))
            } else if self.objects[..i].iter().any(same) {
                Some(format!("`{kind}` of `{api_version}` stands twice"))
            } else {
                None
            }
        })
    }

    /// A step after one that is not before it, or of a kind that the flavor does not have.
    fn unknown_step(&self) -> Option<String> {
        self.readiness.iter().enumerate().find_map(|(i, step)| {
            let known = |name: &&String| !self.readiness[..i].iter().any(|s| s.step == **name);
            let (name, kind) = (&step.step, &step.kind);
            if let Some(after) = step.after.iter().find(known) {
                Some(format!("the step `{name}` is after `{after}`, which is not before it"))
            } else if !self.objects.iter().any(|object| object.kind == *kind) {
                Some(format!(
                    "the step `{name}` is of the kind `{kind}`, which is not in `objects`"
                ))
            } else {
                None
            }
        })
    }

    /// What is declared for objects that `makes` has.
    pub fn objects_of(&self, makes: FlavorKind) -> impl Iterator<Item = &FlavorObject> {
        self.objects.iter().filter(move |o| o.of.is_none_or(|of| of == makes))
    }
}

/// As Kubernetes names kinds: `MachineDeployment`.
fn is_kind(kind: &str) -> bool {
    kind.starts_with(|c: char| c.is_ascii_uppercase())
        && kind.chars().all(|c| c.is_ascii_alphanumeric())
}

/// `v1`, or `group/v1`.
fn is_api_version(text: &str) -> bool {
    let (group, version) = text.split_once('/').unwrap_or(("v1", text));
    let lower = |text: &str, more: &str| {
        let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || more.contains(c);
        !text.is_empty() && text.chars().all(fits)
    };
    lower(group, "-.") && lower(version, "") && version.starts_with('v')
}

/// A kind, or a list of kinds. An unknown one is told as what it is, which an untagged enum would not.
fn one_or_more<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<FlavorKind>, D::Error> {
    struct OneOrMore;
    impl<'de> Visitor<'de> for OneOrMore {
        type Value = Vec<FlavorKind>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a kind or a list of kinds")
        }

        fn visit_str<E: de::Error>(self, one: &str) -> Result<Self::Value, E> {
            Ok(vec![FlavorKind::deserialize(one.into_deserializer())?])
        }

        fn visit_seq<A: SeqAccess<'de>>(self, all: A) -> Result<Self::Value, A::Error> {
            Vec::deserialize(SeqAccessDeserializer::new(all))
        }
    }
    from.deserialize_any(OneOrMore)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(kind: serde_json::Value) -> Result<Flavor, String> {
        let object = |of: Option<&str>, kind: &str| {
            let mut object = json!({"apiVersion": "v1", "kind": kind, "onDeletion": "Keep"});
            if let Some(of) = of {
                object["of"] = json!(of);
            }
            object
        };
        let objects = [object(None, "A"), object(Some("Worker"), "B")];
        let flavor = json!({"kind": kind, "mobility": "None", "objects": objects});
        serde_json::from_value(flavor).map_err(|e| e.to_string())
    }

    #[test]
    fn a_flavor_is_for_one_kind_or_for_several() {
        assert_eq!(read(json!("Worker")).unwrap().kinds, [FlavorKind::Worker]);
        let both = read(json!(["ManagedCluster", "Worker"])).unwrap();
        assert_eq!(both.kinds.len(), 2);
        let names = |makes| both.objects_of(makes).map(|o| o.kind.clone()).collect::<Vec<_>>();
        assert_eq!(names(FlavorKind::ManagedCluster), ["A"]);
        assert_eq!(names(FlavorKind::Worker), ["A", "B"]);
        assert!(read(json!("Pod")).unwrap_err().starts_with("unknown variant `Pod`"));
        assert!(read(json!(["Pod"])).unwrap_err().starts_with("unknown variant `Pod`"));
    }

    #[test]
    fn what_can_mean_nothing_is_told() {
        let told = |change: fn(&mut Flavor)| {
            let mut flavor = read(json!("Worker")).unwrap();
            change(&mut flavor);
            flavor.nonsense().unwrap_or_default()
        };
        assert_eq!(told(|_| ()), "");
        assert!(told(|f| f.kinds.clear()).contains("empty"));
        assert!(told(|f| f.objects[0].kind = "a b\n".into()).contains("can be no kind"));
        assert!(told(|f| f.objects[0].api_version = "v1/".into()).contains("can be no kind"));
        assert!(
            told(|f| f.objects[1].of = Some(FlavorKind::ManagedCluster)).contains("does not make")
        );
        assert!(told(|f| f.objects[1].kind = "A".into()).contains("stands twice"));
        let step = |kind: &str, after: &[&str]| FlavorStep {
            step: "s".into(),
            kind: kind.into(),
            name: None,
            after: after.iter().map(|&a| a.into()).collect(),
            needs: None,
        };
        let steps = |steps: Vec<FlavorStep>| {
            let flavor = Flavor { readiness: steps, ..read(json!("Worker")).unwrap() };
            flavor.nonsense().unwrap_or_default()
        };
        assert_eq!(steps(vec![step("A", &[]), step("B", &["s"])]), "");
        assert!(steps(vec![step("A", &["s"])]).contains("not before it"));
        assert!(steps(vec![step("C", &[])]).contains("not in `objects`"));
    }
}
