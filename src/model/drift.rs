//! What the output branch holds besides what carp wrote there: hand edits, files of other people, and
//! locks that had to be rebuilt.

use std::collections::BTreeSet;
use std::fmt;

use super::{Entry, Id, Name, paths};

/// What a survey of the output branch found. It is empty where everything is as the locks say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Survey {
    /// What carp owns and somebody changed or removed, sorted.
    pub drifted: Vec<Drifted>,
    /// Files and folders in generated folders that no lock lists, sorted. They are never touched.
    pub foreign: Vec<String>,
}

/// A path that carp owns and that is not as carp left it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Drifted {
    /// Whose path it is.
    pub of: Owned,
    /// The path, relative to the fleet's root.
    pub path: String,
    /// What happened to it.
    pub edit: Edit,
    /// What carp had left there; `None` where that is not known any more, and is made anew.
    pub was: Option<Entry>,
}

/// What somebody did to a path of carp's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Edit {
    /// It was changed.
    Changed,
    /// It was removed.
    Removed,
}

impl fmt::Display for Edit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Changed => "changed",
            Self::Removed => "removed",
        })
    }
}

/// What a path belongs to. It is kept or written as a whole.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Owned {
    /// The control plane's own files.
    ControlPlane,
    /// The folder of a worker's own cluster below `control-plane/`.
    Made(Name),
    /// A worker's own files.
    Worker(Name),
    /// A cluster's folder.
    Cluster(Name),
    /// A cluster's decision record.
    Record(Name),
}

impl Owned {
    /// The name as holds and kept folders list it.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::ControlPlane => paths::CONTROL_PLANE,
            Self::Made(name) | Self::Worker(name) | Self::Cluster(name) | Self::Record(name) => {
                name
            }
        }
    }
}

/// What a run does not write: a person's edits that the fleet wants kept, and places that are taken by
/// files of other people.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kept {
    /// The control plane's own files.
    pub control_plane: bool,
    /// Workers whose cluster's folder below `control-plane/` stays.
    pub made: BTreeSet<Name>,
    /// Workers whose folder stays, and every cluster on them.
    pub workers: BTreeSet<Name>,
    /// Clusters whose folder and record stay.
    pub clusters: BTreeSet<Name>,
}

impl Kept {
    /// Keeps what a path belongs to.
    pub fn add(&mut self, of: &Owned) {
        match of {
            Owned::ControlPlane => self.control_plane = true,
            Owned::Made(name) => drop(self.made.insert(name.clone())),
            Owned::Worker(name) => drop(self.workers.insert(name.clone())),
            Owned::Cluster(name) | Owned::Record(name) => drop(self.clusters.insert(name.clone())),
        }
    }

    /// Whether a cluster on a worker stays as it is.
    #[must_use]
    pub fn holds(&self, cluster: &Name, worker: &Name) -> bool {
        self.clusters.contains(cluster) || self.workers.contains(worker)
    }

    /// Whether all of another is kept here as well.
    #[must_use]
    pub fn contains(&self, other: &Self) -> bool {
        let Self { control_plane, made, workers, clusters } = other;
        (self.control_plane || !control_plane)
            && made.is_subset(&self.made)
            && workers.is_subset(&self.workers)
            && clusters.is_subset(&self.clusters)
    }

    /// Keeps what another keeps, too.
    pub fn extend(&mut self, other: Self) {
        let Self { control_plane, made, workers, clusters } = other;
        self.control_plane |= control_plane;
        self.made.extend(made);
        self.workers.extend(workers);
        self.clusters.extend(clusters);
    }
}

/// A lock that is not there, cannot be read, or says what carp did not write.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Damage {
    /// Which one.
    pub lock: LockName,
    /// What is wrong with it.
    pub why: String,
}

/// One of the locks.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LockName {
    /// `control-plane/fleet.lock`.
    Fleet,
    /// `workers/<worker>/carp.lock`.
    Worker(Name),
    /// `decisions/pending.lock`.
    Pending,
}

impl LockName {
    /// Its path, relative to the fleet's root.
    #[must_use]
    pub fn path(&self) -> String {
        match self {
            Self::Fleet => format!("{}/{}", paths::CONTROL_PLANE, paths::FLEET_LOCK),
            Self::Worker(name) => format!("{}/{}", paths::worker(name), paths::WORKER_LOCK),
            Self::Pending => format!("{}/{}", paths::DECISIONS, paths::PENDING_LOCK),
        }
    }
}

/// The trees in which a survey found nothing: what need not be compared again. Each is a function of the
/// objects that it names.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Clean {
    /// Workers' folders, each with its lock in it.
    pub workers: BTreeSet<Id>,
    /// The decisions' folder and the workers' one, whose locks list the records.
    pub decisions: Option<(Id, Id)>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_of_a_worker_keeps_its_clusters() {
        let name = |text: &str| Name::parse(text).unwrap();
        let mut kept = Kept::default();
        assert!(!kept.holds(&name("a"), &name("w1")));
        kept.add(&Owned::Worker(name("w1")));
        assert!(kept.holds(&name("a"), &name("w1")) && !kept.holds(&name("a"), &name("w2")));
        let mut more = Kept::default();
        more.add(&Owned::Record(name("b")));
        assert!(!kept.contains(&more));
        kept.extend(more.clone());
        assert!(kept.contains(&more) && kept.holds(&name("b"), &name("w2")));
    }
}
