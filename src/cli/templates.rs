//! `carp templates`: what clusters are made of, and a fleet's own part in it.

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::Subcommand;

use super::engine;
use super::{Context, Error, Exit, FleetArgs, files, show};

/// Look at templates, copy them to change them, and test them
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    command: TemplatesCommand,
}

#[derive(Subcommand)]
enum TemplatesCommand {
    /// List every template, and whose it is: carp's own, replaced by the fleet, or the fleet's
    List {
        #[command(flatten)]
        fleet: FleetArgs,
    },
    /// What the clusters of a flavor may say besides the fields of their kind: its parameters
    ///
    /// They stand in `spec.parameters` of a ManagedCluster, its class, a Worker, and the template of a WorkerPool;
    /// some also in `parameters` of a node pool.
    #[command(verbatim_doc_comment)]
    Explain {
        /// The flavor, as `capz`
        #[arg(value_name = "FLAVOR")]
        flavor: String,
        #[command(flatten)]
        fleet: FleetArgs,
    },
    /// Write carp's own templates as files: all, or those of some folders or names
    ///
    /// A file below the fleet's templates replaces carp's of the same path. Copy what you change and no
    /// more: what is not there follows carp's own.
    #[command(verbatim_doc_comment)]
    Export {
        /// Folders of flavors, or files such as `parts/pools.yaml`
        #[arg(value_name = "NAME")]
        names: Vec<String>,
        /// The folder to write to; files that are there are not touched
        #[arg(long, value_name = "DIR", default_value = "templates")]
        out: PathBuf,
    },
    /// Run the tests beside the fleet's templates (`templates/FLAVOR/tests/*.yaml`)
    ///
    /// Each says of a cluster, or of a worker, which objects its folder has. Exits 1 if one fails.
    #[command(verbatim_doc_comment)]
    Test {
        #[command(flatten)]
        fleet: FleetArgs,
    },
}

pub(super) fn run(args: &Args, context: &mut Context<'_, '_>) -> Result<Exit, Error> {
    match &args.command {
        TemplatesCommand::List { fleet } => {
            let all = engine::templates::list(context, fleet)?;
            context.print(&show::templates::list(&all, context.palette()))?;
            Ok(Exit::Fine)
        }
        TemplatesCommand::Explain { flavor, fleet } => {
            let row = engine::templates::explain(context, fleet, flavor)?;
            context.print(&show::templates::flavor(&row, context.palette()))?;
            Ok(Exit::Fine)
        }
        TemplatesCommand::Export { names, out } => export(names, out, context),
        TemplatesCommand::Test { fleet } => {
            let ran = engine::templates::test(context, fleet)?;
            context.print(&show::templates::tests(&ran, context.palette()))?;
            let failed = ran.iter().any(|test| !test.wrong.is_empty());
            Ok(if failed { Exit::Findings } else { Exit::Fine })
        }
    }
}

fn export(
    names: &[String],
    out: &std::path::Path,
    context: &mut Context<'_, '_>,
) -> Result<Exit, Error> {
    let all = engine::templates::built_in();
    let is_of = |name: &str, path: &str| {
        path == name || path.strip_prefix(name).is_some_and(|rest| rest.starts_with('/'))
    };
    if let Some(name) = names.iter().find(|name| !all.iter().any(|(path, _)| is_of(name, path))) {
        return Err(Error::usage(format!("carp has no template `{name}`"))
            .help("`carp templates list` shows them all"));
    }
    let mut told = String::new();
    for (path, text) in all {
        if !names.is_empty() && !names.iter().any(|name| is_of(name, path)) {
            continue;
        }
        let file = out.join(path);
        if files::read(&file)?.is_some() {
            let _ = writeln!(told, "left {} as it is", file.display());
        } else {
            files::write(&file, text)?;
            let _ = writeln!(told, "wrote {}", file.display());
        }
    }
    context.print(&told)?;
    Ok(Exit::Fine)
}
