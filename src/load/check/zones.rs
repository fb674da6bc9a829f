//! `zones-unavailable`: nodes cannot be made in a zone that their location does not have, and no worker
//! meets a term that asks for such a zone.

use std::collections::BTreeMap;

use super::{CheckContext, Subject};
use crate::diag::{Code, FieldPath};
use crate::load::finding::Findings;
use crate::load::kind::DocumentSpec;
use crate::model::api::{NodePool, PlacementTerm, WorkerField};
use crate::model::tables::Location;

pub(super) fn check(subject: &Subject<'_>, scene: &CheckContext<'_>, out: &mut Findings) {
    let locations = scene.catalogue.locations();
    let path = FieldPath::keys("spec.nodePools");
    match &subject.body.spec {
        DocumentSpec::Worker(w) => all(&w.node_pools, locations.get(&w.location), &path, out),
        DocumentSpec::ManagedCluster(own) => {
            let Some(resolved) = &subject.cluster else { return };
            // Pools that come from the class are shown where the class is named.
            let from_class = own.node_pools.is_empty();
            let path = if from_class { FieldPath::keys("spec.class") } else { path };
            all(&resolved.node_pools, locations.get(&own.location), &path, out);
        }
        _ => {}
    }
    for (path, term) in &subject.terms {
        let listed = term.zones.iter().enumerate();
        let listed = listed.map(|(i, zone)| (path.key("zones").index(i), zone.as_str()));
        let named = super::field_values(term, path, WorkerField::Zone);
        for (path, zone) in listed.chain(named) {
            asked(zone, term, locations, path, out);
        }
    }
}

/// A zone that a term asks for.
fn asked(
    zone: &str,
    term: &PlacementTerm,
    locations: &BTreeMap<String, Location>,
    path: FieldPath,
    out: &mut Findings,
) {
    let all = locations.values();
    let mut there = all.filter(|l| term.locations.is_empty() || term.locations.contains(&l.name));
    if there.any(|location| location.zones.iter().any(|z| z == zone)) {
        return;
    }
    let (message, help) = match term.locations.as_slice() {
        [] => (format!("no location has a zone `{zone}`"), "zones are called 1, 2 and 3"),
        _ => (
            format!("none of the term's locations has a zone `{zone}`"),
            "remove the zone, or add a location that has it",
        ),
    };
    out.add(Code::ZonesUnavailable, path, message, help);
}

fn all(pools: &[NodePool], known: Option<&Location>, path: &FieldPath, out: &mut Findings) {
    let Some(known) = known else { return };
    let location = &known.name;
    for (i, pool) in pools.iter().enumerate() {
        for (j, zone) in pool.zones.iter().enumerate().filter(|(_, z)| !known.zones.contains(z)) {
            let path = if *path == FieldPath::keys("spec.class") {
                path.clone()
            } else {
                path.index(i).key("zones").index(j)
            };
            let message = format!("{location} has no zone `{zone}`");
            let help = match known.zones.as_slice() {
                [] => format!("remove `zones`: {location} has none"),
                zones => format!("zones of {location}: {}", zones.join(", ")),
            };
            out.add(Code::ZonesUnavailable, path, message, help);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{class, cluster, finds, finds_nothing, worker};
    use super::*;

    const POOLS: &str = "nodePools: [{name: a, replicas: 1, zones: ['1']}]\n  ";

    #[test]
    fn a_zone_is_one_that_the_location_has() {
        let path = "spec.nodePools[0].zones[0]";
        finds(cluster(POOLS).replace("westeurope", "westus"), Code::ZonesUnavailable, path);
        finds(worker(POOLS).replace("westeurope", "westus"), Code::ZonesUnavailable, path);
        finds(cluster(&POOLS.replace("'1'", "'4'")), Code::ZonesUnavailable, path);
        finds_nothing(cluster(POOLS));
    }

    #[test]
    fn a_term_asks_for_zones_that_its_locations_have() {
        let own = |term: &str| {
            cluster(&format!("placement: {{affinity: {{required: [{{{term}}}]}}}}\n  "))
        };
        let path = "spec.placement.affinity.required[0]";
        let zones = format!("{path}.zones[1]");
        finds(own("zones: ['1', '7']"), Code::ZonesUnavailable, &zones);
        let westus = own("locations: [westus], zones: ['1']");
        finds(westus, Code::ZonesUnavailable, &format!("{path}.zones[0]"));
        let field = own("matchFields: [{key: zone, operator: In, values: ['7']}]");
        finds(field, Code::ZonesUnavailable, &format!("{path}.matchFields[0].values[0]"));
        finds_nothing(own("zones: ['1']"));
        finds_nothing(own("locations: [westus, westeurope], zones: ['1']"));
    }

    #[test]
    fn a_class_with_zones_needs_a_location_with_them() {
        let cluster = cluster("class: small\n  ").replace("westeurope", "westus");
        let text = format!("{}---\n{cluster}", class("small", POOLS));
        finds(text, Code::ZonesUnavailable, "spec.class");
    }
}
