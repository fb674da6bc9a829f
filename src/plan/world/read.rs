//! Reading statements.

use jiff::Timestamp;

use super::moves::{self, Moving};
use super::spread::Rules;
use super::{World, affinity, deleting, explain, fleet_lock, made, name, pending_row, scale};
use crate::model::api::{
    Affinity, DeletionPolicy, Expression, ExpressionOperator, ManagedClusterPlacement,
    ManagedClusterSpec, Observation, PlacementPolicySpec, PlacementTerm, PreferredTerm, Taint,
    TaintEffect, Tenant, Toleration, TolerationOperator, WorkerSpec,
};
use crate::model::{
    Cluster, ClusterRow, Damage, DeletionStep, Digest, FoldedReport, Freshness, LockName, Name,
    Owned, Policy, Quantity, ReasonCode, Resources, Unloaded, Worker, WorkerLock, fixture,
};

impl World {
    pub(super) fn lock(&mut self, worker: &Name) -> &mut WorkerLock {
        self.previous.workers.entry(worker.clone()).or_insert_with(|| WorkerLock::imagined(worker))
    }

    pub(super) fn worker(&mut self, text: &str, words: &[&str]) {
        let own = name(text);
        let mut worker = plain_worker(text);
        let (mut desired, mut attached, mut step) = (true, false, None);
        for word in words {
            let (key, value) = word.split_once('=').unwrap_or((word, ""));
            let spec = &mut worker.spec;
            match (key, value) {
                ("?", "") => spec.capacity.clear(),
                ("at", at) => at.clone_into(&mut spec.location),
                ("flavor", flavor) => spec.flavor = Some(flavor.to_owned()),
                ("pool", pool) => spec.pool = Some(pool.to_owned()),
                ("reserved", n) => spec.reserved = clusters(number(n)),
                ("cordoned", "") => spec.unschedulable = true,
                ("runs", names) => self.runs(&own, names),
                ("deleting", "") => step = Some(DeletionStep::D1),
                ("step", text) => step = Some(deleting::step(text)),
                ("attached", "") => attached = true,
                ("gone", "") => desired = false,
                _ if affinity::of_worker(spec, key, value) => {}
                ("broken", "") => {
                    desired = false;
                    self.unloaded("Worker", text, &[]);
                }
                _ if scale::worker(spec, key, value) || moves::of_worker(spec, key, value) => {}
                ("running" | "overdue" | "spare" | "leaving", "") => {}
                _ if key.starts_with("made:") || key == "ns" => {}
                _ if key.starts_with("agent") || key.starts_with("report") => {
                    if key.starts_with("agent") {
                        spec.observation = Observation::Agent;
                    }
                    if let Some((_, state)) = key.split_once(':') {
                        self.report(&own, state);
                        self.namespaces(&own, words);
                    }
                }
                _ => match key.split_once(':') {
                    Some(("cap", resource)) => {
                        spec.capacity.insert(resource.to_owned(), Quantity::units(number(value)));
                    }
                    Some(("label", key)) => {
                        worker.labels.insert(key.to_owned(), value.to_owned());
                    }
                    Some(("taint", key)) => spec.taints.push(taint(key, value)),
                    _ => self.used(&own, word, &mut spec.capacity),
                },
            }
        }
        self.made_by(&mut worker, words);
        desired &= !words.contains(&"leaving");
        if step.is_some() || !(desired || attached) {
            let lock = self.previous.fleet.get_or_insert_with(fleet_lock);
            lock.workers.insert(own.clone(), made(step));
            self.lock(&own).facts = worker.facts;
        }
        if desired {
            self.fleet.workers.insert(own, worker);
        } else {
            self.lock(&own);
        }
    }

    /// `2/3`: two clusters are there, and three fit.
    fn used(&mut self, worker: &Name, word: &str, capacity: &mut Resources) {
        let (used, of) = word.split_once('/').unwrap_or_else(|| panic!("what is `{word}`?"));
        if of == "?" {
            capacity.clear();
        } else {
            capacity.extend(clusters(number(of)));
        }
        for i in 0..number(used) {
            self.cluster(&format!("{worker}-x{i}"), &[&format!("on={worker}")]);
        }
    }

