//! Signatures: clusters that have the same are told the same by all rules, as far as that does not depend on their names, on the
//! labels whose values tell the parts of a group apart, and on what is placed. So what is found out of one of them holds for all
//! (kube-scheduler, KEP-5598: the signature of a pod).

use std::collections::{BTreeMap, BTreeSet};
use std::hash::Hash;

use serde::Serialize;

use super::group::Group;
use super::lookup::{LookupMap, LookupSet};
use super::policy::Policies;
use crate::model::api::{DataStoreChoice, ManagedClusterPlacement, ManagedClusterSpec, Network};
use crate::model::{Cluster, Fleet, Quantity, Resources};

/// The signatures of a run. They are numbers, in the order in which they were met, which nothing depends on.
#[derive(Clone, Debug)]
pub(super) struct Signatures<'a> {
    fleet: &'a Fleet,
    /// The labels that selectors read.
    keys: BTreeSet<&'a str>,
    /// The clusters that selectors name.
    names: BTreeSet<&'a str>,
    tenants: LookupSet<&'a str>,
    /// By the place in memory, which many share.
    specs: LookupMap<*const ManagedClusterSpec, usize>,
    texts: LookupSet<Vec<u8>>,
    /// By the place in memory, too.
    demands: LookupMap<*const BTreeMap<String, Quantity>, usize>,
    amounts: LookupSet<&'a Resources>,
    /// By the labels that selectors read.
    selections: LookupSet<SelectedBy<'a>>,
    numbers: LookupSet<[usize; 4]>,
    /// What was read of clusters of which rules read the same: mostly it is found here, and at once.
    known: LookupMap<SignatureFragments, usize>,
    /// Kept for its room: what is read of the cluster that is looked at.
    read: SelectedBy<'a>,
}

/// What a signature is worked out of: the number of the tenant, the document and the amounts by their place in memory, and the number
/// of what selectors read.
type SignatureFragments =
    (usize, *const ManagedClusterSpec, *const BTreeMap<String, Quantity>, usize);

/// The labels of a cluster that selectors read, and its name, without a key, where one names it.
type SelectedBy<'a> = Vec<(&'a str, &'a str)>;

/// What clusters have in common of which rules read the same, and that come to the same parts of groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct AlikeNumber {
    signature: u32,
    number: u32,
}

impl AlikeNumber {
    /// Of a signature, and a number among all that are alike. It takes half of the room that these do, for every cluster has one.
    pub(super) fn new(signature: usize, number: usize) -> Self {
        let small = |number: usize| u32::try_from(number).expect("there is memory for fewer");
        Self { signature: small(signature), number: small(number) }
    }

    /// Their signature.
    pub(super) fn signature(self) -> usize {
        self.signature as usize
    }

    /// Their number among all that are alike.
    pub(super) fn number(self) -> usize {
        self.number as usize
    }
}

/// What rules read of a document.
#[derive(Serialize)]
struct SpecRead<'a> {
    location: &'a str,
    version: &'a str,
    flavor: &'a str,
    network: Option<&'a Network>,
    data_store: Option<&'a DataStoreChoice>,
    placement: Option<&'a ManagedClusterPlacement>,
}

