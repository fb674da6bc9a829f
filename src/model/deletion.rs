//! Deletions: their steps, what a lock keeps of one, and what a step waits for.
//!
//! A step is one commit, and the next one waits for evidence: a complete report, of the cluster that was
//! the worker when the deletion began, that shows this step's folder applied and nothing there but what
//! that folder still has. Absence alone proves nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};

use super::words::words;
use super::{Digest, Name};

/// A step of a deletion. What comes after it waits for evidence from the worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum DeletionStep {
    /// The `Cluster` and what it owns are gone from the folder; Namespace, identity, add-ons, the
    /// ManagedCluster and a tombstone stay.
    D1,
    /// The add-ons are gone too, and Flux may prune what is left. The folder, its Kustomization and the
    /// record go next (D3).
    D2,
    /// The folder is whole, and Flux is told to leave everything alone. The folder, its Kustomization and
    /// the record go next.
    Orphan,
}

/// What a lock keeps of a deletion that has begun.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DeletionRow {
    /// The step that is committed.
    pub step: DeletionStep,
    /// The digest of that step's folder: a report that repeats it has seen the folder applied.
    pub digest: Digest,
    /// The kinds in that folder. An object of another kind that is reported is not gone yet.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub keeps: BTreeSet<String>,
    /// The identity of the reporting cluster when the deletion began; absent where it had not reported.
    #[serde(default, rename = "workerUID", skip_serializing_if = "Option::is_none")]
    pub worker_uid: Option<String>,
}

/// One deletion in a plan: of a cluster, or of a worker's own cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deletion {
    /// Who reports how far it is: the worker, or for a worker's own cluster the control-plane cluster.
    /// `None` where the fleet names no control-plane cluster.
    pub reporter: Option<Name>,
    /// The step after this run; `None` for what has none: a worker whose own cluster carp does not make,
    /// or a retirement that has not begun.
    pub step: Option<DeletionStep>,
    /// What this run does.
    pub progress: Progress,
    /// What the next step waits for.
    pub missing: Option<Missing>,
}

/// What a run does about a deletion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Progress {
    /// Its first step is taken.
    Begins,
    /// Nothing: the evidence is not there.
    Waits,
    /// The next step is taken.
    Steps,
    /// It is over: folder, Kustomization and record go, and what it took is free.
    Ends(Ending),
    /// The document came back in time, and nothing is deleted.
    Cancelled,
}

/// How a deletion ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ending {
    /// The worker reported that nothing is left.
    Deleted,
    /// Flux lets go, and everything goes on running without carp.
    Orphaned,
    /// Somebody acknowledged that no evidence will come. What is left behind is theirs.
    Abandoned,
    /// A worker that carp did not make is empty, and carp renders nothing for it any more.
    Detached,
}

/// What is missing of the evidence that a step waits for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Missing {
    /// The worker has no agent, so no report will come.
    NotObserved,
    /// No report ever came.
    NeverReported,
    /// The reports stopped.
    Silent,
    /// The reports are of another cluster than the one on which the deletion began.
    AnotherWorker,
    /// The last report could not list everything.
    Incomplete,
    /// The last report does not show this step's folder applied.
    NotApplied,
    /// The last report contradicts itself.
    Contradictory,
    /// Objects of these kinds are there still.
    StillThere(BTreeSet<String>),
    /// Clusters are reported on the worker that is to go.
    Occupied(BTreeSet<String>),
    /// What is to change was edited by hand and is kept, or a file of others is in the way.
    FolderKept,
    /// A document of that name is there and did not load.
    NotLoaded,
    /// The templates for the next step did not render.
    NotRendered,
}

words! {
    /// What is missing, without what it names.
    pub MissingCode:
    /// There is no agent.
    NotObserved,
    /// There was no report.
    NeverReported,
    /// There is no report any more.
    Silent,
    /// The reports are of another cluster.
    AnotherWorker,
    /// Not everything was listed.
    Incomplete,
    /// The folder is not applied.
    NotApplied,
    /// The report contradicts itself.
    Contradictory,
    /// Objects are there.
    StillThere,
    /// Clusters are there.
    Occupied,
    /// The folder is kept.
    FolderKept,
    /// The document did not load.
    NotLoaded,
    /// The templates did not render.
    NotRendered,
}

