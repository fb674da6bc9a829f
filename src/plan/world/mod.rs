//! The language of this room's tests: a fleet, what the last run left of it and what is observed, in a
//! few words.
//!
//! Statements are separated by `;`. A worker has nine places for clusters unless it says otherwise.
//! ```text
//! worker w1 2/3 at=eastus cap:mem=8 reserved=1 ceiling=5 ceiling:mem=9 pool=p flavor=kind label:k=v
//!           taint:k=v:NoSchedule cordoned
//!           agent | agent:healthy | agent:silent | agent:unhealthy | agent:incomplete | report:…  runs=a,b
//!           gone | broken | deleting | step=D2 | attached  zones=1,2 provider=gcp flavor=attached
//!           version=v1.34.2 runs:capi=v1.13.5
//! cluster a needs=2 needs:mem=4 at=eastus tenant=t priority=1 label:k=v
//!           on=w1 was=1 was:mem=2 seen=3 gone deleting step=D2 unrendered policy=Delete changed
//!           only=w1,w2 not=w3 only-at=eastus with:k=v in:k=v,w notin:k=v,w prefer:10:k=v
//!           providers=azure zones=1,2 field:zone:NotIn=3  pools=p,q  group=near (placed in)
//!           version=v1.34.2 flavor=kind
//!           spread:zone=1 apart:location  with `@k=v` which clusters, `#k,l` those of the same labels, and in policies
//!           `~t,u` those of these tenants, `~*` of all; `soft-…`
//! policy p  for:k=v for=a,b priority=1 built-in tolerate:k=v:NoSchedule  and the terms, pools and rules of a
//!           cluster  packs  group:near:only=w1 group:any  failback
//! tenant t  folder pools=p,q quota=3 quota:mem=4 quota@westeurope=2 quota@westeurope:mem=1
//! seen w1 a D1 has=Cluster,Namespace uid Deleting unsynced     what w1 reports of a; `prepared` in the place of `D1`
//!           machines=3 suspended paused reached at=10.0.0.1
//! workerpool eu min=1 max=3 at=eastus,westus cap=4 pending=1 agent timeout=100 cool=50 named=… last=7
//! worker eu-1 made:eu=1 running | overdue | spare | leaving    what the pool, which comes first, made
//! found eu-1 overdue    what was found out of a worker that the pool made in an earlier run; `spare` likewise
//! hub h                 the control-plane cluster; `worker h report:healthy gone` makes it report
//! abandon a b           somebody acknowledged that no evidence will come
//! apart kamaji-capz     a flavor whose clusters need other addresses than their worker has: `net=PODS,SERVICES` of both
//! transfers capz        a flavor whose clusters are handed over: `cluster a flavor=capz on=w1 moving=w2 transfer=HandOver`
//! offers v1.33 until=2027-03-31T00:00:00Z deprecated over     what the fleet offers, and did
//! lost w1               the lock of that worker was lost and is rebuilt
//! kept worker w1        its folder is not written in this run; `kept cluster a` likewise
//! unloaded Worker w1    `?` for what could not be read, `blocking` for what may be a policy
//! ```
//! A worker `drain` or `drain=2`, `since=900` after a taint: added so many seconds after the reports. A policy
//! `failover=1800 rate=2`, `violations=move`, `seconds=300` after a toleration: its seconds. A cluster `rebuild`,
//! `paused`, `moving=w2 cause=Failover` (with `step=D1` once its deletion has begun), `from=w1` once it arrived.
//! `drains w1 w2` drains workers, three at a time, wherever it stands; `now 1800` is the time, so many seconds after the reports.
//! `rebalance 2:20` begins two moves at most that gain 20 percent points at least.
//!
//! `2/3` puts two clusters there that nothing else speaks of, `?` leaves the capacity unknown.

mod affinity;
mod deleting;
mod explain;
mod moves;
mod read;
mod scale;
mod spread;
mod transfer;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;

