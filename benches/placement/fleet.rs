//! Fleets to place from nothing, the same for the same sizes: several locations, sizes of clusters,
//! tenants and policies, taints, cordons, and 5 % that no worker takes; with spread, anti-affinity and
//! quota, or without.

use carp::model::api::{ManagedClusterSpec, Tenant, WorkerSpec};
use carp::model::{
    CloneOnWrite, Cluster, ClusterRow, Digest, Fleet, Name, Observed, Plan, Policy, Previous,
    Quantity, Resources, Worker, WorkerLock, blob_id, lock_to_bytes,
};
use carp::plan::PlanInput;
use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde_json::{Value, json};

const LOCATIONS: [&str; 8] = [
    "westeurope",
    "northeurope",
    "eastus",
    "westus2",
    "swedencentral",
    "uksouth",
    "francecentral",
    "eastus2",
];
/// What clusters take in memory, in Gi.
const SIZES: [i64; 3] = [4, 8, 24];
const TEAMS: usize = 20;

/// Which rules depend on what is placed, besides capacity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Together {
    /// None.
    Free,
    /// A third is spread over zones, a third over locations where possible, a third keeps pairs apart, and
    /// some tenants have a quota.
    Ruled,
}

/// All that a plan reads of such a fleet.
pub(crate) struct Generated {
    fleet: Fleet,
    previous: Previous,
    observed: Observed,
}

impl Generated {
    /// A fleet of that size in which nothing is placed yet.
    pub(crate) fn new(clusters: usize, workers: usize, together: Together) -> Self {
        let mut random = Random(7);
        let mut fleet = Fleet::default();
        for number in 0..workers {
            let worker = worker(number, clusters.div_ceil(workers), &mut random);
            fleet.workers.insert(worker.name.clone(), worker);
        }
        let mut shared = Shared::default();
        for number in 0..clusters {
            let cluster = cluster(number, &mut random, &mut shared);
            fleet.clusters.insert(cluster.name.clone(), cluster);
        }
        fleet.policies = policies(together).map(|policy| (policy.name.clone(), policy)).collect();
        let quota = (together == Together::Ruled).then_some(clusters / TEAMS);
        fleet.spec.tenants = (0..TEAMS).map(|number| tenant(number, quota)).collect();
        let (previous, observed) = (Previous::default(), Observed::default());
        Self { fleet, previous, observed }
    }

    /// What the planner is asked.
    pub(crate) fn input(&self) -> PlanInput<'_> {
        PlanInput::new(&self.fleet, &self.previous, &self.observed)
    }

    /// The fleet as the next run finds it: what was given a worker is on it.
    pub(crate) fn after(mut self, plan: &Plan) -> Self {
        for (cluster, planned) in &plan.clusters {
            let Some(worker) = planned.decision.worker() else { continue };
            let row = ClusterRow::imagined(&self.fleet.clusters[cluster]);
            let lock = self.previous.workers.entry(worker.clone());
            let lock = lock.or_insert_with(|| WorkerLock::imagined(worker));
            lock.clusters.insert(cluster.clone(), row);
        }
        let locks = self.previous.workers.iter();
        let ids = locks.map(|(worker, lock)| (worker.clone(), blob_id(&lock_to_bytes(lock))));
        self.previous.ids = ids.collect();
        self
    }
}

fn worker(number: usize, clusters: usize, random: &mut Random) -> Worker {
    let text = format!("w{number:05}");
    let amount = |count: usize| i64::try_from(count).expect("a small number");
    let taint = |effect: &str| spec_of(json!({"key": "gpu", "value": "yes", "effect": effect}));
    let mut spec = WorkerSpec {
        version: "v1.34.2".to_owned(),
        location: LOCATIONS[number % LOCATIONS.len()].to_owned(),
        capacity: resources(amount(clusters * 3 / 2), amount(clusters * 20)),
        reserved: resources(1, 8),
        unschedulable: random.below(50) == 0,
        ..WorkerSpec::default()
    };
    match random.below(20) {
        0 => spec.taints.push(taint("NoSchedule")),
        1 => spec.taints.push(taint("PreferNoSchedule")),
        2 => spec.pool = Some("shared".to_owned()),
        3 => spec.pool = Some("payments".to_owned()),
        _ => {}
    }
    let zone = (number / LOCATIONS.len() % 3 + 1).to_string();
    Worker {
        made_by: None,
        catalogue: carp::model::Catalogue::default(),
        name: name(&text),
        labels: [("zone".to_owned(), zone), ("host".to_owned(), text.clone())].into(),
        facts: Digest::of(text.as_bytes()),
        file: String::new(),
        document: 0,
        spec: spec.into(),
        heartbeat_timeout_seconds: 3600,
    }
}

