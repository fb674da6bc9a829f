//! The demonstration: a bare remote and a clone of it, made from the example fleet and reconciled.

use std::path::Path;

use super::super::show::DemoView;
use super::super::{Context, EXAMPLE, Error, ForgeArgs, ObservedArgs, files};
use super::open::clock;
use super::{Reconciled, TurnArgs, Turned, explain, open, reconcile};
use crate::change::{TreeEdit, diff};
use crate::git::{self, CommitDraft, Repository, Swap};
use crate::model::{Binding, Decision, Id, Name, Store as _, TurnStatus, paths};
use crate::reconcile::{Keep, Verdict};

/// The file that shows that a folder was made by the demonstration.
const MARK: &str = ".made-by-carp-demo";
/// The worker that the example has cordoned, and that has room for what waits.
const CORDONED: &str = "we-2";

/// Makes the demonstration, and reconciles it once.
pub(super) fn demo(context: &mut Context<'_, '_>, folder: &Path) -> Result<DemoView, Error> {
    clear(folder)?;
    let git_failed = |error: git::Error| Error::failed(error.to_string());
    files::write(&folder.join(MARK), "`carp demo` replaces this folder.\n")?;
    let remote = folder.join("remote.git");
    seed(context, &remote).map_err(git_failed)?;
    let address = std::path::absolute(&remote)
        .map_err(|e| Error::failed(format!("cannot name {}", remote.display())).because(e))?;
    let clone = folder.join("fleet");
    let repository = Repository::clone_to(&address.display().to_string(), &clone);
    let repository = repository.map_err(git_failed)?;
    // So that the edits which people are told to try can be committed on a machine without a name.
    for (key, value) in [("user.name", "carp demo"), ("user.email", "demo@example.com")] {
        repository.configure(key, value).map_err(git_failed)?;
    }
    let args = reconcile::argument(&clone);
    let (observed, forge) = (ObservedArgs::default(), ForgeArgs::default());
    let args = TurnArgs { fleet: &args, observed: &observed, forge: &forge };
    match reconcile::once(context, &args)? {
        Turned::Through(turn) => view(context, folder, &repository, &turn),
        Turned::Settled(_) => Err(Error::failed("the clone that was just made is not new")),
    }
}

/// Empties the folder, if the demonstration made it.
fn clear(folder: &Path) -> Result<(), Error> {
    if files::is_empty_folder(folder)? {
        return Ok(());
    }
    if files::read(&folder.join(MARK))?.is_none() {
        return Err(Error::usage(format!(
            "{} is there and was not made by the demonstration",
            folder.display()
        ))
        .help("name another folder: `carp demo DIR`"));
    }
    files::remove_folder(folder)
}

/// The remote, with the example fleet as its first commit.
fn seed(context: &Context<'_, '_>, remote: &Path) -> Result<(), git::Error> {
    let repository = Repository::init_bare(remote, "main")?;
    let store = repository.store()?;
    let mut edit = TreeEdit::default();
    for (path, text) in EXAMPLE {
        edit.file(path, store.put_blob(text.as_bytes())?);
    }
    let tree = edit.apply(&store, None)?;
    let commit = store.commit(&CommitDraft {
        tree,
        parents: Vec::new(),
        message: "The example fleet\n".to_owned(),
        name: "carp demo".to_owned(),
        email: "demo@example.com".to_owned(),
        time: clock(context).wall,
    });
    store.flush()?;
    match repository.compare_and_swap("refs/heads/main", None, commit, "carp demo")? {
        Swap::Moved => Ok(()),
        Swap::Raced => Err(git::Error::MissingRef {
            name: "refs/heads/main".to_owned(),
            fetch: git::Redacted::new("carp demo"),
        }),
    }
}

fn view(
    context: &Context<'_, '_>,
    folder: &Path,
    repository: &Repository,
    turn: &Reconciled,
) -> Result<DemoView, Error> {
    let proposal = &turn.opened.proposal;
    let mut commits = Vec::new();
    if let Verdict::Committed(written) = &turn.verdict {
        let subject = proposal.message.lines().next().unwrap_or_default().to_owned();
        commits.push([written.branch.clone(), written.commit.short(), subject]);
    }
    if let Some(TurnStatus::Committed(written)) = &turn.status {
        let subject = "phases, conditions and capacity".to_owned();
        commits.push([written.branch.clone(), written.commit.short(), subject]);
    }
    let store = repository.store().map_err(|e| Error::failed(e.to_string()))?;
    let all = diff(&store, None::<Id>, Some(proposal.tree));
    let files = all.map_err(|e| Error::failed(e.to_string()))?.changes.len() as u64;
    let waiting = waiting(context, folder, turn)?;
    Ok(DemoView {
        folder: folder.display().to_string(),
        placed: placed(turn),
        next: next(context, folder, waiting.first().map(|[name, ..]| name.as_str())),
        waiting,
        commits,
        files,
        paths: worth_a_look(turn),
    })
}

