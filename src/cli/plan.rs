//! `carp plan`: what would change, and why.

use clap::ValueEnum;

use super::engine::{Diffs, Told};
use super::show::plan::{self, Action, PlanView};
use super::validate::{Audience, located, notes};
use super::{AgainstArgs, Context, Error, Exit, FleetArgs, ObservedArgs, engine};

/// Show what would change and why, guards included
///
/// Prints the id of the tree that `carp reconcile` would commit for the same inputs. Nothing is
/// written.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {
    #[command(flatten)]
    fleet: FleetArgs,
    #[command(flatten)]
    observed: ObservedArgs,
    #[command(flatten)]
    against: AgainstArgs,
    /// The form of the plan
    #[arg(long, short, value_enum, default_value_t, value_name = "FORM")]
    output: PlanForm,
    /// Exit 2 if there are changes and nothing is wrong or held
    #[arg(long)]
    detailed_exitcode: bool,
    /// Print what changes in the files, too: of what is the same in many clusters once
    #[arg(long)]
    diff: bool,
    /// Exit 1 if one of these is in the plan; what is held exits 3 in any case
    #[arg(long, value_enum, value_delimiter = ',', value_name = "WHAT")]
    fail_on: Vec<FailOn>,
}

/// What a plan may have and a pipeline may not want.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FailOn {
    /// A cluster waits for a worker; with --against one that does not wait without the change
    Waiting,
    /// A guard holds something, or a folder keeps what it has
    Held,
    /// A cluster stays where its policy would not place it now
    Violated,
}

impl FailOn {
    fn is_in(self, view: &PlanView<'_>) -> bool {
        match self {
            Self::Waiting if view.against.is_some() => view.count(Action::Wait) > 0,
            Self::Waiting => view.waiting > 0,
            Self::Held => view.held() > 0,
            Self::Violated => view.proposal.plan.violations().next().is_some(),
        }
    }
}

#[derive(Clone, Copy, Default, ValueEnum)]
enum PlanForm {
    /// For people
    #[default]
    Text,
    /// For programs; has a schemaVersion
    Json,
    /// A comment for a pull request
    Markdown,
}

pub(super) fn run(args: &Args, context: &mut Context<'_, '_>) -> Result<Exit, Error> {
    let shown = args.diff || matches!(args.output, PlanForm::Markdown);
    let diffs = if shown { Diffs::Shown } else { Diffs::Left };
    let told = match args.output {
        PlanForm::Text | PlanForm::Markdown => Told::Changes,
        PlanForm::Json => Told::Everything,
    };
    let asked = (diffs, told);
    let opened = engine::propose(context, &args.fleet, &args.observed, &args.against, asked)?;
    notes(&opened, context)?;
    let audience =
        if matches!(args.output, PlanForm::Text) { Audience::Person } else { Audience::Program };
    let findings = located(&opened, audience);
    let source = &opened.source;
    let (label, prefix) = (&source.label, &source.prefix);
    let mut view = PlanView::told(&opened.proposal, label, prefix, &findings, &opened.updates);
    view.against = opened.against.as_ref();
    if let Some(against) = &opened.against {
        view.pressure = against.pressure.clone();
    }
    view.warnings = &source.notes;
    view.certificate = &opened.certificate;
    view.telling = opened.telling;
    view.width = context.width();
    let text = match args.output {
        PlanForm::Text if args.diff => {
            let palette = context.palette();
            plan::text(&view, palette) + &plan::diffs_text(&opened.diffs, palette)
        }
        PlanForm::Text => plan::text(&view, context.palette()),
        PlanForm::Json => plan::json(&view),
        PlanForm::Markdown => plan::markdown(&view, &opened.diffs, env!("CARGO_PKG_VERSION")),
    };
    context.print(&text)?;
    let exit = match Exit::of_proposal(&opened.proposal) {
        Exit::Fine if args.fail_on.iter().any(|what| what.is_in(&view)) => Exit::Findings,
        exit => exit,
    };
    let changes = args.detailed_exitcode && exit == Exit::Fine && opened.proposal.has_changes();
    context.leave(opened);
    Ok(if changes { Exit::Changes } else { exit })
}
