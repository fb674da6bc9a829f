//! One run: observe, propose, commit, push. A lost race reads again and plans again; nothing is ever
//! rebased, because a rebase would replay an output that was made from old inputs.

use std::fmt::Write as _;
use std::time::Duration;

use super::proposal_branch::{Wanted, propose};
use super::publish::{Published, Writer};
use super::refresh::{Refreshed, refresh};
use super::refuse::{
    has_no_output, is_a_first_run, last_of_people, rewound_from, stays_on_this_machine,
};
use super::snapshot::{
    Clock, Observing, input_commit, keep_memo, memo_key, memo_path, now, reports_for_run,
};
use super::verify::{InForce, Vouched};
use super::{Error, Names, Place};
use crate::change::{plan_digest, trailers};
use crate::git::{GitStore, Repository};
use crate::load;
use crate::model::api::{FleetSpec, GitSettings};
use crate::model::{Build, Id, Input, Proposal, Snapshot};
use crate::pipeline::fleet_document;
use crate::store::load_memo;

/// How often a lost race is planned again within one run.
const ATTEMPTS: u32 = 10;

/// How a run is made.
pub struct Options {
    /// The time.
    pub clock: Clock,
    /// Where reports come from.
    pub observing: Observing,
    /// Who runs.
    pub build: Build,
    /// What people read of a proposal, as Markdown, given the fleet's root in its repository.
    pub describe: fn(&Proposal, &str) -> String,
    /// How long to wait after the n-th lost race; random, so that two writers do not keep in step.
    pub wait: fn(u32) -> Duration,
}

/// What a run did.
pub struct Outcome {
    /// What was proposed.
    pub proposal: Proposal,
    /// How it ended on the output branch.
    pub verdict: Verdict,
    /// How the status branch fared; `None` where nothing was to be written.
    pub status: Option<StatusOutcome>,
    /// How many races were lost on the way.
    pub races: u32,
    /// The fleet's root in its repository.
    pub prefix: String,
    /// The input tree, whose files findings speak of.
    pub input: Id,
    /// The input commit.
    pub input_commit: Id,
    /// The time that was used.
    pub now: jiff::Timestamp,
    /// What a person should know: edits that were not read.
    pub notes: Vec<String>,
}

/// How a run ended on the output branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// A commit was made.
    Committed(Committed),
    /// There was nothing to commit.
    Unchanged,
    /// A proposal was made or brought up to date; it counts when people have merged it.
    Proposes(Committed),
    /// The proposal that is there says all already.
    Proposed(Committed),
    /// People have approved the proposal that is there, so it waits for them as it is.
    Approved(Committed),
    /// Nothing may be committed.
    Stopped,
}

/// How the status branch fared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StatusOutcome {
    /// A commit was made.
    Committed(Committed),
    /// It could not be written; the run succeeded all the same.
    Failed(String),
}

/// A commit on a branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Committed {
    /// The branch.
    pub branch: String,
    /// The commit.
    pub commit: Id,
    /// The remote that has it, where there is one.
    pub remote: Option<String>,
}

/// Reconciles a fleet once.
///
/// # Errors
/// A repository or remote failed or refused. What was committed before stays.
pub fn once(place: &Place, options: &Options) -> Result<Outcome, Error> {
    let repository = reconcilable(place)?;
    let mut races = 0;
    loop {
        let mut run = Run::observe(place, repository, options)?;
        match run.attempt()? {
            Attempt::Ended(verdict, status) => {
                // What was committed stays committed: a question that fails now fails nothing.
                let notes = run.notes().unwrap_or_else(|error| vec![error.to_string()]);
                keep_memo(repository, &place.prefix, &options.build, &mut run.memo);
                return Ok(Outcome {
                    proposal: run.proposal,
                    verdict,
                    status,
                    races,
                    prefix: place.prefix.clone(),
                    input: run.input_tree,
                    input_commit: run.input,
                    now: run.now,
                    notes,
                });
            }
            Attempt::Raced if races + 1 == ATTEMPTS => {
                let branch = run.names.branches.output.clone();
                return Err(Error::Races { branch, attempts: ATTEMPTS });
            }
            Attempt::Raced => {
                races += 1;
                std::thread::sleep((options.wait)(races));
            }
        }
    }
}

/// The repository of a place that a reconcile may work on: it reads commits, from the fleet's root.
fn reconcilable(place: &Place) -> Result<&Repository, Error> {
    let root = place.folder.clone().unwrap_or_default();
    match &place.named {
        Some(named) if !place.named_root => Err(Error::NotTheRoot { folder: named.clone(), root }),
        _ => place.repository.as_ref().ok_or(Error::NoRepository(root)),
    }
}

