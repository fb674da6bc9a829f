//! What a run leaves standing, so that the next one looks only at what changed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::read::root_of;
use super::status::FLEET_DOCUMENT;
use crate::change::{self, Acknowledged, Pressure};
use crate::load::SpecOfTenant;
use crate::model::api::{AntiAffinity, Expression, LabelSelector, SpreadConstraint};
use crate::model::{
    BASELINE_FORMAT, Baseline, ClusterPlan, Decision, Digest, DocumentGrowth, DocumentName, Fact,
    FactFile, Fleet, Gate, GoneCluster, Hold, HoldKind, Id, Kept, KnownDocuments, KnownFact, Memo,
    Name, PENDING_SCHEMA, PendingLock, Plan, Proposal, QueuedCluster, Snapshot, Store, StoreError,
    WaitingQueue, WorkerPlan, WorkerState, paths,
};
use crate::plan;

/// What stands after a run that looked at everything, with what decisions about single clusters read besides
/// their own documents: where those stand, and what `memo` knows of the policies. `None` after a run that
/// changed something, or found something of others on a branch of carp: what was not seen to stand is looked at again. `reports` tells the
/// reports that the run was given from any others. Nothing is verified yet.
///
/// # Errors
/// The store failed.
pub fn baseline(
    snapshot: &Snapshot,
    reports: Digest,
    proposal: &Proposal,
    store: &dyn Store,
    memo: &Memo,
) -> Result<Option<(Baseline, KnownDocuments)>, StoreError> {
    if !stands(snapshot, proposal) {
        return Ok(None);
    }
    let fleet = &proposal.fleet;
    let gone = gone(proposal);
    let baseline = Baseline {
        format: BASELINE_FORMAT,
        build: snapshot.build.version.clone(),
        prefix: snapshot.input.prefix.clone(),
        input: snapshot.input.tree,
        output: output_entries(snapshot, store, proposal.tree)?,
        status: status_entries(snapshot, store, proposal.status_tree)?,
        reports,
        from: snapshot.now,
        until: proposal.valid_until,
        unsettled: BTreeMap::new(),
        label_keys: label_keys(fleet),
        narrowed: narrowed(fleet),
        in_order: is_served_in_order(proposal),
        counts: proposal.counts.clone(),
        reported: proposal.reported,
        refused: proposal.observed.refused.clone(),
        busy: busy(&proposal.plan, &proposal.gates, &gone),
        quiet: is_quiet(proposal, &gone),
        placed: false,
        acknowledged: is_acknowledged(snapshot, proposal),
        spent: !change::leftover(fleet, proposal.previous.fleet.as_ref()).is_empty(),
        gone,
        standing: BTreeMap::new(),
        waiting: BTreeMap::new(),
        room: fleet.room,
        growth: DocumentGrowth::default(),
        findings: proposal.diagnostics.iter().cloned().collect(),
        unloaded: fleet.unloaded.clone(),
        verified: None,
        holds: proposal.plan.holds.clone(),
        gates: proposal.gates.clone(),
    };
    let clusters = fleet.clusters.iter().map(|(name, c)| (name.clone(), c.file.clone())).collect();
    let standing = plan::standing(&proposal.plan, &proposal.previous, &memo.counted).map(Arc::new);
    let (facts, waiting) = (facts(memo), waiting(memo, &proposal.plan));
    let known = pending(snapshot, proposal, store)?;
    let queue = known.map(|(id, lock)| (id, queue(lock, &waiting, (fleet, &baseline.label_keys))));
    let pending = known.map(|(id, lock)| (id, lock.reasons()));
    let files = files(fleet);
    let documents = KnownDocuments { files, clusters, facts, waiting, standing, pending, queue };
    Ok(Some((baseline, documents)))
}

/// How much a baseline may have to tell. Where more is wrong, everything is looked at.
const MOST_TOLD: usize = 200;

