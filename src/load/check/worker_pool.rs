//! `invalid-pool`: what a WorkerPool says of itself cannot be; and every rule for a Worker, on each worker
//! that the pool would make.

use super::{CheckContext, Subject};
use crate::diag::{Code, FieldPath, Step};
use crate::load::body::Body;
use crate::load::finding::Findings;
use crate::load::kind::DocumentSpec;
use crate::load::resolve::seconds;
use crate::model::api::WorkerPoolSpec;
use crate::model::{Nodes, pool_locations, worker_name};

/// An ordinal that no pool outlives: a name with it must be one.
const LONGEST_ORDINAL: u64 = 9999;

pub(super) fn check(subject: &Subject<'_>, scene: &CheckContext<'_>, out: &mut Findings) {
    let DocumentSpec::WorkerPool(pool) = &subject.body.spec else { return };
    own(&subject.body.name, pool, scene, out);
    for location in pool_locations(pool) {
        as_worker(subject.body, pool, location, scene, out);
    }
}

/// The fields of the pool itself.
fn own(name: &str, pool: &WorkerPoolSpec, scene: &CheckContext<'_>, out: &mut Findings) {
    let spec = FieldPath::keys("spec");
    let template = FieldPath::keys("spec.template.spec");
    let worker = &pool.template.spec;
    if pool.min > pool.max {
        let message = format!("`min` is {} and `max` is {}", pool.min, pool.max);
        out.add(Code::InvalidPool, spec.key("min"), message, "write a `min` of at most `max`");
    }
    if let Some(pattern) = pool.name_pattern.as_deref()
        && pattern.matches("{ordinal}").count() != 1
    {
        let message = format!("`{pattern}` does not have `{{ordinal}}` once");
        let help = format!("write a pattern such as `{name}-{{ordinal}}`");
        out.add(Code::InvalidPool, spec.key("namePattern"), message, help);
    }
    for (field, text) in
        [("provisionTimeout", &pool.provision_timeout), ("coolDown", &pool.cool_down)]
    {
        if let Some(text) = text.as_deref().filter(|text| seconds(text).is_none()) {
            let message = format!("`{text}` is not a duration");
            let help = "write hours, minutes and seconds, such as 1h, 90m or 1h30m";
            out.add(Code::InvalidValue, spec.key(field), message, help);
        }
    }
    if worker.pool.as_deref().is_some_and(|pool| pool != name) {
        let message = format!("the workers of the WorkerPool `{name}` are in the pool `{name}`");
        out.add(Code::InvalidPool, template.key("pool"), message, "remove the line");
    }
    let flavor = worker.flavor.as_deref().and_then(|name| scene.catalogue.flavor(name));
    if flavor.is_some_and(|flavor| flavor.nodes == Nodes::Existing) {
        let message = "carp makes the workers of a pool, and an attached one exists already";
        out.add(Code::InvalidPool, template.key("flavor"), message, "take another flavor");
    }
    if worker.worker_uid.is_some() {
        let message = "one identity cannot be that of each worker of a pool";
        out.add(Code::InvalidPool, template.key("workerUID"), message, "remove the line");
    }
    if !pool_locations(pool).contains(&worker.location.as_str()) {
        let message = format!("`{}` is not among the pool's `locations`", worker.location);
        let help = "write one of them, or add it to the list";
        out.add(Code::InvalidPool, template.key("location"), message, help);
    }
}

