//! Documents to the fleet: the rules run, classes and overlays applied, what failed left out.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::alike::ResolvedSpecs;
use super::body::Body;
use super::broken_override;
use super::built_in;
use super::check::taken::NameHolders;
use super::check::{self, CheckContext, not_for_tenants};
use super::drop_invalid;
use super::finding::{DocumentSource, Findings};
use super::folders::Folders;
use super::item::Item;
use super::kind::{DocumentSpec, Kind};
use super::names::HeldNames;
use super::resolve;
use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::model::api::{
    FleetSpec, ManagedClusterSpec, WorkerOverlaySpec, WorkerPoolSpec, WorkerSpec,
};
use crate::model::{
    Catalogue, Cluster, Fleet, Name, Override, Policy, Pool, PoolLock, Previous, Resources,
    Sourced, Unloaded, Worker, packed, worker_facts,
};

/// Makes the fleet of what was read. `spec` is `None` where `carp.yaml` did not load: then what does
/// not need it is still checked.
pub(super) fn assemble(
    spec: Option<&FleetSpec>,
    catalogue: Catalogue,
    items: Vec<Item>,
    unloaded: Vec<Unloaded>,
    previous: &Previous,
) -> (Fleet, Diagnostics) {
    let (fleet, mut diagnostics) =
        assemble_part(spec, catalogue, (items, CheckedItems::Every), unloaded, previous);
    diagnostics.extend(on_the_whole(&fleet));
    (fleet, once(diagnostics))
}

/// Which documents the rules look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckedItems {
    /// Every one.
    Every,
    /// Those that are not remembered: the others were looked at beside the same `carp.yaml`, templates and definitions, and
    /// nothing was found.
    Changed,
}

impl CheckedItems {
    fn has(self, item: &Item) -> bool {
        self == Self::Every || !item.is_remembered
    }
}

/// Assembles a part of the documents, of which nothing is asked that only all of them can answer.
pub(super) fn assemble_part(
    spec: Option<&FleetSpec>,
    catalogue: Catalogue,
    (mut items, checked): (Vec<Item>, CheckedItems),
    unloaded: Vec<Unloaded>,
    previous: &Previous,
) -> (Fleet, Diagnostics) {
    let (folders, names) = (Folders::of(spec).beside(previous), HeldNames::of(previous));
    let strays = not_for_tenants::set_apart(&mut items, &folders);
    let unloaded: Vec<_> = unloaded.into_iter().map(|whole| folders.whose(whole)).collect();
    let tenants = spec.map(|spec| spec.tenants.as_slice()).unwrap_or_default();
    let ground = NameHolders { folders: &folders, names: &names, unloaded: &unloaded, tenants };
    let mut left_out = check::taken::check(&mut items, &ground);
    left_out.extend(check::duplicate::check(&mut items, &left_out, &names));
    left_out.sort_unstable();
    let scene = run_rules(spec, &catalogue, (&mut items, checked), names);
    let mut assembly = Assembly {
        fleet: Fleet {
            spec: spec.cloned().unwrap_or_default(),
            // A policy of the fleet takes the place of a built-in one of its name.
            policies: built_in::policies(),
            broken_overrides: broken_override::of_files(spec, &unloaded),
            networks_apart: catalogue.networks_apart(),
            transfers: catalogue.transfers(),
            catalogue,
            unloaded,
            ..Fleet::default()
        },
        scene,
        folders: folders.clone(),
        overlays: BTreeMap::new(),
        withheld: BTreeSet::new(),
        demands: BTreeMap::new(),
        resolved_clusters: ResolvedSpecs::default(),
        resolved_workers: ResolvedSpecs::default(),
    };
    let mut diagnostics = Diagnostics::default();
    let mut bodies = Vec::with_capacity(items.len());
    let own = items.into_iter().enumerate();
    let own = own.map(|(at, item)| (left_out.binary_search(&at).is_ok(), item));
    for (left_out, item) in strays.into_iter().map(|stray| (true, stray)).chain(own) {
        let failed = left_out || item.findings.has_errors();
        if failed && folders.is_platforms(&item) {
            assembly.fleet.broken_overrides.extend(broken_override::of(&item));
        }
        let Findings { source, list } = item.findings;
        diagnostics.extend(list);
        match item.body.filter(|_| !failed) {
            Some(body) => bodies.push((source, body)),
            None => assembly.leave_out(source, item.kind, item.name, item.steers_placement),
        }
    }
    assembly.overlays(&mut bodies);
    for (source, body) in bodies {
        assembly.place(source, body);
    }
    assembly.made(previous.pools());
    let mut fleet = assembly.fleet;
    fleet.clusters = packed(fleet.clusters);
    fleet.unloaded.sort();
    (fleet, diagnostics)
}

