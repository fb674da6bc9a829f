//! The fields that rules ask every object for, and that few have.

use serde_json::Value;

use super::super::object::Object;
use super::super::path::at;

/// A field of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ObjectField {
    ControlPlaneRef,
    InfrastructureRef,
    IdentityRef,
    TemplateConfigRef,
    TemplateInfrastructureRef,
    MachineInfrastructureRef,
    ClusterName,
    Resources,
    ReleaseName,
    KubeConfig,
}

impl ObjectField {
    const fn path(self) -> &'static str {
        match self {
            Self::ControlPlaneRef => "/spec/controlPlaneRef",
            Self::InfrastructureRef => "/spec/infrastructureRef",
            Self::IdentityRef => "/spec/identityRef",
            Self::TemplateConfigRef => "/spec/template/spec/bootstrap/configRef",
            Self::TemplateInfrastructureRef => "/spec/template/spec/infrastructureRef",
            Self::MachineInfrastructureRef => "/spec/machineTemplate/spec/infrastructureRef",
            Self::ClusterName => "/spec/clusterName",
            Self::Resources => "/spec/resources",
            Self::ReleaseName => "/spec/releaseName",
            Self::KubeConfig => "/spec/kubeConfig",
        }
    }

    /// What an object has there.
    pub(super) fn of(self, object: &Object) -> Option<&Value> {
        let there = || at(&object.value, self.path());
        let known = object.known.as_ref();
        let lacks = known.is_some_and(|known| !known.has(self as u32, || there().is_some()));
        if lacks { None } else { there() }
    }

    /// The text that an object has there.
    pub(super) fn text(self, object: &Object) -> Option<&str> {
        self.of(object).and_then(Value::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::read;
    use super::*;

    #[test]
    fn a_field_is_found_in_each_object_that_has_it() {
        let text = |name: &str, field: &str| {
            format!(
                "apiVersion: v1\nkind: A\nmetadata:\n  name: {name}\nspec:\n  {field}: {name}\n"
            )
        };
        for name in ["a", "b", "c", "d", "e"] {
            let (with, without) =
                (read(&text(name, "clusterName")), read(&text(name, "clusterNames")));
            assert_eq!(ObjectField::ClusterName.text(&with[0]), Some(name));
            assert_eq!(ObjectField::ClusterName.of(&without[0]), None, "{name}");
            assert_eq!(ObjectField::Resources.of(&with[0]), None, "{name}");
        }
    }
}
