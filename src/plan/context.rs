//! The context: everything that the decision about a waiting cluster depends on besides the cluster.
//! Where it is the same, a cluster that is the same waits for the same reasons.

use std::collections::BTreeSet;

use serde::Serialize;

use super::PlanInput;
use super::candidate::Candidate;
use super::counts::CountsContext;
use super::pool_workers::{self, PoolContext};
use super::worker_states::WorkerStates;
use crate::model::api::{
    Components, DataStore, Network, PlacementPolicySpec, SupportedVersion, Taint, Tenant,
};
use crate::model::{Digest, Name, Pending, Resources, WorkerHealth, WorkerState};

#[derive(Serialize)]
struct RequestContext<'a> {
    workers: Vec<WorkerContext<'a>>,
    policies: Vec<(&'a Name, &'a PlacementPolicySpec)>,
    tenants: &'a [Tenant],
    versions: &'a [SupportedVersion],
    networks_apart: &'a BTreeSet<String>,
    expired: &'a BTreeSet<String>,
    placed: CountsContext<'a>,
    pools: Vec<PoolContext<'a>>,
    placements_held: bool,
    /// Clusters that wait as they were recorded because their document is not there to be looked at:
    /// what is recorded of them may be older than this context.
    unseen: &'a [Name],
}

#[derive(Serialize)]
struct WorkerContext<'a> {
    name: &'a Name,
    state: u8,
    health: u8,
    pending: u8,
    capacity: &'a Resources,
    reserved: &'a Resources,
    ceiling: &'a Resources,
    allocated: &'a Resources,
    clusters: u64,
    document: Option<DocumentContext<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    foreign: Option<&'a BTreeSet<Name>>,
}

#[derive(Serialize)]
struct DocumentContext<'a> {
    labels: &'a std::collections::BTreeMap<String, String>,
    location: &'a str,
    provider: Option<&'a str>,
    zones: Vec<&'a str>,
    components: &'a Components,
    network: Option<&'a Network>,
    pool: Option<&'a str>,
    flavor: &'a str,
    taints: &'a [Taint],
    unschedulable: bool,
    draining: bool,
    #[serde(skip_serializing_if = "<[DataStore]>::is_empty")]
    data_stores: &'a [DataStore],
}

/// The digest of the context with the states of the workers.
pub(super) fn digest(
    input: &PlanInput<'_>,
    states: &WorkerStates<'_>,
    placed: CountsContext<'_>,
    unseen: &[Name],
) -> Digest {
    let context = RequestContext {
        workers: states.considered().map(worker).collect(),
        policies: input.fleet.policies.iter().map(|(name, p)| (name, &p.spec)).collect(),
        tenants: &input.fleet.spec.tenants,
        versions: &input.fleet.spec.supported_versions,
        networks_apart: &input.fleet.networks_apart,
        expired: &input.observed.expired,
        placed,
        pools: pool_workers::context(input),
        placements_held: input.fleet.holds_placements(),
        unseen,
    };
    Digest::of_serialized(&context)
}

