//! The Kubernetes versions of a cluster's parts, while they are on their way to the desired one.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::words::words;
use super::{ClusterRow, Digest};

/// The versions that a cluster's folder has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Versions {
    /// Of the control plane.
    pub control_plane: String,
    /// Of all pools.
    pub pools: String,
}

impl Versions {
    /// One version for all parts.
    #[must_use]
    pub fn both(version: &str) -> Self {
        Self { control_plane: version.to_owned(), pools: version.to_owned() }
    }

    /// Reads what [`Display`](fmt::Display) writes.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (control_plane, pools) = text.split_once('/')?;
        Some(Self { control_plane: control_plane.to_owned(), pools: pools.to_owned() })
    }
}

impl fmt::Display for Versions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.control_plane, self.pools)
    }
}

/// What a lock knows of a cluster whose folder has other versions than its document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SteppedVersions {
    /// The versions.
    #[serde(flatten)]
    pub versions: Versions,
    /// The digest of the folder: a report that repeats it speaks of these versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<Digest>,
    /// The UID of the `Cluster` object when the step was taken. What another one runs is no evidence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uid: Option<String>,
}

impl ClusterRow {
    /// The versions that the folder has.
    #[must_use]
    pub fn rendered_versions(&self) -> Versions {
        match &self.versions {
            Some(stepped) => stepped.versions.clone(),
            None => Versions::both(&self.row.version),
        }
    }
}

/// Where a cluster is on its way to the desired version, after this run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionStep {
    /// What its folder has.
    pub versions: Versions,
    /// What its document wants.
    pub desired: String,
    /// What the next step waits for.
    pub waits: StepWait,
    /// The UID of the `Cluster` object that the evidence must be of; `None`: of any.
    pub uid: Option<String>,
}

impl VersionStep {
    /// The step in one line, without what it waits for.
    #[must_use]
    pub fn words(&self) -> String {
        let Versions { control_plane, pools } = &self.versions;
        let desired = &self.desired;
        if control_plane == pools {
            format!("at {control_plane}, on the way to {desired}")
        } else {
            format!("control plane at {control_plane}, pools at {pools}, on the way to {desired}")
        }
    }

    /// What the next step waits for, in words.
    #[must_use]
    pub fn waits_words(&self) -> String {
        let Versions { control_plane, pools } = &self.versions;
        match self.waits {
            StepWait::NoReport => {
                "waits for a fresh and complete report of its worker".to_owned()
            }
            StepWait::NotApplied => "waits until its worker has applied that".to_owned(),
            StepWait::OtherObject => {
                "the cluster was made anew on its worker meanwhile; a change of its document goes on with \
                 the new one"
                    .to_owned()
            }
            StepWait::ControlPlane => {
                format!("waits until all of the control plane is at {control_plane}")
            }
            StepWait::Pools => format!("waits until all machines of the pools are at {pools}"),
            StepWait::NotRunning => "waits until the cluster is running".to_owned(),
        }
    }
}

words! {
    /// What the next step of a version waits for.
    pub StepWait:
    /// No report, none that is fresh, or none that is complete.
    NoReport,
    /// The report is from before the folder that the last commit made was applied.
    NotApplied,
    /// The report speaks of another `Cluster` object than the one at which the step began.
    OtherObject,
    /// The control plane is not as a whole at its version.
    ControlPlane,
    /// The pools are not as a whole at theirs.
    Pools,
    /// The cluster is not well, so no minor version is added to its troubles.
    NotRunning,
}