/// The clusters that narrow where they are spread; `None` where nothing is spread by a rule that refuses.
fn narrowed(fleet: &Fleet) -> Option<BTreeSet<Name>> {
    let of_policies = fleet.policies.values().flat_map(|policy| &policy.spec.spread);
    let own = fleet.clusters.values().flat_map(|cluster| cluster.spec.own_spread());
    let refuses = of_policies.chain(own).any(|rule| rule.when_unsatisfiable.refuses());
    let narrowed = fleet.clusters.values().filter(|cluster| cluster.spec.narrows());
    refuses.then(|| narrowed.map(|cluster| cluster.name.clone()).collect())
}

/// Whether a run found everything as the run before it left it.
fn stands(snapshot: &Snapshot, proposal: &Proposal) -> bool {
    let (plan, survey) = (&proposal.plan, &proposal.survey);
    let nothing_to_do = !proposal.stopped
        && !proposal.has_changes()
        && snapshot.status == Some(proposal.status_tree)
        && snapshot.input.rewound_from.is_none();
    let nobody_elses = survey.drifted.is_empty()
        && survey.foreign.is_empty()
        && proposal.previous.damaged.is_empty()
        && proposal.previous.kept == Kept::default();
    let told = proposal.diagnostics.iter().count()
        + proposal.gates.len()
        + plan.holds.iter().map(|hold| hold.names.len()).sum::<usize>();
    nothing_to_do && nobody_elses && told <= MOST_TOLD
}

/// The clusters that have a worker and no document, where that is all that is told of them.
fn gone(proposal: &Proposal) -> BTreeMap<Name, GoneCluster> {
    let Plan { clusters, holds, .. } = &proposal.plan;
    let unset = holds.iter().filter(|hold| hold.kind == HoldKind::DeletionPolicyUnset);
    let unset: BTreeSet<&str> =
        unset.flat_map(|hold| hold.names.iter().map(String::as_str)).collect();
    let goes = |(name, planned): (&Name, &ClusterPlan)| {
        let worker = match &planned.decision {
            Decision::Delete { worker, .. } => Some(worker),
            Decision::Keep { worker } => Some(worker).filter(|_| unset.contains(name.as_str())),
            _ => None,
        };
        let is_gone = !proposal.fleet.clusters.contains_key(name) && planned.moved.is_none();
        let worker = worker.filter(|_| is_gone)?.clone();
        Some((name.clone(), GoneCluster { worker, unsettled: false }))
    };
    clusters.iter().filter_map(goes).collect()
}

/// Whether somebody acknowledged something that no run has used.
fn is_acknowledged(snapshot: &Snapshot, proposal: &Proposal) -> bool {
    let lock = proposal.previous.fleet.as_ref();
    let good = Acknowledged::new(&proposal.fleet, lock, &snapshot.input.vouching);
    !good.into_spent().is_empty()
}

/// Whether a plan tells of nothing that is on its way, held or at its limit, but for deletions.
fn is_quiet(proposal: &Proposal, gone: &BTreeMap<Name, GoneCluster>) -> bool {
    let Plan { clusters, workers, retirements, pools, holds, .. } = &proposal.plan;
    let is_still = |(name, planned): (&Name, &ClusterPlan)| {
        planned.resize_blocked.is_none()
            && planned.version.is_none()
            && !planned.is_told()
            && (planned.deletion.is_none() || gone.contains_key(name))
    };
    let is_plain =
        |worker: &WorkerPlan| worker.state == WorkerState::Desired && worker.pending.is_none();
    pools.is_empty()
        && retirements.is_empty()
        && holds.is_empty()
        && proposal.gates.is_empty()
        && workers.values().all(is_plain)
        && clusters.iter().all(is_still)
        && change::pressure(proposal) == Pressure::default()
}

/// What is on its way, and what something is told of, but for what is known to be gone.
fn busy(plan: &Plan, gates: &[Gate], gone: &BTreeMap<Name, GoneCluster>) -> BTreeSet<Name> {
    let unset = |hold: &&Hold| hold.kind == HoldKind::DeletionPolicyUnset;
    let held = plan.holds.iter().flat_map(|hold| {
        let names = hold.names.iter().filter_map(|name| Name::parse(name).ok());
        names.filter(move |name| !unset(&hold) || !gone.contains_key(name))
    });
    let is_busy = |(name, planned): &(&Name, &ClusterPlan)| {
        planned.is_told() || (planned.deletion.is_some() && !gone.contains_key(*name))
    };
    let clusters = plan.clusters.iter().filter(is_busy).map(|(name, _)| name);
    let going = clusters.chain(plan.retirements.keys());
    going.cloned().chain(gates.iter().map(|gate| gate.name.clone())).chain(held).collect()
}

