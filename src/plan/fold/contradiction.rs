//! What reports say against the records, or against what they said before. It is told and moves nothing:
//! where a cluster is, is what its record says, and its status is what the worker of its record reports.

use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::model::{FoldedCluster, Freshness, Name, Observed, Previous, Report, ReportedCluster};

/// How many clusters of one worker are named one by one.
const MOST: usize = 10;

/// Clusters that run on another worker than their record says, or that have no record at all. What a
/// silent worker said last may be long past. The clusters that the control plane's cluster reports are the
/// workers themselves, which have no place on another. Only workers are asked of which `is_known` says that all their
/// clusters are in `previous`.
#[must_use]
pub fn contradictions(
    previous: &Previous,
    observed: &Observed,
    control_plane: Option<&str>,
    is_known: impl Fn(&Name) -> bool,
) -> Diagnostics {
    let known =
        observed.workers.iter().filter(|(name, _)| is_known(name)).map(|(_, report)| report);
    let fresh: Vec<_> = known.filter(|report| report.freshness == Freshness::Fresh).collect();
    let foreign = fresh.iter();
    let foreign = foreign.flat_map(|report| {
        let is_hub = control_plane == Some(report.worker.as_str());
        let ours = report.foreign_namespaces.iter();
        ours.filter(move |name| is_placed(previous, &report.worker, name, is_hub))
            .map(|name| in_foreign(&report.worker, name))
            .take(MOST)
    });
    let hosts = fresh.iter().filter(|r| control_plane != Some(r.worker.as_str()));
    hosts
        .flat_map(|report| {
            let there = report.clusters.iter().filter(|(_, cluster)| is_there(cluster));
            let of =
                move |(name, _): (&Name, &FoldedCluster)| found(previous, &report.worker, name);
            there.filter_map(of).take(MOST)
        })
        .chain(foreign)
        .collect()
}

/// Whether a cluster, or on the control plane's cluster a worker that carp makes, is recorded to be there.
fn is_placed(previous: &Previous, worker: &Name, name: &Name, is_hub: bool) -> bool {
    if is_hub {
        return previous.fleet.as_ref().is_some_and(|lock| lock.workers.contains_key(name));
    }
    previous.workers.get(worker).is_some_and(|lock| lock.clusters.contains_key(name))
}

fn in_foreign(worker: &Name, name: &Name) -> Diagnostic {
    let message = format!(
        "{name} is recorded on {worker}, which reports a namespace of that name that carp did not make"
    );
    let help = format!(
        "see who uses it before anything is deleted; if it is the cluster's own, give it back its label: \
         `kubectl label namespace {name} carp.dev/cluster={name}`"
    );
    Diagnostic::new(Code::ReportContradiction, message).help(help)
}

/// Whether there is a `Cluster`, and not merely what is left of one.
fn is_there(cluster: &FoldedCluster) -> bool {
    cluster.uid.is_some()
}

fn found(previous: &Previous, worker: &Name, cluster: &Name) -> Option<Diagnostic> {
    if previous.workers.get(worker).is_some_and(|lock| lock.clusters.contains_key(cluster)) {
        return None;
    }
    let recorded = previous.placements().find(|(name, _)| *name == cluster);
    let (message, help) = match recorded {
        Some((_, other)) => (
            format!("the worker {worker} reports the cluster {cluster}, whose record says {other}"),
            "find out which of the two is the one in use, and delete the other on its worker",
        ),
        None => (
            format!("the worker {worker} reports the cluster {cluster}, which has no place there"),
            "delete it on that worker, or find out whose it is",
        ),
    };
    Some(Diagnostic::new(Code::ReportContradiction, message).help(help))
}

/// A cluster whose `Cluster` object is another than before: somebody deleted it on the worker, and it was
/// made anew from its folder.
pub(super) fn replaced(
    cluster: &ReportedCluster,
    before: &FoldedCluster,
    report: &Report,
) -> Option<Diagnostic> {
    let (now, then) = cluster.uid.as_ref().zip(before.uid.as_ref())?;
    (now != then).then(|| {
        let (name, worker) = (&cluster.name, &report.worker);
        let message = format!(
            "the cluster {name} on the worker {worker} is another object than before: {then}, now {now}"
        );
        Diagnostic::new(Code::ReportContradiction, message)
            .help("find out who deleted it there; what it held may be gone")
    })
}

#[cfg(test)]
mod tests {
    use crate::plan::contradictions;
    use crate::plan::world::World;

    fn told(world: &str) -> Vec<String> {
        let mut world = World::read(world);
        for report in world.observed.workers.values_mut() {
            for (name, cluster) in &mut report.clusters {
                cluster.uid = (!name.starts_with("left")).then(|| format!("uid-{name}"));
            }
        }
        let found = contradictions(&world.previous, &world.observed, None, |_| true);
        found.iter().map(|d| d.message.clone()).collect()
    }

    #[test]
    fn a_cluster_that_runs_where_its_record_does_not_say_is_told() {
        let a = "cluster a on=w1";
        let here = format!("worker w1 agent:healthy runs=a; worker w2 agent:healthy; {a}");
        assert_eq!(told(&here), [""; 0]);
        let there = format!("worker w1 agent:healthy; worker w2 agent:healthy runs=a; {a}");
        assert_eq!(told(&there), ["the worker w2 reports the cluster a, whose record says w1"]);
        let silent = there.replace("w2 agent:healthy", "w2 agent:silent");
        assert_eq!(told(&silent), [""; 0], "that may be long past");
    }

    #[test]
    fn a_cluster_that_is_placed_in_a_namespace_of_somebody_else_is_told() {
        let w1 = "worker w1 agent:healthy ns=a,b; worker w2 agent:healthy ns=c";
        let said =
            "a is recorded on w1, which reports a namespace of that name that carp did not make";
        assert_eq!(told(&format!("{w1}; cluster a on=w1; cluster c on=w1")), [said]);
        assert_eq!(told(&format!("{w1}; cluster a; cluster b on=w2")), [""; 0]);
    }

    #[test]
    fn a_cluster_without_a_record_is_told_and_its_leftovers_are_not() {
        let worker = "worker w1 agent:healthy runs=stray,left-over";
        assert_eq!(
            told(worker),
            ["the worker w1 reports the cluster stray, which has no place there"]
        );
        assert_eq!(told(&format!("{worker}; cluster stray")).len(), 1, "a pending one too");
    }
}
