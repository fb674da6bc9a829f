//! Quota in `carp.yaml`: locations that carp knows (`unknown-location`), and no less than nothing of a
//! resource (`invalid-quantity`).

use crate::diag::suggest;
use crate::diag::{Code, FieldPath};
use crate::load::finding::Findings;
use crate::model::api::FleetSpec;
use crate::model::{Catalogue, Quantity, Resources};

/// Checks the quotas of all tenants.
pub(super) fn check(spec: &FleetSpec, out: &mut Findings) {
    for (i, tenant) in spec.tenants.iter().enumerate() {
        if let Some(bytes) = tenant.limits.as_ref().and_then(|limits| limits.bytes)
            && bytes <= Quantity::ZERO
        {
            let path = FieldPath::keys("spec.tenants").index(i).key("limits.bytes");
            let message = format!("a tenant whose files have {bytes} bytes has none");
            out.add(Code::InvalidQuantity, path, message, "write more than 0, such as 128Mi");
        }
        let Some(quota) = &tenant.quota else { continue };
        let path = FieldPath::keys("spec.tenants").index(i).key("quota");
        amounts(&quota.total, &path.key("total"), out);
        for (location, limits) in &quota.locations {
            amounts(limits, &path.key("locations").key(location), out);
        }
    }
}

/// Checks that the locations of all quotas are known, among those that the fleet has.
pub(super) fn located(spec: &FleetSpec, catalogue: &Catalogue, out: &mut Findings) {
    for (i, tenant) in spec.tenants.iter().enumerate() {
        let locations = tenant.quota.iter().flat_map(|quota| quota.locations.keys());
        for location in locations.filter(|name| !catalogue.may_be_location(name)) {
            let path = FieldPath::keys("spec.tenants").index(i).key("quota.locations");
            let known = catalogue.locations().keys().map(String::as_str);
            let help = suggest::help(location, known, "locations");
            let message = format!("`{location}` is not a location that carp knows");
            out.add_on_key(Code::UnknownLocation, path.key(location), message, help);
        }
    }
}

fn amounts(limits: &Resources, path: &FieldPath, out: &mut Findings) {
    for (resource, quantity) in limits.iter().filter(|(_, q)| q.is_negative()) {
        let message = format!("`{quantity}` of `{resource}` is less than nothing");
        out.add(Code::InvalidQuantity, path.key(resource), message, "write 0 or more");
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{CARP, files_find, load_files};
    use super::*;

    fn carp(quota: &str) -> String {
        format!("{CARP}  tenants: [{{name: shop, quota: {quota}}}]\n")
    }

    #[test]
    fn a_quota_may_be_of_a_location_of_the_fleets_own() {
        let carp = carp("{locations: {moon-1: {clusters: 1}}}");
        for (clouds, broken) in [
            ("locations: [{name: moon-1, geography: Moon}]\n", false),
            ("locations: [{name: moon-2, geography: Moon}]\n", true),
            ("locations: 1\n", false),
        ] {
            let files = [("carp.yaml", &*carp), ("templates/clouds/moon.yaml", clouds)];
            assert_eq!(load_files(&files).fleet_broken, broken, "{clouds}");
        }
    }

    #[test]
    fn a_quota_is_of_resources_in_locations() {
        let fine =
            carp("{total: {clusters: 9, memory: 8Gi}, locations: {westeurope: {clusters: 2}}}");
        assert!(load_files(&[("carp.yaml", &fine)]).diagnostics.is_empty());
        for (quota, code, path) in [
            ("{total: {clusters: -1}}", Code::InvalidQuantity, "total.clusters"),
            (
                "{locations: {westeurope: {clusters: -1}}}",
                Code::InvalidQuantity,
                "locations.westeurope.clusters",
            ),
            ("{locations: {mars: {clusters: 1}}}", Code::UnknownLocation, "locations.mars"),
            ("{total: {clusters: lots}}", Code::InvalidQuantity, "total.clusters"),
            ("{clusters: 1}", Code::UnknownField, "clusters"),
        ] {
            let path = format!("spec.tenants[0].quota.{path}");
            files_find(&[("carp.yaml", &carp(quota))], code, &path);
        }
    }
}
