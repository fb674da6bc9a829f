//! What `carp.yaml` grants a tenant, and what it is told of its folders.

use carp::diag::{Code, Severity};

use super::{cluster, errors, fleet};

#[test]
fn a_tenant_sets_the_labels_that_it_is_granted() {
    let mut world = fleet();
    world.edit(
        "carp.yaml",
        "paths: [fleet/red]",
        "paths: [fleet/red]\n      labels: [team, red.example.com/]",
    );
    let labelled = |labels: &str| {
        let labels = format!("namespace: red\n  labels: {{{labels}}}");
        cluster("r-2", "red", "westeurope").replace("namespace: red", &labels)
    };
    for good in ["team: x", "red.example.com/stage: x", "team: x, red.example.com/a: z"] {
        world.write("fleet/red/r-2.yaml", &labelled(good));
        let run = world.propose();
        assert!(!run.diagnostics.has_errors(), "{good}: {:#?}", run.diagnostics);
    }
    for bad in ["tier: gold", "teams: x", "red.example.com: x", "example.com/team: x"] {
        world.write("fleet/red/r-2.yaml", &labelled(bad));
        assert_eq!(errors(&world.propose()), [Code::LabelNotGranted], "{bad}");
    }
}

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
