//! `carp status`: workers and clusters as they are known to be.

use super::explain::Form;
use super::{Context, Error, Exit, FleetArgs, ObjectRef, ObservedArgs, engine, show};

/// Show workers and clusters with phase, capacity, conditions and age
///
/// AGE is how long ago the condition Ready last changed. With an object its conditions and errors are
/// shown in full.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {
    /// Only this one: `cluster/NAME`, `worker/NAME`, or the name alone
    #[arg(value_name = "KIND/NAME")]
    object: Option<ObjectRef>,
    #[command(flatten)]
    fleet: FleetArgs,
    #[command(flatten)]
    observed: ObservedArgs,
    /// The form of the status
    #[arg(long, short, value_enum, default_value_t, value_name = "FORM")]
    output: Form,
}

pub(super) fn run(args: &Args, context: &mut Context<'_, '_>) -> Result<Exit, Error> {
    let view = engine::status(context, &args.fleet, &args.observed, args.object.as_ref())?;
    view.warnings.iter().try_for_each(|warning| context.note(warning))?;
    let text = match (args.output, &args.object) {
        (Form::Json, _) => show::status::json(&view),
        (Form::Text, Some(_)) => show::status::detail(&view, context.palette()),
        (Form::Text, None) => show::status::text(&view, context.palette()),
    };
    context.print(&text)?;
    Ok(Exit::Fine)
}
