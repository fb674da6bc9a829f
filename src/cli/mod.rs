//! The command line: one file per subcommand, each `Args` and `run`; exit codes and output.
//!
//! A command asks [`engine`] for values, turns them into text with [`show`], and prints that. Nothing
//! else of carp prints or reads the process's environment.

mod ack;
mod agent;
mod alone;
mod args;
mod completions;
mod cordon;
mod crds;
mod demo;
mod drain;
pub mod engine;
mod example;
mod examples;
mod exit;
mod explain;
mod files;
mod init;
mod io;
mod kind;
mod log;
mod man;
mod memory;
mod names;
mod object;
mod overlay;
mod plan;
mod process;
mod reconcile;
mod render;
mod replay;
mod schema;
mod selector;
pub mod show;
mod simulate;
mod status;
mod templates;
mod terminal;
mod uncordon;
mod validate;
mod version;
mod watchdog;

use std::cell::RefCell;
use std::ffi::OsString;
use std::time::Duration;

use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use jiff::Timestamp;

use crate::model::LongWork;

pub use args::{AgainstArgs, FleetArgs, FolderArgs, ForgeArgs, ForgeName, ObservedArgs};
pub use example::EXAMPLE;
pub use exit::{Error, Exit};
pub use io::{ColorChoice, Context, Io, choose};
pub use object::{ObjectKind, ObjectRef, Target};
pub use process::main;
pub use selector::Selector;
use watchdog::WatchedProcess;

/// Kubernetes clusters, scheduled like pods, with a Git repository as the control plane.
#[derive(Parser)]
#[command(name = "carp", version, arg_required_else_help = true, after_help = AFTER_HELP)]
struct Cli {
    #[command(subcommand)]
    command: Command,

    #[command(flatten)]
    global: GlobalArgs,
}

// What may stand beside any subcommand. A doc comment would be taken for what `carp` itself is.
#[derive(clap::Args)]
struct GlobalArgs {
    /// When to use colours; `NO_COLOR` turns them off too
    #[arg(long, global = true, value_enum, default_value_t, value_name = "WHEN")]
    color: ColorChoice,

    /// The time of the run, as RFC 3339, instead of the clock's
    #[arg(long, global = true, value_name = "TIME")]
    now: Option<Timestamp>,

    /// How long reading one object of a repository may take; then it is taken for damaged
    #[arg(long, global = true, value_name = "TIME", default_value = "30s", hide_short_help = true)]
    #[arg(value_parser = args::timeout)]
    read_timeout: Duration,
}

const AFTER_HELP: &str = "\
Exit codes: 0 fine, 1 findings or failure, 3 something held or refused by a guard, 64 usage;
`plan --detailed-exitcode` adds 2 for changes.

New here? `carp demo` shows everything in a minute, without a cluster or a network.";

