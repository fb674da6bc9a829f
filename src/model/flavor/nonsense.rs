//! What in a flavor's manifest can mean nothing, with its place, for its author.

use super::super::network::Cidr;
use super::super::provided_kind::{is_api_version, is_kind};
use super::super::supported;
use super::{Flavor, FlavorFault, FlavorKind, FlavorObject, Mobility};
use crate::diag::{FieldPath, suggest};

impl Flavor {
    /// The first mistake, in the order of the fields.
    pub(super) fn nonsense(&self) -> Option<FlavorFault> {
        self.kinds
            .is_empty()
            .then(|| FlavorFault::at(FieldPath::keys("kind"), "`kind` is an empty list"))
            .or_else(|| self.no_such_size())
            .or_else(|| self.no_versions())
            .or_else(|| self.no_quorum())
            .or_else(|| self.no_ranges())
            .or_else(|| self.no_such_support())
            .or_else(|| FlavorFault::in_provided(&self.provides))
            .or_else(|| self.no_parameters())
            .or_else(|| self.no_transfer())
            .or_else(|| self.no_object())
            .or_else(|| self.no_step())
    }

    /// A default size that is not among the sizes.
    fn no_such_size(&self) -> Option<FlavorFault> {
        let sizes = self.sizes.as_ref().filter(|sizes| !sizes.known.is_empty())?;
        (!sizes.known.contains(&sizes.default)).then(|| {
            let message = format!("`{}` is not among the sizes that are `known`", sizes.default);
            FlavorFault::at(FieldPath::keys("sizes.default"), message)
        })
    }

    /// etcd needs an odd number of members.
    fn no_quorum(&self) -> Option<FlavorFault> {
        let replicas = self.control_plane?.replicas;
        (replicas % 2 == 0).then(|| {
            let message =
                format!("a control plane of {replicas} replicas has no majority: take 1, 3 or 5");
            FlavorFault::at(FieldPath::keys("controlPlane.replicas"), message)
        })
    }

    fn no_ranges(&self) -> Option<FlavorFault> {
        let ranges = self.ranges.as_ref()?;
        let [pods, services] =
            [("pods", &ranges.pods), ("services", &ranges.services)].map(|(field, text)| {
                Cidr::parse(text).ok_or_else(|| {
                    let message = format!("`{text}` is no range of addresses, such as 10.0.0.0/16");
                    FlavorFault::at(FieldPath::keys("ranges").key(field), message)
                })
            });
        match (pods, services) {
            (Err(fault), _) | (_, Err(fault)) => Some(fault),
            (Ok(pods), Ok(services)) => pods.overlaps(services).then(|| {
                let message = format!(
                    "`{}` overlaps the range of the pods, `{}`",
                    ranges.services, ranges.pods
                );
                FlavorFault::at(FieldPath::keys("ranges.services"), message)
            }),
        }
    }

    /// A component of whose releases nothing is known would never keep a version away.
    fn no_such_support(&self) -> Option<FlavorFault> {
        let known = || supported::listed();
        let wrong = |(_, name): &(usize, &String)| known().all(|known| known != name.as_str());
        let (i, name) = self.supported_by.iter().enumerate().find(wrong)?;
        let near = suggest::nearest(name, known());
        let help = near.map_or_else(
            || format!("it may name {}", known().collect::<Vec<_>>().join(", ")),
            |near| format!("did you mean `{near}`?"),
        );
        let message = format!("nothing is known of the versions that `{name}` supports; {help}");
        Some(FlavorFault::at(FieldPath::keys("supportedBy").index(i), message))
    }

    fn no_parameters(&self) -> Option<FlavorFault> {
        let message = self.parameters.schema.nonsense()?;
        Some(FlavorFault::at(FieldPath::keys("parameters.openAPIV3Schema"), message))
    }

