//! What to do about one cluster. Pure: what is seen and what is wanted in, one action out.

use super::reason::Reason;

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
pub struct Observed {
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
    pub hopeless: Option<Reason>,
}

/// What is wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Desired {
    /// Whether the object is being deleted.
    pub deleting: bool,
    /// Whether the cluster stays when the object goes.
    pub orphan: bool,
    /// Whether a cluster that is there may be taken over.
    pub adopt: bool,
}

/// What to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
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
    Refuse(Reason),
}

/// What to do about a cluster.
#[must_use]
pub fn plan(observed: &Observed, desired: &Desired) -> Action {
    if desired.deleting {
        return deletion(observed, desired);
    }
    if observed.creating {
        return Action::Wait;
    }
    match observed.record {
        _ if observed.renamed => Action::Refuse(Reason::Renamed),
        _ if observed.other_host => Action::Refuse(Reason::OtherHost),
        Record::None if observed.listed && desired.adopt => Action::Adopt,
        Record::None if observed.listed => Action::Refuse(Reason::AlreadyExists),
        Record::Made if observed.listed => Action::Check,
        record => match (record, observed.hopeless) {
            (_, Some(reason)) => Action::Refuse(reason),
            (Record::None, None) => Action::Begin,
            (Record::Intended, None) => Action::Create { leftovers: observed.listed },
            (Record::Made, None) => Action::BeginAgain,
        },
    }
}

/// Nothing is deleted that the record does not name: an object that was refused a name never owned the
/// cluster that has it. A new name does not save the old cluster.
fn deletion(observed: &Observed, desired: &Desired) -> Action {
    match observed.record {
        _ if observed.creating => Action::Cancel,
        Record::None => Action::Release,
        _ if desired.orphan => Action::Release,
        _ if observed.other_host => Action::Refuse(Reason::OtherHost),
        _ if observed.listed => Action::Delete,
        _ => Action::Release,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn seen(record: Record, listed: bool) -> Observed {
        Observed {
            record,
            listed,
            renamed: false,
            other_host: false,
            creating: false,
            hopeless: None,
        }
    }

    const WANTED: Desired = Desired { deleting: false, orphan: false, adopt: false };
    const ADOPTING: Desired = Desired { adopt: true, ..WANTED };
    const DELETING: Desired = Desired { deleting: true, ..WANTED };
    const ORPHANING: Desired = Desired { orphan: true, ..DELETING };

    #[test]
    fn every_state_has_its_action() {
        use Record::{Intended, Made, None};
        let refuse = Action::Refuse;
        let hopeless = |seen| Observed { hopeless: Some(Reason::InvalidConfig), ..seen };
        let creating = |seen| Observed { creating: true, ..seen };
        let renamed = |seen| Observed { renamed: true, ..seen };
        let elsewhere = |seen| Observed { other_host: true, ..seen };
        for (observed, desired, action) in [
            (seen(None, false), WANTED, Action::Begin),
            (seen(None, true), WANTED, refuse(Reason::AlreadyExists)),
            (seen(None, true), ADOPTING, Action::Adopt),
            (seen(None, false), ADOPTING, Action::Begin),
            (seen(Intended, false), WANTED, Action::Create { leftovers: false }),
            (seen(Intended, true), WANTED, Action::Create { leftovers: true }),
            (creating(seen(Intended, true)), WANTED, Action::Wait),
            (seen(Made, true), WANTED, Action::Check),
            (seen(Made, false), WANTED, Action::BeginAgain),
            (hopeless(seen(Intended, false)), WANTED, refuse(Reason::InvalidConfig)),
            (hopeless(seen(Made, true)), WANTED, Action::Check),
            (renamed(seen(Made, false)), WANTED, refuse(Reason::Renamed)),
            (renamed(seen(Intended, true)), ADOPTING, refuse(Reason::Renamed)),
            (elsewhere(seen(Made, false)), WANTED, refuse(Reason::OtherHost)),
            (seen(None, true), DELETING, Action::Release),
            (seen(None, false), DELETING, Action::Release),
            (seen(Intended, true), DELETING, Action::Delete),
            (creating(seen(Intended, true)), DELETING, Action::Cancel),
            (seen(Made, true), DELETING, Action::Delete),
            (renamed(seen(Made, true)), DELETING, Action::Delete),
            (seen(Made, false), DELETING, Action::Release),
            (elsewhere(seen(Made, true)), DELETING, refuse(Reason::OtherHost)),
            (seen(Made, true), ORPHANING, Action::Release),
            (elsewhere(seen(Made, true)), ORPHANING, Action::Release),
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
                    let observed = Observed { renamed, ..seen(Record::None, listed) };
                    let action = plan(&observed, &Desired { deleting, orphan, adopt });
                    let deletes =
                        matches!(action, Action::Delete | Action::Create { leftovers: true });
                    assert!(!deletes, "{observed:?}: {action:?}");
                }
            }
        }
    }
}
