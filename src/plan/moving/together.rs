//! Placed clusters that are not as rules of spread and anti-affinity would have them now: a label or a policy is
//! another, or what evened them out is gone.
//!
//! They are told, and that is all: nobody who is placed moves because of these rules (`onViolation` does not ask
//! for it), for one move would only make the next one wanted. What counts is what is known. While the document of
//! a worker does not load, so that nobody knows in which domain it is, nothing is said of a spread over domains
//! that it may be in.
//!
//! Clusters are looked at one by one, and what they have in common is worked out once: the domains of those that
//! may use the same workers, and who is in each domain of a part of a group.

use std::collections::BTreeMap;

use crate::model::api::{ManagedClusterPlacement, PlacementTerm};
use crate::model::{Cluster, Decision, Name, Reason, Worker, topology};
use crate::plan::SearchMode;
use crate::plan::assign::PlanRun;
use crate::plan::candidate::Request;
use crate::plan::choose::WorkerSearch;
use crate::plan::counts::PartCounts;
use crate::plan::group::{AntiAffinityTerm, Values};
use crate::plan::pre_filter_state::SpreadState;

/// Adds what is violated after a run. Where only a part of what is placed was read there is nothing to compare.
pub(in crate::plan) fn note(run: &mut PlanRun<'_>) {
    let input = &run.input;
    if input.previous.partial || input.fleet.holds_placements() || !rules_refuse(run) {
        return;
    }
    let choice = WorkerSearch::of(input.fleet).by(SearchMode::Index);
    let mut known = Known { choice, spread: BTreeMap::new(), apart: BTreeMap::new() };
    let placed = run.clusters.iter().filter_map(|(name, planned)| {
        let Decision::Keep { worker } = &planned.decision else { return None };
        let cluster = input.fleet.clusters.get(name)?;
        let worker = run.states.get(worker)?.worker?;
        let request = Request { group: None, ..run.request(cluster) };
        let mut reasons = known.spread(run, &request, worker);
        reasons.extend(known.apart(run, &request, worker));
        (!reasons.is_empty()).then(|| (name.clone(), reasons))
    });
    let violated: Vec<(Name, Vec<Reason>)> = placed.collect();
    for (name, more) in violated {
        let Some(planned) = run.clusters.get_mut(&name) else { continue };
        let mut reasons = std::mem::take(&mut planned.violations).into_vec();
        reasons.extend(more);
        reasons.sort();
        reasons.dedup();
        planned.violations = reasons.into();
    }
}

/// Whether any rule of spread or anti-affinity refuses a worker to anybody.
fn rules_refuse(run: &PlanRun<'_>) -> bool {
    let policies = run.policies.all().any(|policy| {
        policy.spec.spread.iter().any(|rule| rule.when_unsatisfiable.refuses())
            || policy.spec.anti_affinity.iter().any(|rule| rule.when_unsatisfiable.refuses())
    });
    let own = |cluster: &Cluster| {
        let spec = &cluster.spec;
        spec.own_spread().iter().any(|rule| rule.when_unsatisfiable.refuses())
            || spec.own_anti_affinity().iter().any(|rule| rule.when_unsatisfiable.refuses())
    };
    policies || run.input.fleet.clusters.values().any(own)
}

/// What the domains over which a cluster is spread depend on.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct SameRule<'a> {
    policy: Option<&'a Name>,
    tenant: &'a str,
    values: Vec<Option<Values<'a>>>,
    /// What the cluster adds, where it adds anything.
    own: Option<String>,
}

/// The first two clusters by name in each domain.
type Domains<'a> = BTreeMap<&'a str, (&'a Name, Option<&'a Name>)>;

/// What is worked out already.
struct Known<'a> {
    /// Who may use which workers, and how many are in each domain.
    choice: WorkerSearch<'a>,
    spread: BTreeMap<SameRule<'a>, Vec<SpreadState<'a>>>,
    apart: BTreeMap<(AntiAffinityTerm<'a>, Values<'a>, bool), Domains<'a>>,
}