/// The rules for a Worker, on one that the pool would make. What they find is shown where the pool says
/// it, once for all its workers.
fn as_worker(
    body: &Body,
    pool: &WorkerPoolSpec,
    location: &str,
    scene: &CheckContext<'_>,
    out: &mut Findings,
) {
    let mut worker = pool.template.spec.clone();
    location.clone_into(&mut worker.location);
    let worker = Body {
        name: worker_name(&body.name, pool, LONGEST_ORDINAL, location),
        labels: pool.template.metadata.labels.clone().into(),
        annotations: std::collections::BTreeMap::new(),
        spec: DocumentSpec::Worker(worker.into()),
        ..body.clone()
    };
    let mut found = Findings::of(out.source.clone());
    super::run(&worker, scene, &mut found);
    for mut finding in found.list {
        // What is wrong in `carp.yaml` is shown there.
        let own = finding.place.as_mut().filter(|place| *place.file == *out.source.file);
        if let Some(field) = own.and_then(|place| place.field.as_mut()) {
            *field = in_pool(field, pool, location);
        }
        let known = |d: &crate::diag::Diagnostic| {
            d.code == finding.code
                && d.place.as_ref().map(|p| &p.field) == finding.place.as_ref().map(|p| &p.field)
        };
        if !out.list.iter().any(known) {
            out.list.push(finding);
        }
    }
}

/// Where a pool says what a path of its workers' documents speaks of.
fn in_pool(field: &FieldPath, pool: &WorkerPoolSpec, location: &str) -> FieldPath {
    let at = |text: &'static str| *field == FieldPath::keys(text);
    if at("metadata.name") {
        return FieldPath::keys("spec.namePattern");
    }
    if at("spec.location")
        && let Some(index) = pool.locations.iter().position(|one| one == location)
    {
        return FieldPath::keys("spec.locations").index(index);
    }
    match field.0.first() {
        Some(Step::Key(key)) if key == "spec" || key == "metadata" => {
            let mut path = FieldPath::keys("spec.template");
            path.0.extend(field.0.iter().cloned());
            path
        }
        _ => field.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{finds, finds_nothing, loads};
    use super::*;

    fn pool(own: &str, template: &str) -> String {
        format!(
            "apiVersion: carp.dev/v1alpha1\nkind: WorkerPool\nmetadata:\n  name: eu\nspec:\n  {own}max: \
             3\n  template:\n    spec:\n      {template}version: v1.34.2\n      location: westeurope\n"
        )
    }

    #[test]
    fn a_pool_says_what_can_be() {
        let loaded = loads(pool("locations: [westeurope, northeurope]\n  ", "capacity: 5\n      "));
        let loaded = &loaded.pools["eu"];
        assert_eq!(loaded.locations(), ["westeurope", "northeurope"]);
        assert_eq!(loaded.spec.template.spec.flavor.as_deref(), Some("capz"));
        assert_eq!(loaded.spec.template.spec.credentials.as_deref(), Some("main"));
        assert_eq!(loaded.name_of(7, "westeurope").unwrap().as_str(), "eu-7");
        for (own, field) in [
            ("min: 4\n  ", "spec.min"),
            ("namePattern: eu\n  ", "spec.namePattern"),
            ("namePattern: \"{ordinal}-{ordinal}\"\n  ", "spec.namePattern"),
            ("locations: [northeurope]\n  ", "spec.template.spec.location"),
        ] {
            finds(pool(own, ""), Code::InvalidPool, field);
        }
        finds(pool("coolDown: 0s\n  ", ""), Code::InvalidValue, "spec.coolDown");
        for (template, field) in [
            ("flavor: attached\n      ", "spec.template.spec.flavor"),
            ("pool: us\n      ", "spec.template.spec.pool"),
            ("workerUID: x\n      ", "spec.template.spec.workerUID"),
        ] {
            finds(pool("", template), Code::InvalidPool, field);
        }
        finds_nothing(pool("", "pool: eu\n      "));
    }

    #[test]
    fn the_rules_for_a_worker_hold_for_each_that_the_pool_would_make() {
        let below = pool("", "capacity: 5\n      ceiling: 4\n      ");
        finds(below, Code::InvalidCeiling, "spec.template.spec.ceiling.clusters");
        let unknown = pool("locations: [westeurope, atlantis]\n  ", "");
        finds(unknown, Code::UnknownLocation, "spec.locations[1]");
        let long = format!("namePattern: {}-{{ordinal}}\n  ", "x".repeat(36));
        finds(pool(&long, ""), Code::InvalidName, "spec.namePattern");
        finds(
            pool("", "replicas: 1001\n      "),
            Code::InvalidValue,
            "spec.template.spec.nodePools[0].replicas",
        );
    }
}