impl Missing {
    /// The name as users see it.
    #[must_use]
    pub fn code(&self) -> MissingCode {
        match self {
            Self::NotObserved => MissingCode::NotObserved,
            Self::NeverReported => MissingCode::NeverReported,
            Self::Silent => MissingCode::Silent,
            Self::AnotherWorker => MissingCode::AnotherWorker,
            Self::Incomplete => MissingCode::Incomplete,
            Self::NotApplied => MissingCode::NotApplied,
            Self::Contradictory => MissingCode::Contradictory,
            Self::StillThere(_) => MissingCode::StillThere,
            Self::Occupied(_) => MissingCode::Occupied,
            Self::FolderKept => MissingCode::FolderKept,
            Self::NotLoaded => MissingCode::NotLoaded,
            Self::NotRendered => MissingCode::NotRendered,
        }
    }

    /// Whether it may be missing for ever. Only such a deletion can be abandoned: where reports come,
    /// they say what is left to do.
    #[must_use]
    pub fn may_never_come(&self) -> bool {
        use Missing::{AnotherWorker, NeverReported, NotObserved, Silent};
        matches!(self, NotObserved | NeverReported | Silent | AnotherWorker)
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let joined =
            |names: &BTreeSet<String>| names.iter().cloned().collect::<Vec<_>>().join(", ");
        match self {
            Self::NotObserved => f.write_str("no agent reports of it, so somebody must abandon it"),
            Self::NeverReported => f.write_str("no report ever came"),
            Self::Silent => f.write_str("the reports stopped"),
            Self::AnotherWorker => {
                f.write_str("the reports are of another cluster than the one on which it began")
            }
            Self::Incomplete => f.write_str("the last report is not complete"),
            Self::NotApplied => f.write_str("the last report does not show this step applied"),
            Self::Contradictory => f.write_str("the last report contradicts itself"),
            Self::StillThere(kinds) => write!(f, "still there: {}", joined(kinds)),
            Self::Occupied(clusters) => write!(f, "still reported there: {}", joined(clusters)),
            Self::FolderKept => f.write_str("its files on the output branch are kept as they are"),
            Self::NotLoaded => f.write_str("a document of its name did not load"),
            Self::NotRendered => f.write_str("the templates of the next step did not render"),
        }
    }
}

/// Deletions whose evidence may never come, by who should report it: what one acknowledgement of the kind
/// `abandon` names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stuck {
    /// Who should report; `None` where the fleet names no control-plane cluster.
    pub reporter: Option<Name>,
    /// The clusters and workers, sorted.
    pub names: Vec<String>,
}

impl Stuck {
    /// The digest that an Acknowledgement of exactly this set must carry.
    #[must_use]
    pub fn digest(&self) -> Digest {
        Digest::of_names(self.names.iter().map(String::as_str))
    }

    /// The sets among deletions, which come by name.
    #[must_use]
    pub fn sets<'a>(deletions: impl IntoIterator<Item = (&'a Name, &'a Deletion)>) -> Vec<Self> {
        let mut sets: BTreeMap<&Option<Name>, Vec<String>> = BTreeMap::new();
        for (name, deletion) in deletions {
            let waits = deletion.progress == Progress::Waits;
            if waits && deletion.missing.as_ref().is_some_and(Missing::may_never_come) {
                sets.entry(&deletion.reporter).or_default().push(name.to_string());
            }
        }
        let set =
            |(reporter, names): (&Option<Name>, _)| Self { reporter: reporter.clone(), names };
        sets.into_iter().map(set).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> Name {
        Name::parse(text).unwrap()
    }

    #[test]
    fn what_may_be_abandoned_is_grouped_by_who_should_report() {
        let one = |reporter: &str, progress, missing| Deletion {
            reporter: Some(name(reporter)),
            step: Some(DeletionStep::D1),
            progress,
            missing: Some(missing),
        };
        let deletions = BTreeMap::from([
            (name("a"), one("w1", Progress::Waits, Missing::Silent)),
            (name("b"), one("w2", Progress::Waits, Missing::NeverReported)),
            (name("c"), one("w1", Progress::Waits, Missing::AnotherWorker)),
            (name("d"), one("w1", Progress::Waits, Missing::NotApplied)),
            (name("e"), one("w1", Progress::Begins, Missing::Silent)),
        ]);
        let sets: Vec<_> = Stuck::sets(&deletions).into_iter().map(|s| s.names).collect();
        assert_eq!(sets, [vec!["a", "c"], vec!["b"]]);
    }

    #[test]
    fn a_row_has_the_names_of_its_format() {
        let row = DeletionRow {
            step: DeletionStep::D2,
            digest: Digest::of(b"d"),
            keeps: ["Namespace".to_owned()].into(),
            worker_uid: Some("u".to_owned()),
        };
        let value = serde_json::to_value(&row).unwrap();
        let keys: Vec<_> = value.as_object().unwrap().keys().collect();
        assert_eq!(keys, ["digest", "keeps", "step", "workerUID"]);
        assert_eq!(serde_json::from_value::<DeletionRow>(value).unwrap(), row);
    }
}