use super::{
    Explanation, PlanInput, Planning, PolicyExplanation, PoolExplanation, Remedies,
    WorkerExplanation, WorkerVerdict, explain_cluster, explain_policy, explain_pool,
    explain_with_remedies, explain_worker, plan,
};
use crate::model::api::Rebalance;
use crate::model::{
    Binding, Cluster, ClusterRow, ClusterState, ControlPlaneRow, Counted, Decision, DeletionStep,
    Digest, Fleet, FleetLock, Id, Name, Observed, PendingRow, Plan, Previous, ReasonCode,
    Resources, Settled, SteppedVersions, Versions, WaitingAhead, WorkerState, blob_id,
    lock_to_bytes,
};

/// All that a plan reads.
#[derive(Clone, Debug, Default)]
pub(super) struct World {
    pub(super) fleet: Fleet,
    pub(super) previous: Previous,
    pub(super) observed: Observed,
    pub(super) settled: Option<Settled>,
    pub(super) counted: Arc<Counted>,
    pub(super) frozen: BTreeSet<Name>,
    pub(super) abandoned: BTreeSet<Name>,
    pub(super) now: Option<Timestamp>,
    pub(super) draining: Vec<Name>,
    pub(super) rebalance: Option<Rebalance>,
}

/// Checks what is planned for a world.
#[track_caller]
pub(super) fn check(world: &str, expected: &str) {
    let planning = World::read(world).plan();
    let squeeze = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let expected: Vec<String> = expected.split(';').map(squeeze).collect();
    let expected = expected.join("; ");
    assert_eq!(World::read(world).describe(&planning.plan, &expected), expected, "{world}");
}

/// Why a worker does not take a cluster.
#[track_caller]
pub(super) fn refusals(world: &str, cluster: &str, worker: &str) -> Vec<String> {
    match &World::read(world).explain(cluster).workers[worker] {
        WorkerVerdict::Refused(reasons) => reasons.iter().map(ToString::to_string).collect(),
        WorkerVerdict::Fits(_) => Vec::new(),
    }
}

pub(super) fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}

impl World {
    pub(super) fn read(text: &str) -> Self {
        let mut world = Self::default();
        for statement in text.split(';') {
            let words: Vec<&str> = statement.split_whitespace().collect();
            match words.as_slice() {
                [] => {}
                ["worker", name, rest @ ..] => world.worker(name, rest),
                ["cluster", name, rest @ ..] => world.cluster(name, rest),
                ["policy", name, rest @ ..] => world.policy(name, rest),
                ["tenant", name, rest @ ..] => world.tenant(name, rest),
                ["seen", worker, name, digest, rest @ ..] => world.seen(worker, name, digest, rest),
                ["workerpool", name, rest @ ..] => world.worker_pool(name, rest),
                ["found", worker, state] => world.found(worker, state),
                ["hub", name] => world.hub(name),
                ["apart", flavor] => drop(world.fleet.networks_apart.insert((*flavor).to_owned())),
                ["transfers", flavor] => drop(world.fleet.transfers.insert((*flavor).to_owned())),
                ["offers", rest @ ..] => world.offers(rest),
                ["now", time] => world.set_time(time),
                ["rebalance", terms] => world.rebalance(terms),
                ["drains", workers @ ..] => world.drains(workers),
                ["abandon", names @ ..] => {
                    world.abandoned.extend(names.iter().map(|n| self::name(n)));
                }
                ["lost", worker] => world.lost(worker),
                ["kept", kind, name] => world.kept(kind, name),
                ["unloaded", kind, name, rest @ ..] => world.unloaded(kind, name, rest),
                other => panic!("no such statement: {other:?}"),
            }
        }
        let by_tenant = world.fleet.spec.sets_tenants_apart();
        for policy in world.fleet.policies.values_mut() {
            policy.by_tenant = by_tenant;
        }
        world.pass();
        world
    }

    pub(super) fn pending_id(&self) -> Id {
        blob_id(&lock_to_bytes(&self.previous.pending))
    }