enum Attempt {
    Ended(Verdict, Option<StatusOutcome>),
    Raced,
}

/// One attempt: what it saw and what it proposes.
struct Run<'a> {
    place: &'a Place,
    options: &'a Options,
    repository: &'a Repository,
    names: Names,
    rewritten: Vec<String>,
    store: GitStore<'a>,
    spec: FleetSpec,
    input: Id,
    input_tree: Id,
    output: Option<Id>,
    status: Option<Id>,
    now: jiff::Timestamp,
    memo: crate::model::Memo,
    proposal: Proposal,
    snapshot: Snapshot,
    vouched: Vouched,
}

impl<'a> Run<'a> {
    fn observe(
        place: &'a Place,
        repository: &'a Repository,
        options: &'a Options,
    ) -> Result<Self, Error> {
        let Refreshed { names, rewritten } = refresh(place, repository)?;
        let store = repository.store()?;
        let input = input_commit(repository, &names)?;
        let input_tree = repository.commit_tree(input)?;
        let spec = load::fleet_spec(&store, input_tree, &place.prefix)?;
        stays_on_this_machine(repository, &names, &spec)?;
        let output = repository.resolve(&names.output())?;
        let status = repository.resolve(&names.status())?;
        let tree = |commit: Option<Id>| commit.map(|c| repository.commit_tree(c)).transpose();
        let in_force = InForce::read(&store, &spec, tree(output)?, &place.prefix)?;
        let from = (input_tree, place.prefix.as_str());
        let reports = reports_for_run(repository, &names, &store, from, &spec, &options.observing)?;
        let (reports, vouched) = in_force.vouch(repository, &names, input, reports)?;
        let now = now(options.clock, &spec)?;
        let snapshot = Snapshot {
            input: Input {
                tree: input_tree,
                prefix: place.prefix.clone(),
                commit: Some(input),
                rewound_from: rewound_from(repository, output, input)?,
            },
            previous: tree(output)?,
            status: tree(status)?,
            reports: Some(reports),
            now,
            build: options.build.clone(),
        };
        if has_no_output(&store, &names, snapshot.previous, &place.prefix)? {
            let pinned = spec.example.is_some() || options.observing.folder.is_some();
            let reports = snapshot.reports.as_ref().filter(|_| !pinned);
            is_a_first_run(&store, &names, &snapshot, reports)?;
        }
        let path = memo_path(repository, &place.prefix);
        let mut memo = load_memo(&path, &memo_key(&options.build));
        let proposal = vouched.propose(&snapshot, &store, &mut memo)?;
        Ok(Self {
            place,
            options,
            repository,
            names,
            rewritten,
            store,
            spec,
            input,
            input_tree,
            output,
            status,
            now,
            memo,
            proposal,
            snapshot,
            vouched,
        })
    }

    fn attempt(&mut self) -> Result<Attempt, Error> {
        let stopped = Ok(Attempt::Ended(Verdict::Stopped, None));
        if self.proposal.stopped {
            return stopped;
        }
        // A plan reads the fold, so the fold is on its branch before a plan made from it is committed.
        if let Err(error) = self.push_fold() {
            if error.is_damage() {
                return Err(error);
            }
            self.plan_with_the_last_fold()?;
            if self.proposal.stopped {
                return stopped;
            }
        }
        let Some(verdict) = self.push_output()? else { return Ok(Attempt::Raced) };
        let status = self.push_status().transpose();
        let status = match status {
            Some(Err(error)) if error.is_damage() => return Err(error),
            status => status,
        };
        let status = status.map(|result| match result {
            Ok(committed) => StatusOutcome::Committed(committed),
            Err(error) => StatusOutcome::Failed(error.to_string()),
        });
        Ok(Attempt::Ended(verdict, status))
    }

    fn writer<'w>(&'w self, identity: &'w GitSettings) -> Writer<'w> {
        Writer { repository: self.repository, names: &self.names, identity, time: self.now }
    }

    fn identity(&self) -> GitSettings {
        self.spec.git.clone().unwrap_or_default()
    }

    fn push_fold(&mut self) -> Result<(), Error> {
        if self.snapshot.status == Some(self.proposal.fold_tree)
            || self.proposal.observed.workers.is_empty()
        {
            return Ok(());
        }
        let message = "carp: reports folded\n".to_owned();
        let committed = self.write_status(self.proposal.fold_tree, message)?;
        self.status = Some(committed.commit);
        Ok(())
    }