    /// What has its state on the worker cannot be carried to another by `clusterctl move`.
    fn no_transfer(&self) -> Option<FlavorFault> {
        let hosted =
            self.data_stores.is_some() || self.kinds.iter().all(|k| *k == FlavorKind::Worker);
        (self.mobility == Mobility::Transfer && hosted).then(|| {
            let message = "only ManagedClusters without `dataStores` are handed over: say `None`";
            FlavorFault::at(FieldPath::keys("mobility"), message)
        })
    }

    fn no_object(&self) -> Option<FlavorFault> {
        self.objects.iter().enumerate().find_map(|(i, object)| {
            let FlavorObject { api_version, kind, of, .. } = object;
            let same = |other: &FlavorObject| {
                let both = other.of.is_none() || of.is_none() || other.of == *of;
                both && other.kind == *kind && other.api_version == *api_version
            };
            let message = if !is_kind(kind) || !is_api_version(api_version) {
                format!("`{kind}` of `{api_version}` can be no kind of an object")
            } else if of.is_some_and(|of| !self.kinds.contains(&of)) {
                format!("`{kind}` is `of` what the flavor does not make")
            } else if self.objects[..i].iter().any(same) {
                format!("`{kind}` of `{api_version}` stands twice")
            } else {
                return None;
            };
            Some(FlavorFault::at(FieldPath::keys("objects").index(i), message))
        })
    }

