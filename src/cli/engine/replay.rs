//! Past commits, replayed, for the command line.

use super::super::show::replay::{CommitInputs, DiffersView, PathView, ReplayOutcome};
use super::super::show::{ReplayRow, ReplayView};
use super::super::{Context, Error, FleetArgs};
use super::open::{build, failed, find};
use crate::git::{Provenance, Repository};
use crate::model::{Change, ChangeKind, Id};
use crate::reconcile::Names;
use crate::replay::{self, Bring, CommitPart, Differs, Past, ReplayVerdict, Replayed, Skipped};

/// Replays what a revision names.
pub(super) fn replay(
    context: &Context<'_, '_>,
    fleet: &FleetArgs,
    revision: Option<&str>,
) -> Result<ReplayView, Error> {
    let place = find(context, fleet)?;
    if place.revision.is_some() {
        return Err(Error::usage(
            "replay reads a commit of the output branch, and what that names",
        )
        .help("name the folder alone as --fleet, and the commit as REV"));
    }
    let (repository, names) = place.branches().map_err(|error| failed(&error))?;
    let build = build(context);
    let past = Past { repository, prefix: &place.prefix, build: &build };
    let (commits, is_range) = commits(repository, &names, revision)?;
    let mut rows = Vec::new();
    for commit in commits {
        let replayed = replay::replay(&past, commit).map_err(|error| world(&error))?;
        rows.push(row(replayed, &names, &build.version));
    }
    Ok(ReplayView { is_range, version: build.version, commits: rows })
}

fn world(error: &impl ToString) -> Error {
    Error::failed(error.to_string())
}

/// The commits that a revision names, oldest first, and whether it is a range.
fn commits(
    repository: &Repository,
    names: &Names,
    revision: Option<&str>,
) -> Result<(Vec<Id>, bool), Error> {
    let tip = &names.branches.output;
    let revision = revision.unwrap_or(tip);
    let resolve = |text: &str| resolve(repository, names, if text.is_empty() { tip } else { text });
    if revision.contains("...") {
        return Err(Error::usage(format!("`{revision}` is no range of one branch"))
            .help("name it as A..B: each commit after A up to B"));
    }
    let Some((from, to)) = revision.split_once("..") else {
        return Ok((vec![resolve(revision)?], false));
    };
    let from = (!from.is_empty()).then(|| resolve(from)).transpose()?;
    let listed = repository.first_parents(from, resolve(to)?).map_err(|error| world(&error))?;
    Ok((listed, true))
}

/// The commit that a person named. The output branch is the one at the remote, where there is one.
fn resolve(repository: &Repository, names: &Names, text: &str) -> Result<Id, Error> {
    let branch = &names.branches.output;
    let after = text.strip_prefix(branch.as_str());
    let Some(rest) = after.filter(|rest| rest.is_empty() || rest.starts_with(['~', '^', '@']))
    else {
        return repository.rev_parse(text).map_err(|error| world(&error));
    };
    let tip = names.output();
    if repository.resolve(&tip).map_err(|error| world(&error))?.is_none() {
        return Err(Error::failed(format!("the output branch {branch} is not here"))
            .help(format!("bring it: {}", names.fetch_line(&[branch]))));
    }
    repository.rev_parse(&format!("{tip}{rest}")).map_err(|error| world(&error))
}

fn row(replayed: Replayed, names: &Names, version: &str) -> ReplayRow {
    let Replayed { commit, tree, subject, said, verdict } = replayed;
    let (base, outcome) = match verdict {
        ReplayVerdict::Same { base, part } => {
            (base, ReplayOutcome::Same { form_only: part == CommitPart::Form })
        }
        ReplayVerdict::Differs(how) => (how.base, ReplayOutcome::Differs(differs(*how))),
        ReplayVerdict::Missing { what, bring } => {
            (None, ReplayOutcome::Missing { what, help: help(bring, names) })
        }
        ReplayVerdict::Skipped(why) => {
            (None, ReplayOutcome::Skipped { why: skipped(why).to_owned() })
        }
    };
    let other_version = said.as_ref().and_then(|said| said.version.clone());
    ReplayRow {
        commit: commit.to_string(),
        subject,
        tree: tree.to_string(),
        other_version: other_version.filter(|said| said != version),
        made_from: said.map(|said| made_from(said, base)),
        outcome,
    }
}

fn made_from(said: Provenance, base: Option<Id>) -> CommitInputs {
    CommitInputs {
        input: said.input.to_string(),
        observed: said.observed.map(|id| id.to_string()),
        time: said.time.map(|time| time.to_string()),
        version: said.version,
        plan: said.plan,
        output: base.map(|id| id.to_string()),
    }
}

fn differs(how: Differs) -> DiffersView {
    let errors = how.errors.iter().map(|e| format!("{}[{}]: {}", e.severity, e.code, e.message));
    let holds = how
        .holds
        .iter()
        .map(|h| format!("held {}: {}: {}", h.kind.name(), h.words(), h.names.join(", ")));
    DiffersView {
        tree: how.tree.to_string(),
        plan: how.plan,
        paths: how.changes.iter().map(path).collect(),
        stopped: how.stopped,
        because: if how.stopped { errors.chain(holds).collect() } else { Vec::new() },
    }
}

fn path(change: &Change) -> PathView {
    let how = match change.kind {
        ChangeKind::Create => "replay",
        ChangeKind::Delete => "commit",
        ChangeKind::Update => "both",
    };
    PathView { path: change.path.clone(), only_in: how.to_owned() }
}

/// What a person can do to bring what is not here.
fn help(bring: Bring, names: &Names) -> Option<String> {
    let remote = names.remote.as_deref();
    match bring {
        Bring::Input => names.fetch_input_line().map(|line| {
            format!(
                "`{line}` brings what the input branch contains; after a rewind it may be nowhere any more"
            )
        }),
        Bring::Status => {
            let line = names.fetch_line(&[&names.branches.status]);
            let begun = "a status branch that was begun anew no longer has it";
            names.target().map(|_| format!("`{line}` brings the status branch; {begun}"))
        }
        Bring::History => {
            let line = format!("git fetch --unshallow {}", remote.unwrap_or("origin"));
            Some(format!("this clone is shallow; `{line}` brings the rest of the history"))
        }
        Bring::Objects => remote.map(|remote| {
            let line = format!("git fetch --refetch --no-filter {remote}");
            format!("in a partial clone `{line}` brings what was left out")
        }),
        Bring::Nothing => None,
    }
}

const fn skipped(why: Skipped) -> &'static str {
    match why {
        Skipped::ByOthers => "not by carp: its message names no input",
        Skipped::Begins => "the empty commit that proposals are merged into",
        Skipped::OtherFleet => "it changes nothing of this fleet",
    }
}
