//! One run: observe, propose, commit, push. A lost race reads again and plans again; nothing is ever
//! rebased, because a rebase would replay an output that was made from old inputs.

use super::caches::keep_memo;
use super::clock::now;
use super::first_run::rewound_from;
use super::notes::not_read;
use super::options::Options;
use super::outcome::{Outcome, ReconcileResult, Verdict};
use super::proposed::Proposed;
use super::refresh::{Refreshed, refresh};
use super::refuse::{last_of_people, stays_on_this_machine};
use super::run::{Races, ReconcileRun};
use super::run_inputs::RunInputs;
use super::snapshot::input_commit;
use super::sources::reports_for_run;
use super::stamp::{self, Fingerprint};
use super::telling::ForgeTelling;
use super::{Error, FleetPlace};
use crate::git::{GitStore, Repository};
use crate::load;
use crate::model::{Id, Input, Snapshot, Turn, TurnCommit, TurnStatus};

/// How often a lost race is planned again within one run, on the output branch and on the status branch.
const ATTEMPTS: u32 = 10;

/// Reconciles a fleet once.
///
/// # Errors
/// A repository or remote failed or refused. What was committed before stays.
pub fn once(place: &FleetPlace, options: &Options) -> Result<ReconcileResult, Error> {
    let repository = reconcilable(place)?;
    let fetched = fetch(place, repository)?;
    let seen = Fingerprint::look(repository, &fetched, options)?;
    if let Some(seen) = &seen
        && let Some(turn) = settled(place, repository, options, (&fetched, seen))?
    {
        return Ok(ReconcileResult::Settled(Box::new(turn)));
    }
    let outcome = through(place, repository, options, fetched)?;
    stamp::leave(repository, &place.prefix, seen, &outcome);
    Ok(ReconcileResult::Through(Box::new(outcome)))
}

/// What [`once`] comes to in a folder's clone without a remote that has no news, which is found out of a few files. `None` where
/// there may be some, and where anything at all is out of order: that is for the run to tell.
#[must_use]
pub fn without_news(folder: &str, options: &Options) -> Option<Turn> {
    let place = FleetPlace::without_remote(folder)?;
    let repository = reconcilable(&place).ok()?;
    let (prefix, forge, now) = (&place.prefix, &options.forge, options.clock.wall);
    let telling = ForgeTelling { repository, prefix, options: forge, now };
    if repository.is_marked() || !stamp::may_stand(repository, prefix) || telling.is_due() {
        return None;
    }
    // A large work tree takes long to be looked through.
    if options.watched && !repository.has_few_files() {
        return None;
    }
    let fetched = fetch(&place, repository).ok()?;
    let seen = Fingerprint::look(repository, &fetched, options).ok()??;
    settled(&place, repository, options, (&fetched, &seen)).ok()?
}

/// The turn of a run that saw what the last one did, which found nothing to do; `None` where it has to look.
fn settled(
    place: &FleetPlace,
    repository: &Repository,
    options: &Options,
    (fetched, seen): (&Refreshed, &Fingerprint),
) -> Result<Option<Turn>, Error> {
    let prefix = &place.prefix;
    let Some(turn) = stamp::settled(repository, prefix, seen, options) else { return Ok(None) };
    let search = options.search(repository, false);
    let mut notes = fetched.rewritten.clone();
    notes.extend(not_read(repository, &fetched.names, prefix, seen.input, search)?);
    Ok(Some(Turn { notes, ..turn }))
}

fn fetch(place: &FleetPlace, repository: &Repository) -> Result<Refreshed, Error> {
    tracing::debug_span!("fetch").in_scope(|| refresh(place, repository))
}

/// A run that looks at everything.
fn through(
    place: &FleetPlace,
    repository: &Repository,
    options: &Options,
    fetched: Refreshed,
) -> Result<Outcome, Error> {
    let mut run = ReconcileRun::observe(place, repository, options, fetched)?;
    let mut done = None;
    loop {
        let may_retry = run.races.status + 1 < ATTEMPTS;
        match run.attempt(may_retry) {
            Ok(AttemptEnd::Ended(verdict, status)) => {
                let verdict = match (verdict, done) {
                    (Verdict::Unchanged, Some(done)) => Verdict::Committed(done),
                    (verdict, _) => verdict,
                };
                return Ok(run.end(verdict, status));
            }
            Ok(AttemptEnd::Raced) if run.races.output + 1 == ATTEMPTS => {
                let branch = run.names.branches.output.clone();
                return run.fail(done, Error::Races { branch, attempts: ATTEMPTS });
            }
            Ok(AttemptEnd::Raced) => run.races.output += 1,
            Ok(AttemptEnd::StatusRaced(committed)) => {
                run.races.status += 1;
                done = committed.or(done);
            }
            Err(error) => return run.fail(done, error),
        }
        std::thread::sleep((options.wait)(run.races.output + run.races.status));
        let next = fetch(place, repository);
        match next.and_then(|fetched| ReconcileRun::observe(place, repository, options, fetched)) {
            Ok(next) => run = ReconcileRun { races: run.races, ..next },
            Err(error) => return run.fail(done, error),
        }
    }
}

/// The repository of a place that a reconcile may work on: it reads commits, from the fleet's root.
fn reconcilable(place: &FleetPlace) -> Result<&Repository, Error> {
    let root = place.folder.clone().unwrap_or_default();
    match &place.named {
        Some(named) if !place.named_root => Err(Error::NotTheRoot { folder: named.clone(), root }),
        _ => place.repository.as_ref().ok_or(Error::NoRepository(root)),
    }
}

