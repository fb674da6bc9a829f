//! The command line with one subcommand alone. To build all of them takes longer than what is left of a run without news.

use clap::{Args as _, Command};

use super::GlobalArgs;

/// What gives a subcommand its arguments.
pub(super) type Augment = fn(Command) -> Command;

/// carp with this one of its subcommands and no other; `None` where it has none of that name. It reads what carp with all
/// of them reads, or fails: then that one is to be asked.
pub(super) fn command(name: &str, subcommands: &[(&'static str, Augment)]) -> Option<Command> {
    let (name, augment) = subcommands.iter().find(|(known, _)| *known == name)?;
    let subcommand = augment(Command::new(*name));
    Some(GlobalArgs::augment_args(Command::new("carp")).subcommand(subcommand))
}

#[cfg(test)]
mod tests {
    use super::super::SUBCOMMANDS;
    use super::*;

    /// What a command takes, with its subcommands. What its help says is another matter.
    fn takes(mut command: Command) -> Vec<String> {
        command.build();
        let arguments = command.get_arguments().filter(|argument| argument.get_id() != "help");
        let arguments = arguments.map(|argument| format!("{argument:?}"));
        let below = command.get_subcommands().filter(|below| below.get_name() != "help");
        let below = below.flat_map(|below| {
            std::iter::once(below.get_name().to_owned()).chain(takes(below.clone()))
        });
        arguments.chain(below).collect()
    }

    #[test]
    fn each_subcommand_takes_alone_what_it_takes_among_all() {
        for all in super::super::command().get_subcommands() {
            let name = all.get_name();
            let carp = command(name, SUBCOMMANDS).unwrap_or_else(|| panic!("{name} is missing"));
            let alone = carp.find_subcommand(name).unwrap();
            assert_eq!(takes(alone.clone()), takes(all.clone()), "{name}");
        }
    }
}
