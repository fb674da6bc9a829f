//! Whether what a run reads is signed by those who may, where the fleet asks for it.
//!
//! Of the input's signers and `fleet.lock`'s the stricter hold: a signature must be good by both. So a
//! commit that adds its own signer does not profit from it, and a signer who was taken away is out at
//! once.

use std::collections::BTreeMap;

use super::reports::{FoundReports, Reports};
use super::{Error, Names, SourceStores};
use crate::change::entry_at;
use crate::diag::{Code, Diagnostic, Place};
use crate::git::{Repository, Signed};
use crate::model::api::FleetSpec;
use crate::model::{
    FLEET_LOCK_SCHEMA, FleetLock, Hold, HoldKind, Id, Memo, Name, Proposal, Signers, Snapshot,
    Store, StoreError, UNSIGNED_REPORT, lock_from_bytes, paths,
};
use crate::pipeline;

/// What the signatures say of a run.
#[derive(Default)]
pub(super) struct Vouched {
    /// Nothing of the input may be read.
    held: Option<Hold>,
    pub(super) findings: Vec<Diagnostic>,
}

impl Vouched {
    /// What one run would commit: nothing, where the input may not be read.
    pub(super) fn propose(
        &self,
        snapshot: &Snapshot,
        store: &dyn Store,
        memo: &mut Memo,
    ) -> Result<Proposal, StoreError> {
        let mut proposal = match &self.held {
            None => pipeline::propose(snapshot, store, memo)?,
            Some(hold) => pipeline::withhold(snapshot, store, memo, hold.clone())?,
        };
        proposal.diagnostics.extend(self.findings.iter().cloned());
        Ok(proposal)
    }
}

/// The signers in force: the input's and, after the first run, the lock's.
pub(super) struct InForce {
    input: Signers,
    lock: Signers,
}

impl InForce {
    pub(super) fn read(
        store: &dyn Store,
        spec: &FleetSpec,
        output: Option<Id>,
        prefix: &str,
    ) -> Result<Self, Error> {
        let path = format!("{}/{}", paths::CONTROL_PLANE, paths::FLEET_LOCK);
        let path = paths::in_repository(prefix, &path);
        let entry = output.map(|tree| entry_at(store, tree, &path)).transpose()?.flatten();
        let bytes = entry.map(|entry| store.blob(entry.id)).transpose()?;
        // A lock that cannot be read stops the run later, and says so.
        let lock = bytes.and_then(|b| lock_from_bytes::<FleetLock>(&b, FLEET_LOCK_SCHEMA).ok());
        let lock = lock.map(|lock| lock.signers).unwrap_or_default();
        Ok(Self { input: Signers::of(spec), lock })
    }

    /// Whether anybody's signature is asked for.
    pub(super) fn asks_anything(&self) -> bool {
        let asks = |signers: &Signers| signers.ask_of_input() || signers.ask_of_reports();
        asks(&self.input) || asks(&self.lock)
    }

    /// Looks at the signatures of all that a run is to read.
    pub(super) fn vouch(
        &self,
        repository: &Repository,
        names: &Names,
        input: Id,
        reports: FoundReports,
    ) -> Result<(Reports, Vouched), Error> {
        let (mut held, mut findings) = (None, Vec::new());
        if let Some((hold, finding)) = self.refuse_input(repository, input)? {
            held = Some(hold);
            findings.push(finding);
        }
        let reports = match reports {
            FoundReports::Named(reports) => reports,
            FoundReports::OnRefs(all) => {
                let (reports, found) = self.without_unsigned(repository, names, all)?;
                findings.extend(found);
                reports
            }
        };
        Ok((reports, Vouched { held, findings }))
    }

    /// Looks at the signature of what somebody looks at without a reconcile: of the commit that is named, or
    /// of the tip of the input branch where the files are those of it. Other files have none to look at.
    pub(super) fn vouch_look(
        &self,
        sources: &SourceStores,
        names: &Names,
        (tree, commit): (Id, Option<Id>),
        prefix: &str,
        notes: &mut Vec<String>,
    ) -> Result<Vouched, Error> {
        if !self.input.ask_of_input() && !self.lock.ask_of_input() {
            return Ok(Vouched::default());
        }
        let commit = match (commit, &sources.repository) {
            (Some(commit), Some(repository)) => Some((repository, commit)),
            (None, Some(repository)) => {
                let tip = repository.resolve(&names.input())?;
                let there = tip.map(|tip| repository.commit_tree(tip)).transpose()?;
                let root = |tree| sources.with(|store| entry_at(store, tree, prefix));
                let same = match there {
                    Some(there) => root(there)?? == root(tree)??,
                    None => false,
                };
                tip.filter(|_| same).map(|tip| (repository, tip))
            }
            (_, None) => None,
        };
        let Some((repository, commit)) = commit else {
            notes.push(format!(
                "these files are not those of the tip of {}, so nobody's signature of them was looked \
                 at; reconcile holds an input commit that no allowed signer made",
                names.branches.input
            ));
            return Ok(Vouched::default());
        };
        let refused = self.refuse_input(repository, commit)?;
        let (held, finding) = refused.unzip();
        Ok(Vouched { held, findings: finding.into_iter().collect() })
    }

