//! Clusters that nobody wrote: documents like those that are there.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{Clusters, Error, SimulatedFleet};
use crate::model::api::{API_VERSION, Tenant};
use crate::model::tables::managed_versions;
use crate::model::{Fleet, KubeVersion, Name};

/// What their names begin with.
const STEM: &str = "simulated";

/// The documents of new clusters, by name; `before` of the same run have one already.
pub(super) fn documents(
    scene: &SimulatedFleet<'_>,
    clusters: &Clusters,
    before: usize,
    notes: &mut Vec<String>,
) -> Result<Vec<(Name, Value)>, Error> {
    let fleet = &scene.before.fleet;
    let tenant = tenant(fleet, clusters)?;
    let spec = spec(fleet, clusters, &tenant, notes)?;
    let labels: BTreeMap<_, _> = clusters.labels.iter().cloned().collect();
    let mut free = names(scene).skip(before);
    let document = |name: &Name| {
        json!({
            "apiVersion": API_VERSION,
            "kind": "ManagedCluster",
            "metadata": {"name": name, "namespace": tenant, "labels": labels},
            "spec": spec,
        })
    };
    let all = (0..clusters.count).filter_map(|_| free.next());
    Ok(all.map(|name| (name.clone(), document(&name))).collect())
}

/// Names that nothing has, in an order that is also theirs by letters.
fn names(scene: &SimulatedFleet<'_>) -> impl Iterator<Item = Name> {
    let (fleet, plan) = (&scene.before.fleet, &scene.before.plan);
    let taken = |name: &Name| {
        fleet.clusters.contains_key(name)
            || fleet.workers.contains_key(name)
            || plan.clusters.contains_key(name)
            || plan.workers.contains_key(name)
            || plan.retirements.contains_key(name)
    };
    let free = (1_u32..).filter_map(|n| Name::parse(&format!("{STEM}-{n:05}")).ok());
    free.filter(move |name| !taken(name))
}

/// What a new cluster says: what its class leaves open is as in most of its like.
fn spec(
    fleet: &Fleet,
    clusters: &Clusters,
    tenant: &str,
    notes: &mut Vec<String>,
) -> Result<Value, Error> {
    let class = clusters.class.as_ref();
    if let Some(class) = class.filter(|class| !fleet.classes.contains_key(*class)) {
        return Err(Error::unknown("class", class, fleet.classes.keys()));
    }
    let (location, assumed) = match &clusters.location {
        Some(location) => (location.clone(), false),
        None => (usual_location(fleet, class).ok_or(Error::NoLocation)?, true),
    };
    let of = class.map_or_else(String::new, |class| format!(" of class {class}"));
    if assumed && fleet.clusters.values().any(|cluster| cluster.spec.location != location) {
        notes.push(format!("new clusters{of} are taken to be in {location}, where most are"));
    }
    let mut spec = json!({"version": usual_version(fleet), "location": location});
    if let Some(class) = class {
        spec["class"] = json!(class);
    }
    if let Some(credentials) = credentials(fleet, class, tenant) {
        spec["credentials"] = json!(credentials);
    }
    Ok(spec)
}

/// The tenant of new clusters: the first that may use what their class names.
fn tenant(fleet: &Fleet, clusters: &Clusters) -> Result<String, Error> {
    let tenants = &fleet.spec.tenants;
    match &clusters.tenant {
        Some(tenant) if !tenants.is_empty() && fleet.tenant(tenant).is_none() => {
            Err(Error::unknown("tenant", tenant, tenants.iter().map(|t| &t.name)))
        }
        Some(tenant) => Ok(tenant.clone()),
        None => {
            let class = clusters.class.as_ref().and_then(|class| fleet.classes.get(class));
            let named = class.and_then(|class| class.value.credentials.as_ref());
            let may = |tenant: &&Tenant| named.is_none_or(|named| tenant.may_use(named));
            let first = tenants.iter().find(may).or(tenants.first());
            Ok(first.map_or_else(|| "default".to_owned(), |tenant| tenant.name.clone()))
        }
    }
}

/// The location of most clusters of the class, else of most clusters, else of the first worker.
fn usual_location(fleet: &Fleet, class: Option<&Name>) -> Option<String> {
    let all = || fleet.clusters.values();
    let alike = all().filter(|cluster| cluster.spec.class.as_deref() == class.map(Name::as_str));
    let first = || fleet.workers.values().next().map(|worker| worker.spec.location.clone());
    let most = most(alike.map(|cluster| cluster.spec.location.as_str()));
    most.or_else(|| self::most(all().map(|c| c.spec.location.as_str()))).or_else(first)
}

/// The version of most clusters, else the newest that is supported.
fn usual_version(fleet: &Fleet) -> String {
    let versions = fleet.clusters.values().map(|cluster| cluster.spec.version.as_str());
    most(versions).unwrap_or_else(|| newest().to_string())
}

fn newest() -> KubeVersion {
    managed_versions().max
}

/// What comes most often, and of those the first by letters.
fn most<'a>(all: impl Iterator<Item = &'a str>) -> Option<String> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    all.for_each(|one| *counts.entry(one).or_default() += 1);
    counts
        .into_iter()
        .min_by_key(|(one, count)| (Reverse(*count), *one))
        .map(|(one, _)| one.to_owned())
}

/// Credentials, where nobody else names any and there are several: which ones makes no difference to where
/// a cluster goes.
fn credentials(fleet: &Fleet, class: Option<&Name>, tenant: &str) -> Option<String> {
    let class = class.and_then(|class| fleet.classes.get(class));
    let tenant = fleet.tenant(tenant);
    let by_class = class.is_some_and(|class| class.value.credentials.is_some());
    let by_tenant = tenant.is_some_and(|tenant| tenant.default_credentials().is_some());
    let first = fleet.spec.credentials.first().filter(|_| fleet.spec.credentials.len() > 1);
    first.filter(|_| !by_class && !by_tenant).map(|credentials| credentials.name.clone())
}
