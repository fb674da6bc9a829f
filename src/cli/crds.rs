//! `carp crds`: the `CustomResourceDefinition`s, carp's own and those of what a fleet has installed.

use clap::Subcommand;

use super::engine::crds::{self as engine, PullOptions};
use super::{Context, Error, Exit, FolderArgs, show};
use crate::model::api::all_crds;

/// Print the custom resource definitions (CRDs) of carp's kinds, or pull those of the releases that the fleet has
///
/// Alone it prints those of carp's own kinds.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Option<CrdsCommand>,
}

#[derive(Subcommand)]
enum CrdsCommand {
    /// Write the definitions of the releases that the fleet has installed to its folder `crds/pulled`
    ///
    /// They are read from where each release is published, in the very versions that workers, pools and
    /// the control plane have, and what carp renders is held against them from then on. Without
    /// descriptions and versions that no server serves; the rest of `crds/` is not touched. What failed is
    /// told and leaves what was pulled before; then it exits 1. `HTTPS_PROXY` and `NO_PROXY` are heeded; no
    /// credential is sent.
    #[command(verbatim_doc_comment)]
    Pull {
        /// Write and ask nothing: exit 1 if what was pulled is not what the fleet has installed
        #[arg(long, conflicts_with_all = ["from", "again"])]
        check: bool,
        /// A folder, or an address, that has the files in place of their publishers, by host and path:
        /// FROM/github.com/…/core-components.yaml
        #[arg(long, value_name = "FROM")]
        from: Option<String>,
        /// Read again what was pulled before, and take it though its bytes are others
        #[arg(long)]
        again: bool,
        #[command(flatten)]
        fleet: FolderArgs,
    },
}

pub(super) fn run(args: &Args, context: &mut Context<'_, '_>) -> Result<Exit, Error> {
    let Some(CrdsCommand::Pull { check, from, again, fleet }) = &args.command else {
        context.print(&text()?)?;
        return Ok(Exit::Fine);
    };
    let (text, notes, is_fine) = if *check {
        let view = engine::check(context, fleet)?;
        (show::crds::check(&view, context.palette()), view.notes, view.found.is_empty())
    } else {
        let options = PullOptions { from: from.clone(), again: *again };
        let view = engine::pull(context, fleet, &options)?;
        let is_whole = view.is_whole();
        (show::crds::pull(&view, context.palette()), view.notes, is_whole)
    };
    for note in &notes {
        context.note(note)?;
    }
    context.print(&text)?;
    Ok(if is_fine { Exit::Fine } else { Exit::Findings })
}

fn text() -> Result<String, Error> {
    let crds = all_crds();
    let documents = crds.iter().map(|(_, crd)| serde_saphyr::to_string(crd));
    let documents: Result<Vec<_>, _> = documents.collect();
    let documents = documents.map_err(|e| Error::failed("failed to write YAML").because(e))?;
    Ok(documents.iter().flat_map(|d| ["---\n", d.trim_end(), "\n"]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::api::GROUP;

    #[test]
    fn every_kind_is_there_with_its_columns() {
        let text = text().unwrap();
        let all = all_crds();
        let own = all.iter().filter(|(_, crd)| crd["spec"]["group"] == GROUP).count();
        assert!(own > 5 && own < all.len(), "carp's own kinds and KINDCluster");
        assert_eq!(text.matches("kind: CustomResourceDefinition\n").count(), all.len());
        assert_eq!(text.matches("- carp\n").count(), own, "carp's own are in the category");
        assert!(text.contains("name: kindclusters.infrastructure.cluster-k8s.io\n"));
        assert!(text.contains("additionalPrinterColumns"));
    }
}
