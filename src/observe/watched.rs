//! What the watches have told so far. Pure: changes in, a listing out.
//!
//! A kind counts as listed from the end of its first list until its watch fails. A watch that failed
//! begins with a new list, so what a listing calls complete was listed or watched without a gap.

use std::collections::{BTreeMap, BTreeSet};

use super::object::Metadata;
use super::{Listing, ObservedKind, ObservedObject, conditions};
use crate::model::{Condition, Name};

/// One thing that a watch tells of its kind.
#[derive(Clone, Debug, PartialEq)]
pub enum WatchEvent {
    /// A new list begins.
    Restarted,
    /// An object of that list.
    Listed(ObservedObject),
    /// The list ends: what it did not have is gone.
    Complete,
    /// An object is new or another.
    Applied(ObservedObject),
    /// An object is gone: its namespace and its name.
    Gone(String, String),
    /// An object cannot be read.
    Unreadable,
    /// The watch failed.
    Failed(WatchTrouble),
}

/// Why a kind cannot be watched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WatchTrouble {
    /// The API server does not know it.
    NotServed,
    /// The API server does not let us.
    Denied(String),
    /// The API server does not answer, or the watch broke.
    Broken(String),
}

/// What an object that carp wrote, a ManagedCluster or a Worker, says of itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Managed {
    /// Which of the two.
    pub kind: ObservedKind,
    /// Its identity: another one means that the object was made anew.
    pub uid: String,
    /// The generation that a status must speak of.
    pub generation: i64,
    /// The condition `Ready` as it was written last.
    pub ready: Option<Condition>,
}

/// Everything that is watched.
#[derive(Clone, Debug)]
pub struct WatchedKinds {
    wanted: Vec<ObservedKind>,
    kinds: BTreeMap<ObservedKind, KindWatch>,
}

#[derive(Clone, Debug, Default)]
struct KindWatch {
    objects: BTreeMap<(String, String), ObservedObject>,
    /// The list that is coming in.
    incoming: Option<BTreeMap<(String, String), ObservedObject>>,
    listed: bool,
    unreadable: bool,
    trouble: Option<WatchTrouble>,
}

impl Default for WatchedKinds {
    /// Of the kinds that every agent looks at.
    fn default() -> Self {
        Self::of(ObservedKind::built_in())
    }
}

impl WatchedKinds {
    /// Nothing was told yet of these kinds.
    #[must_use]
    pub fn of(wanted: Vec<ObservedKind>) -> Self {
        Self { wanted, kinds: BTreeMap::new() }
    }

    /// Takes in what a watch tells.
    pub fn apply(&mut self, kind: ObservedKind, change: WatchEvent) {
        self.kinds.entry(kind).or_default().apply(change);
    }

    /// Whether every kind was heard of: it was listed, or its watch failed.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        let heard = |watch: &KindWatch| watch.listed || watch.trouble.is_some();
        self.wanted.iter().all(|kind| self.kinds.get(kind).is_some_and(heard))
    }

    /// Whether nothing at all can be watched: then there is nothing to report.
    #[must_use]
    pub fn is_blind(&self) -> bool {
        let mut required = self.wanted.iter().filter(|kind| kind.is_required());
        required.all(|kind| self.kinds.get(kind).is_none_or(|watch| !watch.listed))
    }

    /// Whether a watch broke and has not come back: neither refused nor without anything to watch.
    #[must_use]
    pub fn is_broken_off(&self) -> bool {
        self.kinds.values().any(|watch| matches!(watch.trouble, Some(WatchTrouble::Broken(_))))
    }

    /// What is wrong, by kind. A provider that is not installed is not wrong.
    #[must_use]
    pub fn troubles(&self) -> BTreeMap<ObservedKind, WatchTrouble> {
        let wrong = |(kind, watch): (&ObservedKind, &KindWatch)| {
            let trouble = watch.trouble.clone().filter(|_| !watch.is_absent(*kind))?;
            Some((*kind, trouble))
        };
        self.kinds.iter().filter_map(wrong).collect()
    }

    /// What is known of the objects themselves that have a status by the agent, by cluster.
    #[must_use]
    pub fn managed(&self) -> BTreeMap<Name, Managed> {
        let of_kind = |kind: ObservedKind| {
            let objects = self.kinds.get(&kind).into_iter().flat_map(|w| w.objects.values());
            objects.filter_map(move |object| managed(kind, object))
        };
        [ObservedKind::Worker, ObservedKind::ManagedCluster].into_iter().flat_map(of_kind).collect()
    }

    /// The objects as they are now.
    #[must_use]
    pub fn listing(&self) -> Listing {
        let mut listing = Listing::of_kinds(self.wanted.clone());
        let mut incomplete = BTreeSet::new();
        for (kind, watch) in &self.kinds {
            if !(watch.listed || watch.is_absent(*kind)) || watch.unreadable {
                incomplete.insert(*kind);
            }
            listing.add_read(*kind, watch.objects.values().cloned().collect());
        }
        listing.incomplete(incomplete);
        listing
    }
}