impl<'a> Signatures<'a> {
    /// For the rules of a run: none yet.
    pub(super) fn new(fleet: &'a Fleet, policies: &Policies<'a>, groups: &[Group<'a>]) -> Self {
        let (mut keys, mut names) = (BTreeSet::new(), BTreeSet::new());
        for policy in policies.all() {
            let selector = &policy.spec.cluster_selector;
            keys.extend(selector.keys());
            names.extend(selector.names.iter().map(String::as_str));
        }
        for group in groups {
            keys.extend(group.selected_by());
            names.extend(group.names().iter().map(String::as_str));
        }
        Self {
            fleet,
            keys,
            names,
            tenants: LookupSet::default(),
            specs: LookupMap::default(),
            texts: LookupSet::default(),
            demands: LookupMap::default(),
            amounts: LookupSet::default(),
            selections: LookupSet::default(),
            numbers: LookupSet::default(),
            known: LookupMap::default(),
            read: Vec::new(),
        }
    }

    /// The signature of a cluster.
    pub(super) fn of(&mut self, cluster: &'a Cluster) -> usize {
        let tenant = number(&mut self.tenants, cluster.tenant.as_str());
        let selection = self.selection(cluster);
        let (spec, demand) = (&raw const *cluster.spec, &raw const *cluster.demand);
        let read = (tenant, spec, demand, selection);
        if let Some(known) = self.known.get(&read) {
            return *known;
        }
        let parts = [tenant, self.spec(cluster), self.demand(&cluster.demand), selection];
        let signature = number(&mut self.numbers, parts);
        self.known.insert(read, signature);
        signature
    }

    fn spec(&mut self, cluster: &'a Cluster) -> usize {
        let place = &raw const *cluster.spec;
        if let Some(known) = self.specs.get(&place) {
            return *known;
        }
        let (spec, flavor) = (&*cluster.spec, cluster.flavor());
        let read = SpecRead {
            location: &spec.location,
            version: &spec.version,
            flavor,
            network: spec.network.as_ref().filter(|_| self.fleet.networks_apart.contains(flavor)),
            data_store: spec.data_store.as_ref(),
            placement: spec.placement.as_ref(),
        };
        let text = serde_json::to_vec(&read).expect("maps with text keys serialise to JSON");
        let number = number(&mut self.texts, text);
        self.specs.insert(place, number);
        number
    }

    fn demand(&mut self, demand: &'a Resources) -> usize {
        let place = &raw const **demand;
        if let Some(known) = self.demands.get(&place) {
            return *known;
        }
        let number = number(&mut self.amounts, demand);
        self.demands.insert(place, number);
        number
    }

    fn selection(&mut self, cluster: &'a Cluster) -> usize {
        let labels = &*cluster.labels;
        self.read.clear();
        self.read.extend(self.names.get(cluster.name.as_str()).map(|name| ("", *name)));
        // Selectors may read more labels than any cluster has, and a cluster may have more than any selector reads.
        if labels.len() < self.keys.len() {
            let read = labels.iter().filter(|(key, _)| self.keys.contains(key.as_str()));
            self.read.extend(read.map(|(key, value)| (key.as_str(), value.as_str())));
        } else {
            let read = self.keys.iter().filter_map(|key| Some((*key, labels.get(*key)?.as_str())));
            self.read.extend(read);
        }
        let known = self.selections.get_index_of(&*self.read);
        known.unwrap_or_else(|| number(&mut self.selections, self.read.clone()))
    }
}

/// The number of something, from 0 on.
fn number<T: Hash + Eq>(known: &mut LookupSet<T>, of: T) -> usize {
    known.insert_full(of).0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::depends_on::DependsOn;
    use crate::plan::filter::{FILTERS, Filter};
    use crate::plan::world::World;
    use crate::plan::{cycle, score};

    /// The signatures of the clusters of a fleet, in the order of their names.
    fn signatures(fleet: &str) -> Vec<usize> {
        let world = World::read(fleet);
        let input = world.input();
        let run = cycle::begin(&input);
        let policies = Policies::of(&world.fleet);
        let mut signatures = Signatures::new(&world.fleet, &policies, run.states.counts.groups());
        world.fleet.clusters.values().map(|cluster| signatures.of(cluster)).collect()
    }

    #[test]
    fn clusters_of_which_rules_read_the_same_have_one() {
        let policies =
            "policy p for:env=prod spread:zone=1@app=s#team; policy q for=c; apart kamaji-capz;";
        let of = |a: &str, b: &str| signatures(&format!("{policies} cluster a {a}; cluster b {b}"));
        for (a, b) in [
            ("", "priority=3"),
            ("", "label:other=x"),
            ("label:team=x", "label:team=y"),
            ("label:env=prod", "label:env=prod label:other=x label:team=y"),
            ("flavor=capz net=10.0.0.0/16,10.1.0.0/16", "flavor=capz net=10.2.0.0/16,10.3.0.0/16"),
        ] {
            assert_eq!(of(a, b), [0, 0], "{a} and {b}");
        }
        for (a, b) in [
            ("", "label:env=prod"),
            ("label:env=prod", "label:env=test"),
            ("", "label:app=s"),
            ("", "tenant=t"),
            ("", "at=eastus"),
            ("", "version=v1.33.0"),
            ("", "flavor=kind"),
            ("", "needs=2"),
            ("", "needs:mem=2"),
            ("", "only=w1"),
            ("", "spread:zone=1"),
            (
                "flavor=kamaji-capz net=10.0.0.0/16,10.1.0.0/16",
                "flavor=kamaji-capz net=10.2.0.0/16,10.3.0.0/16",
            ),
        ] {
            assert_eq!(of(a, b), [0, 1], "{a} and {b}");
        }
    }

    /// Whether clusters of one signature differ in what a rule reads.
    const fn differs(read: DependsOn) -> bool {
        match read {
            DependsOn::Name
            | DependsOn::State
            | DependsOn::Health
            | DependsOn::Pending
            | DependsOn::Cordon
            | DependsOn::Drain
            | DependsOn::Capacity
            | DependsOn::Ceiling
            | DependsOn::Allocated
            | DependsOn::Clusters
            | DependsOn::Flavor
            | DependsOn::Labels
            | DependsOn::Location
            | DependsOn::Provider
            | DependsOn::Zones
            | DependsOn::Components
            | DependsOn::Versions
            | DependsOn::Networks
            | DependsOn::Taints
            | DependsOn::Pool
            | DependsOn::DataStores
            | DependsOn::Demand
            | DependsOn::Site
            | DependsOn::Wishes
            | DependsOn::Version
            | DependsOn::Network
            | DependsOn::Policies
            | DependsOn::Tenants => false,
            DependsOn::Placed
            | DependsOn::Namespaces
            | DependsOn::Cluster
            | DependsOn::Group
            | DependsOn::Leaving => true,
        }
    }

    #[test]
    fn whoever_reads_more_is_known() {
        let reads = |filter: &Filter| filter.reads.iter().any(|read| differs(*read));
        let filters: Vec<&str> = FILTERS.iter().filter(|f| reads(f)).map(|f| f.name).collect();
        // By the parts of their groups, by what a tenant has left, for a name that is taken, and of those that have a place.
        assert_eq!(
            filters,
            ["groups", "namespace", "spread", "anti-affinity", "quota", "eviction"]
        );
        let terms = score::READS.iter().filter(|reads| reads.iter().any(|read| differs(*read)));
        assert_eq!(
            terms.count(),
            2,
            "the group, and the soft violations of rules about what is placed"
        );
    }

    #[test]
    fn one_that_a_policy_names_has_its_own() {
        assert_eq!(signatures("policy q for=b; cluster a; cluster b; cluster c"), [0, 1, 0]);
    }
}
