//! Keys: what the rules read of a request, as small numbers. Requests with equal keys are told the same
//! by every rule, as long as nothing is placed in between.

use std::collections::BTreeMap;

use crate::model::{Fleet, Name, Resources};
use crate::plan::candidate::Request;
use crate::plan::depends_on::DependsOn;

/// The parts of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum KeyPart {
    Policy,
    Grant,
    Site,
    Wishes,
    Demand,
    Version,
    Network,
    Namespace,
    Domains,
}

const PARTS: usize = 9;

/// What a rule depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Depends {
    /// On a worker, of which nothing that it reads changes while clusters are placed, and on some parts
    /// of the request.
    Still(Mask),
    /// On what is placed as well.
    Moving,
}

/// Some of the parts of a key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Mask([bool; PARTS]);

impl Mask {
    fn part(part: KeyPart) -> Self {
        let mut mask = Self::default();
        mask.0[part as usize] = true;
        mask
    }

    pub(super) fn and(self, other: Self) -> Self {
        Self(std::array::from_fn(|at| self.0[at] || other.0[at]))
    }
}

/// What a rule depends on that reads this. What is not known here, and the cluster as a whole, is taken to
/// move: a rule that reads it is asked every time.
pub(super) fn depends(reads: &[DependsOn]) -> Depends {
    let mut mask = Mask::default();
    for read in reads {
        mask = mask.and(match read {
            DependsOn::Name
            | DependsOn::State
            | DependsOn::Health
            | DependsOn::Cordon
            | DependsOn::Capacity
            | DependsOn::Labels
            | DependsOn::Location
            | DependsOn::Provider
            | DependsOn::Zones
            | DependsOn::Components
            | DependsOn::Versions
            | DependsOn::Networks
            | DependsOn::Drain
            | DependsOn::Pending
            | DependsOn::Ceiling
            | DependsOn::Taints
            | DependsOn::Flavor
            | DependsOn::Pool
            | DependsOn::DataStores
            // Policies with groups, and what leaves a worker, are left to the plain scan.
            | DependsOn::Group
            | DependsOn::Leaving => Mask::default(),
            DependsOn::Policies => Mask::part(KeyPart::Policy),
            DependsOn::Tenants => Mask::part(KeyPart::Grant),
            DependsOn::Site => Mask::part(KeyPart::Site),
            DependsOn::Wishes => Mask::part(KeyPart::Wishes),
            DependsOn::Demand => Mask::part(KeyPart::Demand),
            DependsOn::Version => Mask::part(KeyPart::Version),
            DependsOn::Network => Mask::part(KeyPart::Network),
            DependsOn::Namespaces => Mask::part(KeyPart::Namespace),
            _ => return Depends::Moving,
        });
    }
    Depends::Still(mask)
}

/// A request as the rules see it. Nothing in it depends on the order of the keys, which is only that in
/// which they were met.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RequestKey([u32; PARTS]);

impl RequestKey {
    /// The key with only these parts.
    pub(super) fn only(self, mask: Mask) -> Self {
        Self(std::array::from_fn(|at| if mask.0[at] { self.0[at] } else { 0 }))
    }

    /// The number of what the cluster takes.
    pub(super) fn demand(self) -> u32 {
        self.0[KeyPart::Demand as usize]
    }

    /// The number of what makes workers one domain.
    pub(super) fn domains(self) -> u32 {
        self.0[KeyPart::Domains as usize]
    }
}

/// The numbers that were given.
#[derive(Clone, Debug)]
pub(super) struct Keys<'a> {
    fleet: &'a Fleet,
    policies: BTreeMap<&'a Name, u32>,
    sites: BTreeMap<&'a str, u32>,
    demands: BTreeMap<&'a Resources, u32>,
    versions: BTreeMap<(&'a str, &'a str), u32>,
    tenants: BTreeMap<&'a str, u32>,
    texts: BTreeMap<Vec<u8>, u32>,
}

impl<'a> Keys<'a> {
    /// None yet.
    pub(super) fn new(fleet: &'a Fleet) -> Self {
        Self {
            fleet,
            policies: BTreeMap::new(),
            sites: BTreeMap::new(),
            demands: BTreeMap::new(),
            versions: BTreeMap::new(),
            tenants: BTreeMap::new(),
            texts: BTreeMap::new(),
        }
    }

    /// The key of a request, without what it meets.
    pub(super) fn of(&mut self, request: &Request<'a>) -> RequestKey {
        let cluster = request.cluster;
        let mut key = [0; PARTS];
        key[KeyPart::Policy as usize] =
            request.policy.map_or(0, |policy| number(&mut self.policies, &policy.name));
        key[KeyPart::Grant as usize] = self.grant(&cluster.tenant);
        key[KeyPart::Site as usize] = number(&mut self.sites, &cluster.spec.location);
        key[KeyPart::Demand as usize] = number(&mut self.demands, &cluster.demand);
        let version = (cluster.spec.version.as_str(), cluster.flavor());
        key[KeyPart::Version as usize] = number(&mut self.versions, version);
        if request.networks_apart {
            key[KeyPart::Network as usize] = self.text(&(cluster.flavor(), &cluster.spec.network));
        }
        if request.is_name_taken {
            key[KeyPart::Namespace as usize] = self.text(&cluster.name);
        }
        let wishes = (&cluster.spec.placement, &cluster.spec.data_store);
        if wishes != (&None, &None) {
            key[KeyPart::Wishes as usize] = self.text(&wishes);
        }
        RequestKey(key)
    }

    /// The key with what makes workers one domain for the rules that a request meets.
    pub(super) fn within(&mut self, key: RequestKey, domains: &[&str]) -> RequestKey {
        let mut key = key;
        key.0[KeyPart::Domains as usize] = if domains.is_empty() { 0 } else { self.text(&domains) };
        key
    }

    /// Tenants that are granted the same are alike.
    fn grant(&mut self, tenant: &'a str) -> u32 {
        if let Some(known) = self.tenants.get(tenant) {
            return *known;
        }
        let mut entry = serde_json::to_value(self.fleet.tenant(tenant)).unwrap_or_default();
        if let Some(fields) = entry.as_object_mut() {
            fields.remove("name");
            fields.remove("credentials");
        }
        let number = self.text(&entry);
        self.tenants.insert(tenant, number);
        number
    }

    fn text(&mut self, value: &impl serde::Serialize) -> u32 {
        let text = serde_json::to_vec(value).expect("maps with text keys serialise to JSON");
        let next = next(self.texts.len());
        *self.texts.entry(text).or_insert(next)
    }
}

/// The number of something, from 1 on.
fn number<T: Ord>(numbers: &mut BTreeMap<T, u32>, of: T) -> u32 {
    if let Some(known) = numbers.get(&of) {
        return *known;
    }
    let next = next(numbers.len());
    numbers.insert(of, next);
    next
}

fn next(given: usize) -> u32 {
    u32::try_from(given).map_or(u32::MAX, |given| given.saturating_add(1))
}
