//! `carp explain`: why here, why not there, and which policy said so.

use clap::ValueEnum;

use super::{Context, Error, Exit, FleetArgs, ObjectRef, ObservedArgs, engine, show};

/// Explain why a cluster is where it is or waits, what a worker needs, or where a policy applies
///
/// For a cluster: every worker with every reason against it, the terms of the order, and what would
/// place it. For a worker: the Secrets that Git must not hold, each with the command that makes it. For
/// a policy: the clusters to which it applies, and where another one comes before it. `--at` needs
/// nothing but the repository: a commit on the output branch names its input, the reports and the time.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {
    /// `cluster/NAME`, `worker/NAME`, `policy/NAME`, the same with a blank, or the name alone
    #[arg(value_name = "KIND/NAME", required = true, num_args = 1..=2)]
    object: Vec<String>,
    #[command(flatten)]
    fleet: FleetArgs,
    #[command(flatten)]
    observed: ObservedArgs,
    /// As a past run saw it: a commit of the output branch, or the input commit that one was made from
    #[arg(long, value_name = "REV", conflicts_with = "observed")]
    at: Option<String>,
    /// The form of the explanation
    #[arg(long, short, value_enum, default_value_t, value_name = "FORM")]
    output: Form,
}

#[derive(Clone, Copy, Default, ValueEnum)]
pub(super) enum Form {
    /// For people
    #[default]
    Text,
    /// For programs; has a schemaVersion
    Json,
}

pub(super) fn run(args: &Args, context: &mut Context<'_, '_>) -> Result<Exit, Error> {
    let at = args.at.as_deref();
    let object = ObjectRef::of(&args.object)?;
    let view = engine::explain(context, &args.fleet, &args.observed, &object, at)?;
    view.warnings.iter().try_for_each(|note| context.note(note))?;
    let text = match args.output {
        Form::Text => show::explain::text(&view, context.palette()),
        Form::Json => show::explain::json(&view),
    };
    context.print(&text)?;
    Ok(Exit::Fine)
}
