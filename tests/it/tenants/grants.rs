//! What `carp.yaml` grants a tenant, and what it is told of its folders.

use carp::diag::{Code, Severity};

use super::fleet;

#[test]
fn overlapping_folders_and_a_tenant_without_any_are_told() {
    let told = |from: &str, to: &str| {
        let mut world = fleet();
        world.edit("carp.yaml", from, to);
        let found = world.propose().diagnostics;
        let warnings: Vec<_> =
            found.iter().filter(|d| d.severity == Severity::Warning).map(|d| d.code).collect();
        assert!(!found.has_errors(), "{found:#?}");
        warnings
    };
    let both = told("[fleet/red]", "[fleet/red, fleet/blue]");
    assert_eq!(both, [Code::TenantsNotApart]);
    assert_eq!(told("[fleet/red]", "[fleet/red, fleet/blue/red]"), [Code::TenantsNotApart]);
    let without = told("paths: [fleet/red]", "maxPriority: 5");
    assert_eq!(without, [Code::TenantsNotApart]);
}