/// What carp owns on an output tree.
pub(super) fn output_entries(
    snapshot: &Snapshot,
    store: &dyn Store,
    tree: Id,
) -> Result<BTreeMap<String, Id>, StoreError> {
    let root = root_of(store, tree, &snapshot.input.prefix)?;
    let own = [paths::WORKERS, paths::CONTROL_PLANE, paths::DECISIONS];
    let entry = |path: &str| Some((path.to_owned(), root.get(path)?.id));
    Ok(own.into_iter().filter_map(entry).collect())
}

/// What stands on a status tree, but for what names commits.
pub(super) fn status_entries(
    snapshot: &Snapshot,
    store: &dyn Store,
    tree: Id,
) -> Result<BTreeMap<String, Id>, StoreError> {
    let root = root_of(store, tree, &snapshot.input.prefix)?;
    let entries = root.iter().filter(|(name, _)| *name != FLEET_DOCUMENT);
    Ok(entries.map(|(name, entry)| (name.to_owned(), entry.id)).collect())
}

/// The files of the documents that a cluster's decision, folder and status read besides its own.
fn files(fleet: &Fleet) -> BTreeMap<DocumentName, String> {
    let of = |kind: &'static str| {
        move |(name, file): (&Name, &String)| (DocumentName::new(kind, name), file.clone())
    };
    // A worker that a pool made has no document of its own.
    let declared = fleet.workers.iter().filter(|(_, worker)| worker.made_by.is_none());
    let workers = declared.map(|(name, worker)| (name, &worker.file)).map(of("Worker"));
    let classes = fleet.classes.iter().map(|(name, class)| (name, &class.file));
    let overlays = fleet.overlays.iter().map(|(name, overlay)| (name, &overlay.file));
    let classes = classes.map(of("ManagedClusterClass"));
    let pools = fleet.pools.iter().map(|(name, pool)| (name, &pool.file)).map(of("WorkerPool"));
    workers.chain(classes).chain(pools).chain(overlays.map(of("WorkerOverlay"))).collect()
}

/// What the memo knows of the files of policies, and of those that have workers and classes alone: all of them are
/// read where a cluster is held against every worker.
fn facts(memo: &Memo) -> BTreeMap<Id, Arc<FactFile>> {
    let is_kept = |file: &FactFile| {
        let mut kinds = file.facts.iter().map(|fact| fact.kind.as_str());
        let beside = ["Worker", "WorkerOverlay", "ManagedClusterClass"];
        kinds.clone().any(|kind| matches!(kind, "PlacementPolicy" | "OverridePolicy"))
            || kinds.all(|kind| beside.contains(&kind))
    };
    let files = memo.files.iter().filter(|(_, file)| is_kept(file));
    files.map(|(id, file)| (*id, Arc::clone(file))).collect()
}

/// What the memo knows of the documents of the clusters that wait: all of them are read where one of them is asked for.
fn waiting(memo: &Memo, plan: &Plan) -> BTreeMap<Name, KnownFact> {
    let who = |fact: &Fact| {
        let (name, planned) = plan.clusters.get_key_value(fact.name.as_str())?;
        let waits = matches!(planned.decision, Decision::Wait { .. });
        (waits && fact.kind == "ManagedCluster").then(|| name.clone())
    };
    let of_file = |(id, facts): (&Id, &Arc<FactFile>)| {
        let known = |nth| KnownFact { file: *id, facts: Arc::clone(facts), nth };
        let each = facts.facts.iter().enumerate();
        each.filter_map(|(nth, fact)| Some((who(fact)?, known(nth)))).collect::<Vec<_>>()
    };
    memo.files.iter().flat_map(of_file).collect()
}

