//! The VM sizes of Azure: what a size's name does not say, and which there are.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

/// What the names of sizes begin with.
const PREFIX: &str = "Standard_";

/// The processor's instruction set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Architecture {
    /// Intel's and AMD's.
    #[default]
    X64,
    /// Ampere's and Azure's own.
    Arm64,
}

/// Sizes that differ in nothing but how large they are, such as `D*s_v5`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VmFamily {
    family: String,
    /// The instruction set.
    #[serde(default)]
    pub architecture: Architecture,
    /// Whether disks are attached by `NVMe` and in no other way.
    #[serde(default)]
    pub nvme: bool,
    sizes: Vec<String>,
}

impl VmFamily {
    /// The names of its sizes, from small to large.
    pub fn names(&self) -> impl Iterator<Item = String> + '_ {
        self.sizes.iter().map(|size| format!("{PREFIX}{}", self.family.replace('*', size)))
    }
}

#[derive(Deserialize)]
struct SizeTable {
    families: Vec<VmFamily>,
}

static TABLE: LazyLock<BTreeMap<String, VmFamily>> = LazyLock::new(|| {
    let table: SizeTable = serde_json::from_str(include_str!("../../policies/vm-sizes.json"))
        .expect("the built-in tables are well-formed, which a test shows");
    table.families.into_iter().map(|family| (family.family.clone(), family)).collect()
});

/// The family of a size; `None` where Azure had none of that kind when the table was made. The sources stand
/// in the table.
#[must_use]
pub fn vm_family(size: &str) -> Option<&'static VmFamily> {
    TABLE.get(&split(size)?.0)
}

/// Whether Azure has a size; `None` where its whole family is not known.
#[must_use]
pub fn is_vm_size(size: &str) -> Option<bool> {
    let (family, number) = split(size)?;
    Some(TABLE.get(&family)?.sizes.contains(&number))
}

/// The names of all sizes.
pub fn vm_sizes() -> impl Iterator<Item = String> {
    TABLE.values().flat_map(VmFamily::names)
}

/// `Standard_E4-2ds_v5` as its family `E*ds_v5` and its number `4-2`.
fn split(size: &str) -> Option<(String, String)> {
    let name = size.strip_prefix(PREFIX)?;
    let letters = name.find(|c: char| c.is_ascii_digit())?;
    let (letters, rest) = name.split_at(letters);
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != '-').unwrap_or(rest.len());
    let (number, rest) = rest.split_at(end);
    Some((format!("{letters}*{rest}"), number.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_is_of_a_family() {
        let is = |size: &str, architecture, nvme| {
            let family = vm_family(size).unwrap();
            assert_eq!((family.architecture, family.nvme), (architecture, nvme), "{size}");
            assert_eq!(is_vm_size(size), Some(true), "{size}");
        };
        is("Standard_D4s_v5", Architecture::X64, false);
        is("Standard_E4-2ds_v5", Architecture::X64, false);
        is("Standard_D4ps_v5", Architecture::Arm64, false);
        is("Standard_D4s_v6", Architecture::X64, true);
        is("Standard_NP10s", Architecture::X64, false);
        assert_eq!(is_vm_size("Standard_D5s_v5"), Some(false));
        assert_eq!(is_vm_size("Standard_Q4s_v1"), None);
        assert_eq!(vm_family("m5.large"), None);
    }

    #[test]
    fn every_size_of_the_table_is_found_again() {
        assert!(vm_sizes().count() > 1000);
        for size in vm_sizes() {
            assert_eq!(is_vm_size(&size), Some(true), "{size}");
        }
    }
}
