//! A manifest's text as a flavor.

use std::fmt;

use serde::de::value::SeqAccessDeserializer;
use serde::de::{self, DeserializeOwned, IntoDeserializer as _, SeqAccess, Visitor};
use serde::{Deserialize as _, Deserializer};
use serde_saphyr::{MessageFormatter as _, UserMessageFormatter};

use super::super::parameters::ParameterFile;
use super::super::provided_kind::ProvidedKind;
use super::{Flavor, FlavorKind};
use crate::diag::FieldPath;

/// Why a text is no manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlavorFault {
    /// What is wrong, in one line.
    pub message: String,
    /// Where.
    pub place: FaultPlace,
}

/// Where in a manifest a mistake is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FaultPlace {
    /// The text could not be read from there on: the line and the column, from 1.
    Position(u32, u32),
    /// It was read, and the field says what cannot be.
    Field(FieldPath),
}

impl FlavorFault {
    /// The first kind under `provides` that can mean nothing.
    pub(in crate::model) fn in_provided(kinds: &[ProvidedKind]) -> Option<Self> {
        kinds.iter().enumerate().find_map(|(i, kind)| {
            let message = kind.nonsense()?;
            Some(Self::at(FieldPath::keys("provides").index(i), message))
        })
    }

    /// A field that says what cannot be.
    pub(in crate::model) fn at(field: FieldPath, message: impl Into<String>) -> Self {
        Self { message: message.into(), place: FaultPlace::Field(field) }
    }
}

/// Reads `flavor.yaml`.
///
/// # Errors
/// It is not YAML, has a field that means nothing, or says what cannot be.
pub fn read_flavor(text: &str) -> Result<Flavor, FlavorFault> {
    let flavor: Flavor = read_manifest(text)?;
    flavor.nonsense().map_or(Ok(flavor), Err)
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
        let (line, column) = (at.map(|at| at.line()), at.map(|at| at.column()));
        FlavorFault {
            message: UserMessageFormatter.format_message(&error).into_owned(),
            place: FaultPlace::Position(number(line), number(column)),
        }
    })
}

/// Reads `templates/parameters/NAME.yaml`.
///
/// # Errors
/// It is not YAML, has a field that means nothing, or declares what cannot be.
pub(in crate::model) fn read_parameters(text: &str) -> Result<ParameterFile, FlavorFault> {
    let file: ParameterFile = read_manifest(text)?;
    match file.schema.nonsense() {
        None => Ok(file),
        Some(message) => Err(FlavorFault::at(FieldPath::keys("openAPIV3Schema"), message)),
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