/// What documents that say the same share, as they do once they are loaded.
#[derive(Default)]
struct Shared {
    specs: BTreeMap<(String, String), CloneOnWrite<ManagedClusterSpec>>,
    demands: BTreeMap<i64, Resources>,
}

fn cluster(number: usize, random: &mut Random, shared: &mut Shared) -> Cluster {
    let text = format!("c{number:06}");
    let team = random.below(TEAMS);
    let env = ["prod", "test", "dev"][random.below(3)];
    let mut spec = ManagedClusterSpec {
        version: "v1.34.2".to_owned(),
        location: LOCATIONS[random.below(LOCATIONS.len())].to_owned(),
        priority: (random.below(10) == 0).then_some(10),
        ..ManagedClusterSpec::default()
    };
    if random.below(20) == 0 {
        let nowhere = json!({"affinity": {"required": [{"matchLabels": {"rack": "none"}}]}});
        spec.placement = Some(spec_of(nowhere));
    }
    let tenant = format!("team-{team}");
    let says = (tenant.clone(), serde_json::to_string(&spec).expect("a document"));
    let spec = shared.specs.entry(says).or_insert_with(|| spec.into()).clone();
    let size = SIZES[random.below(SIZES.len())];
    Cluster {
        name: name(&text),
        tenant,
        labels: [
            ("app".to_owned(), format!("app-{}", number / 2)),
            ("env".to_owned(), env.to_owned()),
            ("team".to_owned(), format!("team-{team}")),
        ]
        .into(),
        facts: Digest::of(text.as_bytes()),
        file: String::new(),
        document: 0,
        spec,
        catalogue: carp::model::Catalogue::default(),
        demand: shared.demands.entry(size).or_insert_with(|| resources(1, size)).clone(),
    }
}

/// One for each environment, and one for each of some teams.
fn policies(together: Together) -> impl Iterator<Item = Policy> {
    let zones = |zones: Value| json!({"matchExpressions": [{"key": "zone", "operator": "In", "values": zones}]});
    let mut prod = json!({"affinity": {"required": [zones(json!(["1", "2"]))]}});
    let mut test =
        json!({"affinity": {"preferred": [{"weight": 10, "term": zones(json!(["3"]))}]}});
    let mut dev = json!({});
    if together == Together::Ruled {
        prod["spread"] = json!([{"topologyKey": "zone", "maxSkew": 5}]);
        let soft = "ScheduleAnyway";
        test["spread"] = json!([
            {"topologyKey": "carp.dev/location", "maxSkew": 10, "whenUnsatisfiable": soft},
        ]);
        dev["antiAffinity"] = json!([
            {"topologyKey": "carp.dev/worker", "matchLabelKeys": ["app"]},
        ]);
    }
    let mut all =
        vec![policy("env", "prod", prod), policy("env", "test", test), policy("env", "dev", dev)];
    for team in 0..TEAMS / 4 {
        let spec = json!({"priority": 1, "tolerations": [{"key": "gpu", "operator": "Exists"}]});
        all.push(policy("team", &format!("team-{team}"), spec));
    }
    all.into_iter()
}

fn policy(key: &str, value: &str, mut spec: Value) -> Policy {
    spec["clusterSelector"] = json!({"matchLabels": {key: value}});
    let name = name(value);
    Policy { name, file: None, document: 0, spec: spec_of(spec), by_tenant: false }
}

/// One tenant in five uses a pool only. One in four has a quota of a little less than it wants.
fn tenant(number: usize, quota: Option<usize>) -> Tenant {
    let mut tenant = json!({"name": format!("team-{number}")});
    if number % 5 == 4 {
        tenant["pools"] = json!(["payments"]);
    }
    if let Some(clusters) = quota.filter(|_| number % 4 == 1) {
        tenant["quota"] = json!({"total": {"clusters": clusters * 19 / 20}});
    }
    spec_of(tenant)
}

fn spec_of<T: DeserializeOwned>(spec: Value) -> T {
    serde_json::from_value(spec).expect("as the kind has it")
}

fn resources(clusters: i64, memory: i64) -> Resources {
    let units = |count| Quantity::units(count);
    [("clusters".to_owned(), units(clusters)), ("memory".to_owned(), units(memory << 30))].into()
}

fn name(text: &str) -> Name {
    Name::parse(text).expect("a name")
}

/// Numbers that look random and are the same every time (`SplitMix64`).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % bound as u64).expect("below the bound")
    }
}
