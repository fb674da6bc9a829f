//! Rendered variations: what a template branches on, in every pair of values, valid against the CRDs. A part of
//! them runs with all other tests; all of them, the full product, with `cargo test variations -- --ignored`.

use carp::model::Fleet;
use carp::model::api::{
    Autoscale, ClusterAccess, ControlPlane, DataStore, DataStoreChoice, EndpointAccess, Images,
    Network, NodePool, OsDisk, Sources, Taint, TaintEffect,
};
use carp::render::Files;

use crate::support::{breadth, documents, fleet};
use crate::{federation, rendered_crds, variations_parameters};

/// An option: its name, and what each of its values does to a fleet. The first is what stands where nobody says
/// anything.
pub(crate) type Choice = (&'static str, &'static [fn(&mut Fleet)]);

fn pools(fleet: &mut Fleet, change: impl Fn(&mut NodePool)) {
    fleet.clusters.values_mut().flat_map(|c| c.spec.node_pools.iter_mut()).for_each(&change);
    fleet.workers.values_mut().flat_map(|w| w.spec.node_pools.iter_mut()).for_each(&change);
}

fn versions(fleet: &mut Fleet, version: &str) {
    fleet.clusters.values_mut().for_each(|c| version.clone_into(&mut c.spec.version));
}

fn network(fleet: &mut Fleet, pods: &[&str], services: &[&str]) {
    let list = |ranges: &[&str]| ranges.iter().map(|range| (*range).to_owned()).collect();
    let network = Network { pod_cidrs: list(pods), service_cidrs: list(services) };
    fleet.clusters.values_mut().for_each(|c| c.spec.network = Some(network.clone()));
}

fn control_plane(fleet: &mut Fleet, replicas: u32, size: Option<&str>) {
    let control_plane =
        ControlPlane { replicas: Some(replicas), size: size.map(ToOwned::to_owned) };
    fleet.clusters.values_mut().for_each(|c| c.spec.control_plane = Some(control_plane.clone()));
    fleet.workers.values_mut().for_each(|w| w.spec.control_plane = Some(control_plane.clone()));
}

fn access(fleet: &mut Fleet, endpoint: EndpointAccess, from: &[&str]) {
    let allowed_cidrs = from.iter().map(|range| (*range).to_owned()).collect();
    let access = ClusterAccess { endpoint: Some(endpoint), allowed_cidrs };
    fleet.clusters.values_mut().for_each(|c| c.spec.access = Some(access.clone()));
}

fn cloud(fleet: &mut Fleet, name: &str) {
    let all = fleet.spec.credentials.iter_mut().filter_map(|c| c.azure.as_mut());
    all.for_each(|azure| azure.environment = Some(name.to_owned()));
}

/// Another store, in which the clusters are, and snapshots of both.
pub(crate) fn data_stores(fleet: &mut Fleet) {
    let kept = r#"{"schedule": "0 */6 * * *", "to": "backup:etcd", "secretRef": "etcd-backup"}"#;
    let text = format!(
        r#"[{{"name": "default", "snapshots": {kept}}},
            {{"name": "gold", "size": "16Gi", "labels": {{"tier": "high"}}, "snapshots": {kept}}}]"#
    );
    let stores: Vec<DataStore> = serde_json::from_str(&text).unwrap();
    let choice = DataStoreChoice { name: Some("gold".into()), ..DataStoreChoice::default() };
    fleet.workers.values_mut().for_each(|w| w.spec.data_stores.clone_from(&stores));
    fleet.clusters.values_mut().for_each(|c| c.spec.data_store = Some(choice.clone()));
}

