//! A small fleet, written as people write one: two workers, six clusters of two tenants.

use std::collections::BTreeMap;

pub(crate) const FLEET: &str = "\
apiVersion: carp.dev/v1alpha1
kind: Fleet
metadata:
  name: small
spec:
  delivery:
    url: https://git.example.com/fleet.git
  controlPlane:
    name: hub
  credentials:
    - name: azure
      azure:
        tenantID: 5f3f9d0e-2f5e-4a8e-8f5c-0d6a3c1b2e4f
        subscriptionID: 6a4e8c1d-3b7f-4c2a-9e1d-1f5b7d3c9a8e
        clientID: 7b5d9e2c-4c8a-4d3b-8f2e-2a6c8e4d0b9f
        nodeIdentity: /subscriptions/6a4e8c1d-3b7f-4c2a-9e1d-1f5b7d3c9a8e/resourceGroups/fleet/providers/Microsoft.ManagedIdentity/userAssignedIdentities/nodes
";

/// A worker's document.
pub(crate) fn worker(name: &str, location: &str, capacity: u32) -> String {
    format!(
        "apiVersion: carp.dev/v1alpha1
kind: Worker
metadata:
  name: {name}
spec:
  version: v1.34.2
  location: {location}
  replicas: 3
  capacity: {capacity}
"
    )
}

/// A cluster's document.
pub(crate) fn cluster(name: &str, location: &str) -> String {
    format!(
        "apiVersion: carp.dev/v1alpha1
kind: ManagedCluster
metadata:
  name: {name}
  namespace: shop
spec:
  version: v1.34.2
  location: {location}
  replicas: 2
  deletionPolicy: Delete
"
    )
}

/// The fleet's files.
pub(crate) fn files() -> BTreeMap<String, String> {
    let mut files = BTreeMap::from([
        ("carp.yaml".to_owned(), FLEET.to_owned()),
        ("fleet/workers/w-weu.yaml".to_owned(), worker("w-weu", "westeurope", 4)),
        ("fleet/workers/w-eus.yaml".to_owned(), worker("w-eus", "eastus", 4)),
    ]);
    for (name, location) in [
        ("alpha", "westeurope"),
        ("bravo", "westeurope"),
        ("charlie", "eastus"),
        ("delta", "eastus"),
        ("echo", "westeurope"),
        ("foxtrot", "eastus"),
    ] {
        files.insert(format!("fleet/clusters/{name}.yaml"), cluster(name, location));
    }
    files
}
