//! One run: every cluster that is wanted or recorded, one after the other.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use jiff::Timestamp;
use tokio::runtime::Runtime;

use super::super::plan::{DesiredCluster as Wish, KindAction, ObservedCluster, Record, plan};
use super::super::probe::probe;
use super::super::status::{ClusterHealth, StatusBuilder, record, recorded_host};
use super::super::work::taken;
use super::super::{
    Cancel, EngineFailure, Error, Host, KindEngine, KindProgram, KindReason, StateFolder,
};
use super::branch::{Branch, REMOTE};
use super::desired::{self, DesiredObject, DesiredObjects, ObjectKey};
use super::record::{KIND_RECORD_SCHEMA, KindRecord};
use super::{Applied, AppliedCluster, ApplySettings};
use crate::change::entry_at;
use crate::git::{Gone, OwnClone, Redacted, RefSpec};
use crate::model::api::{EndpointType, KINDClusterSpec, KINDClusterStatus, KindDeletionPolicy};
use crate::model::{Digest, EntryKind};
use crate::service;

/// How often a new cluster is asked whether it answers, a second apart.
const TRIES: u32 = 10;

/// Makes this machine's clusters what the folder asks for, and writes down what became of them.
///
/// # Errors
/// The repository cannot be read or written, what should be there is not, or this machine is not fit for
/// it. What a cluster comes to is no error but a row.
pub fn apply(
    settings: &ApplySettings,
    clock: &dyn Fn() -> Timestamp,
    cancel: &Cancel,
) -> Result<Applied, Error> {
    let clone = settings.cache.join(Digest::of(settings.url.as_bytes()).short(16));
    let own = OwnClone::hold(&clone, &settings.url)?;
    let repository = own.open()?;
    let specs = [&settings.branch, &settings.status].map(|b| RefSpec::tracking(REMOTE, b));
    let fetched = repository.fetch(REMOTE, &specs, Gone::Prune)?;
    let missing = |what: String| Error::Missing {
        what,
        repository: Redacted::new(&settings.url).to_string(),
    };
    let at = |branch: &str| format!("refs/heads/{branch}");
    let output = fetched
        .get(&at(&settings.branch))
        .ok_or_else(|| missing(format!("the branch `{}`", settings.branch)))?;
    let store = repository.store()?;
    let entry = entry_at(&store, repository.commit_tree(output)?, &settings.folder)?;
    let folder = entry.filter(|entry| entry.kind == EntryKind::Dir).ok_or_else(|| {
        missing(format!("the folder `{}` of the branch `{}`", settings.folder, settings.branch))
    })?;
    let desired = desired::read(&store, folder.id)?;
    let (name, tip) = (at(&settings.status), fetched.get(&at(&settings.status)));
    let branch = Branch::read(&repository, &store, name, tip)?;

    let state = StateFolder::open(&settings.state)?;
    state.sweep();
    let engine = KindProgram { program: settings.program.clone(), state: state.clone() };
    let host = Host { engine, state, name: settings.host.clone(), limit: settings.limit };
    let runtime = service::runtime()?;
    let message = format!("carp: kind clusters of {}\n\nCarp-Output: {output}\n", settings.folder);
    let mut turn = ApplyTurn { settings, host, branch, runtime, clock, cancel, message };
    turn.run(desired)
}

/// A run under way.
struct ApplyTurn<'a, E> {
    settings: &'a ApplySettings,
    host: Host<E>,
    branch: Branch<'a>,
    runtime: Runtime,
    clock: &'a dyn Fn() -> Timestamp,
    cancel: &'a Cancel,
    message: String,
}