    /// Why the input commit may not be read: a hold, and a finding that says what is wrong.
    fn refuse_input(
        &self,
        repository: &Repository,
        commit: Id,
    ) -> Result<Option<(Hold, Diagnostic)>, Error> {
        let asked = |signers: &Signers| signers.ask_of_input().then(|| signers.of_input());
        let (input, lock) = (asked(&self.input), asked(&self.lock));
        let lock = lock.filter(|lock| input.as_ref() != Some(lock));
        for (allowed, whose) in [(input, "spec.git.verify"), (lock, "the last output")] {
            let Some(allowed) = allowed else { continue };
            if let Signed::NotByAllowed(why) = repository.signed(commit, &allowed)? {
                return Ok(Some(unverified(commit, whose, why.as_str())));
            }
        }
        Ok(None)
    }

    /// Marks the reports that are not signed by their worker, and says which: they say nothing, and by them
    /// nobody can make a worker fall silent before its time.
    pub(super) fn without_unsigned(
        &self,
        repository: &Repository,
        names: &Names,
        mut reports: Reports,
    ) -> Result<(Reports, Vec<Diagnostic>), Error> {
        let mut found = Vec::new();
        if !self.input.ask_of_reports() && !self.lock.ask_of_reports() {
            return Ok((reports, found));
        }
        let prefix = names.observed();
        let tips: BTreeMap<String, Id> = repository.list_refs(&prefix)?.into_iter().collect();
        for worker in reports.keys().cloned().collect::<Vec<_>>() {
            let Some(commit) = tips.get(&format!("{prefix}{worker}")) else { continue };
            if let Some(why) = self.refuse_report(repository, *commit, &worker)? {
                reports.insert(worker.clone(), UNSIGNED_REPORT.to_vec());
                found.push(unsigned_report(&worker, *commit, &why));
            }
        }
        Ok((reports, found))
    }

    /// A worker that the lock does not know is new: the input alone says which key it has. Where the
    /// input names no signers any more, the lock's are in force until this run is through.
    fn refuse_report(
        &self,
        repository: &Repository,
        commit: Id,
        worker: &Name,
    ) -> Result<Option<String>, Error> {
        let (wanted, in_force) = (self.input.of_worker(worker), self.lock.of_worker(worker));
        if wanted.is_empty() && (self.input.ask_of_reports() || in_force.is_empty()) {
            return Ok(Some("no key of it is among the allowed signers".to_owned()));
        }
        for allowed in [wanted, in_force].iter().filter(|allowed| !allowed.is_empty()) {
            match repository.signed(commit, allowed)? {
                Signed::By(who) if who == **worker => {}
                // Only the keys of this worker were looked for.
                Signed::ByKey(_) => {}
                Signed::By(who) => return Ok(Some(format!("it is signed by `{who}`"))),
                Signed::NotByAllowed(why) => return Ok(Some(why.to_string())),
            }
        }
        Ok(None)
    }
}

fn unverified(commit: Id, whose: &str, why: &str) -> (Hold, Diagnostic) {
    let names = vec![commit.to_string()];
    let hold = Hold { kind: HoldKind::InputNotVerified, names, allowed: None };
    let message =
        format!("the input commit {commit} is not read: {why} (the signers are {whose}'s)");
    let help =
        "let an allowed signer commit on top of it: `git commit -S --allow-empty`, then push";
    let finding = Diagnostic::new(Code::InputNotVerified, message);
    (hold, finding.at(Place::file(paths::FLEET_FILE)).help(help))
}

fn unsigned_report(worker: &Name, commit: Id, why: &str) -> Diagnostic {
    let message =
        format!("the report of `{worker}` cannot be used: commit {}: {why}", commit.short());
    let help = format!(
        "let the agent sign with the key that spec.observed.allowedSigners has for `{worker}`; a new key \
         is added there before the old one goes"
    );
    Diagnostic::new(Code::ReportRefused, message).help(help)
}
