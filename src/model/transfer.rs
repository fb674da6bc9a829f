//! Hand-overs: a cluster that manages itself leaves its worker for another one with all that it is. `clusterctl move`
//! carries its objects and Secrets; what is committed before and after goes by evidence (`docs/adr/0078`).

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::words::words;
use super::{Digest, Name, ReportedMachines};

words! {
    /// A step of a hand-over. What comes after it waits for evidence from both workers.
    #[derive(Serialize, Deserialize)]
    pub TransferStep:
    /// Flux on the old worker is to leave the cluster as it is (`spec.suspend`), and the new worker gets what
    /// `clusterctl move` does not carry. It is called off if nothing names the cluster any more.
    Prepare,
    /// A person may run `clusterctl move`: there is no way back but forward.
    HandOver,
    /// The new worker has the whole folder, and what is left on the old one goes.
    Adopt,
}

words! {
    /// What a step of a hand-over waits for.
    pub TransferWait:
    /// No complete report of the old worker counts: it is silent, has no agent or is another cluster by now.
    OldWorkerUnheard,
    /// No complete report of the new worker counts, for one of these reasons.
    NewWorkerUnheard,
    /// The old worker does not report that Flux leaves the cluster alone.
    NotSuspended,
    /// The cluster is not running where it is, and `clusterctl` moves nothing that is on its way.
    ClusterNotRunning,
    /// It is paused where it is, and `clusterctl` moves no paused cluster.
    ClusterPaused,
    /// The report does not say which machines it has: its agent is older than this carp.
    MachinesUnknown,
    /// The new worker does not report that it has applied what was prepared.
    NotPrepared,
    /// A cluster of its name is on the new worker already.
    AlreadyThere,
    /// The new worker takes nothing now: it is cordoned, drained or not well.
    NewWorkerClosed,
    /// A provider on the new worker is older than on the old one, or not there.
    ProviderOlder,
    /// Nobody ran `clusterctl move` yet: the old worker has the cluster still.
    NotHandedOver,
    /// Objects of it are left on the old worker.
    PartlyLeft,
    /// The new worker does not report the cluster.
    NotArrived,
    /// The new worker reports other machines, or another address, than the cluster had.
    OtherMachines,
    /// The new worker does not report that it reaches the cluster with what was carried.
    NotReached,
    /// Its files on the output branch are kept as they are.
    FilesKept,
    /// The folder of the next step could not be made.
    FolderNotMade,
}

impl TransferWait {
    /// What is missing, for people.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::OldWorkerUnheard => {
                "no complete report of the worker that it leaves counts: a hand-over goes by reports of both"
            }
            Self::NewWorkerUnheard => {
                "no complete report of the worker that it goes to counts: a hand-over goes by reports of both"
            }
            Self::NotSuspended => {
                "the worker that it leaves does not report that Flux leaves the cluster alone"
            }
            Self::ClusterNotRunning => {
                "the cluster is not running, and `clusterctl` moves nothing that is on its way"
            }
            Self::ClusterPaused => {
                "the cluster is paused, and `clusterctl` moves no paused cluster"
            }
            Self::MachinesUnknown => {
                "the report does not say which machines the cluster has: its agent is an older one"
            }
            Self::NotPrepared => {
                "the worker that it goes to does not report that it has applied what was prepared"
            }
            Self::AlreadyThere => {
                "the worker that it goes to reports a cluster of that name already"
            }
            Self::NewWorkerClosed => {
                "the worker that it goes to takes nothing now: it is cordoned, drained or not well"
            }
            Self::ProviderOlder => {
                "a provider of Cluster API on the worker that it goes to is older, or not there"
            }
            Self::NotHandedOver => "the worker that it leaves reports the cluster still",
            Self::PartlyLeft => "objects of the cluster are left on the worker that it leaves",
            Self::NotArrived => "the worker that it goes to does not report the cluster",
            Self::OtherMachines => {
                "the worker that it goes to reports other machines, or another address, than the cluster had"
            }
            Self::NotReached => {
                "the worker that it goes to does not report that it reaches the cluster"
            }
            Self::FilesKept => "its files on the output branch are kept as they are",
            Self::FolderNotMade => "the folder of the next step could not be made",
        }
    }
}