    fn report(&mut self, worker: &Name, state: &str) {
        let since = Timestamp::from_second(moves::REPORTED).unwrap();
        let clusters = self.observed.workers.remove(worker).map(|r| r.clusters).unwrap_or_default();
        let report = FoldedReport {
            freshness: if state == "silent" { Freshness::Silent } else { Freshness::Fresh },
            healthy: state != "unhealthy",
            reason: (state == "unhealthy").then(|| "Sick".to_owned()),
            complete: state != "incomplete",
            clusters,
            ..fixture::folded_report(worker, since)
        };
        self.observed.workers.insert(worker.clone(), report);
    }

    fn runs(&mut self, worker: &Name, names: &str) {
        let report = self.observed.workers.get_mut(worker).expect("a report comes first");
        for cluster in names.split(',') {
            let running = fixture::folded("Running", report.healthy_since);
            report.clusters.insert(name(cluster), running);
        }
    }

    pub(super) fn cluster(&mut self, text: &str, words: &[&str]) {
        let mut cluster = plain_cluster(text);
        let (mut on, mut seen, mut was) = (None, None, None);
        let (mut desired, mut rendered, mut changed) = (true, true, false);
        let (mut step, mut deletion) = (None, None);
        let (mut terms, mut group) = (Affinity::default(), None);
        let (mut rules, mut moving) = (Rules::default(), Moving::default());
        for word in words.iter().filter(|word| !rules.read(word)).collect::<Vec<_>>() {
            let (key, value) = word.split_once('=').unwrap_or((word, ""));
            let read = affinity::of_cluster(&mut cluster.spec, &mut group, word);
            match (key, value) {
                _ if read || moving.word(&mut cluster, key, value) => {}
                ("needs", n) => cluster.demand.extend(clusters(number(n))),
                ("was", n) => was.get_or_insert_with(|| clusters(1)).extend(clusters(number(n))),
                ("at", at) => at.clone_into(&mut cluster.spec.location),
                ("tenant", tenant) => tenant.clone_into(&mut cluster.tenant),
                ("priority", n) => cluster.spec.priority = Some(n.parse().unwrap()),
                ("on", worker) => on = Some(name(worker)),
                ("seen", n) => seen = Some(n.parse().unwrap()),
                ("gone", "") => desired = false,
                ("deleting", "") => step = Some(DeletionStep::D1),
                ("step", text) => step = Some(deleting::step(text)),
                ("changed", "") => changed = true,
                ("unrendered", "") => rendered = false,
                ("policy", "Delete") => deletion = Some(DeletionPolicy::Delete),
                ("policy", "Orphan") => deletion = Some(DeletionPolicy::Orphan),
                _ => match key.split_once(':') {
                    Some(("needs", resource)) => {
                        cluster.demand.insert(resource.to_owned(), Quantity::units(number(value)));
                    }
                    Some(("was", resource)) => {
                        let was = was.get_or_insert_with(|| clusters(1));
                        was.insert(resource.to_owned(), Quantity::units(number(value)));
                    }
                    Some(("label", key)) => {
                        cluster.labels.insert(key.to_owned(), value.to_owned());
                    }
                    _ => term(&mut terms, key, value),
                },
            }
        }
        cluster.spec.deletion_policy = deletion;
        cluster.spec.placement = placement(terms, rules, cluster.spec.placement.take());
        // As in the real thing the demand is no fact of the document: a class may change it.
        cluster.facts = Digest::of_value(&(&cluster.spec, &cluster.labels, &cluster.tenant));
        if let Some(worker) = on {
            let mut row = ClusterRow::imagined(&cluster);
            row.state = deleting::state(step);
            row.deletion = step.map(deleting::row);
            if changed {
                row.facts = Digest::of(b"another document");
            }
            row.folder = row.folder.filter(|_| rendered);
            (row.demand, row.group) = (was.unwrap_or(row.demand), group);
            moving.keep(self, &cluster, &worker, row);
        } else if let Some(seen) = seen {
            let row = pending_row(&cluster, seen, [ReasonCode::Taint].into());
            self.previous.pending.clusters.insert(cluster.name.clone(), row);
        }
        if desired {
            self.fleet.clusters.insert(cluster.name.clone(), cluster);
        }
    }