/// Lists the subcommands: each with its arguments, and in which module they and its `run` are. It is called as that.
macro_rules! subcommands {
    ($($(#[$attribute:meta])* $variant:ident($args:ty) in $module:ident,)+) => {
        #[derive(Subcommand)]
        enum Command {
            $($(#[$attribute])* $variant($args),)+
        }

        fn dispatch(command: &Command, context: &mut Context<'_, '_>) -> Result<Exit, Error> {
            match command {
                $(Command::$variant(args) => $module::run(args, context),)+
            }
        }

        /// What gives each subcommand its arguments.
        const SUBCOMMANDS: &[(&str, alone::Augment)] =
            &[$((stringify!($module), <$args as clap::Args>::augment_args),)+];
    };
}

subcommands! {
    Demo(demo::Args) in demo,
    Init(init::Args) in init,
    Validate(validate::Args) in validate,
    Plan(plan::Args) in plan,
    Render(render::Args) in render,
    Explain(explain::Args) in explain,
    #[command(visible_alias = "get")]
    Status(Box<status::Args>) in status,
    Reconcile(Box<reconcile::Args>) in reconcile,
    Simulate(Box<simulate::Args>) in simulate,
    Replay(replay::Args) in replay,
    Ack(ack::Args) in ack,
    Cordon(cordon::Args) in cordon,
    Uncordon(uncordon::Args) in uncordon,
    Drain(drain::Args) in drain,
    Templates(templates::Args) in templates,
    Crds(crds::Args) in crds,
    Schema(schema::Args) in schema,
    Agent(agent::Args) in agent,
    Kind(kind::Args) in kind,
    Completions(completions::Args) in completions,
    Man(man::Args) in man,
    Version(version::Args) in version,
    #[command(hide = true)]
    Names(names::Args) in names,
}

/// The whole command line, for help pages, completions and man pages.
#[must_use]
pub fn command() -> clap::Command {
    examples::add(Cli::command())
}

/// Runs carp: reads the arguments, of which the first is the program's name, and does what they say.
pub fn run(argv: impl IntoIterator<Item = impl Into<OsString> + Clone>, io: &mut Io<'_>) -> Exit {
    let argv: Vec<OsString> = argv.into_iter().map(Into::into).collect();
    let program = argv.first().map_or("carp".into(), |arg| arg.to_string_lossy().into_owned());
    let given: Vec<OsString> = argv.iter().skip(1).cloned().collect();
    let cli = match read(argv) {
        Ok(cli) => cli,
        Err(error) => return misread(&error, io),
    };
    let GlobalArgs { color, now: pinned_now, read_timeout } = cli.global;
    let work = LongWork::default();
    let left = RefCell::default();
    let mut context =
        Context { io, pinned_now, color, program, args: given, read_timeout, work, left };
    let done = watched(&cli, &context).and_then(|()| dispatch(&cli.command, &mut context));
    let exit = done.unwrap_or_else(|error| report(&error, &mut context));
    context.end();
    exit
}

/// Reads the arguments: as those of the subcommand that stands first, and where they are not, as those of all of carp,
/// which says what is wrong or asked for.
fn read(argv: Vec<OsString>) -> Result<Cli, clap::Error> {
    let alone = argv.get(1).and_then(|name| alone::command(name.to_str()?, SUBCOMMANDS));
    let read = alone.and_then(|command| command.try_get_matches_from(&argv).ok());
    let mut matches = match read {
        Some(matches) => matches,
        None => command().try_get_matches_from(argv)?,
    };
    Cli::from_arg_matches_mut(&mut matches)
}

/// Watches over this process, where it is one of its own.
fn watched(cli: &Cli, context: &Context<'_, '_>) -> Result<(), Error> {
    if context.io.program.is_none() {
        return Ok(());
    }
    let watched = match &cli.command {
        // It waits for the turn, and looks for news before that for a moment.
        Command::Reconcile(args) if args.supervises_one() => return Ok(()),
        Command::Reconcile(args) if args.is_turn() => {
            let memory = args.turn_memory();
            engine::supervise::end_with_the_supervisor();
            engine::supervise::bound_memory(memory);
            WatchedProcess::Turn(memory)
        }
        _ => WatchedProcess::Command,
    };
    watchdog::start(cli.global.read_timeout, watched)
        .map_err(|error| Error::failed("failed to start a thread").because(error))
}

/// What clap says instead of a command: help and the version were asked for, all else is usage.
fn misread(error: &clap::Error, io: &mut Io<'_>) -> Exit {
    let is_terminal = if error.use_stderr() { io.err_is_terminal } else { io.out_is_terminal };
    let no_color = io.env.get("NO_COLOR").map(String::as_str);
    let text = match choose(ColorChoice::Auto, is_terminal, no_color) {
        show::Colour::On => error.render().ansi().to_string(),
        show::Colour::Off => error.render().to_string(),
    };
    let stream = if error.use_stderr() { &mut *io.err } else { &mut *io.out };
    // Whether anyone still reads makes no difference to how the process ends.
    let _ = stream.write_all(text.as_bytes());
    if error.use_stderr() { Exit::Usage } else { Exit::Fine }
}

fn report(error: &Error, context: &mut Context<'_, '_>) -> Exit {
    if !error.message.is_empty() {
        let palette = context.err_palette();
        let label = palette.paint(show::Tone::Bad, "error");
        // As above.
        let _ = context.note(&format!("{label}: {error}"));
    }
    error.exit
}

#[cfg(test)]
mod tests {
    use super::*;

    fn carp(args: &[&str]) -> (Exit, String, String) {
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let mut io = Io::of_nobody(&mut out, &mut err);
        let exit = run(std::iter::once("carp").chain(args.iter().copied()), &mut io);
        (exit, String::from_utf8(out).unwrap(), String::from_utf8(err).unwrap())
    }

    #[test]
    fn the_command_line_is_well_formed() {
        command().debug_assert();
    }

    #[test]
    fn help_and_version_are_fine_and_a_mistake_is_usage() {
        let (exit, out, err) = carp(&["--help"]);
        assert_eq!((exit, err.as_str()), (Exit::Fine, ""));
        assert!(out.contains("Usage: carp"), "{out}");
        assert_eq!(carp(&["--version"]).0, Exit::Fine);
        for wrong in
            [&["--nope"][..], &["nope"], &[], &["plan", "--output", "xml"], &["--now", "x"]]
        {
            let (exit, out, err) = carp(wrong);
            assert_eq!((exit, out.as_str()), (Exit::Usage, ""), "{wrong:?}");
            assert!(!err.is_empty());
        }
        assert_eq!(Exit::Usage.code(), 64);
    }

    #[test]
    fn every_command_has_help() {
        for sub in command().get_subcommands() {
            assert!(sub.get_about().is_some(), "{} has no help", sub.get_name());
            for arg in
                sub.get_arguments().filter(|a| !["help", "version"].contains(&a.get_id().as_str()))
            {
                assert!(
                    arg.get_help().is_some(),
                    "{} {} has no help",
                    sub.get_name(),
                    arg.get_id()
                );
            }
        }
    }
}