/// Runs the rules, those on classes first, because a cluster needs its class.
fn run_rules<'a>(
    spec: Option<&'a FleetSpec>,
    catalogue: &Catalogue,
    (items, checked): (&mut [Item], CheckedItems),
    held: HeldNames<'a>,
) -> CheckContext<'a> {
    let names = |kind: Kind| -> BTreeSet<String> {
        // A slip of the pen in a kind is told where it is, and not of all that needs the document as well.
        let of_kind =
            items.iter().filter(|i| i.kind.as_deref().and_then(Kind::meant) == Some(kind));
        of_kind.filter_map(|i| i.name.clone()).collect()
    };
    let made = held.pools().flat_map(|(pool, lock)| {
        lock.workers.keys().map(move |worker| (worker.to_string(), pool.to_string()))
    });
    let made: BTreeMap<String, String> = made.collect();
    let mut worker_names = names(Kind::Worker);
    worker_names.extend(made.keys().cloned());
    let mut scene = CheckContext {
        fleet: spec,
        catalogue: catalogue.clone(),
        class_names: names(Kind::ManagedClusterClass),
        worker_names,
        made,
        held,
        ..CheckContext::default()
    };
    let is_class = |item: &Item| item.kind.as_deref() == Some(Kind::ManagedClusterClass.name());
    for item in items.iter_mut().filter(|i| is_class(i)) {
        rules(item, checked, &scene);
        if let Some(Body { name, spec: DocumentSpec::ManagedClusterClass(class), .. }) = &item.body
            && !item.findings.has_errors()
        {
            scene.classes.insert(name.clone(), (**class).clone());
        }
    }
    for item in items.iter_mut().filter(|i| !is_class(i)) {
        rules(item, checked, &scene);
    }
    scene
}

/// Whoever is not looked at has nothing to be found, which a debug build looks for all the same.
fn rules(item: &mut Item, checked: CheckedItems, scene: &CheckContext<'_>) {
    let is_checked = checked.has(item);
    if !is_checked && !cfg!(debug_assertions) {
        return;
    }
    if let Some(body) = &item.body {
        let structural = item.findings.list.len();
        check::run(body, scene, &mut item.findings);
        drop_invalid::without_echoes(&mut item.findings, structural);
        debug_assert!(is_checked || item.findings.list.is_empty(), "{:?}", item.findings);
    }
}

/// The rules on the fleet as it loaded.
fn on_the_whole(fleet: &Fleet) -> Diagnostics {
    let mut found = Diagnostics::default();
    check::tie::check(fleet, &mut found);
    check::pool::check(fleet, &mut found);
    check::no_domain::check(fleet, &mut found);
    check::override_order::check(fleet, &mut found);
    check::identity_full::check(fleet, &mut found);
    found
}

/// A finding on `carp.yaml` that many documents have in common comes once.
fn once(diagnostics: Diagnostics) -> Diagnostics {
    let mut seen = BTreeSet::new();
    let shared = |d: &Diagnostic| d.code == Code::PlaceholderCredential;
    let new = |d: &Diagnostic| !shared(d) || seen.insert((d.place.clone(), d.message.clone()));
    diagnostics.into_iter().filter(new).collect()
}

struct Assembly<'a> {
    fleet: Fleet,
    scene: CheckContext<'a>,
    folders: Folders<'a>,
    overlays: BTreeMap<String, WorkerOverlaySpec>,
    /// Workers whose overlay did not load: without it a cordon would be lifted.
    withheld: BTreeSet<String>,
    /// What clusters take, by their class: all of one have one map.
    demands: BTreeMap<Option<String>, Resources>,
    /// What became of the specs of clusters and workers.
    resolved_clusters: ResolvedSpecs<ManagedClusterSpec>,
    resolved_workers: ResolvedSpecs<WorkerSpec>,
}

