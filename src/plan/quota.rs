//! What a tenant's quota leaves: its clusters take no more together, in all and in each location.

use std::borrow::Cow;

use super::amounts;
use super::candidate::Request;
use super::counts::Counts;
use crate::model::api::Quota;
use crate::model::{Quantity, Reason, Resources};

/// What the quota of the cluster's tenant does not leave.
pub(super) fn refusals(request: &Request<'_>, counts: &Counts<'_>) -> Vec<Reason> {
    let (Some(quota), info) = (request.quota, request.info()) else { return Vec::new() };
    let Some(usage) = counts.usage(info.tenant) else { return Vec::new() };
    let here = usage.locations.get(info.location);
    // One that moves has been granted what it takes already.
    let needed = request.leaving.map_or(Cow::Borrowed(request.demand()), |leaving| {
        Cow::Owned(amounts::beyond(request.demand(), leaving.takes))
    });
    lacking(quota, info.location, &needed, &usage.total, here)
}

/// Why a quota does not leave what is needed in a location, besides what is used in all and there.
pub(super) fn lacking(
    quota: &Quota,
    location: &str,
    needed: &Resources,
    total: &Resources,
    here: Option<&Resources>,
) -> Vec<Reason> {
    let in_all = (None, &quota.total, Some(total));
    let there = quota.locations.get(location).map(|limits| (Some(location), limits, here));
    let mut reasons = Vec::new();
    for (location, limits, used) in std::iter::once(in_all).chain(there) {
        for (resource, &limit) in limits {
            let needs = amounts::of(needed, resource);
            let used = used.map_or(Quantity::ZERO, |used| amounts::of(used, resource));
            if needs > Quantity::ZERO && used.plus(needs) > limit {
                let (location, resource) = (location.map(Into::into), resource.into());
                reasons.push(Reason::Quota { location, resource, needs, used, limit });
            }
        }
    }
    reasons
}