/// By what a cluster is known again on another worker. Nothing of it is secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TransferEvidence {
    /// The address of its API server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<String>,
    /// Its machines.
    pub machines: ReportedMachines,
}

/// What the lock of the new worker, and the record, keep of a hand-over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TransferRow {
    /// The step that is committed.
    pub step: TransferStep,
    /// The digest of the folder that was prepared: a report that repeats it has seen it applied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prepared: Option<Digest>,
    /// The kinds that may be left on the old worker: neither the `Cluster` nor anything that it owns.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub leaves: BTreeSet<String>,
    /// The identity of the cluster that was the old worker when the hand-over began.
    #[serde(default, rename = "fromUID", skip_serializing_if = "Option::is_none")]
    pub from_uid: Option<String>,
    /// The identity of the cluster that was the new worker then.
    #[serde(default, rename = "toUID", skip_serializing_if = "Option::is_none")]
    pub to_uid: Option<String>,
    /// What must arrive: fixed when it may be handed over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expects: Option<TransferEvidence>,
}

impl TransferRow {
    /// Whether Flux on the old worker leaves the cluster as it is.
    #[must_use]
    pub const fn suspends(&self) -> bool {
        matches!(self.step, TransferStep::Prepare | TransferStep::HandOver)
    }
}

/// A hand-over in a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// What is known of it after this run. Of one that begins what was prepared is not known yet.
    pub row: TransferRow,
    /// Whether this run takes the step.
    pub advances: bool,
    /// What the next step waits for.
    pub waits: Option<TransferWait>,
}

impl Transfer {
    /// It goes no further than the step before the one that brings the whole folder.
    pub(super) fn waits_for_folder(&mut self) {
        if self.row.step == TransferStep::Adopt {
            self.row.step = TransferStep::HandOver;
        }
        self.advances = false;
        self.waits = Some(TransferWait::FolderNotMade);
    }

    /// The command that hands a cluster over.
    #[must_use]
    pub fn command(cluster: &Name, from: &Name, to: &Name) -> String {
        format!(
            "clusterctl move --namespace {cluster} --kubeconfig {from}.kubeconfig --to-kubeconfig {to}.kubeconfig"
        )
    }

    /// What the next step waits for, for people; empty where it waits for nothing.
    #[must_use]
    pub fn waits_words(&self) -> String {
        let wait = self.waits.map(|wait| format!("; waits: {} ({})", wait.words(), wait.name()));
        wait.unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_the_names_of_its_format() {
        let row = TransferRow {
            step: TransferStep::HandOver,
            prepared: Some(Digest::of(b"d")),
            leaves: ["Namespace".to_owned()].into(),
            from_uid: Some("u".to_owned()),
            to_uid: Some("v".to_owned()),
            expects: Some(TransferEvidence {
                endpoint: Some("https://10.0.0.1:6443".to_owned()),
                machines: ReportedMachines { count: 3, digest: Digest::of(b"m") },
            }),
        };
        let value = serde_json::to_value(&row).unwrap();
        let keys: Vec<_> = value.as_object().unwrap().keys().collect();
        assert_eq!(keys, ["expects", "fromUID", "leaves", "prepared", "step", "toUID"]);
        assert_eq!(serde_json::from_value::<TransferRow>(value).unwrap(), row);
        assert!(row.suspends());
    }

    #[test]
    fn the_command_names_both_workers_and_the_namespace() {
        let [c, from, to] = ["pay", "we-1", "we-2"].map(|text| Name::parse(text).unwrap());
        assert_eq!(
            Transfer::command(&c, &from, &to),
            "clusterctl move --namespace pay --kubeconfig we-1.kubeconfig --to-kubeconfig we-2.kubeconfig"
        );
    }
}
