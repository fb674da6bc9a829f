//! `suspicious-vm-size` of a flavor's manifest: the size of machines that name none is not one of its cloud's. A
//! warning, because clouds add sizes faster than any table follows.

use crate::diag::{Code, Diagnostic, Diagnostics, FieldPath, Place, suggest};
use crate::model::{Catalogue, Flavor};

/// The findings for all flavors.
pub(super) fn check(catalogue: &Catalogue) -> Diagnostics {
    catalogue.flavors().filter_map(|(name, flavor)| finding(name, flavor, catalogue)).collect()
}

fn finding(name: &str, flavor: &Flavor, catalogue: &Catalogue) -> Option<Diagnostic> {
    // Those that a manifest lists itself are held against it when it is read.
    let sizes = flavor.sizes.as_ref().filter(|sizes| sizes.known.is_empty())?;
    let cloud = flavor.provider.as_deref()?;
    let table = &catalogue.cloud(cloud)?.sizes;
    if table.is_empty() || table.iter().any(|known| known.name == sizes.default) {
        return None;
    }
    let message = format!("the cloud `{cloud}` lists no size `{}`", sizes.default);
    let place =
        Place::field(format!("templates/{name}/flavor.yaml"), 0, FieldPath::keys("sizes.default"));
    let known = table.iter().map(|known| known.name.as_str());
    let help = suggest::help(&sizes.default, known, "sizes");
    Some(Diagnostic::new(Code::SuspiciousVmSize, message).at(place).help(help))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLAVOR: &str = "kind: ManagedCluster\nmobility: None\nprovider: moon\nsizes: {default: crater-2}\n\
                          objects:\n- {apiVersion: v1, kind: A, onDeletion: Keep}\n";

    fn told(cloud: &str) -> Vec<String> {
        let catalogue =
            Catalogue::with([("base/flavor.yaml", FLAVOR), ("clouds/moon.yaml", cloud)]);
        assert_eq!(catalogue.broken().next(), None);
        check(&catalogue).iter().map(|d| format!("{} {:?}", d.message, d.help)).collect()
    }

    #[test]
    fn a_default_that_the_cloud_does_not_list_is_told() {
        let none = "locations: []\n";
        assert_eq!(told(none), [""; 0], "nothing is known");
        assert_eq!(told(&format!("{none}sizes: [{{name: crater-2, cpus: 2}}]\n")), [""; 0]);
        let others = told(&format!("{none}sizes: [{{name: crater-4, cpus: 4}}]\n"));
        assert_eq!(
            others,
            ["the cloud `moon` lists no size `crater-2` Some(\"did you mean `crater-4`?\")"]
        );
    }
}
