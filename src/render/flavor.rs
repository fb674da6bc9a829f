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

    /// What is declared for objects that `makes` has.
    pub fn objects_of(&self, makes: FlavorKind) -> impl Iterator<Item = &FlavorObject> {
        self.objects.iter().filter(move |o| o.of.is_none_or(|of| of == makes))
    }
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
}