impl KindWatch {
    /// Whether the kind belongs to something that is not installed.
    fn is_absent(&self, kind: ObservedKind) -> bool {
        self.trouble == Some(WatchTrouble::NotServed) && !kind.is_required()
    }

    fn apply(&mut self, change: WatchEvent) {
        match change {
            WatchEvent::Restarted => {
                self.incoming = Some(BTreeMap::new());
                self.unreadable = false;
            }
            WatchEvent::Listed(object) => {
                self.incoming.get_or_insert_default().insert(key(&object), object);
            }
            WatchEvent::Complete => {
                self.objects = self.incoming.take().unwrap_or_default();
                (self.listed, self.trouble) = (true, None);
            }
            WatchEvent::Applied(object) => drop(self.objects.insert(key(&object), object)),
            WatchEvent::Gone(namespace, name) => drop(self.objects.remove(&(namespace, name))),
            WatchEvent::Unreadable => self.unreadable = true,
            WatchEvent::Failed(trouble) => {
                if trouble == WatchTrouble::NotServed {
                    self.objects.clear();
                }
                (self.listed, self.trouble) = (false, Some(trouble));
            }
        }
    }
}

fn managed(kind: ObservedKind, object: &ObservedObject) -> Option<(Name, Managed)> {
    let name = Name::parse(object.name()).ok().filter(|_| object.name() == object.namespace())?;
    let ready = object.condition("Ready").map(|c| conditions::repeated(c, "Ready"));
    let Metadata { uid, generation, .. } = &object.metadata;
    Some((name, Managed { kind, uid: uid.clone(), generation: *generation, ready }))
}