    /// The fold could not be pushed: plan with the one that was pushed last, so that the past can be
    /// replayed from the repository alone.
    fn plan_with_the_last_fold(&mut self) -> Result<(), Error> {
        self.snapshot.reports = None;
        self.proposal = self.vouched.propose(&self.snapshot, &self.store, &mut self.memo)?;
        Ok(())
    }

    /// `None` where another writer was faster.
    fn push_output(&mut self) -> Result<Option<Verdict>, Error> {
        if self.names.proposes {
            return self.propose_output();
        }
        if !self.proposal.has_changes() {
            return Ok(Some(Verdict::Unchanged));
        }
        let identity = self.identity();
        let writer = self.writer(&identity);
        let message = self.message();
        let commit = writer.commit(&self.store, self.proposal.tree, self.output, message)?;
        let branch = &self.names.branches.output;
        match writer.publish(branch, commit, self.output)? {
            Published::Raced => Ok(None),
            Published::Done => {
                let committed = self.committed(branch, commit);
                self.output = Some(commit);
                Ok(Some(Verdict::Committed(committed)))
            }
        }
    }

    fn propose_output(&mut self) -> Result<Option<Verdict>, Error> {
        let subject = self.proposal.message.lines().next().unwrap_or_default();
        let plan = (self.options.describe)(&self.proposal, &self.place.prefix);
        let message = self.with_trailers(&format!("{subject}\n\n{}\n", plan.trim_end()));
        let wanted = Wanted { proposal: &self.proposal, output: self.output, message };
        let verdict = propose(&self.writer(&self.identity()), &self.store, wanted)?;
        // A first proposal has made the branch that it is to be merged into.
        self.output = self.repository.resolve(&self.names.output())?;
        Ok(verdict)
    }

    fn message(&self) -> String {
        self.with_trailers(&self.proposal.message)
    }

    fn with_trailers(&self, message: &str) -> String {
        let trailers = trailers(
            Some(self.input),
            self.status,
            self.now,
            &self.options.build.version,
            plan_digest(&self.proposal.plan),
        );
        let mut message = format!("{message}\n");
        for (key, value) in trailers {
            let _ = writeln!(message, "{key}: {value}");
        }
        message
    }

    /// `None` where the branch says all already.
    fn push_status(&mut self) -> Result<Option<Committed>, Error> {
        let prefix = &self.place.prefix;
        let input = last_of_people(self.repository, &self.names, self.input)?;
        let tree = fleet_document(&self.proposal, prefix, self.output, Some(input), &self.store)?;
        let there = self.status.map(|s| self.repository.commit_tree(s)).transpose()?;
        if there == Some(tree) {
            return Ok(None);
        }
        let mut message = "carp: status\n".to_owned();
        if let Some(output) = self.output {
            let _ = writeln!(message, "\nCarp-Output: {output}");
        }
        self.write_status(tree, message).map(Some)
    }

    fn write_status(&self, tree: Id, message: String) -> Result<Committed, Error> {
        let identity = self.identity();
        let writer = self.writer(&identity);
        let commit = writer.commit(&self.store, tree, self.status, message)?;
        let branch = &self.names.branches.status;
        match writer.publish(branch, commit, self.status)? {
            Published::Done => Ok(self.committed(branch, commit)),
            Published::Raced => Err(Error::Races { branch: branch.clone(), attempts: 1 }),
        }
    }

    fn committed(&self, branch: &str, commit: Id) -> Committed {
        Committed { branch: branch.to_owned(), commit, remote: self.names.target_shown() }
    }

    /// Edits that are in the folder and not in the commit that was read.
    fn notes(&self) -> Result<Vec<String>, Error> {
        let mut notes = self.rewritten.clone();
        let edits = self.repository.uncommitted(&self.place.prefix)?;
        if !edits.is_empty() {
            let shown = edits.iter().take(3).cloned().collect::<Vec<_>>().join(", ");
            let more = if edits.len() > 3 { ", …" } else { "" };
            notes.push(format!(
                "{} uncommitted edits were not read ({shown}{more}); reconcile reads commits only",
                edits.len()
            ));
        }
        let branch = &self.names.branches.input;
        let local = self.repository.resolve(&Names::there(branch))?;
        if self.names.remote.is_some()
            && let Some(local) = local.filter(|local| *local != self.input)
            && !self.repository.is_ancestor(local, self.input)?
        {
            notes.push(format!(
                "the local branch {branch} has commits that are not on the remote, and they were not \
                 read; push them first"
            ));
        }
        Ok(notes)
    }
}
