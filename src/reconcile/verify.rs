//! Whether what a run reads is signed by those who may, where the fleet asks for it.
//!
//! Of the input's signers and `fleet.lock`'s the stricter hold: a signature must be good by both. So a
//! commit that adds its own signer does not profit from it, and a signer who was taken away is out at
//! once.

use std::collections::BTreeMap;

use super::reports::{Found, Reports};
use super::{Error, Names};
use crate::change::entry_at;
use crate::diag::{Code, Diagnostic, Place};
use crate::git::{Repository, Signed};
use crate::model::api::FleetSpec;
use crate::model::{
    AllowedSigner, FLEET_LOCK_SCHEMA, FleetLock, Hold, HoldKind, Id, Memo, Name, Proposal, Signers,
    Snapshot, Store, StoreError, UNSIGNED_REPORT, lock_from_bytes, paths,
};
use crate::pipeline;

/// What the signatures say of a run.
pub(super) struct Vouched {
    /// Nothing of the input may be read.
    held: Option<Hold>,
    findings: Vec<Diagnostic>,
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

    /// Looks at the signatures of all that a run is to read.
    pub(super) fn vouch(
        &self,
        repository: &Repository,
        names: &Names,
        input: Id,
        reports: Found,
    ) -> Result<(Reports, Vouched), Error> {
        let (mut held, mut findings) = (None, Vec::new());
        if let Some((hold, finding)) = self.refuse_input(repository, input)? {
            held = Some(hold);
            findings.push(finding);
        }
        let reports = match reports {
            Found::Named(reports) => reports,
            Found::OnRefs(all) => {
                let (reports, found) = self.without_unsigned(repository, names, all)?;
                findings.extend(found);
                reports
            }
        };
        Ok((reports, Vouched { held, findings }))
    }

    /// Why the input commit may not be read: a hold, and a finding that says what is wrong.
    fn refuse_input(
        &self,
        repository: &Repository,
        commit: Id,
    ) -> Result<Option<(Hold, Diagnostic)>, Error> {
        for (lines, whose) in
            [(&self.input.input, "spec.git.verify"), (&self.lock.input, "the last output")]
        {
            if lines.is_empty() || (whose != "spec.git.verify" && *lines == self.input.input) {
                continue;
            }
            if let Signed::NotByAllowed(why) = repository.signed(commit, &parsed(lines))? {
                return Ok(Some(unverified(commit, whose, why.as_str())));
            }
        }
        Ok(None)
    }

    /// Marks the reports that are not signed by their worker, and says which: they say nothing, and by them
    /// nobody can make a worker fall silent before its time.
    fn without_unsigned(
        &self,
        repository: &Repository,
        names: &Names,
        mut reports: Reports,
    ) -> Result<(Reports, Vec<Diagnostic>), Error> {
        let mut found = Vec::new();
        let [input, lock] = [&self.input.observed, &self.lock.observed].map(|l| parsed(l));
        if input.is_empty() && lock.is_empty() {
            return Ok((reports, found));
        }
        let prefix = names.observed();
        let tips: BTreeMap<String, Id> = repository.list_refs(&prefix)?.into_iter().collect();
        for worker in reports.keys().cloned().collect::<Vec<_>>() {
            let Some(commit) = tips.get(&format!("{prefix}{worker}")) else { continue };
            if let Some(why) = refuse_report(repository, *commit, &worker, &input, &lock)? {
                reports.insert(worker.clone(), UNSIGNED_REPORT.to_vec());
                found.push(unsigned_report(&worker, *commit, &why));
            }
        }
        Ok((reports, found))
    }
}

/// A worker that the lock does not know is new: the input alone says which key it has. Where the input
/// names no signers any more, the lock's are in force until this run is through.
fn refuse_report(
    repository: &Repository,
    commit: Id,
    worker: &Name,
    input: &[AllowedSigner],
    lock: &[AllowedSigner],
) -> Result<Option<String>, Error> {
    let of_worker = |signers: &[AllowedSigner]| -> Vec<AllowedSigner> {
        let own = signers.iter().filter(|signer| signer.names(worker));
        own.filter_map(|signer| AllowedSigner::parse(&signer.line_for(worker)).ok()).collect()
    };
    let (wanted, in_force) = (of_worker(input), of_worker(lock));
    if wanted.is_empty() && (!input.is_empty() || in_force.is_empty()) {
        return Ok(Some("no key of it is among the allowed signers".to_owned()));
    }
    for signers in [wanted, in_force].iter().filter(|signers| !signers.is_empty()) {
        match repository.signed(commit, signers)? {
            Signed::By(who) if who == **worker => {}
            Signed::By(who) => return Ok(Some(format!("it is signed by `{who}`"))),
            Signed::NotByAllowed(why) => return Ok(Some(why.to_string())),
        }
    }
    Ok(None)
}

/// `load` has refused what is none.
fn parsed(lines: &[String]) -> Vec<AllowedSigner> {
    lines.iter().filter_map(|line| AllowedSigner::parse(line).ok()).collect()
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
