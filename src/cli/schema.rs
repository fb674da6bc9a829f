//! `carp schema`: JSON Schemas for editors.

use super::show::schema;
use super::{Context, Error, Exit};
use crate::diag::suggest;

/// Print the JSON Schema of the documents of a fleet, for editors
///
/// Without a kind it is one schema for all of them. An editor with the YAML language server reads the line
/// `# yaml-language-server: $schema=PATH` at the top of a file; `carp init` writes both.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {
    /// Only this kind's documents, such as `cluster` or `ManagedClusterClass`
    #[arg(value_name = "KIND")]
    kind: Option<String>,
}

pub(super) fn run(args: &Args, context: &mut Context<'_, '_>) -> Result<Exit, Error> {
    let schema = match &args.kind {
        None => schema::all(),
        Some(kind) => schema::one(kind).ok_or_else(|| unknown(kind))?,
    };
    context.print(&schema::text(&schema))?;
    Ok(Exit::Fine)
}

fn unknown(kind: &str) -> Error {
    let kinds = schema::kinds_written();
    let help = suggest::help(kind, kinds.iter().map(String::as_str), "the kinds are");
    Error::usage(format!("`{kind}` is no kind of a fleet")).help(help)
}
