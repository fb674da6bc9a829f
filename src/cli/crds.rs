//! `carp crds`: the `CustomResourceDefinition`s.

use super::{Context, Error, Exit};
use crate::model::api::all_crds;

/// Print the custom resource definitions (CRDs) of all kinds
#[derive(clap::Args)]
pub(super) struct Args {}

pub(super) fn run(_: &Args, context: &mut Context<'_, '_>) -> Result<Exit, Error> {
    context.print(&text()?)?;
    Ok(Exit::Fine)
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
