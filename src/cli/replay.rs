//! `carp replay`: proof that a past commit follows from its inputs.

use super::explain::ExplainForm;
use super::{Context, Error, Exit, FleetArgs, engine, show};

/// Prove that a past commit of the output branch follows from its inputs
///
/// A commit names the input commit, the folded reports, the time and the decisions that it was made
/// from; the commit before it is the output that it stands on. From exactly these it is proposed
/// again, and must have the same tree and the same decisions. Only the repository is read, and
/// nothing is written.
///
/// Exits 1 where a commit differs, or where what it was made from is not here.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {
    /// A commit of the output branch, or several as A..B; default: the tip of the output branch
    ///
    /// A branch, a tag, an id or its beginning, `carp/rendered~3`; `A..B` replays each commit after A up to
    /// B, and `..B` all of them. `carp/rendered` (or what `spec.branches.output` says) is the one that was
    /// fetched last.
    #[arg(value_name = "REV")]
    revision: Option<String>,
    #[command(flatten)]
    fleet: FleetArgs,
    /// The form of the answer
    #[arg(long, short, value_enum, default_value_t, value_name = "FORM")]
    output: ExplainForm,
}

pub(super) fn run(args: &Args, context: &mut Context<'_, '_>) -> Result<Exit, Error> {
    let view = engine::replay(context, &args.fleet, args.revision.as_deref())?;
    let text = match args.output {
        ExplainForm::Text => show::replay::text(&view, context.palette()),
        ExplainForm::Json => show::replay::json(&view),
    };
    context.print(&text)?;
    Ok(if view.proves() { Exit::Fine } else { Exit::Findings })
}