    pub(super) fn policy(&mut self, text: &str, words: &[&str]) {
        let mut spec = PlacementPolicySpec::default();
        let mut terms = Affinity::default();
        let mut rules = Rules::default();
        for word in words.iter().filter(|word| !rules.read(word)).collect::<Vec<_>>() {
            if affinity::of_policy(&mut spec, word) {
                continue;
            }
            if let Some(tolerated) = word.strip_prefix("tolerate:") {
                spec.tolerations.push(toleration(tolerated));
                continue;
            }
            if explain::policy_word(&mut spec, word) {
                continue;
            }
            let (key, value) = word.split_once('=').unwrap_or((word, ""));
            if moves::of_policy(&mut spec, key, value) {
                continue;
            }
            match key.strip_prefix("for:") {
                Some(key) => {
                    let labels = &mut spec.cluster_selector.match_labels;
                    labels.insert(key.to_owned(), value.to_owned());
                }
                None if key == "priority" => spec.priority = value.parse().unwrap(),
                None => term(&mut terms, key, value),
            }
        }
        if terms != Affinity::default() {
            let affinity = spec.affinity.get_or_insert_default();
            (affinity.required, affinity.preferred) = (terms.required, terms.preferred);
        }
        spec.spread = rules.spread;
        spec.anti_affinity = rules.anti_affinity;
        // A fleet's own policies stand in files; those that are built in do not.
        let file = (!words.contains(&explain::BUILT_IN)).then(|| "policies.yaml".to_owned());
        let policy = Policy { name: name(text), file, document: 0, spec, by_tenant: false };
        self.fleet.policies.insert(policy.name.clone(), policy);
    }

    pub(super) fn tenant(&mut self, text: &str, words: &[&str]) {
        let mut pools = words.iter().filter_map(|w| w.strip_prefix("pools=")).peekable();
        let pools = pools.peek().is_some().then(|| pools.flat_map(list).collect());
        self.fleet.spec.tenants.push(Tenant {
            name: text.to_owned(),
            pools,
            quota: super::spread::quota(words),
            max_priority: None,
            paths: Vec::from_iter(words.contains(&"folder").then(|| text.to_owned())),
            credentials: None,
            labels: None,
            limits: None,
        });
    }

    pub(super) fn lost(&mut self, worker: &str) {
        let lock = LockName::Worker(name(worker));
        self.previous.damaged.push(Damage { lock, why: "it is missing".to_owned() });
    }

    pub(super) fn kept(&mut self, kind: &str, text: &str) {
        self.previous.kept.add(&match kind {
            "worker" => Owned::Worker(name(text)),
            "cluster" => Owned::Cluster(name(text)),
            other => panic!("no such kind: {other}"),
        });
    }

    pub(super) fn unloaded(&mut self, kind: &str, text: &str, words: &[&str]) {
        let known = |text: &str| (text != "?").then(|| text.to_owned());
        self.fleet.unloaded.push(Unloaded {
            file: "broken.yaml".to_owned(),
            document: None,
            kind: known(kind),
            name: known(text),
            blocks_placements: words.contains(&"blocking"),
            tenants: words
                .iter()
                .filter_map(|w| w.strip_prefix("tenant="))
                .flat_map(list)
                .collect(),
        });
    }
}

fn placement(
    affinity: Affinity,
    rules: Rules,
    before: Option<ManagedClusterPlacement>,
) -> Option<ManagedClusterPlacement> {
    let pools = before.map(|own| own.pools).unwrap_or_default();
    let affinity = Some(affinity).filter(|a| *a != Affinity::default());
    let says = affinity.is_some() || !rules.is_empty() || !pools.is_empty();
    let Rules { spread, anti_affinity } = rules;
    says.then_some(ManagedClusterPlacement { affinity, pools, spread, anti_affinity })
}

