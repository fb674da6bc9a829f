//! Growing and shrinking in the words of the tests: ceilings, and pools with the workers that they made.

use jiff::Timestamp;

use super::{World, fleet_lock, name};
use crate::model::api::{Observation, WorkerPoolSpec, WorkerSpec};
use crate::model::{
    Name, Plan, Pool, PoolFact, PoolLock, PoolState, PoolWorker, Quantity, Worker, worker_facts,
};

/// Reads what a worker says of how it grows; whether the word was one of those.
pub(super) fn worker(spec: &mut WorkerSpec, key: &str, value: &str) -> bool {
    let ("ceiling", resource) = key.split_once(':').unwrap_or((key, "clusters")) else {
        return false;
    };
    spec.ceiling.insert(resource.to_owned(), Quantity::units(number(value)));
    true
}

fn number<N: std::str::FromStr>(text: &str) -> N {
    text.parse().unwrap_or_else(|_| panic!("`{text}` is no number"))
}

impl World {
    /// `ns=a,b`: namespaces that carp did not make.
    pub(super) fn namespaces(&mut self, worker: &Name, words: &[&str]) {
        let report = self.observed.workers.get_mut(worker).expect("a report comes first");
        let names =
            words.iter().filter_map(|word| word.strip_prefix("ns=")).flat_map(|l| l.split(','));
        report.foreign_namespaces = names.map(name).collect();
    }

    /// `workerpool eu min=1 max=3 at=westeurope,eastus cap=4 cap:mem=8 ceiling=6 pending=1 agent
    /// timeout=100 cool=50 named={location}-{ordinal} last=7 label:k=v taint:…`
    pub(super) fn worker_pool(&mut self, text: &str, words: &[&str]) {
        let mut spec = WorkerPoolSpec { max: 9, ..WorkerPoolSpec::default() };
        let mut template = super::read::plain_worker(text);
        let (mut timeout, mut cool, mut last) = (3600, 3600, None);
        for word in words {
            let (key, value) = word.split_once('=').unwrap_or((word, ""));
            let own = &mut template.spec;
            match key {
                "min" => spec.min = number(value),
                "max" => spec.max = number(value),
                "at" => spec.locations = value.split(',').map(str::to_owned).collect(),
                "pending" => spec.max_pending = Some(number(value)),
                "named" => spec.name_pattern = Some(value.to_owned()),
                "agent" => own.observation = Observation::Agent,
                "timeout" => timeout = number(value),
                "cool" => cool = number(value),
                "last" => last = Some(number(value)),
                "?" => own.capacity.clear(),
                "cap" => {
                    own.capacity.insert("clusters".to_owned(), Quantity::units(number(value)));
                }
                _ if worker(own, key, value) => {}
                _ => match key.split_once(':') {
                    Some(("cap", resource)) => {
                        let amount = Quantity::units(number(value));
                        own.capacity.insert(resource.to_owned(), amount);
                    }
                    Some(("label", key)) => {
                        template.labels.insert(key.to_owned(), value.to_owned());
                    }
                    Some(("taint", key)) => own.taints.push(super::read::taint(key, value)),
                    _ => panic!("what is `{word}`?"),
                },
            }
        }
        if let Some(first) = spec.locations.first() {
            template.spec.location.clone_from(first);
        }
        spec.template.spec = (*template.spec).clone();
        spec.template.metadata.labels = (*template.labels).clone();
        let pool = Pool {
            name: name(text),
            file: String::new(),
            document: 0,
            spec,
            heartbeat_timeout_seconds: 3600,
            provision_timeout_seconds: timeout,
            cool_down_seconds: cool,
            catalogue: crate::model::Catalogue::default(),
        };
        if let Some(last) = last {
            self.pool_lock(&pool.name).last = last;
        }
        self.fleet.pools.insert(pool.name.clone(), pool);
    }

    fn pool_lock(&mut self, pool: &Name) -> &mut PoolLock {
        let lock = self.previous.fleet.get_or_insert_with(fleet_lock);
        lock.pools.entry(pool.clone()).or_default()
    }

    /// `worker eu-1 made:eu=1`, with `running`, `overdue`, `spare` or `leaving`: what the pool made, if
    /// that is desired. The pool comes first.
    pub(super) fn made_by(&mut self, worker: &mut Worker, words: &[&str]) {
        let mut row = None;
        for word in words {
            let (key, value) = word.split_once('=').unwrap_or((word, ""));
            if let Some(("made", pool)) = key.split_once(':') {
                let location = worker.spec.location.clone();
                let (leaving, running) = (words.contains(&"leaving"), words.contains(&"running"));
                let ordinal = number(value);
                row = Some((
                    name(pool),
                    PoolWorker { ordinal, location, zones: Vec::new(), leaving, running },
                ));
            }
        }
        let Some((pool, row)) = row else { return };
        let lock = self.pool_lock(&pool);
        lock.last = lock.last.max(row.ordinal);
        lock.workers.insert(worker.name.clone(), row.clone());
        let lock = self.previous.fleet.get_or_insert_with(fleet_lock);
        lock.workers.insert(worker.name.clone(), super::made(None));
        for word in words.iter().filter(|word| ["overdue", "spare"].contains(word)) {
            self.found(&worker.name, word);
        }
        if let Some(pool) = self.fleet.pools.get(&pool) {
            let template = pool.worker(&worker.name, &row);
            let unschedulable = worker.spec.unschedulable;
            *worker = template;
            worker.spec.unschedulable = unschedulable;
            worker.facts = worker_facts(worker);
        }
    }

    /// What the fold found out of a worker that a pool made.
    pub(super) fn found(&mut self, worker: &str, state: &str) {
        let state = match state {
            "overdue" => PoolState::Overdue,
            "spare" => PoolState::Spare,
            other => panic!("what is `{other}`?"),
        };
        let since = Timestamp::from_second(1_700_000_000).unwrap();
        self.observed.pools.insert(name(worker), PoolFact { state, since });
    }

    /// The desired workers after a plan: those that pools made are as the lock has them then.
    pub(super) fn reload_pools(&mut self, plan: &Plan) {
        if let Some(lock) = &mut self.previous.fleet {
            lock.pools =
                plan.pools.iter().map(|(name, p)| (name.clone(), p.lock.clone())).collect();
        }
        self.load_pools();
    }

    /// The desired workers with those that pools made, as the lock has them. A document of the name comes
    /// first.
    pub(in crate::plan) fn load_pools(&mut self) {
        self.fleet.workers.retain(|_, worker| worker.made_by.is_none());
        for (pool, lock) in self.previous.pools() {
            let Some(pool) = self.fleet.pools.get(pool) else { continue };
            for (worker, row) in lock.workers.iter().filter(|(_, row)| !row.leaving) {
                let made = || pool.worker(worker, row);
                self.fleet.workers.entry(worker.clone()).or_insert_with(made);
            }
        }
    }
}

/// What pools do, in words.
pub(super) fn told(plan: &Plan) -> Vec<String> {
    let mut words = Vec::new();
    for (name, pool) in &plan.pools {
        for (verb, workers) in [("makes", &pool.made), ("gives up", &pool.spare)] {
            if !workers.is_empty() {
                let workers: Vec<_> = workers.iter().map(Name::as_str).collect();
                words.push(format!("{name} {verb} {}", workers.join(" ")));
            }
        }
    }
    words
}