impl<E: KindEngine> ApplyTurn<'_, E> {
    fn run(&mut self, desired: DesiredObjects) -> Result<Applied, Error> {
        let wanted = desired.wanted.keys().cloned();
        let keys: BTreeSet<ObjectKey> = wanted.chain(self.branch.records.keys().cloned()).collect();
        let mut applied = Applied { broken: desired.broken, ..Applied::default() };
        for key in keys {
            if self.cancel.is_cancelled() {
                applied.interrupted = true;
                break;
            }
            let row = match desired.wanted.get(&key) {
                Some(wanted) if wanted.paused => row(&key, &wanted.spec.cluster_name, "Paused", ""),
                Some(wanted) => self.keep(&key, wanted)?,
                None if applied.broken.is_empty() => self.drop(&key)?,
                None => {
                    let said = "nothing is deleted while something could not be read";
                    row(&key, &self.cluster_name(&key), "Held", said).failed()
                }
            };
            applied.rows.push(row);
        }
        self.save()?;
        Ok(applied)
    }

    fn save(&mut self) -> Result<(), Error> {
        self.branch.save(&self.message, (self.clock)())
    }

    /// Whose a cluster is on this machine.
    fn owner(&self, (namespace, name): &ObjectKey) -> String {
        format!("git:{}:{namespace}/{name}", self.settings.status)
    }

    fn status(&self, key: &ObjectKey) -> KINDClusterStatus {
        self.branch.records.get(key).map(|r| r.status.clone()).unwrap_or_default()
    }

    fn cluster_name(&self, key: &ObjectKey) -> String {
        self.status(key).cluster_name.unwrap_or_else(|| key.1.clone())
    }

    /// Changes what the record says. It reaches the branch when it is saved.
    fn tell(&mut self, key: &ObjectKey, tell: impl FnOnce(&mut StatusBuilder<'_>)) {
        let now = (self.clock)();
        let (namespace, name) = key;
        let record = self.branch.records.entry(key.clone()).or_insert_with(|| KindRecord {
            schema_version: KIND_RECORD_SCHEMA,
            namespace: namespace.clone(),
            name: name.clone(),
            deletion_policy: KindDeletionPolicy::default(),
            status: KINDClusterStatus::default(),
        });
        tell(&mut StatusBuilder { status: &mut record.status, now, generation: None });
    }

    fn keep(&mut self, key: &ObjectKey, wanted: &DesiredObject) -> Result<AppliedCluster, Error> {
        let (spec, name) = (&wanted.spec, &wanted.spec.cluster_name);
        self.tell(key, |_| {});
        if let Some(record) = self.branch.records.get_mut(key) {
            record.deletion_policy = spec.deletion_policy;
        }
        let status = self.status(key);
        let recorded = status.cluster_name.clone().unwrap_or_else(|| name.clone());
        let listed = match self.host.lists(&recorded) {
            Ok(listed) => listed,
            Err(failure) => return Ok(self.troubled(key, spec, &failure)),
        };
        let observed = ObservedCluster {
            record: record(&status),
            renamed: recorded != *name,
            other_host: recorded_host(&status).is_some_and(|host| host != self.host.name),
            listed,
            creating: false,
            hopeless: None,
        };
        let host = self.host.name.clone();
        match plan(&observed, &Wish { adopt: wanted.adopt, ..Wish::default() }) {
            action @ (KindAction::Begin | KindAction::BeginAgain) => {
                let gone = action == KindAction::BeginAgain;
                let why = if gone { "the cluster that was made is gone" } else { "" };
                self.tell(key, |t| t.set_desired(spec, &host, why));
                self.save()?;
                self.create(key, spec, false)
            }
            KindAction::Create { leftovers } => self.create(key, spec, leftovers),
            KindAction::Adopt => {
                if let Err(failure) = self.host.adopt(&self.owner(key), name) {
                    return Ok(self.troubled(key, spec, &failure));
                }
                self.tell(key, |t| t.adopt(spec, &host));
                self.save()?;
                self.check(key, spec, 1)
            }
            KindAction::Refuse(reason) => {
                let said = match reason {
                    KindReason::Renamed => {
                        format!("the cluster is called {recorded} and cannot be renamed {name}")
                    }
                    KindReason::OtherHost => {
                        format!("the cluster is on another machine than {host}")
                    }
                    _ => taken(name).message,
                };
                let said = format!("{said}: {}", reason.help());
                self.tell(key, |t| t.not_done(reason, &said));
                Ok(row(key, name, reason.word(), &said).failed())
            }
            _ => self.check(key, spec, 1),
        }
    }

    fn create(
        &mut self,
        key: &ObjectKey,
        spec: &KINDClusterSpec,
        leftovers: bool,
    ) -> Result<AppliedCluster, Error> {
        match self.host.make(&self.owner(key), spec, leftovers, self.cancel) {
            Ok(()) => {
                self.tell(key, |t| t.made(&spec.digest(), false));
                self.save()?;
                self.check(key, spec, TRIES)
            }
            Err(failure) => {
                if failure.reason == KindReason::AlreadyExists {
                    self.tell(key, |t| {
                        t.disown();
                    });
                }
                self.tell(key, |t| t.creation_failed(failure.reason, &failure.message));
                self.save()?;
                let name = &spec.cluster_name;
                Ok(row(key, name, failure.reason.word(), &failure.message).failed())
            }
        }
    }

    /// Whether the cluster answers; and its kubeconfig to where people find it.
    fn check(
        &mut self,
        key: &ObjectKey,
        spec: &KINDClusterSpec,
        tries: u32,
    ) -> Result<AppliedCluster, Error> {
        let name = &spec.cluster_name;
        let access = match self.host.access(name, EndpointType::External) {
            Ok(access) => access,
            Err(failure) => return Ok(self.troubled(key, spec, &failure)),
        };
        write_private(&self.settings.kubeconfigs, name, &access.external)?;
        let mut health = ClusterHealth::default();
        for left in (0..tries).rev() {
            health = self.runtime.block_on(probe(&access.external, access.nodes));
            if health.answers || left == 0 || self.cancel.is_cancelled() {
                break;
            }
            std::thread::sleep(Duration::from_secs(1));
        }
        self.tell(key, |t| {
            t.checked(spec, &health);
            t.kubeconfig_ready();
        });
        if health.answers {
            return Ok(row(key, name, "Ready", ""));
        }
        Ok(row(key, name, KindReason::NotReady.word(), &health.said).failed())
    }

    fn troubled(
        &mut self,
        key: &ObjectKey,
        spec: &KINDClusterSpec,
        failure: &EngineFailure,
    ) -> AppliedCluster {
        self.tell(key, |t| t.not_done(failure.reason, &failure.message));
        row(key, &spec.cluster_name, failure.reason.word(), &failure.message).failed()
    }

    /// An object that is not wanted any more.
    fn drop(&mut self, key: &ObjectKey) -> Result<AppliedCluster, Error> {
        let Some(kept) = self.branch.records.get(key) else {
            return Ok(row(key, "", "Deleted", ""));
        };
        let (status, orphan) = (&kept.status, kept.deletion_policy == KindDeletionPolicy::Orphan);
        let seen = record(status);
        let other_host = recorded_host(status).is_some_and(|host| host != self.host.name);
        let (name, owner) = (self.cluster_name(key), self.owner(key));
        let wish = Wish { deleting: true, orphan, adopt: false };
        let done = self.host.lists(&name).and_then(|listed| {
            let observed =
                ObservedCluster { record: seen, other_host, listed, ..ObservedCluster::default() };
            match plan(&observed, &wish) {
                KindAction::Delete => self.host.remove(&owner, &name),
                KindAction::Refuse(reason) => Err(EngineFailure::new(reason, reason.help())),
                _ if seen == Record::None => Ok(()),
                _ => self.host.give_up(&owner, &name),
            }
        });
        if let Err(failure) = done {
            self.tell(key, |t| t.deleting(Some((failure.reason, &failure.message))));
            return Ok(row(key, &name, failure.reason.word(), &failure.message).failed());
        }
        if seen != Record::None {
            remove(&self.settings.kubeconfigs, &name)?;
        }
        self.branch.records.remove(key);
        self.save()?;
        Ok(row(key, &name, if orphan { "Orphaned" } else { "Deleted" }, ""))
    }
}