impl Assembly<'_> {
    fn leave_out(
        &mut self,
        source: DocumentSource,
        kind: Option<String>,
        name: Option<String>,
        blocks_placements: bool,
    ) {
        let (file, document) = (source.file.to_string(), Some(source.document));
        let tenants = Vec::new();
        // A kind that carp does not know may be any, unless it is a slip of the pen for one that it knows.
        let kind = kind.as_deref().and_then(Kind::meant).map(|kind| kind.name().to_owned());
        // An overlay whose name is none may be any worker's.
        let overlay = kind.as_deref() == Some(Kind::WorkerOverlay.name());
        let name = name.filter(|name| !overlay || Name::parse(name).is_ok());
        let unloaded = Unloaded { file, document, kind, name, blocks_placements, tenants };
        let unloaded = self.folders.whose(unloaded);
        if unloaded.kind.as_deref() == Some(Kind::WorkerOverlay.name()) {
            self.withheld.extend(unloaded.name.clone());
        }
        if unloaded.kind.as_deref() == Some(Kind::ManagedClusterClass.name())
            && let Some(name) = &unloaded.name
        {
            self.scene.classes.remove(name);
        }
        self.fleet.unloaded.push(unloaded);
    }

    fn overlays(&mut self, bodies: &mut Vec<(DocumentSource, Body)>) {
        bodies.retain_mut(|(source, body)| match &mut body.spec {
            DocumentSpec::WorkerOverlay(overlay) => {
                let value: WorkerOverlaySpec = std::mem::take(overlay);
                self.overlays.insert(body.name.clone(), value.clone());
                if let Ok(name) = Name::parse(&body.name) {
                    let (file, document) = (source.file.to_string(), source.document);
                    self.fleet.overlays.insert(name, Sourced { file, document, value });
                }
                false
            }
            _ => true,
        });
    }

    fn place(&mut self, source: DocumentSource, body: Body) {
        // The rule `invalid-name` has looked at it.
        let Ok(name) = Name::parse(&body.name) else { return };
        let (file, document) = (source.file.to_string(), source.document);
        match body.spec {
            DocumentSpec::ManagedCluster(_) => self.cluster(name, file, document, body),
            DocumentSpec::Worker(_) => self.worker(name, source, body),
            DocumentSpec::ManagedClusterClass(class) => {
                self.fleet.classes.insert(name, Sourced { file, document, value: *class });
            }
            DocumentSpec::PlacementPolicy(spec) => {
                let (file, by_tenant) = (Some(file), self.fleet.spec.sets_tenants_apart());
                let policy = Policy { name: name.clone(), file, document, spec: *spec, by_tenant };
                self.fleet.policies.insert(name, policy);
            }
            DocumentSpec::Acknowledgement(value) => {
                let sourced = Sourced { file, document, value };
                self.fleet.acknowledgements.insert(name, sourced);
            }
            DocumentSpec::WorkerPool(spec) => self.pool(name, file, document, *spec),
            DocumentSpec::OverridePolicy(spec) => {
                let policy = Override::new(name.clone(), file, document, *spec);
                self.fleet.overrides.insert(name, Arc::new(policy));
            }
            DocumentSpec::Fleet(_)
            | DocumentSpec::WorkerOverlay(_)
            | DocumentSpec::PlacementPolicyTest(_) => {}
        }
    }

    fn pool(&mut self, name: Name, file: String, document: usize, mut spec: WorkerPoolSpec) {
        let default = resolve::DEFAULT_HEARTBEAT;
        let seconds =
            |text: &Option<String>| text.as_deref().and_then(resolve::seconds).unwrap_or(default);
        resolve::worker(&mut spec.template.spec, &self.fleet.spec, &self.fleet.catalogue);
        let pool = Pool {
            name: name.clone(),
            file,
            document,
            heartbeat_timeout_seconds: heartbeat(&spec.template.spec),
            provision_timeout_seconds: seconds(&spec.provision_timeout),
            cool_down_seconds: seconds(&spec.cool_down),
            spec,
            catalogue: self.fleet.catalogue.clone(),
        };
        self.fleet.pools.insert(name, pool);
    }

    /// The workers that pools made and that no document takes over, with their overlays.
    fn made(&mut self, pools: &BTreeMap<Name, PoolLock>) {
        let documents = std::mem::take(&mut self.fleet.unloaded);
        let broken = |name: &Name| {
            let is = |kind: &Option<String>| kind.as_deref() == Some(Kind::Worker.name());
            documents.iter().any(|u| u.name.as_deref() == Some(name) && is(&u.kind))
        };
        let mut withheld = Vec::new();
        for (pool, lock) in pools {
            let Some(pool) = self.fleet.pools.get(pool) else { continue };
            for (name, made) in &lock.workers {
                let taken_over = self.fleet.workers.contains_key(name) || broken(name);
                if taken_over || made.leaving {
                    continue;
                }
                let mut worker = pool.worker(name, made);
                if self.withheld.contains(name.as_str()) {
                    withheld.push(Unloaded {
                        file: pool.file.clone(),
                        document: Some(pool.document),
                        kind: Some(Kind::Worker.name().to_owned()),
                        name: Some(name.to_string()),
                        blocks_placements: false,
                        tenants: Vec::new(),
                    });
                    continue;
                }
                if let Some(overlay) = self.overlays.get(name.as_str()) {
                    worker.spec = resolve::overlaid(&worker.spec, overlay).into();
                    worker.facts = worker_facts(&worker);
                }
                self.fleet.workers.insert(name.clone(), worker);
            }
        }
        self.fleet.unloaded = documents;
        self.fleet.unloaded.extend(withheld);
    }

    fn cluster(&mut self, name: Name, file: String, document: usize, body: Body) {
        let (tenant, scene) = (body.tenant().to_owned(), &self.scene);
        let Body { labels, spec: DocumentSpec::ManagedCluster(spec), digest, .. } = body else {
            return;
        };
        let resolve = |spec: &mut ManagedClusterSpec| scene.resolve(spec, &tenant);
        let spec = self.resolved_clusters.of(spec, &tenant, resolve);
        let class = spec.class.as_ref().and_then(|c| self.scene.classes.get(c));
        let demand =
            self.demands.entry(spec.class.clone()).or_insert_with(|| resolve::demand(class));
        let cluster = Cluster {
            name: name.clone(),
            tenant,
            demand: demand.clone(),
            catalogue: self.fleet.catalogue.clone(),
            labels,
            facts: digest,
            file,
            document,
            spec,
        };
        self.fleet.clusters.insert(name, cluster);
    }

    fn worker(&mut self, name: Name, source: DocumentSource, mut body: Body) {
        if self.withheld.contains(name.as_str()) {
            let kind = body.spec.kind().name().to_owned();
            self.leave_out(source, Some(kind), Some(body.name), false);
            return;
        }
        if let (DocumentSpec::Worker(spec), Some(overlay)) =
            (&mut body.spec, self.overlays.get(name.as_str()))
        {
            *spec = resolve::overlaid(spec, overlay).into();
            body.digest = body.canonical_digest();
        }
        let Body { labels, spec: DocumentSpec::Worker(spec), digest, .. } = body else { return };
        let Fleet { spec: fleet, catalogue, .. } = &self.fleet;
        let resolve = |spec: &mut WorkerSpec| resolve::worker(spec, fleet, catalogue);
        let resolved = self.resolved_workers.of(spec, "", resolve);
        let worker = Worker {
            name: name.clone(),
            facts: digest,
            heartbeat_timeout_seconds: heartbeat(&resolved),
            labels,
            file: source.file.to_string(),
            document: source.document,
            spec: resolved,
            made_by: None,
            catalogue: self.fleet.catalogue.clone(),
        };
        self.fleet.workers.insert(name, worker);
    }
}

fn heartbeat(worker: &WorkerSpec) -> i64 {
    let named = worker.heartbeat_timeout.as_deref().and_then(resolve::seconds);
    named.unwrap_or(resolve::DEFAULT_HEARTBEAT)
}