    /// A step that stands twice, is after one that is not before it, or of a kind that the flavor does not have.
    fn no_step(&self) -> Option<FlavorFault> {
        self.readiness.iter().enumerate().find_map(|(i, step)| {
            let before = &self.readiness[..i];
            let is_before = |name: &String| before.iter().any(|step| step.step == *name);
            let (name, kind) = (&step.step, &step.kind);
            let at = FieldPath::keys("readiness").index(i);
            if is_before(name) {
                let message = format!("the step `{name}` stands twice");
                return Some(FlavorFault::at(at.key("step"), message));
            }
            if let Some(nth) = step.after.iter().position(|after| !is_before(after)) {
                let after = &step.after[nth];
                let message =
                    format!("the step `{name}` is after `{after}`, which is not before it");
                return Some(FlavorFault::at(at.key("after").index(nth), message));
            }
            (!self.objects.iter().any(|object| object.kind == *kind)).then(|| {
                let message =
                    format!("the step `{name}` is of the kind `{kind}`, which is not in `objects`");
                FlavorFault::at(at.key("kind"), message)
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::{
        ControlPlaneDefaults, DataStoresOnWorker, FaultPlace, FlavorStep, Ranges, Sizes,
        read_flavor,
    };
    use super::*;

    const TEXT: &str = "kind: Worker\nmobility: None\nobjects:\n- {apiVersion: v1, kind: A, onDeletion: Keep}\n\
                        - {apiVersion: v1, kind: B, onDeletion: Keep, of: Worker}\n";

    /// What is told, and of which field.
    fn told(change: impl FnOnce(&mut Flavor)) -> String {
        let mut flavor = read_flavor(TEXT).unwrap();
        change(&mut flavor);
        let Some(fault) = flavor.nonsense() else { return String::new() };
        let FaultPlace::Field(field) = fault.place else { panic!("{fault:?}") };
        format!("{field}: {}", fault.message)
    }

    fn step(name: &str, kind: &str, after: &[&str]) -> FlavorStep {
        let after = after.iter().map(|&a| a.into()).collect();
        FlavorStep {
            step: name.into(),
            kind: kind.into(),
            name: None,
            own: None,
            each: None,
            after,
            needs: None,
        }
    }

    #[test]
    fn a_kind_that_can_be_none_is_told() {
        assert_eq!(told(|_| ()), "");
        assert_eq!(told(|f| f.kinds.clear()), "kind: `kind` is an empty list");
        let no_kind = "`a b\n` of `v1` can be no kind of an object";
        assert_eq!(told(|f| f.objects[0].kind = "a b\n".into()), format!("objects[0]: {no_kind}"));
        assert!(told(|f| f.objects[0].api_version = "v1/".into()).contains("can be no kind"));
        let of = told(|f| f.objects[1].of = Some(FlavorKind::ManagedCluster));
        assert_eq!(of, "objects[1]: `B` is `of` what the flavor does not make");
        assert_eq!(
            told(|f| f.objects[1].kind = "A".into()),
            "objects[1]: `A` of `v1` stands twice"
        );
    }

    #[test]
    fn a_step_that_nothing_leads_to_is_told() {
        let steps = |steps: Vec<FlavorStep>| told(|flavor| flavor.readiness = steps);
        assert_eq!(steps(vec![step("s", "A", &[]), step("t", "B", &["s"])]), "");
        let after = "readiness[0].after[0]: the step `s` is after `s`, which is not before it";
        assert_eq!(steps(vec![step("s", "A", &["s"])]), after);
        let kind = "readiness[0].kind: the step `s` is of the kind `C`, which is not in `objects`";
        assert_eq!(steps(vec![step("s", "C", &[])]), kind);
        let twice = steps(vec![step("s", "A", &[]), step("s", "B", &[])]);
        assert_eq!(twice, "readiness[1].step: the step `s` stands twice");
    }

    #[test]
    fn defaults_that_cannot_be_are_told() {
        let replicas =
            |replicas| told(|f| f.control_plane = Some(ControlPlaneDefaults { replicas }));
        assert_eq!(replicas(3), "");
        assert!(replicas(2).starts_with("controlPlane.replicas: a control plane of 2 replicas"));
        let ranges = |pods: &str, services: &str| {
            told(|f| f.ranges = Some(Ranges { pods: pods.into(), services: services.into() }))
        };
        assert_eq!(ranges("10.0.0.0/16", "10.1.0.0/16"), "");
        assert!(ranges("10.0.0.0/99", "10.1.0.0/16").starts_with("ranges.pods: `10.0.0.0/99`"));
        assert!(
            ranges("10.0.0.0/8", "10.1.0.0/16")
                .starts_with("ranges.services: `10.1.0.0/16` overlaps")
        );
        let sizes = |known: &[&str]| {
            let known = known.iter().map(|&size| size.into()).collect();
            told(|f| f.sizes = Some(Sizes { default: "large".into(), known }))
        };
        assert_eq!((sizes(&[]), sizes(&["large"])), (String::new(), String::new()));
        assert_eq!(
            sizes(&["small"]),
            "sizes.default: `large` is not among the sizes that are `known`"
        );
    }

    #[test]
    fn what_has_its_state_on_the_worker_is_not_handed_over() {
        let transfers = |flavor: &mut Flavor| flavor.mobility = Mobility::Transfer;
        let message =
            "mobility: only ManagedClusters without `dataStores` are handed over: say `None`";
        assert_eq!(told(transfers), message, "it makes workers alone");
        let managed = |flavor: &mut Flavor| {
            transfers(flavor);
            flavor.kinds.push(FlavorKind::ManagedCluster);
        };
        assert_eq!(told(managed), "");
        let hosted = told(|flavor| {
            managed(flavor);
            let (namespace, components) = ("stores".to_owned(), Vec::new());
            flavor.data_stores = Some(DataStoresOnWorker { namespace, components });
        });
        assert_eq!(hosted, message);
    }

    #[test]
    fn a_component_of_which_nothing_is_known_keeps_no_version_away() {
        assert_eq!(told(|f| f.supported_by = vec!["capi".into()]), "");
        let wrong = told(|f| f.supported_by = vec!["capi".into(), "kamajj".into()]);
        assert!(wrong.starts_with("supportedBy[1]: nothing is known of the versions"), "{wrong}");
        assert!(wrong.ends_with("did you mean `kamaji`?"), "{wrong}");
    }
}