/// Those that wait, in their order, each with the first one that is alike. Of their labels those are kept that any rule reads:
/// people and programs add many others.
fn queue(
    lock: &PendingLock,
    waiting: &BTreeMap<Name, KnownFact>,
    (fleet, keys): (&Fleet, &BTreeSet<String>),
) -> WaitingQueue {
    let (mut first, mut places, mut labels) = (BTreeMap::new(), BTreeMap::new(), Vec::new());
    let queued = |(at, (name, seen)): (usize, (Name, u64))| {
        let fact = waiting.get(&name).and_then(KnownFact::fact);
        let said = fact.and_then(|fact| SpecOfTenant::of(&fact.value));
        let alike = said.map_or(at, |said| *first.entry(said).or_insert(at));
        let own = fleet.clusters.get(&name).into_iter().flat_map(|cluster| &*cluster.labels);
        let read: Vec<(&String, &String)> = own.filter(|(key, _)| keys.contains(*key)).collect();
        let labels = *places.entry(read).or_insert_with_key(|read| {
            let read = read.iter().map(|(key, value)| ((*key).clone(), (*value).clone()));
            labels.push(read.collect::<BTreeMap<_, _>>().into());
            labels.len() - 1
        });
        QueuedCluster { name, seen, alike, labels }
    };
    let clusters = lock.queue().into_iter().enumerate().map(queued).collect();
    WaitingQueue { clusters, labels, keys: keys.clone() }
}

/// The lock of those that wait, with its id. One of another format is written anew by a run, and said nothing of.
fn pending<'p>(
    snapshot: &Snapshot,
    proposal: &'p Proposal,
    store: &dyn Store,
) -> Result<Option<(Id, &'p PendingLock)>, StoreError> {
    let path = format!("{}/{}", paths::DECISIONS, paths::PENDING_LOCK);
    let path = paths::in_repository(&snapshot.input.prefix, &path);
    let entry = change::entry_at(store, proposal.tree, &path)?;
    let lock = &proposal.previous.pending;
    let entry = entry.filter(|_| lock.schema_version == PENDING_SCHEMA);
    Ok(entry.map(|entry| (entry.id, lock)))
}

/// Whether nobody behind a cluster in the queue makes a difference to it.
fn is_served_in_order(proposal: &Proposal) -> bool {
    let Proposal { fleet, plan, previous, .. } = proposal;
    plan::is_served_in_order(fleet, previous.pending.clusters.keys(), plan.workers.values())
}

/// The keys of clusters' labels that any rule reads: selectors of policies, and what spread and anti-affinity
/// compare, in policies and in the clusters themselves.
fn label_keys(fleet: &Fleet) -> BTreeSet<String> {
    let mut keys = LabelKeys::default();
    for policy in fleet.policies.values() {
        let selector = &policy.spec.cluster_selector;
        keys.labels(selector.match_labels.keys());
        keys.expressions(&selector.match_expressions);
        keys.spread(&policy.spec.spread);
        keys.apart(&policy.spec.anti_affinity);
    }
    for cluster in fleet.clusters.values() {
        keys.spread(cluster.spec.own_spread());
        keys.apart(cluster.spec.own_anti_affinity());
    }
    keys.0
}

#[derive(Default)]
struct LabelKeys(BTreeSet<String>);

impl LabelKeys {
    fn labels<'a>(&mut self, keys: impl Iterator<Item = &'a String>) {
        self.0.extend(keys.cloned());
    }

    fn expressions(&mut self, expressions: &[Expression]) {
        self.labels(expressions.iter().map(|expression| &expression.key));
    }

    fn selector(&mut self, selector: Option<&LabelSelector>) {
        if let Some(selector) = selector {
            self.labels(selector.match_labels.keys());
            self.expressions(&selector.match_expressions);
        }
    }

    fn spread(&mut self, rules: &[SpreadConstraint]) {
        for rule in rules {
            self.selector(rule.label_selector.as_ref());
            self.labels(rule.match_label_keys.iter());
        }
    }

    fn apart(&mut self, rules: &[AntiAffinity]) {
        for rule in rules {
            self.selector(rule.label_selector.as_ref());
            self.labels(rule.match_label_keys.iter());
        }
    }
}