fn key(object: &ObservedObject) -> (String, String) {
    (object.namespace().to_owned(), object.name().to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(name: &str) -> ObservedObject {
        serde_json::from_value(json!({"metadata": {"name": name, "namespace": name}})).unwrap()
    }

    fn listed(watched: &mut WatchedKinds, kind: ObservedKind, names: &[&str]) {
        watched.apply(kind, WatchEvent::Restarted);
        for name in names {
            watched.apply(kind, WatchEvent::Listed(object(name)));
        }
        watched.apply(kind, WatchEvent::Complete);
    }

    fn all_listed() -> WatchedKinds {
        let mut watched = WatchedKinds::default();
        for kind in ObservedKind::built_in() {
            listed(&mut watched, kind, &[]);
        }
        watched
    }

    fn names(watched: &WatchedKinds, kind: ObservedKind) -> Vec<String> {
        watched.listing().of(kind).iter().map(|o| o.name().to_owned()).collect()
    }

    #[test]
    fn a_list_replaces_and_a_watch_goes_on_from_it() {
        let mut watched = all_listed();
        listed(&mut watched, ObservedKind::Cluster, &["a", "b"]);
        watched.apply(ObservedKind::Cluster, WatchEvent::Applied(object("c")));
        watched.apply(ObservedKind::Cluster, WatchEvent::Gone("a".to_owned(), "a".to_owned()));
        assert_eq!(names(&watched, ObservedKind::Cluster), ["b", "c"]);
        watched.apply(ObservedKind::Cluster, WatchEvent::Restarted);
        watched.apply(ObservedKind::Cluster, WatchEvent::Listed(object("c")));
        assert_eq!(names(&watched, ObservedKind::Cluster), ["b", "c"], "half a list is none");
        watched.apply(ObservedKind::Cluster, WatchEvent::Complete);
        assert_eq!(names(&watched, ObservedKind::Cluster), ["c"]);
        assert!(watched.listing().unlisted().is_empty());
    }

    #[test]
    fn after_a_failure_a_kind_is_complete_only_with_a_new_list() {
        let mut watched = all_listed();
        listed(&mut watched, ObservedKind::Cluster, &["a"]);
        watched.apply(
            ObservedKind::Cluster,
            WatchEvent::Failed(WatchTrouble::Broken("reset".to_owned())),
        );
        assert_eq!(names(&watched, ObservedKind::Cluster), ["a"], "what was known is known");
        assert!(
            watched.listing().unlisted().contains(&ObservedKind::Cluster)
                && watched.is_broken_off()
        );
        watched.apply(ObservedKind::Cluster, WatchEvent::Restarted);
        assert!(watched.is_broken_off(), "it is back with the whole list");
        watched.apply(ObservedKind::Cluster, WatchEvent::Complete);
        assert!(watched.listing().unlisted().is_empty());
        assert!(watched.troubles().is_empty() && !watched.is_broken_off());
    }

    #[test]
    fn a_provider_that_is_not_installed_has_no_objects_and_a_missing_core_says_nothing() {
        let mut watched = all_listed();
        watched.apply(
            ObservedKind::named("AzureCluster"),
            WatchEvent::Failed(WatchTrouble::NotServed),
        );
        assert!(watched.listing().unlisted().is_empty() && watched.troubles().is_empty());
        listed(&mut watched, ObservedKind::Cluster, &["a"]);
        watched.apply(ObservedKind::Cluster, WatchEvent::Failed(WatchTrouble::NotServed));
        assert!(
            watched.listing().unlisted().contains(&ObservedKind::Cluster),
            "a CRD removed by mistake"
        );
        assert_eq!(watched.troubles()[&ObservedKind::Cluster], WatchTrouble::NotServed);
    }

    #[test]
    fn what_may_not_be_seen_is_said() {
        let mut watched = all_listed();
        watched.apply(
            ObservedKind::named("AzureMachine"),
            WatchEvent::Failed(WatchTrouble::Denied("forbidden".to_owned())),
        );
        assert_eq!(watched.listing().unlisted(), [ObservedKind::named("AzureMachine")].into());
        assert!(watched.is_settled() && !watched.is_blind());
    }

    #[test]
    fn an_object_that_cannot_be_read_counts_against_its_kind_until_the_next_list() {
        let mut watched = all_listed();
        watched.apply(ObservedKind::Cluster, WatchEvent::Unreadable);
        assert!(watched.listing().unlisted().contains(&ObservedKind::Cluster));
        listed(&mut watched, ObservedKind::Cluster, &[]);
        assert!(watched.listing().unlisted().is_empty());
    }

    #[test]
    fn before_every_kind_was_heard_of_nothing_is_settled() {
        let mut watched = WatchedKinds::default();
        assert!(!watched.is_settled() && watched.is_blind());
        for kind in ObservedKind::built_in() {
            watched.apply(kind, WatchEvent::Failed(WatchTrouble::Broken("refused".to_owned())));
        }
        assert!(watched.is_settled() && watched.is_blind());
    }
}
