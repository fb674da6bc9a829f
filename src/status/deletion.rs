//! How far a deletion is, as conditions: each says since when, and the one that is not true yet says what
//! it waits for.

use super::{StatusInput, condition};
use crate::model::api::WriteMode;
use crate::model::{
    Condition, ConditionReason, ConditionStatus, ConditionType, Deletion, DeletionStep, Missing,
    Name, Progress,
};

/// The conditions of a cluster, or of a worker's own cluster, that is being deleted; none for what stays.
///
/// `ClusterGone` is false until the worker reports the cluster gone, then `AddOnsGone` until it reports
/// the rest gone. `Orphaned` is false until Flux is reported to know that it must leave everything alone.
/// `Empty` is false while clusters are reported on a worker that is to go.
pub(super) fn conditions(
    input: StatusInput<'_>,
    name: &Name,
    deletion: Option<&Deletion>,
) -> Vec<Condition> {
    let Some(deletion) = deletion else { return Vec::new() };
    // What is left behind of a cluster that was handed over is no deletion of it.
    if input.plan.moved(name).is_some_and(|moved| moved.transfer.is_some()) {
        return Vec::new();
    }
    let git = input.fleet.spec.git.as_ref();
    let proposes = git.is_some_and(|git| git.write == WriteMode::PullRequest);
    match deletion.progress {
        Progress::Begins if proposes => return Vec::new(),
        Progress::Ends(_) | Progress::Cancelled => return Vec::new(),
        Progress::Begins | Progress::Waits | Progress::Steps => {}
    }
    match deletion.step {
        // Nothing of a cluster is deleted; its condition `Moving` says for what that waits.
        None if input.plan.moved(name).is_some() => Vec::new(),
        Some(DeletionStep::D1) => vec![waits(ConditionType::ClusterGone, deletion)],
        Some(DeletionStep::D2) => {
            let gone = condition(
                ConditionType::ClusterGone,
                ConditionStatus::True,
                ConditionReason::Gone,
                String::new(),
            );
            vec![gone, waits(ConditionType::AddOnsGone, deletion)]
        }
        Some(DeletionStep::Orphan) => vec![waits(ConditionType::Orphaned, deletion)],
        None => vec![waits(ConditionType::Empty, deletion)],
    }
}

/// What the next step waits for.
fn waits(kind: ConditionType, deletion: &Deletion) -> Condition {
    let missing = deletion.missing.clone().unwrap_or(Missing::NotApplied);
    let by = deletion.reporter.as_ref().map(|name| format!(" ({name})"));
    let message = format!("{missing}{}", by.unwrap_or_default());
    condition(kind, ConditionStatus::False, missing.code().name(), message)
}

#[cfg(test)]
mod tests {

    use super::*;
    use crate::model::Plan;
    use crate::status::tests::Given;

    fn told(step: Option<DeletionStep>, missing: Missing) -> Vec<String> {
        let name = Name::parse("a").unwrap();
        let deletion = Deletion {
            reporter: Some(Name::parse("w1").unwrap()),
            step,
            progress: Progress::Waits,
            missing: Some(missing),
        };
        let plan = Plan { retirements: [(name.clone(), deletion)].into(), ..Plan::default() };
        let given = Given { plan, ..Given::default() };
        let words = |c: &Condition| format!("{} {:?} {} {}", c.kind, c.status, c.reason, c.message);
        let input = given.input();
        conditions(input, &name, input.plan.retirements.get(&name)).iter().map(words).collect()
    }

    #[test]
    fn each_step_says_what_it_waits_for() {
        assert_eq!(
            told(Some(DeletionStep::D1), Missing::StillThere(["Cluster".to_owned()].into())),
            ["ClusterGone False StillThere still there: Cluster (w1)"]
        );
        assert_eq!(
            told(Some(DeletionStep::D2), Missing::Silent),
            ["ClusterGone True Gone ", "AddOnsGone False Silent the reports stopped (w1)"]
        );
        assert_eq!(
            told(Some(DeletionStep::Orphan), Missing::NotObserved),
            ["Orphaned False NotObserved no agent reports of it, so somebody must abandon it (w1)"]
        );
    }
}
