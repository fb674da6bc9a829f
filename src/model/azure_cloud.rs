//! The clouds of Azure: the public one, and those of their own that states have.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

/// The cloud of whoever names none.
pub const PUBLIC_CLOUD: &str = "AzurePublicCloud";

/// One cloud, and where it is spoken to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AzureCloud {
    /// Its name, as Cluster API's provider has it.
    pub name: String,
    /// The address of Entra ID.
    pub authority_host: String,
    /// The address of its Resource Manager.
    pub resource_manager_endpoint: String,
    /// Whom a token for it is made out to.
    pub resource_manager_audience: String,
}

#[derive(Deserialize)]
struct AzureCloudTable {
    clouds: Vec<AzureCloud>,
}

static TABLE: LazyLock<Vec<AzureCloud>> = LazyLock::new(|| {
    let table: AzureCloudTable =
        serde_json::from_str(include_str!("../../policies/azure-clouds.json"))
            .expect("the built-in tables are well-formed, which a test shows");
    table.clouds
});

/// The clouds that carp knows; the sources stand in the table. That of Germany was closed in 2021.
#[must_use]
pub fn azure_clouds() -> &'static [AzureCloud] {
    &TABLE
}

/// The cloud of a name; `None` where there is none.
#[must_use]
pub fn azure_cloud(name: &str) -> Option<&'static AzureCloud> {
    TABLE.iter().find(|cloud| cloud.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cloud_has_addresses_of_its_own() {
        assert!(azure_cloud(PUBLIC_CLOUD).is_some());
        assert_eq!(azure_cloud("AzureGermanCloud"), None);
        for (i, cloud) in azure_clouds().iter().enumerate() {
            let others = azure_clouds()[..i].iter();
            let hosts = others.filter(|other| other.authority_host == cloud.authority_host);
            assert_eq!(hosts.count(), 0, "{}", cloud.name);
            for address in [&cloud.authority_host, &cloud.resource_manager_endpoint] {
                assert!(address.starts_with("https://"), "{address}");
            }
        }
    }
}
