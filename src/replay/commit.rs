//! One commit.

use super::grounds::OutputBases;
use super::{Bring, CommitPart, Differs, Error, Past, ReplayVerdict, Replayed, Skipped};
use crate::change::{self, entry_at, plan_digest};
use crate::diag::Severity;
use crate::git::{self, Provenance};
use crate::model::{Id, Input, Memo, Proposal, Snapshot, Store, paths};
use crate::pipeline;
use crate::store::{HashingStore, Overlay};

/// The folders of the output that are a fleet's own.
const ROOTS: [&str; 3] = [paths::WORKERS, paths::CONTROL_PLANE, paths::DECISIONS];

/// Replays a commit.
///
/// # Errors
/// The repository failed. What is not in it is told by the verdict.
pub fn replay(past: &Past<'_>, commit: Id) -> Result<Replayed, Error> {
    let repository = past.repository;
    let message = repository.message(commit)?;
    let mut replayed = Replayed {
        commit,
        tree: repository.commit_tree(commit)?,
        subject: message.lines().next().unwrap_or_default().to_owned(),
        said: None,
        verdict: ReplayVerdict::Skipped(Skipped::ByOthers),
    };
    let verdict = past.verdict(commit, &mut replayed);
    let absent = verdict.as_ref().err().and_then(Error::absent);
    replayed.verdict = match (absent, verdict) {
        (Some(id), _) => {
            ReplayVerdict::Missing { what: format!("object {id}"), bring: Bring::Objects }
        }
        (None, Err(Error::Git(git::Error::Shallow { what }))) => {
            ReplayVerdict::Missing { what, bring: Bring::History }
        }
        (None, verdict) => verdict?,
    };
    Ok(replayed)
}

/// What a commit is to be the same as.
struct ExpectedCommit<'a> {
    tree: Id,
    said: &'a Provenance,
    time: jiff::Timestamp,
}

impl Past<'_> {
    fn verdict(&self, commit: Id, replayed: &mut Replayed) -> Result<ReplayVerdict, Error> {
        let parents = self.repository.parents(commit)?;
        let is_merge = self.repository.provenance(commit)?.is_none();
        let Some(said) = self.repository.made_from(commit)? else {
            let begins = replayed.tree == Id::EMPTY_DIR && parents.is_empty();
            return Ok(ReplayVerdict::Skipped(if begins {
                Skipped::Begins
            } else {
                Skipped::ByOthers
            }));
        };
        replayed.said = Some(said.clone());
        if let Some(missing) = self.missing(&said)? {
            return Ok(missing);
        }
        let Some(time) = said.time else {
            let what = "the time at which it was made: the commit does not name it".to_owned();
            return Ok(ReplayVerdict::Missing { what, bring: Bring::Nothing });
        };
        let grounds = match parents.first() {
            Some(output) if is_merge => vec![Some(*output)],
            _ => match self.grounds(commit, &said)? {
                OutputBases::Of(all) => all,
                OutputBases::CutOff(at) => {
                    let what = format!("the commit before {}", at.short());
                    return Ok(ReplayVerdict::Missing { what, bring: Bring::History });
                }
            },
        };
        self.on_one_of(&grounds, &ExpectedCommit { tree: replayed.tree, said: &said, time })
    }

    /// What the commit was made from and is not here.
    fn missing(&self, said: &Provenance) -> Result<Option<ReplayVerdict>, Error> {
        let here = |commit: Id| self.repository.has_commit(commit);
        let shallow = self.repository.is_shallow();
        let missing = |what: String, bring| {
            let bring = if shallow { Bring::History } else { bring };
            Ok(Some(ReplayVerdict::Missing { what, bring }))
        };
        if !here(said.input)? {
            return missing(format!("the input commit {}", said.input), Bring::Input);
        }
        match said.observed {
            Some(observed) if !here(observed)? => {
                missing(format!("the status commit {observed}"), Bring::Status)
            }
            _ => Ok(None),
        }
    }

    /// Replays on each of the grounds until one gives the same; what differs is told of the first.
    fn on_one_of(
        &self,
        grounds: &[Option<Id>],
        claim: &ExpectedCommit<'_>,
    ) -> Result<ReplayVerdict, Error> {
        let mut differs = None;
        for base in grounds {
            match self.on(*base, claim)? {
                ReplayVerdict::Differs(how) => {
                    differs = differs.or(Some(ReplayVerdict::Differs(how)));
                }
                verdict => return Ok(verdict),
            }
        }
        Ok(differs.unwrap_or(ReplayVerdict::Skipped(Skipped::ByOthers)))
    }

    fn on(&self, base: Option<Id>, claim: &ExpectedCommit<'_>) -> Result<ReplayVerdict, Error> {
        let repository = self.repository;
        let (git, made) = (repository.store()?, HashingStore::new());
        let store = Overlay::new(&made, &git);
        let tree_of = |commit: Option<Id>| commit.map(|c| repository.commit_tree(c)).transpose();
        let previous = tree_of(base)?;
        if !self.touches(&store, previous, claim.tree)? {
            return Ok(ReplayVerdict::Skipped(Skipped::OtherFleet));
        }
        let input = claim.said.input;
        let snapshot = Snapshot {
            input: Input {
                tree: repository.commit_tree(input)?,
                prefix: self.prefix.to_owned(),
                commit: Some(input),
                rewound_from: repository.rewound_from(base, input)?,
                vouching: change::vouched_then(&store, claim.tree, self.prefix)?,
            },
            previous,
            status: tree_of(claim.said.observed)?,
            reports: None,
            now: claim.time,
            build: self.build.clone(),
        };
        let proposal = pipeline::propose(&snapshot, &store, &mut Memo::default())?;
        compare(&store, base, &proposal, claim)
    }

    /// Whether a commit changes anything of this fleet. Several fleets of a repository share a branch.
    fn touches(&self, store: &dyn Store, before: Option<Id>, after: Id) -> Result<bool, Error> {
        for root in ROOTS {
            let path = paths::in_repository(self.prefix, root);
            let was = before.map(|tree| entry_at(store, tree, &path)).transpose()?.flatten();
            if was != entry_at(store, after, &path)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

fn compare(
    store: &dyn Store,
    base: Option<Id>,
    proposal: &Proposal,
    claim: &ExpectedCommit<'_>,
) -> Result<ReplayVerdict, Error> {
    let plan =
        format!("sha256:{}", plan_digest(&proposal.plan, &proposal.previous, &proposal.gates));
    let other_plan = claim.said.plan.as_ref().is_some_and(|said| *said != plan);
    let form = proposal.form_step().is_some_and(|form| form.tree == claim.tree);
    let same = !proposal.stopped && (form || proposal.tree == claim.tree);
    if same && !other_plan {
        return Ok(ReplayVerdict::Same {
            base,
            part: if form { CommitPart::Form } else { CommitPart::Whole },
        });
    }
    let changes = change::diff(store, Some(claim.tree), Some(proposal.tree))?.changes;
    let errors = proposal.diagnostics.sorted().into_iter();
    Ok(ReplayVerdict::Differs(Box::new(Differs {
        base,
        tree: proposal.tree,
        changes: if same { Vec::new() } else { changes },
        plan: other_plan.then_some(plan),
        stopped: proposal.stopped,
        holds: proposal.plan.holds.clone(),
        errors: errors.filter(|found| found.severity == Severity::Error).collect(),
    })))
}