impl<'a> Known<'a> {
    /// The rules of spread by which a cluster is too many where it is.
    fn spread(
        &mut self,
        run: &PlanRun<'a>,
        request: &Request<'a>,
        worker: &'a Worker,
    ) -> Vec<Reason> {
        let refusing = || request.spread().filter(|(rule, _)| rule.when_unsatisfiable.refuses());
        if refusing().next().is_none() {
            return Vec::new();
        }
        let info = request.info();
        let like = SameRule {
            policy: request.policy.map(|policy| &policy.name),
            tenant: info.tenant,
            values: refusing().map(|(_, group)| group.values(&info)).collect(),
            own: own(request.cluster),
        };
        let choice = &mut self.choice;
        let pre_filter = self.spread.entry(like).or_insert_with(|| {
            let pre_filter = choice.pre_filter(request, &run.states).spread;
            pre_filter
                .into_iter()
                .filter(|scene| scene.refuses && scene.unknown().is_none())
                .collect()
        });
        pre_filter.iter().filter_map(|scene| too_many(scene, worker)).collect()
    }

    /// The clusters from which this one is kept apart, by its own rules or theirs, and that are in its domain.
    fn apart(
        &mut self,
        run: &PlanRun<'a>,
        request: &Request<'a>,
        worker: &'a Worker,
    ) -> Vec<Reason> {
        let info = request.info();
        let mut reasons = Vec::new();
        for term in request.anti_affinity().filter(|term| term.refuses) {
            let Some(values) = term.group.values(&info) else { continue };
            let Some(part) = run.states.counts.part(&term.group, &values) else { continue };
            let domains = self.apart.entry((term, values, false));
            let domains = domains.or_insert_with(|| domains_of(run, &term, part));
            reasons.extend(beside(&term, domains, info.name, worker));
        }
        for (term, part) in run.states.counts.existing_anti_affinity(&info) {
            let values = term.group.part(&info).filter(|_| term.refuses);
            let Some(values) = values else { continue };
            let domains = self.apart.entry((term, values, true));
            let domains = domains.or_insert_with(|| domains_of(run, &term, part));
            reasons.extend(beside(&term, domains, info.name, worker));
        }
        reasons
    }
}

/// What a cluster adds to the terms and pools that say which workers it may use, and to the rules.
fn own(cluster: &Cluster) -> Option<String> {
    let own: &ManagedClusterPlacement = cluster.spec.placement.as_ref()?;
    let terms: &[PlacementTerm] = own.affinity.as_ref().map_or(&[], |affinity| &affinity.required);
    let says = !terms.is_empty() || !own.pools.is_empty() || !own.spread.is_empty();
    says.then(|| {
        let own = (terms, &own.pools, &own.spread);
        serde_json::to_string(&own).expect("maps with text keys serialise to JSON")
    })
}

/// Why a cluster that is counted where it is would not be placed there.
fn too_many(scene: &SpreadState<'_>, worker: &Worker) -> Option<Reason> {
    let key = || scene.key.into();
    let Some(domain) = topology::domain(scene.key, worker) else {
        return Some(Reason::SpreadKeyMissing { key: key() });
    };
    // A domain that the cluster may not use at all is told as what it is, by the rule that says so.
    let (count, min) = (scene.count(domain)?, scene.min());
    (count.saturating_sub(min) > u64::from(scene.max_skew)).then(|| Reason::Spread {
        key: key(),
        domain: domain.into(),
        count,
        fewest: scene.lowest().map(Into::into),
        min,
        max_skew: scene.max_skew,
        unknown: None,
    })
}

/// Who of a part of a group is in which domain.
fn domains_of<'a>(
    run: &PlanRun<'a>,
    term: &AntiAffinityTerm<'a>,
    part: &PartCounts<'a>,
) -> Domains<'a> {
    let mut domains = Domains::new();
    for (place, names) in part.clusters() {
        let document = run.states.get_at(place).and_then(|candidate| candidate.worker);
        let Some(domain) = document.and_then(|worker| topology::domain(term.key, worker)) else {
            continue;
        };
        for name in names {
            let (first, second) = domains.entry(domain).or_insert((name, None));
            if name < *first {
                second.replace(std::mem::replace(first, name));
            } else if name != *first && second.is_none_or(|second| name < second) {
                *second = Some(name);
            }
        }
    }
    domains
}

fn beside(
    term: &AntiAffinityTerm<'_>,
    domains: &Domains<'_>,
    name: &Name,
    worker: &Worker,
) -> Option<Reason> {
    let domain = topology::domain(term.key, worker)?;
    let (first, second) = *domains.get(domain)?;
    let other = if first == name { second? } else { first };
    let (key, domain) = (term.key.into(), Some(domain.into()));
    Some(Reason::AntiAffinity { key, domain, cluster: other.clone() })
}

