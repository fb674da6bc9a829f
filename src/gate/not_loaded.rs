//! A cluster's document is there and did not load.

use super::Objection;
use crate::model::{Fleet, GateReason, Name};

/// Whether nothing says that a placed cluster without a document, of that tenant, has one that could not be read.
///
/// # Errors
/// Something does: a document of its name, in a place where its tenant's may be.
pub fn not_loaded(fleet: &Fleet, cluster: &Name, tenant: &str) -> Result<(), Objection> {
    if fleet.is_broken(cluster, tenant) {
        return Err(Objection::new(GateReason::NotLoaded));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Unloaded;

    #[test]
    fn a_document_that_is_gone_is_not_a_broken_one() {
        let unloaded = Unloaded {
            file: "fleet/a.yaml".to_owned(),
            document: Some(0),
            kind: Some("ManagedCluster".to_owned()),
            name: Some("a".to_owned()),
            blocks_placements: false,
            tenants: vec!["shop".to_owned()],
        };
        let fleet = Fleet { unloaded: vec![unloaded], ..Fleet::default() };
        let asked = |cluster: &str, tenant: &str| {
            not_loaded(&fleet, &Name::parse(cluster).unwrap(), tenant).map_err(|o| o.reason)
        };
        assert_eq!(asked("a", "shop"), Err(GateReason::NotLoaded));
        assert_eq!(asked("b", "shop"), Ok(()), "its document is gone");
        assert_eq!(asked("a", "bank"), Ok(()), "the broken one is in another tenant's folder");
    }
}
