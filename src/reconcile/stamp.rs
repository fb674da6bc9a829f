//! The stamp: what a run saw that found nothing to do. While all of it is the same and no deadline has
//! passed, the next run ends before it reads anything else.
//!
//! It is a cache in the Git directory and never an input: a run without it does all the work and comes to the
//! same end. Only a run that had nothing at all to tell leaves one; what is told is looked for each time.

use std::path::PathBuf;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::caches::cache_file;
use super::options::Options;
use super::outcome::{Outcome, Verdict};
use super::refresh::Refreshed;
use super::snapshot::input_commit;
use super::{Error, Names};
use crate::git::Repository;
use crate::model::{Digest, Id, Turn, Work};
use crate::store::{load_sealed, save_sealed};

/// The format of [`Stamp`].
const FORMAT: u32 = 1;

/// All that a run follows from but the time: the tips of the branches and of the reports, what they are
/// called and where they are, and the program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Fingerprint {
    format: u32,
    program: Digest,
    /// The names of the branches, the addresses that they are read from and written to, and who is told.
    settings: Digest,
    pub(super) input: Id,
    pub(super) output: Option<Id>,
    pub(super) status: Option<Id>,
    /// The refs of the reports with their tips.
    reports: Digest,
}

/// A run that found nothing to do.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Stamp {
    seen: Fingerprint,
    /// The time of the run.
    from: Timestamp,
    /// Until when it would find the same; `None`: for ever.
    until: Option<Timestamp>,
    turn: Turn,
}

impl Fingerprint {
    /// Looks at the tips only; `None` where a run may not rely on them, because its program is not known, its
    /// reports come from a folder, or people have a branch of their own to answer a proposal.
    pub(super) fn look(
        repository: &Repository,
        fetched: &Refreshed,
        options: &Options,
    ) -> Result<Option<Self>, Error> {
        let names = &fetched.names;
        let relies = options.observing.folder.is_none() && !names.proposes;
        let Some(program) = options.program.filter(|_| relies) else { return Ok(None) };
        Ok(Some(Self {
            format: FORMAT,
            program,
            settings: settings(repository, names, options),
            input: input_commit(repository, names)?,
            output: repository.resolve(&names.output())?,
            status: repository.resolve(&names.status())?,
            reports: Digest::of_value(&repository.list_refs(&names.observed())?),
        }))
    }
}

fn settings(repository: &Repository, names: &Names, options: &Options) -> Digest {
    let address =
        |remote: &str| (repository.fetch_address(remote), repository.push_address(remote));
    let addresses: Vec<_> =
        names.remote.iter().map(String::as_str).chain(names.target()).map(address).collect();
    let told = options.forge.shown();
    Digest::of(format!("{names:?} {addresses:?} {told}").as_bytes())
}

/// The turn that a run would come to, where the last one saw the same and found nothing to do.
pub(super) fn settled(
    repository: &Repository,
    prefix: &str,
    seen: &Fingerprint,
    options: &Options,
) -> Option<Turn> {
    let stamp: Stamp = load_sealed(&path(repository, prefix))?;
    let now = options.clock.given.unwrap_or(options.clock.wall);
    let stands = stamp.from <= now && stamp.until.is_none_or(|until| now < until);
    let turn = Turn { now, work: Work::default(), ..stamp.turn };
    (stands && stamp.seen == *seen).then_some(turn)
}

/// Whether a look at the stamp may be worth it: there is one, and no commit was made or checked out since.
pub(super) fn may_stand(repository: &Repository, prefix: &str) -> bool {
    let left = std::fs::metadata(path(repository, prefix)).and_then(|about| about.modified());
    left.is_ok_and(|left| repository.head_moved().is_none_or(|moved| moved <= left))
}

/// Leaves a stamp where a run found nothing to do and nothing to tell, and takes away any other. A stamp that
/// cannot be written costs time only.
pub(super) fn leave(
    repository: &Repository,
    prefix: &str,
    seen: Option<Fingerprint>,
    outcome: &Outcome,
) {
    let path = path(repository, prefix);
    match seen.filter(|_| is_settled(outcome)) {
        Some(seen) => {
            let turn = Turn { notes: Vec::new(), ..outcome.turn() };
            let (from, until) = (outcome.now, outcome.proposal.valid_until);
            let _ = save_sealed(&path, &Stamp { seen, from, until, turn });
        }
        None => drop(std::fs::remove_file(path)),
    }
}

fn is_settled(outcome: &Outcome) -> bool {
    let proposal = &outcome.proposal;
    let survey = &proposal.survey;
    outcome.verdict == Verdict::Unchanged
        && outcome.status.is_none()
        && outcome.races == 0
        && !outcome.asks_signatures
        // An example's time is its own.
        && proposal.fleet.spec.example.is_none()
        && proposal.diagnostics.is_empty()
        && proposal.plan.holds.is_empty()
        && proposal.gates.is_empty()
        && survey.drifted.is_empty()
        && survey.foreign.is_empty()
}

fn path(repository: &Repository, prefix: &str) -> PathBuf {
    cache_file(repository, prefix, "stamp.json")
}
