//! `carp crds`: the `CustomResourceDefinition`s.

use kube::CustomResourceExt as _;

use super::{Context, Error, Exit};
use crate::model::api;

/// Print the custom resource definitions (CRDs) of all kinds
#[derive(clap::Args)]
pub(super) struct Args {}

pub(super) fn run(_: &Args, context: &mut Context<'_, '_>) -> Result<Exit, Error> {
    context.print(&text()?)?;
    Ok(Exit::Fine)
}

fn text() -> Result<String, Error> {
    let crds = [
        api::Acknowledgement::crd(),
        api::Fleet::crd(),
        api::ManagedCluster::crd(),
        api::ManagedClusterClass::crd(),
        api::PlacementPolicy::crd(),
        api::Worker::crd(),
        api::WorkerOverlay::crd(),
    ];
    let documents = crds.iter().map(serde_saphyr::to_string);
    let documents: Result<Vec<_>, _> = documents.collect();
    let documents = documents.map_err(|e| Error::failed("failed to write YAML").because(e))?;
    Ok(documents.iter().flat_map(|d| ["---\n", d.trim_end(), "\n"]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_there_with_its_columns() {
        let text = text().unwrap();
        assert_eq!(text.matches("kind: CustomResourceDefinition\n").count(), 7);
        assert_eq!(text.matches("- carp\n").count(), 7, "every kind is in the category");
        assert!(text.contains("additionalPrinterColumns"));
    }
}
