//! `fleet.lock`, from the folders below `control-plane/` and what `carp.yaml` says now.

use std::collections::BTreeMap;

use super::worker::{OwnFolder, folder};
use super::{RebuildInput, no_key};
use crate::change::{Acknowledged, files_of};
use crate::model::{
    ClusterState, ControlPlaneRow, Drifted, Edit, EntryKind, FLEET_LOCK_SCHEMA, FleetLock, Id,
    Name, Owned, Pool, PoolLock, PoolWorker, Signers, StoreError, Vouching, paths,
};
use crate::pipeline::folders::{put_files, read_folder, standing_settings};
use crate::pipeline::overriding::made_worker_job;
use crate::render::{self, Files, WorkerPlace};

/// A rebuilt lock, and what of it is not as carp wrote it.
pub(super) struct RebuiltFleetLock {
    pub(super) lock: FleetLock,
    pub(super) drifted: Vec<Drifted>,
}

/// What was in force is not written anywhere else: guards, roots, tenants and signers are those of `carp.yaml`,
/// and every acknowledgement that is there counts as spent, for nobody knows which was.
pub(super) fn rebuild(ground: RebuildInput<'_>) -> Result<RebuiltFleetLock, StoreError> {
    let (workers, drifted) = rows(ground)?;
    let files = files(ground, &workers)?;
    let spec = &ground.fleet.spec;
    let lock = FleetLock {
        schema_version: FLEET_LOCK_SCHEMA,
        guards: spec.guards.unwrap_or_default(),
        roots: spec.roots.clone().unwrap_or_default(),
        tenants: spec.tenants.clone(),
        spent: Acknowledged::new(ground.fleet, None, &Vouching::default()).into_spent(),
        held: Vec::new(),
        recent: Vec::new(),
        signers: Signers::of(spec),
        render_key: no_key(),
        pools: pools(ground, &workers)?,
        workers,
        files,
    };
    Ok(RebuiltFleetLock { lock, drifted })
}

type Rows = BTreeMap<Name, ControlPlaneRow>;

/// The workers that pools made, by the Workers in the folders: those without a document of their own that
/// are in a pool that is there. The ordinals go on after the highest that is left.
fn pools(ground: RebuildInput<'_>, rows: &Rows) -> Result<BTreeMap<Name, PoolLock>, StoreError> {
    let mut pools: BTreeMap<Name, PoolLock> = BTreeMap::new();
    for (name, row) in rows.iter().filter(|(name, _)| !ground.fleet.workers.contains_key(*name)) {
        let Some(folder) = row.folder else { continue };
        let Some(place) = render::worker_place(&read_folder(ground.store, folder)?) else {
            continue;
        };
        let Some(pool) = ground.fleet.pools.get(place.pool.as_str()) else { continue };
        let Some(ordinal) = pool.ordinal_of(name, &place.location) else { continue };
        let leaving = row.state == ClusterState::Deleting;
        let lock = pools.entry(pool.name.clone()).or_default();
        lock.last = lock.last.max(ordinal);
        let (zones, location) = (zones_made(pool, &place), place.location);
        let made = PoolWorker { ordinal, location, zones, leaving, running: false };
        lock.workers.insert(name.clone(), made);
    }
    Ok(pools)
}

/// The zones that a worker of a pool was made with: those of a node pool to which the template gives none.
fn zones_made(pool: &Pool, place: &WorkerPlace) -> Vec<String> {
    let template = &pool.spec.template.spec.node_pools;
    let says = |name: &str| template.iter().any(|own| own.name == name && !own.zones.is_empty());
    let mut given = place.zones.iter().filter(|(name, zones)| !zones.is_empty() && !says(name));
    given.next().map(|(_, zones)| zones.clone()).unwrap_or_default()
}

/// A row for each folder that holds the Worker of its name.
fn rows(ground: RebuildInput<'_>) -> Result<(Rows, Vec<Drifted>), StoreError> {
    let mut rows = Rows::new();
    let mut drifted = Vec::new();
    let entry = ground.dir(paths::CONTROL_PLANE)?;
    let listing = entry.map(|entry| ground.store.dir(entry.id)).transpose()?.unwrap_or_default();
    for (name, _) in listing.iter().filter(|(_, entry)| entry.kind == EntryKind::Dir) {
        let Ok(name) = Name::parse(name) else { continue };
        let path = paths::control_plane(&name);
        let expected = expected(ground, &name);
        let Some(OwnFolder { evidence, id, files }) =
            folder(ground, &name, &path, expected.as_ref())?
        else {
            continue;
        };
        if !evidence.named {
            continue;
        }
        if !evidence.proven {
            // If the edit is to be kept, all is: a rebuilt lock that listed it would make it carp's.
            let of = Owned::ControlPlane;
            drifted.push(Drifted { of, path, edit: Edit::Changed, was: None });
        }
        let state = if evidence.deleting { ClusterState::Deleting } else { ClusterState::Bound };
        let row = ControlPlaneRow {
            state,
            deletion: None,
            render_key: no_key(),
            folder: Some(id),
            files,
        };
        rows.insert(name, row);
    }
    Ok((rows, drifted))
}

fn expected(ground: RebuildInput<'_>, name: &Name) -> Option<Files> {
    let RebuildInput { fleet, templates, prefix, .. } = ground;
    let worker = fleet.workers.get(name)?;
    made_worker_job(fleet, worker, templates, prefix)?.render().ok()
}

/// The control plane's own files that are as they would be rendered now.
fn files(ground: RebuildInput<'_>, rows: &Rows) -> Result<BTreeMap<String, Id>, StoreError> {
    let RebuildInput { fleet, templates, prefix, store, .. } = ground;
    let Some(entry) = ground.dir(paths::CONTROL_PLANE)? else { return Ok(BTreeMap::new()) };
    let folders = rows.values().filter_map(|row| row.folder);
    let settings = standing_settings(store, fleet, templates, folders)?;
    let rendered = render::control_plane_job(fleet, templates, prefix, settings).render();
    let mut expected = put_files(store, &rendered.unwrap_or_default())?;
    let index = render::control_plane_index(fleet, rows.keys(), prefix);
    expected.insert(paths::WORKERS_INDEX.to_owned(), store.put_blob(&index)?);
    let there = files_of(store, entry.id)?;
    let same = |(path, id): &(String, Id)| there.get(path).is_some_and(|entry| entry.id == *id);
    Ok(expected.into_iter().filter(same).collect())
}
