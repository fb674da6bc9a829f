//! `suspicious-vm-size`: a warning, because Azure adds sizes faster than any table follows, and a template of
//! the fleet's own may name an image that carp does not know of.
//!
//! The images that Cluster API's provider takes where none is named are of x64 only, and say nothing of `NVMe`:
//! a machine of an arm64 size does not begin, and one whose disks are on `NVMe` is refused with "cannot boot with
//! OS image or disk" (kubernetes-sigs/image-builder#1875). Nor is the etcd disk of such a machine at
//! `/dev/disk/azure/scsi1/lun0`.

use std::sync::LazyLock;

use regex_lite::Regex;

use super::{CheckContext, Subject};
use crate::diag::{Code, FieldPath, suggest};
use crate::load::finding::Findings;
use crate::load::kind::DocumentSpec;
use crate::model::api::AZURE;
use crate::model::{Architecture, Catalogue, Flavor, Nodes, is_vm_size, vm_family, vm_sizes};

/// The form of Azure's names of VM sizes; the first number is that of the virtual CPUs.
static FORM: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^Standard_[A-Z]+(\d+)(-\d+)?[a-z]*(_[A-Z0-9]+)*(_v\d+)?$")
        .expect("the expression is a constant that a test compiles")
});

/// The fewest virtual CPUs of a control plane that kubeadm's preflight checks accept.
const CONTROL_PLANE_CPUS: u32 = 2;

pub(super) fn check(subject: &Subject<'_>, scene: &CheckContext<'_>, out: &mut Findings) {
    let flavor = subject.manifest(scene);
    // Whose sizes they are is not known where the manifest cannot be read, which is told by itself.
    if flavor.is_none() && subject.flavor().is_some() {
        return;
    }
    // carp's table is Azure's. A flavor of another provider has its own in its manifest or its cloud, or none.
    let elsewhere = flavor.is_some_and(|flavor| {
        flavor.nodes == Nodes::Machines && flavor.provider.as_deref() != Some(AZURE)
    });
    let flavor = flavor.filter(|_| elsewhere);
    let form = |size: &str, path: FieldPath, out: &mut Findings| match flavor {
        Some(flavor) => of_flavor(size, flavor, &scene.catalogue, path, out),
        None => form(size, path, out),
    };
    for (path, pool) in subject.node_pools() {
        if let Some(size) = &pool.vm_size {
            // Of thousands of clusters most name one that is known: the form is looked at where it is not.
            if is_vm_size(size) == Some(true) {
                image(size, path.key("vmSize"), out);
            } else {
                form(size, path.key("vmSize"), out);
            }
        }
    }
    let control_plane = match &subject.body.spec {
        DocumentSpec::Worker(w) => w.control_plane.as_ref(),
        DocumentSpec::ManagedClusterClass(c) => c.control_plane.as_ref(),
        _ => None,
    };
    if let Some(size) = control_plane.and_then(|c| c.size.as_ref()) {
        let path = FieldPath::keys("spec.controlPlane.size");
        if form(size, path.clone(), out).is_some_and(|cpus| cpus < CONTROL_PLANE_CPUS) {
            let message = format!("`{size}` is too small for a control plane");
            let such = if flavor.is_some() { "" } else { ", such as Standard_D4s_v5" };
            let help = format!("choose a size with at least 2 virtual CPUs{such}");
            out.add(Code::SuspiciousVmSize, path, message, help);
        }
    }
}

/// Looks a size up in the table of its flavor's manifest, else of its provider's cloud, and returns the number of
/// virtual CPUs where that is known.
fn of_flavor(
    size: &str,
    flavor: &Flavor,
    catalogue: &Catalogue,
    path: FieldPath,
    out: &mut Findings,
) -> Option<u32> {
    let listed = flavor.sizes.as_ref().map(|sizes| sizes.known.as_slice()).unwrap_or_default();
    let cloud = flavor.provider.as_deref().and_then(|name| catalogue.cloud(name));
    let table = cloud.map(|cloud| cloud.sizes.as_slice()).unwrap_or_default();
    let mut known: Vec<_> = listed.iter().map(String::as_str).collect();
    let mut whose = "manifest";
    if known.is_empty() {
        known.extend(table.iter().map(|known| known.name.as_str()));
        whose = "cloud";
    }
    if !known.is_empty() && !known.contains(&size) {
        let help = suggest::help(size, known, "sizes");
        let message = format!("the flavor's {whose} lists no size `{size}`");
        out.add(Code::SuspiciousVmSize, path, message, help);
    }
    table.iter().find(|known| known.name == size).map(|known| known.cpus)
}

