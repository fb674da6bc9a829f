//! `unsupported-access`: a flavor says what it can do of `access` (`access` in its manifest): what is not done must
//! not look as if it were. Ranges are CIDRs (`invalid-network`).

use super::{CheckContext, Subject};
use crate::diag::{Code, FieldPath};
use crate::load::finding::Findings;
use crate::load::kind::DocumentSpec;
use crate::model::api::{ClusterAccess, EndpointAccess};
use crate::model::{AccessFeature, Cidr};

pub(super) fn check(subject: &Subject<'_>, scene: &CheckContext<'_>, out: &mut Findings) {
    let (own, resolved) = match &subject.body.spec {
        DocumentSpec::ManagedCluster(own) => {
            (own.access.as_ref(), subject.cluster.as_ref().and_then(|c| c.access.as_ref()))
        }
        DocumentSpec::ManagedClusterClass(class) => (class.access.as_ref(), class.access.as_ref()),
        _ => return,
    };
    if let Some(own) = own {
        ranges(own, out);
    }
    let (Some(access), Some(name)) = (resolved, subject.flavor()) else { return };
    let Some(flavor) = subject.manifest(scene) else { return };
    let private = access.endpoint == Some(EndpointAccess::Private);
    let own_endpoint = own.is_some_and(|own| own.endpoint.is_some());
    let own_ranges = own.is_some_and(|own| !own.allowed_cidrs.is_empty());
    for (wanted, feature, field, is_own, what) in [
        (private, AccessFeature::Private, "endpoint", own_endpoint, "make API servers private"),
        (
            !access.allowed_cidrs.is_empty(),
            AccessFeature::AllowedCIDRs,
            "allowedCIDRs",
            own_ranges,
            "keep API servers to ranges of addresses",
        ),
    ] {
        if wanted && !flavor.access.contains(&feature) {
            let own = FieldPath::keys("spec.access").key(field);
            let path = if is_own { own } else { FieldPath::keys("spec.class") };
            let message = format!("the flavor `{name}` cannot {what}");
            let can =
                scene.catalogue.flavors().filter(|(_, other)| other.access.contains(&feature));
            let can: Vec<_> = can.map(|(name, _)| name).collect();
            let help = match can.as_slice() {
                [] => "remove it: no flavor can".to_owned(),
                can => format!("remove it, or take a flavor that can: {}", can.join(", ")),
            };
            out.add(Code::UnsupportedAccess, path, message, help);
        }
    }
}

fn ranges(access: &ClusterAccess, out: &mut Findings) {
    for (i, text) in access.allowed_cidrs.iter().enumerate() {
        if Cidr::parse(text).is_none() {
            let path = FieldPath::keys("spec.access.allowedCIDRs").index(i);
            let message = format!("`{text}` is not a range of addresses");
            let help = "write it as a CIDR, such as 192.0.2.0/24";
            out.add(Code::InvalidNetwork, path, message, help);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{class, cluster, files_find, finds, finds_nothing, loads};
    use super::*;

    #[test]
    fn a_flavor_does_what_it_says_that_it_can() {
        let access = "access: {endpoint: Private, allowedCIDRs: [192.0.2.0/24]}\n  ";
        finds_nothing(cluster(access));
        let text = cluster(&format!("flavor: kind\n  {access}"));
        let found = finds(&text, Code::UnsupportedAccess, "spec.access.endpoint");
        assert_eq!(
            found.help.as_deref(),
            Some("remove it, or take a flavor that can: aks, kamaji-capz")
        );
        finds(&text, Code::UnsupportedAccess, "spec.access.allowedCIDRs");
        finds_nothing(cluster("flavor: kind\n  access: {endpoint: Public}\n  "));
        finds(
            cluster("access: {allowedCIDRs: [192.0.2.0/24, anywhere]}\n  "),
            Code::InvalidNetwork,
            "spec.access.allowedCIDRs[1]",
        );
    }

    #[test]
    fn a_class_says_it_field_by_field() {
        let class = class("small", "access: {endpoint: Private, allowedCIDRs: [192.0.2.0/24]}\n  ");
        let own = "class: small\n  access: {allowedCIDRs: [198.51.100.0/24]}\n  ";
        let both = loads(format!("{class}---\n{}", cluster(own)));
        let access = both.clusters["pay-eu"].spec.access.clone().unwrap();
        assert_eq!(access.endpoint, Some(EndpointAccess::Private));
        assert_eq!(access.allowed_cidrs, ["198.51.100.0/24"]);
        let other = format!("{class}---\n{}", cluster("class: small\n  flavor: kind\n  "));
        files_find(&[("fleet/x.yaml", &*other)], Code::UnsupportedAccess, "spec.class");
    }
}