const AZURE: &[Choice] = &[
    (
        "the worker",
        &[
            |_| (),
            |f| {
                f.workers.values_mut().for_each(|w| w.spec.flavor = Some("attached".into()));
            },
        ],
    ),
    (
        "nodes",
        &[
            |_| (),
            |f| pools(f, |p| p.replicas = Some(0)),
            |f| {
                pools(f, |p| {
                    (p.replicas, p.autoscale) = (None, Some(Autoscale { min: 0, max: 9 }));
                });
            },
        ],
    ),
    ("zones", &[|_| (), |f| pools(f, |p| p.zones = vec!["1".into(), "2".into(), "3".into()])]),
    ("spot", &[|_| (), |f| pools(f, |p| p.spot = true)]),
    (
        "labels and taints",
        &[
            |_| (),
            |f| {
                pools(f, |p| {
                    p.labels = [("team".into(), "on".into())].into();
                    p.taints = vec![Taint {
                        key: "batch".into(),
                        value: String::new(),
                        effect: TaintEffect::NoSchedule,
                        time_added: None,
                    }];
                });
            },
        ],
    ),
    (
        "size and disk",
        &[
            |_| (),
            |f| {
                pools(f, |p| {
                    (p.vm_size, p.os_disk) =
                        (Some("Standard_E8s_v5".into()), Some(OsDisk { size_gb: 64 }));
                });
            },
        ],
    ),
    (
        "control plane",
        &[
            |_| (),
            |f| control_plane(f, 1, None),
            |f| {
                control_plane(f, 5, Some("Standard_D8s_v5"));
            },
        ],
    ),
    ("version", &[|_| (), |f| versions(f, "v1.31.14"), |f| versions(f, "v1.36.0")]),
    (
        "network",
        &[
            |_| (),
            |f| network(f, &["10.1.0.0/16", "fd00:1::/64"], &["10.2.0.0/16", "fd00:2::/112"]),
        ],
    ),
    (
        "mirror",
        &[
            |_| (),
            |f| {
                f.spec.images =
                    Some(Images { registry: Some("m.example.com".into()), ..Images::default() });
            },
            |f| {
                let registry = Some("m.example.com:5000".into());
                f.spec.images = Some(Images { registry, sources: Sources::Mirror, carp: None });
            },
        ],
    ),
    ("cloud", &[|_| (), |f| cloud(f, "AzureUSGovernmentCloud"), |f| cloud(f, "AzureChinaCloud")]),
    (
        "access",
        &[
            |_| (),
            |f| access(f, EndpointAccess::Private, &[]),
            |f| access(f, EndpointAccess::Public, &["192.0.2.0/24", "2001:db8::/32"]),
        ],
    ),
    ("paused", &[|_| (), |f| f.clusters.values_mut().for_each(|c| c.spec.paused = true)]),
    ("data stores", &[|_| (), data_stores]),
    ("identities", &[|_| (), federation::trusting]),
];

const KIND: &[Choice] = &[
    ("nodes", &[|_| (), |f| pools(f, |p| p.replicas = Some(0))]),
    ("control plane", &[|_| (), |f| control_plane(f, 3, None)]),
    ("version", &[|_| (), |f| versions(f, "v1.31.14"), |f| versions(f, "v1.36.0")]),
    ("network", &[|_| (), |f| network(f, &["10.1.0.0/16"], &["10.2.0.0/16"])]),
    (
        "mirror",
        &[
            |_| (),
            |f| {
                f.spec.images =
                    Some(Images { registry: Some("m.example.com".into()), ..Images::default() });
            },
        ],
    ),
    ("paused", &[|_| (), |f| f.clusters.values_mut().for_each(|c| c.spec.paused = true)]),
];

/// What of AZURE means something to a cluster that has its own control plane, whose number is odd.
fn self_managed_options() -> Vec<Choice> {
    AZURE.iter().filter(|(name, _)| *name != "the worker").copied().collect()
}

/// What of AZURE means something to AKS: Azure has its control plane, and there is a mirror for none of its images.
fn aks_options() -> Vec<Choice> {
    let no = ["the worker", "control plane", "mirror"];
    let some = AZURE.iter().filter(|(name, _)| !no.contains(name)).copied();
    // Whatever the others are, there is one that the system runs on.
    some.chain([("a pool for the system", &[system_pool as fn(&mut Fleet)][..])]).collect()
}

fn system_pool(fleet: &mut Fleet) {
    let pool = || NodePool { name: "sys".into(), replicas: Some(1), ..NodePool::default() };
    fleet.clusters.values_mut().for_each(|c| c.spec.node_pools.push(pool()));
}

