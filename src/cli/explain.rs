//! `carp explain`: why here, why not there, and which policy said so.

use clap::ValueEnum;

use super::show::Palette;
use super::{Context, Error, Exit, FleetArgs, ObjectKind, ObjectRef, ObservedArgs, engine, show};
use crate::diag::suggest;
use crate::model::api::api_kinds;

/// Explain a cluster, a worker, a pool, a policy, a code or a field
///
/// For a cluster: why it is where it is or waits, every worker with every reason against it, the terms of the order, and what would
/// place it. For a worker: the Secrets that Git must not hold, each with the command that makes it. For a
/// pool: its workers, why it makes no other one or would make which, and who waits. For a policy: the
/// clusters to which it applies, and where another one comes before it. `--at` needs nothing but the repository: a commit on the output branch names its input, the reports and the time.
///
/// A code, such as `unknown-field` or `MassDeletion`, is explained as in docs/errors.md, and a path such
/// as `cluster.spec.nodePools` as `kubectl explain` does; neither needs a fleet.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {
    /// `cluster/NAME`, `worker/NAME`, `pool/NAME`, `policy/NAME`, the same with a blank, or the name alone; a
    /// code; or `KIND.FIELD.FIELD`
    #[arg(value_name = "KIND/NAME", required = true, num_args = 1..=2)]
    object: Vec<String>,
    #[command(flatten)]
    fleet: FleetArgs,
    #[command(flatten)]
    observed: ObservedArgs,
    /// As a past run saw it: a commit of the output branch, or the input commit that one was made from
    #[arg(long, value_name = "REV", conflicts_with = "observed")]
    at: Option<String>,
    /// For a worker: what brings it up and a cluster on it, step by step, with what is missing
    #[arg(long)]
    bootstrap: bool,
    /// The form of the explanation
    #[arg(long, short, value_enum, default_value_t, value_name = "FORM")]
    output: ExplainForm,
}

#[derive(Clone, Copy, Default, ValueEnum)]
pub(super) enum ExplainForm {
    /// For people
    #[default]
    Text,
    /// For programs; has a schemaVersion
    Json,
}

/// What there is something to explain of.
const EXPLAINED: [ObjectKind; 4] =
    [ObjectKind::Cluster, ObjectKind::Worker, ObjectKind::Pool, ObjectKind::Policy];

pub(super) fn run(args: &Args, context: &mut Context<'_, '_>) -> Result<Exit, Error> {
    let at = args.at.as_deref();
    if let Some(text) = known_without_a_fleet(&args.object, context.palette())? {
        context.print(&text)?;
        return Ok(Exit::Fine);
    }
    let object = ObjectRef::of(&args.object, &EXPLAINED)?;
    let view = engine::explain(context, &args.fleet, &args.observed, &object, at, args.bootstrap)?;
    view.warnings.iter().try_for_each(|note| context.note(note))?;
    let text = match args.output {
        ExplainForm::Text => show::explain::text(&view, context.palette()),
        ExplainForm::Json => show::explain::json(&view),
    };
    context.print(&text)?;
    let broken = view.bootstrap.iter().any(|step| !step.missing.is_empty());
    Ok(if broken { Exit::Findings } else { Exit::Fine })
}

/// What a code or a field means. A cluster that is called like one is `cluster/NAME`.
fn known_without_a_fleet(words: &[String], palette: Palette) -> Result<Option<String>, Error> {
    // No code and no kind has a slash.
    let [word] = words else { return Ok(None) };
    if word.contains('/') {
        return Ok(None);
    }
    if let Some(text) = show::code::text(word, palette) {
        return Ok(Some(text));
    }
    if let Some(explained) = show::fields::explain(word, palette) {
        return explained.map(Some).map_err(Error::usage);
    }
    // No name has a dot or a capital letter.
    let code = suggest::nearest(word, show::code::codes());
    match code.filter(|_| word.contains(char::is_uppercase)) {
        Some(code) => Err(Error::usage(format!("there is no code `{word}`"))
            .help(format!("did you mean `{code}`?"))),
        None if !word.contains('.') && word.contains(char::is_uppercase) => {
            Err(Error::usage(format!("there is no code `{word}`"))
                .help("a code is written as carp prints it; names have small letters only"))
        }
        None if word.contains('.') => {
            let kind = word.split('.').next().unwrap_or_default();
            let kinds: Vec<String> = api_kinds().into_iter().map(|k| k.resource.kind).collect();
            let help = suggest::help(kind, kinds.iter().map(String::as_str), "the kinds are");
            Err(Error::usage(format!("`{kind}` is no kind")).help(help))
        }
        None => Ok(None),
    }
}
