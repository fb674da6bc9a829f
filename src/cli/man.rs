//! `carp man`: manual pages.

use std::path::PathBuf;

use super::{Context, Error, Exit, files};

/// Print the manual page, or write one for every command
#[derive(clap::Args)]
pub(super) struct Args {
    /// Write carp.1 and one page for every command to this folder instead
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

pub(super) fn run(args: &Args, context: &mut Context<'_, '_>) -> Result<Exit, Error> {
    let Some(folder) = &args.out else {
        context.print(&page(super::command())?)?;
        return Ok(Exit::Fine);
    };
    let mut command = super::command().disable_help_subcommand(true);
    command.build();
    for page_of in pages(&command) {
        let name = page_of.get_display_name().unwrap_or(page_of.get_name()).to_owned();
        let path = folder.join(format!("{name}.1"));
        files::write(&path, &page(page_of)?)?;
        context.print(&format!("wrote {}\n", path.display()))?;
    }
    Ok(Exit::Fine)
}

/// A command, and all below it.
fn pages(command: &clap::Command) -> Vec<clap::Command> {
    let below = command.get_subcommands().filter(|sub| !sub.is_hide_set()).flat_map(pages);
    std::iter::once(command.clone()).chain(below).collect()
}

fn page(command: clap::Command) -> Result<String, Error> {
    let mut text = Vec::new();
    let rendered = clap_mangen::Man::new(command).render(&mut text);
    rendered.map_err(|error| Error::failed("failed to write the manual page").because(error))?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_names_every_command() {
        let page = page(super::super::command()).unwrap();
        for sub in super::super::command().get_subcommands().filter(|sub| !sub.is_hide_set()) {
            assert!(page.contains(sub.get_name()), "{}", sub.get_name());
        }
    }
}
