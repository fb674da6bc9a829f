//! What this run does not write, because somebody edited it on the output branch or a file of others is in the
//! way, and how that is said.

use std::collections::BTreeSet;

use super::drift;
use super::output::Run;
use crate::model::{ClusterRow, Gate, GateReason, Kept, Name, Owned};

impl Run<'_> {
    /// Whether this run writes nothing of it.
    pub(super) fn is_kept(&self, of: &Owned) -> bool {
        let mut one = Kept::default();
        one.add(of);
        self.read.previous.kept.contains(&one)
    }

    /// Says of all that is not written in this run why that is so.
    pub(super) fn note_kept(&mut self) {
        let drift = &self.read.drift;
        let edited: BTreeSet<&str> = drift.edited().into_iter().map(Owned::name).collect();
        for name in edited.into_iter().filter_map(|name| Name::parse(name).ok()) {
            self.gates.push(Gate { name, reason: GateReason::Drifted, findings: Vec::new() });
        }
        for (of, paths) in &drift.taken {
            let found = paths.iter().map(|path| drift::in_the_way(path)).collect();
            if let Ok(name) = Name::parse(of.name()) {
                self.keep_last(&name, GateReason::Collided, found);
            }
        }
    }

    /// A cluster whose document says something new, on a worker whose folder is not written.
    pub(super) fn note_waiting(&mut self, name: &Name, worker: &Name, old: Option<&ClusterRow>) {
        let Some(cluster) = self.read.loaded.fleet.clusters.get(name) else { return };
        let job = self.job(cluster, worker);
        let noted = self.gates.iter().any(|gate| gate.name == *name);
        if noted || old.is_some_and(|old| old.render_key == job.key()) {
            return;
        }
        let taken = self.read.drift.taken.contains_key(&Owned::Worker(worker.clone()));
        let reason = if taken { GateReason::Collided } else { GateReason::Drifted };
        self.gates.push(Gate { name: name.clone(), reason, findings: Vec::new() });
    }
}
