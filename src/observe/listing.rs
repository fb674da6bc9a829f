//! The objects of a worker at one moment, and the kinds that could not be listed.

use std::collections::{BTreeMap, BTreeSet};

#[cfg(test)]
use serde_json::Value;

use super::object::CLUSTER_LABEL;
use super::{ObservedKind, ObservedObject};
use crate::model::{MAX_FOREIGN_NAMESPACES, Name};

/// Everything that was listed. A kind that was not even tried counts as one that could not be listed:
/// absence is said by a complete list only.
#[derive(Clone, Debug)]
pub struct Listing {
    /// The kinds that are asked for, in their order.
    kinds: Vec<ObservedKind>,
    objects: BTreeMap<ObservedKind, Vec<ObservedObject>>,
    /// The kinds of which something is not known.
    incomplete: BTreeSet<ObservedKind>,
}

impl Default for Listing {
    /// Nothing is listed of the kinds that every agent looks at.
    fn default() -> Self {
        Self::of_kinds(ObservedKind::built_in())
    }
}

impl Listing {
    /// Nothing is listed yet of these kinds.
    #[must_use]
    pub fn of_kinds(kinds: Vec<ObservedKind>) -> Self {
        Self { kinds, objects: BTreeMap::new(), incomplete: BTreeSet::new() }
    }

    /// The kinds that are asked for, in their order.
    pub(super) fn kinds(&self) -> &[ObservedKind] {
        &self.kinds
    }

    /// Adds all objects of a kind. One that cannot be read makes the list of its kind incomplete, and
    /// the others count.
    #[cfg(test)]
    pub(super) fn add(&mut self, kind: ObservedKind, objects: impl IntoIterator<Item = Value>) {
        let mut read = Vec::new();
        for object in objects {
            match serde_json::from_value(object) {
                Ok(object) => read.push(object),
                Err(_) => {
                    self.incomplete.insert(kind);
                }
            }
        }
        self.add_read(kind, read);
    }

    /// Adds all objects of a kind, read already.
    pub fn add_read(&mut self, kind: ObservedKind, mut objects: Vec<ObservedObject>) {
        objects.sort_by(|a, b| (a.namespace(), a.name()).cmp(&(b.namespace(), b.name())));
        self.objects.insert(kind, objects);
    }

    /// Says of kinds that what is known of them may not be all.
    pub(super) fn incomplete(&mut self, kinds: impl IntoIterator<Item = ObservedKind>) {
        self.incomplete.extend(kinds);
    }

    /// The kinds that could not be listed.
    #[must_use]
    pub fn unlisted(&self) -> BTreeSet<ObservedKind> {
        let listed = |kind: &ObservedKind| {
            self.objects.contains_key(kind) && !self.incomplete.contains(kind)
        };
        self.kinds.iter().copied().filter(|kind| !listed(kind)).collect()
    }

    /// The objects of a kind, as far as they are known.
    pub(super) fn of(&self, kind: ObservedKind) -> &[ObservedObject] {
        self.objects.get(&kind).map_or(&[], Vec::as_slice)
    }

    /// An object by its namespace, which is empty for an object without one, and its name.
    pub(super) fn get(
        &self,
        kind: ObservedKind,
        namespace: &str,
        name: &str,
    ) -> Option<&ObservedObject> {
        let all = self.of(kind);
        let at = all.binary_search_by(|o| (o.namespace(), o.name()).cmp(&(namespace, name)));
        at.ok().map(|at| &all[at])
    }