fn placed(turn: &Reconciled) -> Vec<[String; 4]> {
    let proposal = &turn.opened.proposal;
    let row = |(name, planned): (&Name, &crate::model::ClusterPlan)| {
        let Decision::Bind(binding) = &planned.decision else { return None };
        let tenant = proposal.fleet.clusters.get(name)?.tenant.clone();
        Some([name.to_string(), tenant, binding.worker.to_string(), why(binding)])
    };
    proposal.plan.clusters.iter().filter_map(row).collect()
}

fn why(binding: &Binding) -> String {
    match (&binding.runner_up, binding.decided_by) {
        (Some(second), Some(term)) => format!("before {second} by {term}"),
        _ => "the only worker that fits".to_owned(),
    }
}

/// The clusters that wait, each with its summary line.
fn waiting(
    context: &Context<'_, '_>,
    folder: &Path,
    turn: &Reconciled,
) -> Result<Vec<[String; 3]>, Error> {
    let proposal = &turn.opened.proposal;
    let names = proposal.plan.clusters.iter().filter_map(|(name, planned)| {
        matches!(planned.decision, Decision::Wait { .. }).then_some(name)
    });
    let fleet = reconcile::argument(&folder.join("fleet"));
    let look = open::look(context, &fleet, &ObservedArgs::default(), Keep::Ids)?;
    let row = |name: &Name| {
        let object = super::super::ObjectRef { kind: None, name: name.clone() };
        let explained = explain::explain(&look, &object)?;
        let summary = explained.and_then(|view| view.summary).unwrap_or_default();
        let tenant = proposal.fleet.clusters.get(name).map(|c| c.tenant.clone());
        Ok([name.to_string(), tenant.unwrap_or_default(), summary])
    };
    names.map(row).collect()
}

/// One path of each sort, of the first cluster that was placed.
fn worth_a_look(turn: &Reconciled) -> Vec<String> {
    let proposal = &turn.opened.proposal;
    let first = proposal.plan.clusters.iter().find_map(|(name, planned)| {
        planned.decision.worker().map(|worker| (name.clone(), worker.clone()))
    });
    let Some((cluster, worker)) = first else { return Vec::new() };
    vec![
        format!("{}/cluster.yaml", paths::cluster(&worker, &cluster)),
        format!("{}/layers.yaml", paths::worker(&worker)),
        format!("{}/cluster.yaml", paths::control_plane(&worker)),
        paths::decision(&cluster),
    ]
}

/// Commands that work as they are printed, in the folder in which the demonstration was run.
fn next(context: &Context<'_, '_>, folder: &Path, waiting: Option<&str>) -> Vec<(String, String)> {
    let carp = typed(&context.program);
    let fleet = typed(&folder.join("fleet").display().to_string());
    let mut next = Vec::new();
    if let Some(name) = waiting {
        let command = format!("{carp} explain cluster/{name} --fleet {fleet}");
        next.push((command, "every worker's reasons against it, and what would place it"));
    }
    let status = format!("{carp} status --fleet {fleet}");
    next.push((status, "workers and clusters, phases and capacity"));
    let show = format!("git -C {fleet} show --stat origin/carp/rendered");
    next.push((show, "the commit that the workers' Flux would sync"));
    let uncordon = format!("{carp} uncordon {CORDONED} --fleet {fleet}");
    next.push((uncordon, "an edit, of those that `explain` names"));
    let plan = format!("{carp} plan --fleet {fleet}");
    next.push((plan, "what that edit would change, and why"));
    let edit = format!("-qm 'uncordon {CORDONED}'");
    let push = format!(
        "git -C {fleet} add --all && git -C {fleet} commit {edit} && git -C {fleet} push -q"
    );
    next.push((push, "the edit goes to the remote: reconcile reads commits only"));
    let reconcile = format!("{carp} reconcile --once --fleet {fleet}");
    next.push((reconcile, "commits exactly the planned tree"));
    next.into_iter().map(|(command, shows)| (command, shows.to_owned())).collect()
}

/// A word as one types it: in quotes where a shell would read it as something else.
fn typed(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:@%=,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_shell_would_read_otherwise_is_quoted() {
        assert_eq!(typed("target/release/carp"), "target/release/carp");
        assert_eq!(typed("my demo"), "'my demo'");
        assert_eq!(typed("it's"), r"'it'\''s'");
        assert_eq!(typed(""), "''");
    }
}