/// For each option the number of a value.
type Variation = Vec<usize>;

/// Every pair of values of two options is in one of these, greedily: each is made of the pair that is missing
/// first, and of values that cover the most of what else is missing.
pub(crate) fn pairwise(choices: &[Choice]) -> Vec<Variation> {
    let counts: Vec<_> = choices.iter().map(|(_, values)| values.len()).collect();
    let mut missing = std::collections::BTreeSet::new();
    for (a, &of_a) in counts.iter().enumerate() {
        for (b, &of_b) in counts.iter().enumerate().skip(a + 1) {
            missing.extend((0..of_a).flat_map(|x| (0..of_b).map(move |y| (a, x, b, y))));
        }
    }
    let mut all = Vec::new();
    while let Some(&(a, x, b, y)) = missing.first() {
        let mut chosen: Vec<Option<usize>> = vec![None; counts.len()];
        (chosen[a], chosen[b]) = (Some(x), Some(y));
        for (at, &count) in counts.iter().enumerate() {
            if chosen[at].is_some() {
                continue;
            }
            let covers = |value: usize| {
                let with = chosen.iter().enumerate().filter_map(|(o, v)| Some((o, (*v)?)));
                with.filter(|&(o, v)| {
                    let pair = if o < at { (o, v, at, value) } else { (at, value, o, v) };
                    missing.contains(&pair)
                })
                .count()
            };
            chosen[at] = (0..count).max_by_key(|&value| (covers(value), count - value));
        }
        let chosen: Variation = chosen.into_iter().flatten().collect();
        missing.retain(|&(a, x, b, y)| chosen[a] != x || chosen[b] != y);
        all.push(chosen);
    }
    all
}

/// The full product.
fn every(choices: &[Choice]) -> Vec<Variation> {
    choices.iter().fold(vec![Vec::new()], |all, (_, values)| {
        let longer = |one: &Variation| {
            let one = one.clone();
            (0..values.len()).map(move |value| one.iter().copied().chain([value]).collect())
        };
        all.iter().flat_map(longer).collect()
    })
}

/// A variation for each value of each option by itself.
fn each(choices: &[Choice]) -> Vec<Variation> {
    let alone = |at: usize, value: usize| {
        (0..choices.len()).map(|o| if o == at { value } else { 0 }).collect::<Variation>()
    };
    let values = |at: usize| (1..choices[at].1.len()).map(move |value| (at, value));
    (0..choices.len()).flat_map(values).map(|(at, value)| alone(at, value)).collect()
}

/// So many of the full product, spread over it.
fn sampled(choices: &[Choice], most: usize) -> Vec<Variation> {
    let counts: Vec<_> = choices.iter().map(|(_, values)| values.len()).collect();
    let all: usize = counts.iter().product();
    let nth = |nth: usize| {
        // By a prime, of which no number of values is a multiple: every value of each comes up.
        let mut rest = (nth * 7919) % all;
        let digit = |count: &usize| {
            let digit = rest % count;
            rest /= count;
            digit
        };
        counts.iter().map(digit).collect()
    };
    (0..most.min(all)).map(nth).collect::<std::collections::BTreeSet<_>>().into_iter().collect()
}

/// A flavor's fleet, with what there is to choose of it.
pub(crate) struct Varied {
    base: Fleet,
    choices: Vec<Choice>,
}

/// What each flavor that is built in may be asked for.
pub(crate) fn flavors() -> [Varied; 6] {
    [
        Varied { base: fleet::plain(), choices: AZURE.to_vec() },
        Varied { base: fleet::of("capz"), choices: self_managed_options() },
        Varied { base: fleet::of("aks"), choices: aks_options() },
        Varied { base: fleet::kind(), choices: KIND.to_vec() },
        Varied { base: fleet::plain(), choices: variations_parameters::PARAMETERS.to_vec() },
        Varied { base: fleet::of("aks"), choices: variations_parameters::OF_AKS.to_vec() },
    ]
}

