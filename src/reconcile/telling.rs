//! Telling the forge how the input commit fared. It comes after everything else of a turn, fails nothing of it, and
//! takes no longer than [`CallLimits`] allow.
//!
//! What was told is remembered in the Git directory, so that a turn with nothing new asks nobody. It is a cache:
//! without it the forge is asked what it has, and is told only what is new.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::Names;
use super::caches::cache_file;
use super::outcome::{Outcome, ReconcileResult};
use super::said::{ForgeOptions, Made, Said};
use super::sources::{names, remote};
use crate::change::entry_at;
use crate::forge::{self, CallLimits, ForgeReport, ForgeTarget};
use crate::git::Repository;
use crate::model::api::{ForgeKind, ForgeSettings};
use crate::model::{
    Decision, Name, PENDING_SCHEMA, PendingLock, Proposal, ReasonCode, Store, TurnForge,
    lock_from_bytes, paths,
};
use crate::store::{load_sealed, save_sealed};

/// The format of [`Remembered`].
const FORMAT: u32 = 1;
/// How many commits of the same input are told of, the last ones.
const MOST_MADE: usize = 5;

/// The last that was told, or is still to be told.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct RememberedCalls {
    format: u32,
    kind: Option<ForgeKind>,
    address: String,
    report: ForgeReport,
    told: bool,
    /// Until when the forge asked to be left alone.
    not_before: Option<Timestamp>,
}

/// What is told, by whom and when.
#[derive(Clone, Copy)]
pub(super) struct ForgeTelling<'a> {
    pub(super) repository: &'a Repository,
    /// The fleet's root in it.
    pub(super) prefix: &'a str,
    pub(super) options: &'a ForgeOptions,
    /// The time on the wall.
    pub(super) now: Timestamp,
}

impl ForgeTelling<'_> {
    /// Tells how a turn went, and notes in it how that went.
    pub(super) fn of(self, ran: &mut ReconcileResult) {
        match ran {
            ReconcileResult::Through(outcome) => outcome.forge = self.after(outcome),
            ReconcileResult::Settled(turn) => turn.forge = self.again(),
        }
    }

    /// Tells of a turn that looked at the fleet. `None` where nobody is to be told, or knows already.
    fn after(self, outcome: &Outcome) -> Option<TurnForge> {
        let spec = &outcome.proposal.fleet.spec;
        let Some(settings) = self.options.settings(spec.forge.as_ref()) else {
            // Where there is none, nothing was to be told.
            drop(std::fs::remove_file(self.path()));
            return None;
        };
        let names = names(Some(self.repository), spec, self.prefix);
        let said = self.said(&names, &settings, outcome);
        let remembered = RememberedCalls {
            format: FORMAT,
            kind: settings.kind,
            address: self.address(),
            report: (self.options.report)(&said),
            told: false,
            not_before: None,
        };
        let before: Option<RememberedCalls> = load_sealed(&self.path());
        let before = before.filter(|before| {
            before.format == FORMAT
                && before.kind == remembered.kind
                && before.address == remembered.address
        });
        if before.as_ref().is_some_and(|before| before.told && before.report == remembered.report) {
            return None;
        }
        let not_before = before.and_then(|before| before.not_before);
        Some(self.send(RememberedCalls { not_before, ..remembered }))
    }

    /// Tells what a turn before could not, where nothing is different from then.
    fn again(self) -> Option<TurnForge> {
        Some(self.send(self.due()?))
    }

    /// What a turn before could not tell.
    fn due(self) -> Option<RememberedCalls> {
        let remembered: RememberedCalls = load_sealed(&self.path())?;
        let is_due = remembered.format == FORMAT && !remembered.told;
        (is_due && remembered.address == self.address()).then_some(remembered)
    }

    /// Whether a turn without news has something to tell.
    pub(super) fn is_due(self) -> bool {
        self.due().is_some()
    }

    fn send(self, mut remembered: RememberedCalls) -> TurnForge {
        if let Some(until) = remembered.not_before.filter(|until| self.now < *until) {
            let _ = save_sealed(&self.path(), &remembered);
            let message = format!("the forge asked to be left alone until {until}");
            return TurnForge::Failed { message };
        }
        let told = self.tell(&remembered);
        remembered.told = told.is_ok();
        remembered.not_before = match &told {
            Err(forge::Error::Limited { after, .. }) => {
                let after = SignedDuration::try_from(*after).unwrap_or_default();
                self.now.checked_add(after).ok()
            }
            _ => None,
        };
        // What is not remembered is asked for again.
        let _ = save_sealed(&self.path(), &remembered);
        match told {
            Ok(repository) => TurnForge::Told { repository },
            Err(error) => TurnForge::Failed { message: error.to_string() },
        }
    }

    fn tell(self, of: &RememberedCalls) -> Result<String, forge::Error> {
        let target = ForgeTarget::of(of.kind, &of.address)?.through(&self.options.proxies)?;
        let token = self.options.token.as_ref().map_err(Clone::clone)?;
        let _span = tracing::debug_span!("forge", repository = target.shown()).entered();
        forge::tell(&target, token, &of.report, CallLimits::default(), self.now)?;
        Ok(target.shown().to_owned())
    }

    /// Where the repository is: as a person said, else where its remote is. Without the credentials in it, which
    /// are git's.
    fn address(self) -> String {
        let found = || self.repository.fetch_address(&remote(self.repository)?);
        let address = self.options.url.clone().or_else(found);
        let address = address.unwrap_or_else(|| "a repository without a remote".to_owned());
        crate::git::Redacted::new(address).to_string()
    }

    fn path(self) -> PathBuf {
        cache_file(self.repository, self.prefix, "forge.json")
    }

    fn said<'s>(self, names: &'s Names, settings: &ForgeSettings, outcome: &'s Outcome) -> Said<'s>
    where
        Self: 's,
    {
        Said {
            commit: outcome.people,
            branch: &names.branches.input,
            prefix: &outcome.prefix,
            comment: settings.comment,
            proposal: &outcome.proposal,
            verdict: &outcome.verdict,
            waiting: waiting(self.repository, self.prefix, &outcome.proposal),
            made: made(self.repository, names, outcome),
        }
    }
}

