//! A manifest's text as a flavor, and what in it can mean nothing.

use std::fmt;

use serde::de::value::SeqAccessDeserializer;
use serde::de::{self, DeserializeOwned, IntoDeserializer as _, SeqAccess, Visitor};
use serde::{Deserialize as _, Deserializer};
use serde_saphyr::{MessageFormatter as _, UserMessageFormatter};

use super::super::provided_kind::{is_api_version, is_kind};
use super::{Flavor, FlavorKind, FlavorObject, ProvidedKind};

/// Why a text is no manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlavorFault {
    /// What is wrong, in one line.
    pub message: String,
    /// Where, from 1; the first line where the whole is meant.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
}

/// Reads `flavor.yaml`.
///
/// # Errors
/// It is not YAML, has a field that means nothing, or says what cannot be.
pub fn read_flavor(text: &str) -> Result<Flavor, FlavorFault> {
    let flavor: Flavor = read_manifest(text)?;
    match flavor.nonsense() {
        None => Ok(flavor),
        Some(message) => Err(FlavorFault { message, line: 1, column: 1 }),
    }
}

/// Reads any file of templates that declares something.
///
/// # Errors
/// It is not YAML, or has a field that means nothing.
pub fn read_manifest<T: DeserializeOwned>(text: &str) -> Result<T, FlavorFault> {
    let options = serde_saphyr::options! {
        with_snippet: false,
        budget: serde_saphyr::budget! { max_depth: 64 },
    };
    serde_saphyr::from_str_with_options(text, options).map_err(|error| {
        let at = error.location();
        let number = |of: Option<u64>| of.and_then(|n| u32::try_from(n).ok()).unwrap_or(1);
        FlavorFault {
            line: number(at.map(|at| at.line())),
            column: number(at.map(|at| at.column())),
            message: UserMessageFormatter.format_message(&error).into_owned(),
        }
    })
}

impl Flavor {
    /// What in it can mean nothing, for its author.
    fn nonsense(&self) -> Option<String> {
        if self.kinds.is_empty() {
            return Some("`kind` is an empty list".to_owned());
        }
        let provided = self.provides.iter().find_map(ProvidedKind::nonsense);
        if let Some(wrong) = provided.or_else(|| self.unknown_step()) {
            return Some(wrong);
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
}

/// A kind, or a list of kinds. An unknown one is told as what it is, which an untagged enum would not.
pub(super) fn one_or_more<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<FlavorKind>, D::Error> {
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

    use super::super::FlavorStep;
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