/// The objects of a repository for a run. Before the output branch is there, none of what the run puts is.
fn store_of_run(repository: &Repository, output: Option<Id>) -> Result<GitStore<'_>, Error> {
    let store = repository.store()?;
    if output.is_none() {
        store.expect_new();
    }
    Ok(store)
}

fn tree_of(repository: &Repository, commit: Option<Id>) -> Result<Option<Id>, Error> {
    Ok(commit.map(|commit| repository.commit_tree(commit)).transpose()?)
}

enum AttemptEnd {
    Ended(Verdict, Option<TurnStatus>),
    Raced,
    /// Another writer was faster on the status branch; the output commit, where one was made, stands.
    StatusRaced(Option<TurnCommit>),
}

impl<'a> ReconcileRun<'a> {
    fn observe(
        place: &'a FleetPlace,
        repository: &'a Repository,
        options: &'a Options,
        Refreshed { names, rewritten }: Refreshed,
    ) -> Result<Self, Error> {
        let output = repository.resolve(&names.output())?;
        let store = store_of_run(repository, output)?;
        let input = input_commit(repository, &names)?;
        let people = last_of_people(repository, &names, input)?;
        let input_tree = repository.commit_tree(input)?;
        let spec = load::fleet_spec(&store, input_tree, &place.prefix)?;
        stays_on_this_machine(repository, &names, &spec)?;
        let status = repository.resolve(&names.status())?;
        let from = (input_tree, place.prefix.as_str());
        let reports = reports_for_run(repository, &names, &store, from, &spec, &options.observing)?;
        let rewound_from = rewound_from(repository, output, [input])?;
        let of_tree = Input::of_files(input_tree, &place.prefix);
        let snapshot = Snapshot {
            input: Input { commit: Some(input), rewound_from, ..of_tree },
            previous: tree_of(repository, output)?,
            status: tree_of(repository, status)?,
            reports: None,
            now: now(options.clock, &spec)?,
            build: options.build.clone(),
        };
        let seen = RunInputs {
            place,
            options,
            repository,
            names: &names,
            store: &store,
            spec: &spec,
            input,
        };
        let reported = Some(reports.digest());
        let Proposed { snapshot, proposal, vouched, asks_signatures, memo, next, tips } =
            seen.propose(snapshot, reports)?;
        Ok(Self {
            place,
            options,
            repository,
            names,
            rewritten,
            store,
            spec,
            input,
            people,
            input_tree,
            output,
            status,
            now: snapshot.now,
            memo,
            next,
            tips,
            proposal,
            snapshot,
            reported,
            vouched,
            asks_signatures,
            fleet: None,
            base: output,
            races: Races::default(),
        })
    }

    /// Writes what was proposed. Where the status branch was lost to another writer, that is told
    /// instead of taken for a failure, as long as it may be tried again.
    fn attempt(&mut self, may_retry: bool) -> Result<AttemptEnd, Error> {
        if self.proposal.stopped {
            return Ok(AttemptEnd::Ended(Verdict::Stopped, None));
        }
        // What is not committed is not told as a fact on the status branch either.
        if let Some(held) = self.held_back() {
            return Ok(AttemptEnd::Ended(Verdict::Held(held), None));
        }
        // A plan reads the fold, so the fold is on its branch before a plan made from it is committed.
        // Where nothing is committed, the fold goes with the rest of the status.
        let mut refused = None;
        if self.proposal.has_changes()
            && let Err(error) = self.push_fold()
        {
            if may_retry && matches!(error, Error::Races { .. }) {
                return Ok(AttemptEnd::StatusRaced(None));
            }
            if error.is_damage() {
                return Err(error);
            }
            self.plan_with_the_last_fold()?;
            refused = Some(TurnStatus::Failed { message: error.to_string() });
        }
        let Some(verdict) = self.push_output()? else { return Ok(AttemptEnd::Raced) };
        Ok(match self.push_status() {
            // Where the branch says all that the last fold does, what came since is still not on it.
            Ok(status) => AttemptEnd::Ended(verdict, status.or(refused)),
            Err(Error::Races { .. }) if may_retry => AttemptEnd::StatusRaced(match verdict {
                Verdict::Committed(committed) => Some(committed),
                _ => None,
            }),
            Err(error) if error.is_damage() => return Err(error),
            Err(error) => {
                AttemptEnd::Ended(verdict, Some(TurnStatus::Failed { message: error.to_string() }))
            }
        })
    }

    /// What was committed stays committed: a failure after that fails nothing but the status.
    fn fail(self, done: Option<TurnCommit>, error: Error) -> Result<Outcome, Error> {
        let Some(committed) = done else { return Err(error) };
        let status = TurnStatus::Failed { message: error.to_string() };
        Ok(self.end(Verdict::Committed(committed), Some(status)))
    }

    fn end(mut self, verdict: Verdict, status: Option<TurnStatus>) -> Outcome {
        // What was committed stays committed: a question that fails now fails nothing.
        let notes = self.notes().unwrap_or_else(|error| vec![error.to_string()]);
        self.keep_baseline(&verdict, status.as_ref());
        let Self { place, options, repository, ref names, .. } = self;
        if let Some(memo) = &mut self.memo {
            keep_memo(repository, &place.prefix, &options.build, memo);
        }
        let attempt = self.attempted();
        Outcome {
            proposal: self.proposal,
            verdict,
            status,
            forge: None,
            fleet: self.fleet,
            attempt,
            races: self.races.output + self.races.status,
            pushes: if names.target().is_some() { self.races.pushes } else { 0 },
            prefix: place.prefix.clone(),
            input: self.input_tree,
            input_commit: self.input,
            people: self.people,
            now: self.now,
            notes,
            asks_signatures: self.asks_signatures,
        }
    }
}
