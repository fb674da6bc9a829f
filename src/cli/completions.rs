//! `carp completions`: shell files.

use clap_complete::Shell;

use super::{Context, Error, Exit};

/// Print a completion file for a shell
#[derive(clap::Args)]
pub(super) struct Args {
    /// The shell
    #[arg(value_enum, value_name = "SHELL")]
    shell: Shell,
}

pub(super) fn run(args: &Args, context: &mut Context<'_, '_>) -> Result<Exit, Error> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut super::command(), "carp", &mut text);
    context.print(&String::from_utf8_lossy(&text))?;
    Ok(Exit::Fine)
}
