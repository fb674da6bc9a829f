//! One turn of the reconciler, for the command line.

use std::path::Path;
use std::rc::Rc;

use super::super::show::plan::{PlanView, markdown};
use super::super::{Context, Error, FleetArgs, ObservedArgs};
use super::open::{build, clock, failed, find, shown, text_of};
use super::{Opened, Outcome, Reconciled, Source, Written};
use crate::git::Repository;
use crate::model::Proposal;
use crate::reconcile::{
    self, Committed, Keep, Observing, Options, Place, Sources, StatusOutcome, Verdict,
};

/// Runs once.
pub(super) fn once(
    context: &Context<'_, '_>,
    fleet: &FleetArgs,
    observed: &ObservedArgs,
) -> Result<Reconciled, Error> {
    let mut place = find(context, fleet)?;
    if place.revision.is_some() {
        return Err(Error::usage("reconcile reads the input branch, not a revision")
            .help("name the folder alone; `carp plan` takes FOLDER@REV"));
    }
    let options = Options {
        clock: clock(context),
        observing: Observing { folder: observed.observed.clone() },
        build: build(),
        describe,
        wait: jitter,
    };
    let outcome = reconcile::once_on_a_sound_clone(&mut place, &options).map_err(failed)?;
    opened(place, fleet, outcome)
}

/// The plan as a pull request shows it. The diffs are its own to show.
fn describe(proposal: &Proposal, prefix: &str) -> String {
    let view = PlanView::of(proposal, "", prefix, &[]);
    markdown(&view, &[], env!("CARGO_PKG_VERSION"))
}

/// How long to wait after the n-th lost race: up to 0.2 s times 2ⁿ, 10 s at most. The process id keeps
/// two writers on two machines, or two on one, from waiting alike.
fn jitter(races: u32) -> std::time::Duration {
    let most = (200_u64 << races.min(6)).min(10_000);
    let seed = u64::from(std::process::id()).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 16;
    std::time::Duration::from_millis(most / 4 + seed.wrapping_add(u64::from(races) * 7919) % most)
}

fn opened(
    place: Place,
    fleet: &FleetArgs,
    outcome: reconcile::Outcome,
) -> Result<Reconciled, Error> {
    let shown_prefix = place.folder.as_deref().map(shown).unwrap_or_default();
    let repository = place.repository.as_ref().map(Repository::again).transpose();
    let repository = repository.map_err(|error| failed(error.into()))?;
    let sources = Rc::new(Sources { upper: Keep::Ids.store(), folder: None, repository });
    let source = Source {
        label: crate::git::Redacted::new(&fleet.fleet).to_string(),
        prefix: outcome.prefix.clone(),
        shown_prefix,
        notes: outcome.notes,
        text: text_of(sources, outcome.input, outcome.prefix),
    };
    Ok(Reconciled {
        opened: Opened { proposal: outcome.proposal, source, diffs: Vec::new() },
        outcome: match outcome.verdict {
            Verdict::Committed(committed) => Outcome::Committed(written(committed)),
            Verdict::Unchanged => Outcome::Unchanged,
            Verdict::Proposes(committed) => Outcome::Proposes(written(committed)),
            Verdict::Proposed(committed) => Outcome::Proposed(written(committed)),
            Verdict::Approved(committed) => Outcome::Approved(written(committed)),
            Verdict::Stopped => Outcome::Stopped,
        },
        status: outcome.status.map(|status| match status {
            StatusOutcome::Committed(committed) => Ok(written(committed)),
            StatusOutcome::Failed(why) => Err(why),
        }),
        races: outcome.races,
        now: outcome.now,
    })
}

fn written(committed: Committed) -> Written {
    let Committed { branch, commit, remote } = committed;
    Written { branch, commit: commit.to_string(), remote }
}

/// The folder as a `--fleet` argument.
pub(super) fn argument(folder: &Path) -> FleetArgs {
    FleetArgs { fleet: folder.display().to_string() }
}