impl AppliedCluster {
    fn failed(self) -> Self {
        Self { failed: true, ..self }
    }
}

fn row((namespace, name): &ObjectKey, cluster: &str, state: &str, message: &str) -> AppliedCluster {
    AppliedCluster {
        namespace: namespace.clone(),
        name: name.clone(),
        cluster: cluster.to_owned(),
        state: state.to_owned(),
        message: message.to_owned(),
        failed: false,
    }
}

/// Writes a file that only its owner may read, whole or not at all.
fn write_private(folder: &Path, name: &str, text: &str) -> Result<(), Error> {
    use std::io::Write as _;
    let path = folder.join(name);
    let failed = |e: &std::io::Error| Error::File {
        path: path.display().to_string(),
        detail: e.to_string(),
    };
    std::fs::create_dir_all(folder).map_err(|e| failed(&e))?;
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(|e| failed(&e))?;
    file.write_all(text.as_bytes()).map_err(|e| failed(&e))?;
    file.persist(&path).map_err(|e| failed(&e.error))?;
    Ok(())
}

fn remove(folder: &Path, name: &str) -> Result<(), Error> {
    let path = folder.join(name);
    match std::fs::remove_file(&path) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
            Err(Error::File { path: path.display().to_string(), detail: e.to_string() })
        }
        _ => Ok(()),
    }
}
