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

    #[test]
    fn every_kind_is_there_with_its_columns() {
        let text = text().unwrap();
        assert_eq!(text.matches("kind: CustomResourceDefinition\n").count(), 11);
        assert_eq!(
            text.matches("- carp\n").count(),
            10,
            "every kind of carp's own is in the category"
        );
        assert!(text.contains("name: kindclusters.infrastructure.cluster-k8s.io\n"));
        assert!(text.contains("additionalPrinterColumns"));
    }
}