impl Varied {
    /// The trees of so many variations, every pair of two options' values among them.
    pub(crate) fn trees(&self, most: usize) -> impl Iterator<Item = Files> + '_ {
        let mut all = pairwise(&self.choices);
        let more = sampled(&self.choices, most);
        let more: Vec<_> = more.into_iter().filter(|one| !all.contains(one)).collect();
        all.extend(more.into_iter().take(most.saturating_sub(all.len())));
        all.into_iter().map(|variation| tree(&self.base, &self.choices, &variation))
    }
}

fn tree(base: &Fleet, choices: &[Choice], variation: &[usize]) -> Files {
    let mut fleet = base.clone();
    for ((_, values), value) in choices.iter().zip(variation) {
        values[*value](&mut fleet);
    }
    fleet::tree(&fleet, "")
}

/// Checks variations, and says how many there were and of how many objects.
pub(crate) fn valid(base: &Fleet, choices: &[Choice], variations: &[Variation]) -> usize {
    valid_trees(variations.iter().map(|variation| tree(base, choices, variation)))
}

fn valid_trees(trees: impl Iterator<Item = Files>) -> usize {
    // Objects that are the same in two variations are checked once.
    let mut seen = std::collections::BTreeSet::new();
    let mut fresh = Files::new();
    for (nth, tree) in trees.enumerate() {
        for (path, bytes) in tree {
            if !path.ends_with("kustomization.yaml") && seen.insert((path.clone(), bytes.clone())) {
                fresh.insert(format!("{nth}/{path}"), bytes);
            }
        }
    }
    let objects = documents(&fresh).len();
    rendered_crds::check(&fresh);
    objects
}

#[test]
fn every_pair_of_options_is_valid() {
    let (azure, kind) = (pairwise(AZURE), pairwise(KIND));
    assert!(azure.len() >= 9, "{}", azure.len());
    assert!(valid(&fleet::plain(), AZURE, &azure) > 200);
    assert!(valid(&fleet::kind(), KIND, &kind) > 30);
    assert!(valid(&fleet::full(), AZURE, &each(AZURE)) > 200);
    let self_managed = self_managed_options();
    assert!(valid(&fleet::of("capz"), &self_managed, &pairwise(&self_managed)) > 200);
    let aks = aks_options();
    assert!(valid(&fleet::of("aks"), &aks, &pairwise(&aks)) > 100);
}

#[test]
fn a_pair_is_in_one_of_the_variations() {
    let all = pairwise(AZURE);
    for (a, (_, of_a)) in AZURE.iter().enumerate() {
        for (b, (_, of_b)) in AZURE.iter().enumerate().skip(a + 1) {
            for (x, y) in (0..of_a.len()).flat_map(|x| (0..of_b.len()).map(move |y| (x, y))) {
                assert!(all.iter().any(|v| v[a] == x && v[b] == y), "{a}={x} {b}={y}");
            }
        }
    }
    let full = every(KIND);
    assert_eq!(full.len(), KIND.iter().map(|(_, values)| values.len()).product::<usize>());
}

#[test]
fn what_is_applied_to_a_server_is_valid_too() {
    let flavors = flavors();
    let objects = |flavor: &Varied| valid_trees(flavor.trees(breadth(0, 70)));
    assert!(flavors.iter().map(objects).sum::<usize>() > 500);
}

#[test]
#[ignore = "minutes: every combination; for a nightly run"]
fn every_variation_is_valid() {
    let (azure, kind) = (every(AZURE), every(KIND));
    assert!(azure.len() + kind.len() > 250, "{}", azure.len());
    // The product is walked in parts, so that what is remembered stays small.
    for part in azure.chunks(64) {
        valid(&fleet::plain(), AZURE, part);
    }
    valid(&fleet::kind(), KIND, &kind);
}

#[test]
fn a_fleet_of_kind_has_no_machines() {
    let tree = tree(&fleet::kind(), KIND, &[0; KIND.len()]);
    assert!(fleet::kind().workers.values().all(|w| w.flavor() == "kind"));
    assert!(documents(&tree).iter().all(|(_, object)| object["kind"] != "MachineDeployment"));
}
