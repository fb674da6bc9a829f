//! What this run does not write, because somebody edited it on the output branch or a file of others is in the
//! way, and how that is said.

use std::collections::BTreeSet;

use super::choosing::Choosing;
use crate::gate;
use crate::model::{ClusterRow, Name, Owned};

impl Choosing<'_> {
    /// Says of all that is not written in this run why that is so.
    pub(super) fn note_kept(&mut self) {
        let drift = &self.run.read.drift;
        let edited: BTreeSet<&str> = drift.edited().into_iter().map(Owned::name).collect();
        for name in edited.into_iter().filter_map(|name| Name::parse(name).ok()) {
            self.object(&name, gate::unwritten(false));
        }
        for (of, paths) in &drift.taken {
            let collided = gate::collided(paths.iter().map(String::as_str));
            if let (Err(objection), Ok(name)) = (collided, Name::parse(of.name())) {
                self.object(&name, objection);
            }
        }
    }

    /// A cluster whose document says something new, on a worker whose folder is not written.
    pub(super) fn note_waiting(&mut self, name: &Name, worker: &Name, old: Option<&ClusterRow>) {
        let Some(cluster) = self.run.read.loaded.fleet.clusters.get(name) else { return };
        let job = self.run.cluster_jobs().of(cluster, worker);
        let noted = self.gates.iter().any(|gate| gate.name == *name);
        if noted || old.is_some_and(|old| old.render_key == job.key()) {
            return;
        }
        let taken = self.run.read.drift.taken.contains_key(&Owned::Worker(worker.clone()));
        self.object(name, gate::unwritten(taken));
    }
}