#[cfg(test)]
mod tests {
    use crate::model::{Name, Reason};
    use crate::plan::world::{World, check};

    fn told(world: &str) -> Vec<String> {
        let plan = World::read(world).plan().plan;
        let line = |(name, reasons): (&Name, &[Reason])| {
            let reasons: Vec<_> = reasons.iter().map(ToString::to_string).collect();
            format!("{name}: {}", reasons.join("; "))
        };
        plan.violations().map(line).collect()
    }

    const ZONES: &str = "worker w1 label:zone=1; worker w2 label:zone=2; policy p spread:zone=1;";

    #[test]
    fn a_domain_that_is_too_far_ahead_is_told_of_each_cluster_in_it() {
        let even = format!("{ZONES} cluster a on=w1; cluster b on=w1; cluster c on=w2;");
        assert_eq!(told(&even), [""; 0]);
        let two = "spread over label zone: 1 has 2, 2 has only 0, maxSkew is 1";
        assert_eq!(
            told(&even.replace("cluster c on=w2", "")),
            [format!("a: {two}"), format!("b: {two}")]
        );
        let soft = even.replace("cluster c on=w2", "").replace("spread", "soft-spread");
        assert_eq!(told(&soft), [""; 0], "a wish is none");
    }

    #[test]
    fn a_worker_without_the_key_is_told() {
        assert_eq!(
            told(&format!("{ZONES} worker w3; cluster a on=w3")),
            ["a: spread over label zone: it has none"]
        );
    }

    #[test]
    fn domains_that_a_cluster_may_not_use_do_not_count_for_it() {
        let both = format!("{ZONES} cluster a on=w1 only=w1; cluster b on=w1 only=w1;");
        assert_eq!(told(&both), [""; 0]);
    }

    #[test]
    fn what_is_placed_in_the_run_counts() {
        let even = format!("{ZONES} cluster a on=w1; cluster b on=w1; cluster c");
        assert_eq!(told(&even), [""; 0]);
        check(&even, "a on w1; b on w1; c -> w2");
    }

    #[test]
    fn two_that_are_kept_apart_and_are_not_name_each_other() {
        let pair = "worker w1; worker w2; policy p for:dr=x apart:location=#dr;
            cluster a on=w1 label:dr=x; cluster b on=w2 label:dr=x;";
        let beside =
            |other: &str| format!("kept apart from cluster {other}, in location westeurope");
        assert_eq!(told(pair), [format!("a: {}", beside("b")), format!("b: {}", beside("a"))]);
        assert_eq!(told(&pair.replace("location", "worker")), [""; 0]);
        assert_eq!(told(&pair.replace("apart:", "soft-apart:")), [""; 0]);
    }

    #[test]
    fn it_holds_both_ways() {
        let one = "worker w1; policy p for:app=jealous apart:worker=@app=quiet;
            cluster a on=w1 label:app=jealous; cluster b on=w1 label:app=quiet;
            cluster c on=w1 label:app=quiet";
        assert_eq!(
            told(one),
            [
                "a: kept apart from cluster b, in worker w1",
                "b: kept apart from cluster a, in worker w1",
                "c: kept apart from cluster a, in worker w1",
            ]
        );
    }

    #[test]
    fn nobody_moves_for_it_and_a_policy_that_moves_for_terms_does_not_either() {
        let world = format!(
            "{} cluster a on=w1 rebuild; cluster b on=w1 rebuild",
            ZONES.replace("spread:zone=1", "spread:zone=1 violations=move")
        );
        check(&world, "a on w1; b on w1");
        assert_eq!(told(&world).len(), 2);
    }

    #[test]
    fn while_it_is_not_known_where_something_is_nothing_is_said_of_a_spread() {
        let world = format!("{ZONES} worker w3 broken; cluster a on=w1; cluster b on=w1");
        assert_eq!(told(&world), [""; 0]);
        let worker = world.replace("spread:zone", "spread:worker");
        assert_eq!(told(&worker).len(), 2, "a worker is a domain for itself");
        assert_eq!(told(&format!("{world}; unloaded PlacementPolicy ? blocking")), [""; 0]);
    }
}
