//! What to do about one cluster. Pure: what is seen and what is wanted in, one action out.

use super::reason::KindReason;

/// What an object's status says that was begun in its name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Record {
    /// Nothing: whatever has the name is not this object's.
    #[default]
    None,
    /// A creation was begun.
    Intended,
    /// The cluster was made, or taken over.
    Made,
}

/// What is seen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObservedCluster {
    /// What the status says.
    pub record: Record,
    /// Whether the recorded name is not the one that is wanted now.
    pub renamed: bool,
    /// Whether the record is of another machine.
    pub other_host: bool,
    /// Whether kind lists a cluster of that name. An interrupted creation is listed too.
    pub listed: bool,
    /// Whether a creation runs just now.
    pub creating: bool,
    /// What failed last with exactly this spec, where only a change of it helps.
    pub hopeless: Option<KindReason>,
}

/// What is wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DesiredCluster {
    /// Whether the object is being deleted.
    pub deleting: bool,
    /// Whether the cluster stays when the object goes.
    pub orphan: bool,
    /// Whether a cluster that is there may be taken over.
    pub adopt: bool,
}

/// What to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KindAction {
    /// Look again later.
    Wait,
    /// End the creation that runs.
    Cancel,
    /// Write down that a creation begins, then create.
    Begin,
    /// Write down that a creation begins, for the cluster that was made is gone.
    BeginAgain,
    /// A creation was begun and did not end: create, after removing what it left.
    Create {
        /// Whether it left nodes.
        leftovers: bool,
    },
    /// Take the cluster over that is there.
    Adopt,
    /// See whether it answers; write its kubeconfig.
    Check,
    /// Delete it.
    Delete,
    /// Nothing of this object is left: let it go.
    Release,
    /// Do nothing, and say why.
    Refuse(KindReason),
}

/// What to do about a cluster.
#[must_use]
pub fn plan(observed: &ObservedCluster, desired: &DesiredCluster) -> KindAction {
    if desired.deleting {
        return deletion(observed, desired);
    }
    if observed.creating {
        return KindAction::Wait;
    }
    match observed.record {
        _ if observed.renamed => KindAction::Refuse(KindReason::Renamed),
        _ if observed.other_host => KindAction::Refuse(KindReason::OtherHost),
        Record::None if observed.listed && desired.adopt => KindAction::Adopt,
        Record::None if observed.listed => KindAction::Refuse(KindReason::AlreadyExists),
        Record::Made if observed.listed => KindAction::Check,
        record => match (record, observed.hopeless) {
            (_, Some(reason)) => KindAction::Refuse(reason),
            (Record::None, None) => KindAction::Begin,
            (Record::Intended, None) => KindAction::Create { leftovers: observed.listed },
            (Record::Made, None) => KindAction::BeginAgain,
        },
    }
}

/// Nothing is deleted that the record does not name: an object that was refused a name never owned the
/// cluster that has it. A new name does not save the old cluster.
fn deletion(observed: &ObservedCluster, desired: &DesiredCluster) -> KindAction {
    match observed.record {
        _ if observed.creating => KindAction::Cancel,
        Record::None => KindAction::Release,
        _ if desired.orphan => KindAction::Release,
        _ if observed.other_host => KindAction::Refuse(KindReason::OtherHost),
        _ if observed.listed => KindAction::Delete,
        _ => KindAction::Release,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn seen(record: Record, listed: bool) -> ObservedCluster {
        ObservedCluster {
            record,
            listed,
            renamed: false,
            other_host: false,
            creating: false,
            hopeless: None,
        }
    }

    const WANTED: DesiredCluster = DesiredCluster { deleting: false, orphan: false, adopt: false };
    const ADOPTING: DesiredCluster = DesiredCluster { adopt: true, ..WANTED };
    const DELETING: DesiredCluster = DesiredCluster { deleting: true, ..WANTED };
    const ORPHANING: DesiredCluster = DesiredCluster { orphan: true, ..DELETING };

    #[test]
    fn every_state_has_its_action() {
        use Record::{Intended, Made, None};
        let refuse = KindAction::Refuse;
        let hopeless = |seen| ObservedCluster { hopeless: Some(KindReason::InvalidConfig), ..seen };
        let creating = |seen| ObservedCluster { creating: true, ..seen };
        let renamed = |seen| ObservedCluster { renamed: true, ..seen };
        let elsewhere = |seen| ObservedCluster { other_host: true, ..seen };
        for (observed, desired, action) in [
            (seen(None, false), WANTED, KindAction::Begin),
            (seen(None, true), WANTED, refuse(KindReason::AlreadyExists)),
            (seen(None, true), ADOPTING, KindAction::Adopt),
            (seen(None, false), ADOPTING, KindAction::Begin),
            (seen(Intended, false), WANTED, KindAction::Create { leftovers: false }),
            (seen(Intended, true), WANTED, KindAction::Create { leftovers: true }),
            (creating(seen(Intended, true)), WANTED, KindAction::Wait),
            (seen(Made, true), WANTED, KindAction::Check),
            (seen(Made, false), WANTED, KindAction::BeginAgain),
            (hopeless(seen(Intended, false)), WANTED, refuse(KindReason::InvalidConfig)),
            (hopeless(seen(Made, true)), WANTED, KindAction::Check),
            (renamed(seen(Made, false)), WANTED, refuse(KindReason::Renamed)),
            (renamed(seen(Intended, true)), ADOPTING, refuse(KindReason::Renamed)),
            (elsewhere(seen(Made, false)), WANTED, refuse(KindReason::OtherHost)),
            (seen(None, true), DELETING, KindAction::Release),
            (seen(None, false), DELETING, KindAction::Release),
            (seen(Intended, true), DELETING, KindAction::Delete),
            (creating(seen(Intended, true)), DELETING, KindAction::Cancel),
            (seen(Made, true), DELETING, KindAction::Delete),
            (renamed(seen(Made, true)), DELETING, KindAction::Delete),
            (seen(Made, false), DELETING, KindAction::Release),
            (elsewhere(seen(Made, true)), DELETING, refuse(KindReason::OtherHost)),
            (seen(Made, true), ORPHANING, KindAction::Release),
            (elsewhere(seen(Made, true)), ORPHANING, KindAction::Release),
        ] {
            assert_eq!(plan(&observed, &desired), action, "{observed:?} {desired:?}");
        }
    }

    #[test]
    fn nothing_is_deleted_that_is_not_recorded() {
        let flags = [false, true];
        for (listed, renamed) in flags.iter().flat_map(|l| flags.map(|r| (*l, r))) {
            for (adopt, orphan) in flags.iter().flat_map(|a| flags.map(|o| (*a, o))) {
                for deleting in flags {
                    let observed = ObservedCluster { renamed, ..seen(Record::None, listed) };
                    let action = plan(&observed, &DesiredCluster { deleting, orphan, adopt });
                    let deletes = matches!(
                        action,
                        KindAction::Delete | KindAction::Create { leftovers: true }
                    );
                    assert!(!deletes, "{observed:?}: {action:?}");
                }
            }
        }
    }
}