/// Checks the form and returns the number of virtual CPUs.
fn form(size: &str, path: FieldPath, out: &mut Findings) -> Option<u32> {
    if let Some(found) = FORM.captures(size) {
        known(size, path.clone(), out);
        image(size, path, out);
        return found.get(1)?.as_str().parse().ok();
    }
    let message = format!("`{size}` does not look like a VM size of Azure");
    let help = "write it as Azure does, such as Standard_D4s_v5";
    out.add(Code::SuspiciousVmSize, path, message, help);
    None
}

/// Whether Azure has a size of that name.
fn known(size: &str, path: FieldPath, out: &mut Findings) {
    if is_vm_size(size) == Some(true) {
        return;
    }
    let help = if let Some(family) = vm_family(size) {
        format!("there are {}", family.names().collect::<Vec<_>>().join(", "))
    } else {
        let all: Vec<_> = vm_sizes().collect();
        let near = suggest::nearest(size, all.iter().map(String::as_str));
        let ask = || "ask Azure: az vm list-skus --all --size NAME".to_owned();
        near.map_or_else(ask, |near| format!("did you mean `{near}`?"))
    };
    out.add(Code::SuspiciousVmSize, path, format!("carp knows no VM size `{size}`"), help);
}

/// Whether a machine of that size begins with the image that it gets.
fn image(size: &str, path: FieldPath, out: &mut Findings) {
    let Some(family) = vm_family(size) else { return };
    let what = if family.architecture == Architecture::Arm64 {
        "has an arm64 processor"
    } else if family.nvme {
        "has its disks on NVMe"
    } else {
        return;
    };
    let message = format!("`{size}` {what}, for which Cluster API's own images are not made");
    let help = "choose a size such as Standard_D4s_v5, or name an image in a template of your own";
    out.add(Code::SuspiciousVmSize, path, message, help);
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{cluster, finds, finds_nothing, load_fleet, worker};
    use super::*;

    fn pool(size: &str) -> String {
        cluster(&format!("nodePools: [{{name: a, replicas: 1, vmSize: {size}}}]\n  "))
    }

    #[test]
    fn a_size_has_azures_form() {
        for good in
            ["Standard_D4s_v5", "Standard_B2ms", "Standard_E4-2ds_v5", "Standard_NC24ads_A100_v4"]
        {
            finds_nothing(pool(good));
        }
        for odd in ["D4s_v5", "Standard_d4s_v5", "m5.large"] {
            finds(pool(odd), Code::SuspiciousVmSize, "spec.nodePools[0].vmSize");
        }
    }

    #[test]
    fn a_size_is_one_that_azure_has() {
        let path = "spec.nodePools[0].vmSize";
        let found = finds(pool("Standard_D5s_v5"), Code::SuspiciousVmSize, path);
        assert!(found.help.unwrap().contains("Standard_D4s_v5, Standard_D8s_v5"));
        let found = finds(pool("Standard_D4sx_v5"), Code::SuspiciousVmSize, path);
        assert_eq!(found.help.as_deref(), Some("did you mean `Standard_D4s_v5`?"));
    }

    #[test]
    fn a_size_has_an_image() {
        let path = "spec.nodePools[0].vmSize";
        let found = finds(pool("Standard_D4ps_v5"), Code::SuspiciousVmSize, path);
        assert!(found.message.contains("arm64"), "{}", found.message);
        let path = "spec.controlPlane.size";
        let text = worker("controlPlane: {size: Standard_D4s_v6}\n  ");
        let found = finds(text, Code::SuspiciousVmSize, path);
        assert!(found.message.contains("NVMe"), "{}", found.message);
    }

    #[test]
    fn a_control_plane_has_two_cpus() {
        let path = "spec.controlPlane.size";
        let text = |size: &str| worker(&format!("controlPlane: {{size: {size}}}\n  "));
        finds(text("Standard_B1s"), Code::SuspiciousVmSize, path);
        finds_nothing(text("Standard_D2s_v5"));
    }

    #[test]
    fn it_is_a_warning_and_the_cluster_loads() {
        let loaded = load_fleet(&[("fleet/x.yaml", &pool("m5.large"))]);
        assert!(!loaded.diagnostics.has_errors() && loaded.fleet.clusters.len() == 1);
    }
}