fn worker<'a>(candidate: &'a Candidate<'_>) -> WorkerContext<'a> {
    let plan = &candidate.plan;
    WorkerContext {
        name: candidate.name,
        state: match plan.state {
            WorkerState::Desired => 0,
            WorkerState::NotLoaded => 1,
            WorkerState::RemovedInUse => 2,
            WorkerState::Retiring => 3,
            WorkerState::Kept => 4,
        },
        health: match candidate.health {
            None => 0,
            Some(WorkerHealth::Healthy) => 1,
            Some(WorkerHealth::Unhealthy { .. }) => 2,
            Some(WorkerHealth::Silent { .. }) => 3,
            Some(WorkerHealth::NeverReported) => 4,
        },
        pending: match plan.pending {
            None => 0,
            Some(Pending::Awaited) => 1,
            Some(Pending::Overdue) => 2,
        },
        capacity: &plan.capacity,
        reserved: &plan.reserved,
        ceiling: &plan.ceiling,
        allocated: &plan.allocated,
        clusters: plan.clusters,
        document: candidate.worker.map(|w| DocumentContext {
            labels: &w.labels,
            location: &w.spec.location,
            provider: w.provider(),
            zones: w.zones(),
            components: &w.spec.components,
            network: w.spec.network.as_ref(),
            pool: w.spec.pool.as_deref(),
            flavor: w.flavor(),
            taints: &w.spec.taints,
            unschedulable: w.spec.unschedulable,
            draining: w.spec.is_draining(),
            data_stores: &w.spec.data_stores,
        }),
        foreign: candidate.foreign,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::depends_on::DependsOn;
    use crate::plan::world::World;
    use crate::plan::{filter, score};

    const WORLD: &str =
        "worker w1 2/4 cap:mem=8 agent:healthy label:zone=1 taint:k=v:NoSchedule pool=p;
        policy p only=w1 spread:zone=1@team=x; tenant t pools=p;
        cluster x on=w1 label:team=x needs:mem=1";

    fn digest(text: &str) -> Digest {
        World::read(text).plan().context.expect("it is remembered")
    }

    /// A change of what is read; `None` for what belongs to the cluster and is compared with its row.
    fn change(reads: DependsOn) -> Option<(&'static str, &'static str)> {
        Some(match reads {
            DependsOn::Name => ("worker w1", "worker w2"),
            DependsOn::State => ("pool=p;", "pool=p; unloaded WorkerOverlay w1;"),
            DependsOn::Health => ("agent:healthy", "agent:silent"),
            DependsOn::Pending => {
                ("worker w1 2/4", "workerpool p cap=4; worker w1 made:p=1 overdue 2/4")
            }
            DependsOn::Cordon => ("pool=p", "pool=p cordoned"),
            DependsOn::Drain => ("pool=p", "pool=p drain"),
            DependsOn::Capacity => ("cap:mem=8", "cap:mem=9"),
            DependsOn::Ceiling => ("cap:mem=8", "cap:mem=8 ceiling:mem=9"),
            DependsOn::Allocated => ("needs:mem=1", "needs:mem=2"),
            DependsOn::Clusters => ("needs:mem=1", "needs:mem=1; cluster y on=w1 needs=0"),
            DependsOn::Labels => ("label:zone=1", "label:zone=2"),
            DependsOn::Location => ("pool=p;", "pool=p at=eastus;"),
            DependsOn::Zones => ("pool=p;", "pool=p zones=1;"),
            DependsOn::Components => ("pool=p;", "pool=p runs:capi=v1.12.0;"),
            DependsOn::Versions => ("policy p", "offers v1.34; policy p"),
            DependsOn::Networks => ("pool=p;", "pool=p net=10.0.0.0/16,10.1.0.0/16;"),
            DependsOn::Namespaces => ("agent:healthy", "agent:healthy ns=billing"),
            DependsOn::Taints => ("k=v:NoSchedule", "k=v:NoExecute"),
            DependsOn::Pool => ("pool=p;", "pool=q;"),
            DependsOn::DataStores => ("pool=p;", "pool=p store:gold=tier:high;"),
            DependsOn::Placed => ("label:team=x", "label:team=y"),
            DependsOn::Flavor | DependsOn::Provider => ("pool=p;", "pool=p flavor=kind;"),
            DependsOn::Policies => ("only=w1", "not=w2"),
            DependsOn::Tenants => ("pools=p", "pools=p,q"),
            DependsOn::Cluster
            | DependsOn::Demand
            | DependsOn::Site
            | DependsOn::Wishes
            | DependsOn::Version
            | DependsOn::Network
            | DependsOn::Group
            | DependsOn::Leaving => return None,
        })
    }

    #[test]
    fn everything_that_a_filter_or_score_reads_is_in_the_context() {
        let read = filter::FILTERS.iter().map(|f| f.reads).chain(score::READS);
        let read: BTreeSet<DependsOn> = read.flatten().copied().collect();
        assert!(read.len() > 10);
        for (from, to) in read.into_iter().filter_map(change) {
            let changed = WORLD.replacen(from, to, 1);
            assert_ne!(changed, WORLD, "`{from}` is in the world");
            assert_ne!(digest(WORLD), digest(&changed), "{to}");
        }
    }

    #[test]
    fn why_a_worker_without_its_document_refuses_is_in_the_context() {
        let of = |unloaded: &str| {
            digest(&format!("worker w1 gone; cluster x on=w1; unloaded {unloaded} ?"))
        };
        assert_ne!(of("Worker"), of("ManagedCluster"), "not loaded, or removed in use");
    }

    #[test]
    fn that_a_version_has_expired_is_in_the_context() {
        let offers = format!("{WORLD}; offers v1.34");
        assert_ne!(digest(&offers), digest(&format!("{offers} over")));
    }

    #[test]
    fn which_flavors_need_other_addresses_is_in_the_context() {
        assert_ne!(digest(WORLD), digest(&format!("{WORLD}; apart kind")));
    }

    #[test]
    fn what_nothing_reads_is_not_in_the_context() {
        let more = format!("{WORLD}; cluster x-x on=w1 gone");
        assert_ne!(digest(WORLD), digest(&more), "it takes a place");
        let reported = WORLD.replacen("agent:healthy", "agent:healthy runs=a", 1);
        assert_eq!(digest(WORLD), digest(&reported));
        assert_eq!(digest(WORLD), digest(&format!("{WORLD}; cluster a tenant=t only=w9")));
    }

    #[test]
    fn how_far_a_worker_is_that_a_pool_makes_is_in_the_context() {
        let of = |word: &str| {
            digest(&format!("workerpool p agent cap=4; worker w1 made:p=1 {word}; cluster x on=w1"))
        };
        assert_ne!(of(""), of("overdue"));
        assert_ne!(of(""), of("running"));
    }

    #[test]
    fn a_hold_on_placements_is_in_the_context() {
        let held = format!("{WORLD}; unloaded PlacementPolicy ? blocking");
        assert_ne!(digest(WORLD), digest(&held));
    }
}
