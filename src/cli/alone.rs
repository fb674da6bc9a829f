//! The command line with one subcommand alone. To build all of them takes longer than what is left of a run without news.

use clap::{Args as _, Command};

use super::{
    GlobalArgs, ack, agent, completions, cordon, crds, demo, drain, explain, init, kind, man,
    names, plan, reconcile, render, replay, schema, simulate, status, templates, uncordon,
    validate, version,
};

/// carp with this subcommand and no other; `None` where it has none of that name. It reads what carp with all of them
/// reads, or fails: then that one is to be asked.
pub(super) fn command(name: &str) -> Option<Command> {
    let subcommand = subcommand(name)?;
    Some(GlobalArgs::augment_args(Command::new("carp")).subcommand(subcommand))
}

/// What gives a subcommand its arguments.
type Augment = fn(Command) -> Command;

/// Each subcommand by its name.
const SUBCOMMANDS: [(&str, Augment); 23] = [
    ("ack", ack::Args::augment_args),
    ("agent", agent::Args::augment_args),
    ("completions", completions::Args::augment_args),
    ("cordon", cordon::Args::augment_args),
    ("crds", crds::Args::augment_args),
    ("demo", demo::Args::augment_args),
    ("drain", drain::Args::augment_args),
    ("explain", explain::Args::augment_args),
    ("init", init::Args::augment_args),
    ("kind", kind::Args::augment_args),
    ("man", man::Args::augment_args),
    ("names", names::Args::augment_args),
    ("plan", plan::Args::augment_args),
    ("reconcile", reconcile::Args::augment_args),
    ("render", render::Args::augment_args),
    ("replay", replay::Args::augment_args),
    ("schema", schema::Args::augment_args),
    ("simulate", simulate::Args::augment_args),
    ("status", status::Args::augment_args),
    ("templates", templates::Args::augment_args),
    ("uncordon", uncordon::Args::augment_args),
    ("validate", validate::Args::augment_args),
    ("version", version::Args::augment_args),
];

fn subcommand(name: &str) -> Option<Command> {
    let (name, augment) = SUBCOMMANDS.iter().find(|(known, _)| *known == name)?;
    Some(augment(Command::new(*name)))
}

#[cfg(test)]
mod tests {
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
            let alone = subcommand(name).unwrap_or_else(|| panic!("{name} is missing"));
            assert_eq!(takes(alone), takes(all.clone()), "{name}");
        }
    }
}