/// The clusters that wait. A turn that looked only at what changed did not look at them; then they stand in the
/// output as it is.
fn waiting(
    repository: &Repository,
    prefix: &str,
    proposal: &Proposal,
) -> BTreeMap<Name, BTreeSet<ReasonCode>> {
    let decided =
        proposal.plan.clusters.iter().filter_map(|(name, planned)| match &planned.decision {
            Decision::Wait { reasons, .. } => Some((name.clone(), reasons.clone())),
            _ => None,
        });
    let decided: BTreeMap<_, _> = decided.collect();
    if decided.len() as u64 >= proposal.counts.pending {
        return decided;
    }
    let lock = || -> Option<PendingLock> {
        let store = repository.store().ok()?;
        let path = format!("{}/{}", paths::DECISIONS, paths::PENDING_LOCK);
        let path = paths::in_repository(prefix, &path);
        let entry = entry_at(&store, proposal.tree, &path).ok()??;
        lock_from_bytes(&store.blob(entry.id).ok()?, PENDING_SCHEMA).ok()
    };
    // Names that cannot be read are counted all the same.
    let rows = lock().map(|lock| lock.clusters).unwrap_or_default();
    rows.into_iter().map(|(name, row)| (name, row.reasons)).chain(decided).collect()
}

/// What came of the input commit, newest first. What cannot be read is not told.
fn made(repository: &Repository, names: &Names, outcome: &Outcome) -> Vec<Made> {
    let inputs = [outcome.people, outcome.input_commit];
    let mut made = Vec::new();
    let mut next = repository.resolve(&names.output()).ok().flatten();
    while let Some(commit) = next.filter(|_| made.len() < MOST_MADE) {
        let Ok(Some(provenance)) = repository.provenance(commit) else { break };
        if !inputs.contains(&provenance.input) {
            break;
        }
        let Ok(message) = repository.message(commit) else { break };
        made.push(Made { commit, message });
        next = repository.parents(commit).ok().and_then(|parents| parents.first().copied());
    }
    made
}