/// A worker about which nothing is said.
pub(super) fn plain_worker(text: &str) -> Worker {
    Worker {
        name: name(text),
        labels: crate::model::SharedMap::new(),
        facts: Digest::of(text.as_bytes()),
        file: String::new(),
        document: 0,
        spec: WorkerSpec {
            version: "v1.34.2".to_owned(),
            location: "westeurope".to_owned(),
            capacity: clusters(9),
            ..WorkerSpec::default()
        }
        .into(),
        heartbeat_timeout_seconds: 3600,
        made_by: None,
        catalogue: crate::model::Catalogue::default(),
    }
}

fn plain_cluster(text: &str) -> Cluster {
    Cluster {
        name: name(text),
        tenant: "default".to_owned(),
        labels: [].into(),
        facts: Digest::of(b""),
        file: String::new(),
        document: 0,
        spec: ManagedClusterSpec {
            version: "v1.34.2".to_owned(),
            location: "westeurope".to_owned(),
            ..ManagedClusterSpec::default()
        }
        .into(),
        catalogue: crate::model::Catalogue::default(),
        demand: clusters(1),
    }
}

fn clusters(count: i64) -> Resources {
    [("clusters".to_owned(), Quantity::units(count))].into()
}

pub(super) fn number(text: &str) -> i64 {
    text.parse().unwrap_or_else(|_| panic!("`{text}` is no number"))
}

pub(super) fn list(text: &str) -> Vec<String> {
    text.split(',').filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

fn effect(text: &str) -> TaintEffect {
    match text {
        "NoSchedule" => TaintEffect::NoSchedule,
        "NoExecute" => TaintEffect::NoExecute,
        "PreferNoSchedule" => TaintEffect::PreferNoSchedule,
        other => panic!("no such effect: {other}"),
    }
}

pub(super) fn taint(key: &str, value: &str) -> Taint {
    let (value, text) = value.split_once(':').expect("key=value:Effect");
    let (key, value) = (key.to_owned(), value.to_owned());
    Taint { key, value, effect: effect(text), time_added: None }
}

/// `k=v:Effect`, `k=v`, `k:Effect`, `k`, and `*` for every key.
fn toleration(text: &str) -> Toleration {
    let (rest, effect) = match text.split_once(':') {
        Some((rest, text)) => (rest, Some(effect(text))),
        None => (text, None),
    };
    let (key, value, operator) = match rest.split_once('=') {
        Some((key, value)) => (key, value, TolerationOperator::Equal),
        None => (rest.trim_matches('*'), "", TolerationOperator::Exists),
    };
    let (key, value) = (key.to_owned(), value.to_owned());
    Toleration { key, operator, value, effect, toleration_seconds: None }
}

fn term(affinity: &mut Affinity, key: &str, value: &str) {
    if let Some(("prefer", rest)) = key.split_once(':') {
        let (weight, key) = rest.split_once(':').expect("prefer:WEIGHT:key=value");
        let match_labels = [(key.to_owned(), value.to_owned())].into();
        affinity.preferred.push(PreferredTerm {
            weight: weight.parse().unwrap(),
            term: PlacementTerm { match_labels, ..PlacementTerm::default() },
        });
        return;
    }
    if affinity.required.is_empty() {
        affinity.required.push(PlacementTerm::default());
    }
    one_term(&mut affinity.required[0], key, value);
}

/// One word of a term.
pub(super) fn one_term(term: &mut PlacementTerm, key: &str, value: &str) {
    if affinity::of_term(term, key, value) {
        return;
    }
    let expression =
        |key: &str, operator| Expression { key: key.to_owned(), operator, values: list(value) };
    match (key, key.split_once(':')) {
        ("only", _) => term.names = list(value),
        ("not", _) => term.exclude = list(value),
        ("only-at", _) => term.locations = list(value),
        (_, Some(("with", key))) => {
            term.match_labels.insert(key.to_owned(), value.to_owned());
        }
        (_, Some(("in", key))) => {
            term.match_expressions.push(expression(key, ExpressionOperator::In));
        }
        (_, Some(("notin", key))) => {
            term.match_expressions.push(expression(key, ExpressionOperator::NotIn));
        }
        _ => panic!("what is `{key}={value}`?"),
    }
}