    pub(super) fn input(&self) -> PlanInput<'_> {
        PlanInput {
            settled: self.settled.as_ref(),
            counted: Some(&self.counted),
            pending_id: Some(self.pending_id()),
            frozen: &self.frozen,
            abandoned: &self.abandoned,
            rebalance: self.rebalance,
            ..PlanInput::new(&self.fleet, &self.previous, &self.observed)
        }
    }

    pub(super) fn plan(&self) -> Planning {
        plan(&self.input())
    }

    pub(super) fn try_explain(&self, cluster: &str) -> Option<Explanation> {
        explain_cluster(&self.input(), &name(cluster))
    }

    pub(super) fn explain(&self, cluster: &str) -> Explanation {
        self.try_explain(cluster).expect("the cluster is known")
    }

    pub(super) fn remedies(&self, cluster: &str) -> Remedies {
        let (told, remedies) =
            explain_with_remedies(&self.input(), &WaitingAhead::default(), &name(cluster))
                .expect("it is known");
        assert_eq!(told, self.explain(cluster), "by one plan for both");
        remedies.expect("the locks are there")
    }

    pub(super) fn explain_worker(&self, worker: &str) -> Option<WorkerExplanation> {
        explain_worker(&self.input(), &name(worker))
    }

    pub(super) fn explain_pool(&self, pool: &str) -> Option<PoolExplanation> {
        explain_pool(&self.input(), &name(pool))
    }

    pub(super) fn explain_policy(&self, policy: &str) -> Option<PolicyExplanation> {
        explain_policy(&self.input(), &name(policy))
    }

    /// The fleet after a plan was committed.
    pub(super) fn after(&self, planning: &Planning) -> Self {
        let previous = Previous { kept: self.previous.kept.clone(), ..Previous::default() };
        let mut after = Self { previous, rebalance: None, ..self.clone() };
        let mut rows = BTreeMap::new();
        for (worker, plan) in &planning.plan.workers {
            after.lock(worker);
            let step = planning.plan.retirements.get(worker).and_then(|deletion| deletion.step);
            rows.insert(worker.clone(), made(step.filter(|_| plan.state == WorkerState::Retiring)));
        }
        after.previous.fleet = Some(FleetLock { workers: rows, ..fleet_lock() });
        for (cluster, planned) in &planning.plan.clusters {
            let desired = self.fleet.clusters.get(cluster);
            if let Some(worker) = planned.decision.worker() {
                let deleting = matches!(planned.decision, Decision::Delete { .. });
                let old =
                    self.row(cluster).filter(|_| deleting || planned.resize_blocked.is_some());
                let row =
                    old.or_else(|| desired.map(ClusterRow::imagined)).or_else(|| self.row(cluster));
                let mut row = row.expect("a cluster on a worker is desired or recorded");
                row.group = match &planned.decision {
                    Decision::Bind(binding) => binding.group.clone(),
                    _ => self.row(cluster).and_then(|row| row.group),
                };
                row.demand = planned.demand.clone();
                row.versions = planned.version.as_ref().map(|step| SteppedVersions {
                    versions: step.versions.clone(),
                    digest: Some(digest_of(&step.versions)),
                    uid: step.uid.clone(),
                });
                let step = match planned.decision {
                    Decision::Delete { step, .. } => Some(step),
                    Decision::Move { step, .. } => step,
                    _ => None,
                };
                row.moves = None;
                row = moves::row_of(step, row);
                row.suspended = transfer::is_suspended(planned);
                after.lock(worker).clusters.insert(cluster.clone(), row);
            }
            if let Decision::Wait { seen, reasons } = &planned.decision {
                let row = match desired {
                    Some(cluster) => pending_row(cluster, *seen, reasons.clone()),
                    None => self.previous.pending.clusters[cluster].clone(),
                };
                after.previous.pending.clusters.insert(cluster.clone(), row);
            }
        }
        after.reload_pools(&planning.plan);
        self.commit_moves(&planning.plan, &mut after);
        after.pass();
        let pending = after.pending_id();
        after.settled = planning.context.map(|context| Settled { context, pending });
        after.counted = Arc::clone(&planning.counted);
        let locks = after.previous.workers.iter();
        let ids = locks.map(|(worker, lock)| (worker.clone(), blob_id(&lock_to_bytes(lock))));
        after.previous.ids = ids.collect();
        after
    }

    /// The plan in the words of the expectation; the policy and the place in the queue only where it
    /// speaks of them.
    pub(super) fn describe(&self, plan: &Plan, expected: &str) -> String {
        let mut words = Vec::new();
        for (cluster, planned) in &plan.clusters {
            if cluster.contains("-x") {
                continue;
            }
            let said = match &planned.decision {
                Decision::Keep { worker } => match &planned.resize_blocked {
                    Some(wanted) => format!("on {worker} blocked {}", amount(wanted)),
                    None if self.wants_another_amount(cluster) => {
                        format!("on {worker} takes {}", amount(&planned.demand))
                    }
                    None => format!("on {worker}"),
                },
                Decision::Bind(Binding { worker, group: Some(group), .. })
                    if expected.contains(" in ") =>
                {
                    format!("-> {worker} in {group}")
                }
                Decision::Bind(binding) => match &binding.policy {
                    Some(policy) if expected.contains(" by ") => {
                        format!("-> {} by {policy}", binding.worker)
                    }
                    _ => format!("-> {}", binding.worker),
                },
                Decision::Wait { seen, reasons } => {
                    let codes: Vec<_> = reasons.iter().map(|r| format!("{r:?}")).collect();
                    let place =
                        if expected.contains('#') { format!(" #{seen}") } else { String::new() };
                    format!("waits {}{place}", codes.join(" "))
                }
                Decision::Delete { worker, step } => {
                    deleting::told(worker, *step, planned.deletion.as_deref(), expected)
                }
                Decision::Move { from, step, .. } => moves::told(cluster, from, *step, plan),
                Decision::Forget => "forgotten".to_owned(),
            };
            words.push(format!("{cluster} {said}{}", moves::more(cluster, plan, expected)));
        }
        let states = plan.workers.iter().filter(|(_, w)| w.state != WorkerState::Desired);
        words.extend(states.map(|(worker, plan)| format!("worker {worker} {:?}", plan.state)));
        words.extend(scale::told(plan));
        words.extend(deleting::ends(plan, expected));
        let holds = plan.holds.iter();
        words.extend(holds.map(|h| format!("hold {} {}", h.kind.name(), h.names.join(" "))));
        words.join("; ")
    }

    fn wants_another_amount(&self, cluster: &Name) -> bool {
        let desired = self.fleet.clusters.get(cluster).map(|c| &c.demand);
        desired.is_some_and(|demand| self.row(cluster).is_some_and(|row| row.demand != *demand))
    }

    fn row(&self, cluster: &Name) -> Option<ClusterRow> {
        let rows = self.previous.workers.values().filter_map(|lock| lock.clusters.get(cluster));
        let mut there = rows.filter(|row| row.state != ClusterState::Reserved);
        there.next().cloned()
    }
}

fn amount(demand: &Resources) -> String {
    let other = demand.iter().filter(|(r, _)| *r != "clusters").map(|(r, n)| format!(" {r}={n}"));
    format!("{}{}", demand["clusters"], other.collect::<String>())
}

/// The digest of a folder with these versions.
pub(super) fn digest_of(versions: &Versions) -> Digest {
    Digest::of(versions.to_string().as_bytes())
}

fn pending_row(cluster: &Cluster, seen: u64, reasons: BTreeSet<ReasonCode>) -> PendingRow {
    PendingRow {
        seen,
        facts: cluster.facts,
        reasons,
        record: None,
        demand: cluster.demand.clone(),
        row: cluster.index_row(),
    }
}

fn made(step: Option<DeletionStep>) -> ControlPlaneRow {
    ControlPlaneRow {
        state: deleting::state(step),
        deletion: step.map(deleting::row),
        render_key: Digest::of(b""),
        folder: Some(Id::EMPTY_DIR),
        files: BTreeMap::new(),
    }
}

fn fleet_lock() -> FleetLock {
    serde_json::from_value(serde_json::json!({
        "schemaVersion": crate::model::FLEET_LOCK_SCHEMA,
        "renderKey": Digest::of(b""),
    }))
    .unwrap()
}
