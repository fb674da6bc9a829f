//! Fields, groups, pools and the strategy in the words of the tests.

use super::World;
use super::read::{list, one_term};
use crate::model::api::{
    AffinityGroup, Classification, DataStore, ExpressionOperator, Failback, FieldExpression,
    ManagedClusterSpec, Network, NodePool, PlacementPolicySpec, PlacementTerm, Strategy,
    SupportedVersion, WorkerField, WorkerSpec,
};

impl World {
    /// `offers v1.33 until=TIME deprecated over`.
    pub(super) fn offers(&mut self, words: &[&str]) {
        let (version, rest) = words.split_first().expect("a version");
        let mut entry =
            SupportedVersion { version: (*version).to_owned(), ..SupportedVersion::default() };
        for word in rest {
            match word.split_once('=') {
                Some(("until", time)) => entry.expires = Some(time.to_owned()),
                None if *word == "over" => {
                    self.observed.expired.insert((*version).to_owned());
                }
                None if *word == "deprecated" => {
                    entry.classification = Classification::Deprecated;
                }
                _ => panic!("what is `{word}`?"),
            }
        }
        self.fleet.spec.supported_versions.push(entry);
    }
}

/// `zones=1,2 provider=gcp flavor=attached version=v1.34.2 runs:capi=v1.13.5 store:gold=tier:high` of a worker; whether the
/// word is one of those.
pub(super) fn of_worker(spec: &mut WorkerSpec, key: &str, value: &str) -> bool {
    match key {
        "zones" => spec.node_pools.push(NodePool { zones: list(value), ..NodePool::default() }),
        "provider" => spec.provider = Some(value.to_owned()),
        "flavor" => spec.flavor = Some(value.to_owned()),
        "version" => value.clone_into(&mut spec.version),
        "net" => spec.network = Some(network(value)),
        _ => match key.split_once(':') {
            Some(("runs", component)) => {
                spec.components.0.insert(component.to_owned(), value.to_owned());
            }
            Some(("store", name)) => spec.data_stores.push(DataStore {
                name: name.to_owned(),
                labels: [label(value)].into(),
                ..DataStore::default()
            }),
            _ => return false,
        },
    }
    true
}

/// `tier:high`.
fn label(text: &str) -> (String, String) {
    let (key, value) = text.split_once(':').expect("key:value");
    (key.to_owned(), value.to_owned())
}

/// `net=10.0.0.0/16,10.1.0.0/16`: of pods and of services.
fn network(ranges: &str) -> Network {
    let (pods, services) = ranges.split_once(',').expect("two ranges");
    Network { pod_cidrs: vec![pods.to_owned()], service_cidrs: vec![services.to_owned()] }
}

/// `pools=p,q packs failback group:NAME group:NAME:TERM` of a policy; whether the word is one of those.
pub(super) fn of_policy(spec: &mut PlacementPolicySpec, word: &str) -> bool {
    let (key, value) = word.split_once('=').unwrap_or((word, ""));
    match (key, key.split_once(':')) {
        ("pools", _) => spec.pools = list(value),
        ("packs", _) => spec.strategy = Strategy::BinPack,
        ("failback", _) => {
            spec.affinity.get_or_insert_default().failback = Failback::OnMove;
        }
        (_, Some(("group", rest))) => {
            let (name, term) = rest.split_once(':').unwrap_or((rest, ""));
            let group = group(spec, name);
            if !term.is_empty() {
                if group.required.is_empty() {
                    group.required.push(PlacementTerm::default());
                }
                one_term(&mut group.required[0], term, value);
            }
        }
        _ => return false,
    }
    true
}

fn group<'s>(spec: &'s mut PlacementPolicySpec, name: &str) -> &'s mut AffinityGroup {
    let groups = &mut spec.affinity.get_or_insert_default().groups;
    let at = groups.iter().position(|group| group.name == name).unwrap_or_else(|| {
        groups.push(AffinityGroup { name: name.to_owned(), required: Vec::new() });
        groups.len() - 1
    });
    &mut groups[at]
}

/// `pools=p,q version=v1.34.2 flavor=kind net=… store=gold stored=tier:high` of a cluster, and the `group=near` in which it was placed;
/// whether the word is one of those.
pub(super) fn of_cluster(
    spec: &mut ManagedClusterSpec,
    group: &mut Option<String>,
    word: &str,
) -> bool {
    match word.split_once('=') {
        Some(("pools", pools)) => spec.placement.get_or_insert_default().pools = list(pools),
        Some(("net", ranges)) => spec.network = Some(network(ranges)),
        Some(("version", version)) => version.clone_into(&mut spec.version),
        Some(("flavor", flavor)) => spec.flavor = Some(flavor.to_owned()),
        Some(("store", name)) => {
            spec.data_store.get_or_insert_default().name = Some(name.to_owned());
        }
        Some(("stored", of)) => {
            spec.data_store.get_or_insert_default().match_labels = [label(of)].into();
        }
        Some(("group", name)) => *group = Some(name.to_owned()),
        _ => return false,
    }
    true
}

/// `providers=p,q zones=1,2 field:KEY:OPERATOR=VALUES` of a term; whether the word is one of those.
pub(super) fn of_term(term: &mut PlacementTerm, key: &str, value: &str) -> bool {
    match (key, key.strip_prefix("field:").and_then(|rest| rest.split_once(':'))) {
        ("providers", _) => term.providers = list(value),
        ("zones", _) => term.zones = list(value),
        (_, Some((field, operator))) => {
            let key = WorkerField::ALL.iter().copied().find(|f| f.name() == field);
            let operator = match operator {
                "In" => ExpressionOperator::In,
                "NotIn" => ExpressionOperator::NotIn,
                "Exists" => ExpressionOperator::Exists,
                "DoesNotExist" => ExpressionOperator::DoesNotExist,
                other => panic!("no such operator: {other}"),
            };
            let values = if value.is_empty() { Vec::new() } else { list(value) };
            let key = key.unwrap_or_else(|| panic!("no such field: {field}"));
            term.match_fields.push(FieldExpression { key, operator, values });
        }
        _ => return false,
    }
    true
}