    /// The objects of a kind in the namespace of a cluster.
    pub(super) fn in_cluster<'a>(
        &'a self,
        kind: ObservedKind,
        cluster: &'a Name,
    ) -> impl Iterator<Item = &'a ObservedObject> {
        let all = self.of(kind);
        let start = all.partition_point(|o| o.namespace() < cluster.as_str());
        all[start..].iter().take_while(|o| o.namespace() == cluster.as_str())
    }

    /// The object of a kind that has the name of its cluster.
    pub(super) fn named<'a>(
        &'a self,
        kind: ObservedKind,
        cluster: &'a Name,
    ) -> Option<&'a ObservedObject> {
        self.get(kind, cluster, cluster)
    }

    /// The clusters that anything here belongs to: there is a namespace with carp's label, or an object
    /// of theirs. The namespaces of people are not looked into.
    pub(super) fn clusters(&self) -> BTreeSet<Name> {
        let labelled = self
            .of(ObservedKind::Namespace)
            .iter()
            .filter(|o| o.metadata.labels.get(CLUSTER_LABEL).is_some_and(|c| c == o.name()))
            .map(ObservedObject::name);
        let written = [ObservedKind::ManagedCluster, ObservedKind::Worker]
            .into_iter()
            .flat_map(|kind| self.of(kind))
            .filter(|o| o.name() == o.namespace())
            .map(ObservedObject::name);
        labelled.chain(written).filter_map(|name| Name::parse(name).ok()).collect()
    }

    /// The namespaces that carp did not make, as far as a cluster could have their name: in order, and not
    /// more than a report has.
    pub(super) fn foreign_namespaces(&self) -> Vec<Name> {
        let all = self.of(ObservedKind::Namespace).iter();
        let foreign =
            all.filter(|o| o.metadata.labels.get(CLUSTER_LABEL).is_none_or(|c| c != o.name()));
        let names = foreign.filter_map(|o| Name::parse(o.name()).ok());
        names.take(MAX_FOREIGN_NAMESPACES).collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(namespace: &str, name: &str) -> Value {
        json!({"metadata": {"name": name, "namespace": namespace}})
    }

    #[test]
    fn a_kind_that_was_not_listed_is_said() {
        let mut listing = Listing::default();
        assert_eq!(listing.unlisted().len(), ObservedKind::built_in().len());
        listing.add(ObservedKind::Cluster, []);
        assert!(!listing.unlisted().contains(&ObservedKind::Cluster), "an empty list is a list");
    }

    #[test]
    fn an_object_that_cannot_be_read_makes_its_kind_incomplete() {
        let mut listing = Listing::default();
        listing.add(ObservedKind::Cluster, [object("a", "a"), json!({"metadata": {"name": 7}})]);
        assert!(listing.unlisted().contains(&ObservedKind::Cluster));
        assert_eq!(listing.of(ObservedKind::Cluster).len(), 1, "the others count");
    }

    #[test]
    fn clusters_are_those_with_carps_marks() {
        let mut listing = Listing::default();
        let labelled = |name: &str, label: &str| json!({"metadata": {"name": name, "labels": {"carp.dev/cluster": label}}});
        listing.add(
            ObservedKind::Namespace,
            [labelled("a", "a"), labelled("copied", "a"), object("", "default")],
        );
        listing.add(ObservedKind::ManagedCluster, [object("b", "b"), object("mine", "c")]);
        listing.add(ObservedKind::Worker, [object("we-1", "we-1")]);
        listing.add(ObservedKind::Cluster, [object("theirs", "theirs")]);
        let names: Vec<_> = listing.clusters().iter().map(ToString::to_string).collect();
        assert_eq!(names, ["a", "b", "we-1"]);
    }

    #[test]
    fn namespaces_that_carp_did_not_make_are_foreign_and_bounded() {
        let mut listing = Listing::default();
        let own = json!({"metadata": {"name": "a", "labels": {"carp.dev/cluster": "a"}}});
        let copied = json!({"metadata": {"name": "copied", "labels": {"carp.dev/cluster": "a"}}});
        let long = object("", &"x".repeat(63));
        let of_people = [object("", "velero"), object("", "billing"), own, copied, long];
        listing.add(ObservedKind::Namespace, of_people);
        let names = |listing: &Listing| {
            listing.foreign_namespaces().iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        assert_eq!(names(&listing), ["billing", "copied", "velero"], "no cluster has a long name");
        let many = (0..2_000).map(|i| object("", &format!("n-{i:04}")));
        listing.add(ObservedKind::Namespace, many);
        assert_eq!(names(&listing).len(), MAX_FOREIGN_NAMESPACES);
    }

    #[test]
    fn a_clusters_objects_are_those_of_its_namespace() {
        let mut listing = Listing::default();
        let pools =
            [object("b", "b-2"), object("a", "a-1"), object("b", "b-1"), object("c", "c-1")];
        listing.add(ObservedKind::MachineDeployment, pools);
        let b = Name::parse("b").unwrap();
        let names: Vec<_> = listing
            .in_cluster(ObservedKind::MachineDeployment, &b)
            .map(ObservedObject::name)
            .collect();
        assert_eq!(names, ["b-1", "b-2"]);
        assert!(listing.named(ObservedKind::MachineDeployment, &b).is_none());
    }
}
