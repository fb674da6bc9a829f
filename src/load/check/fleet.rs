//! The rules on `carp.yaml` itself. An error here ends the run.

use std::collections::BTreeSet;

use super::{
    address, apart, cloud, components, git, images, issuer_storage, label_grant, offered, paths,
    quota, reserved, secrets,
};
use crate::diag::{Code, FieldPath};
use crate::load::body::Body;
use crate::load::finding::Findings;
use crate::load::kind::DocumentSpec;
use crate::load::resolve::seconds;
use crate::model::api::{Branches, FleetSpec, Roots};
use crate::model::paths::{CONTROL_PLANE, DECISIONS, WORKERS};
use crate::model::{Catalogue, is_dns_label};

/// Checks what `carp.yaml` says of things that the fleet's own templates may have.
pub(in crate::load) fn beside(spec: &FleetSpec, catalogue: &Catalogue, out: &mut Findings) {
    quota::located(spec, catalogue, out);
    if let Some(control_plane) = &spec.control_plane {
        let path = FieldPath::keys("spec.controlPlane.components");
        components::known(&control_plane.components, &path, catalogue, out);
    }
}

/// Checks what `carp.yaml` says by itself.
pub(in crate::load) fn check(body: &Body, out: &mut Findings) {
    let DocumentSpec::Fleet(spec) = &body.spec else { return };
    label(&body.name, FieldPath::keys("metadata.name"), "a fleet", out);
    if let Some(found) = &spec.roots {
        roots(found, out);
    }
    if let Some(found) = &spec.branches {
        branches(found, out);
    }
    names(spec, out);
    quota::check(spec, out);
    paths::of_fleet(spec, out);
    apart::check(spec, out);
    cloud::of_fleet(spec, out);
    issuer_storage::check(spec, out);
    reserved::of_fleet(spec, out);
    label_grant::of_fleet(spec, out);
    if let Some(control_plane) = &spec.control_plane {
        let path = FieldPath::keys("spec.controlPlane");
        label(&control_plane.name, path.key("name"), "a control plane", out);
    }
    times(spec, out);
    if let Some(found) = &spec.git {
        git::check(found, &FieldPath::keys("spec.git"), out);
    }
    if let Some(found) = &spec.acknowledgements {
        git::acknowledgements(found, &FieldPath::keys("spec.acknowledgements"), out);
    }
    if let Some(found) = &spec.output {
        address::check(&found.url, &FieldPath::keys("spec.output.url"), out);
    }
    if let Some(found) = &spec.delivery {
        address::no_credentials(&found.url, &FieldPath::keys("spec.delivery.url"), out);
    }
    if let Some(found) = &spec.images {
        images::check(found, &FieldPath::keys("spec.images"), out);
    }
    offered::check(&spec.supported_versions, out);
    if let Some(found) = spec.external_secrets() {
        secrets::check(found, &FieldPath::keys("spec.secrets.externalSecrets"), out);
    }
    if let Some(found) = &spec.observed {
        git::observed(found, &FieldPath::keys("spec.observed"), out);
    }
}

fn label(name: &str, path: FieldPath, of: &str, out: &mut Findings) {
    if !is_dns_label(name) {
        let message = format!("`{name}` cannot be the name of {of}");
        let help = "use lower-case letters, digits and `-`, at most 63 of them";
        out.add(Code::InvalidName, path, message, help);
    }
}

/// Roots lie in the fleet's folder, apart from each other and from what carp writes.
fn roots(roots: &Roots, out: &mut Findings) {
    let all = [
        ("fleet", &roots.fleet),
        ("policies", &roots.policies),
        ("templates", &roots.templates),
        ("crds", &roots.crds),
    ];
    for (i, (key, root)) in all.iter().enumerate() {
        let path = FieldPath::keys("spec.roots").key(key);
        if !paths::is_folder_below(root) {
            let message = format!("`{root}` is not a folder below the fleet's root");
            let help =
                format!("write a relative path without `.`, `..` or a final `/`, such as `{key}`");
            out.add(Code::InvalidValue, path, message, help);
            continue;
        }
        let others = all[..i].iter().map(|(_, other)| other.as_str());
        let taken = [WORKERS, CONTROL_PLANE, DECISIONS].into_iter().chain(others);
        if let Some(other) = taken.into_iter().find(|other| nested(root, other)) {
            let message = format!("`{root}` and `{other}` lie in one another");
            out.add(Code::InvalidValue, path, message, "give each a folder of its own");
        }
    }
}

fn nested(one: &str, other: &str) -> bool {
    let below = |inner: &str, outer: &str| {
        inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    below(one, other) || below(other, one)
}

fn branches(branches: &Branches, out: &mut Findings) {
    let all = [
        ("input", &branches.input),
        ("output", &branches.output),
        ("status", &branches.status),
        ("observed", &branches.observed),
        ("proposal", &branches.proposal),
    ];
    for (key, branch) in all {
        if !is_branch(branch) {
            let message = format!("`{branch}` cannot be the name of a branch");
            let help = "write its short name as Git takes it, such as `carp/rendered`";
            out.add(Code::InvalidValue, FieldPath::keys("spec.branches").key(key), message, help);
        }
    }
    let status = &branches.status;
    if [&branches.input, &branches.output].contains(&status) {
        let message = format!("the status branch `{status}` has another use already");
        let help = "give the status a branch of its own, such as `carp/status`";
        out.add(Code::InvalidValue, FieldPath::keys("spec.branches.status"), message, help);
    }
    let proposal = &branches.proposal;
    if [&branches.input, &branches.output, status].contains(&proposal) {
        let message = format!("the proposal branch `{proposal}` has another use already");
        let help = "give proposals a branch of their own, such as `carp/proposal`";
        out.add(Code::InvalidValue, FieldPath::keys("spec.branches.proposal"), message, help);
    }
}

/// Whether Git takes a name for a branch (git-check-ref-format(1)).
fn is_branch(name: &str) -> bool {
    let part = |p: &str| {
        let lock = std::path::Path::new(p).extension().is_some_and(|e| e == "lock");
        !p.is_empty() && !p.starts_with('.') && !lock
    };
    let forbidden = |c: char| c.is_control() || c.is_whitespace() || "~^:?*[\\".contains(c);
    // `HEAD` is none, and a full name would be one below `refs/heads/` again.
    !name.eq_ignore_ascii_case("HEAD")
        && !name.starts_with("refs/")
        && name.split('/').all(part)
        && !name.starts_with('-')
        && !name.ends_with('.')
        && !name.contains("..")
        && !name.contains("@{")
        && !name.contains(forbidden)
}

/// Credentials and tenants are found by name, so no two share one.
fn names(spec: &FleetSpec, out: &mut Findings) {
    let credentials = spec.credentials.iter().map(|c| c.name.as_str());
    let tenants = spec.tenants.iter().map(|t| t.name.as_str());
    let lists: [(&str, Vec<_>); 2] =
        [("credentials", credentials.collect()), ("tenants", tenants.collect())];
    for (key, names) in lists {
        let mut seen = BTreeSet::new();
        for (i, name) in names.into_iter().enumerate() {
            let path = FieldPath::keys("spec").key(key).index(i).key("name");
            if !seen.insert(name) {
                let message = format!("two of the {key} are called `{name}`");
                out.add(Code::DuplicateName, path.clone(), message, "rename one of the two");
            }
            label(name, path, &format!("one of the {key}"), out);
        }
    }
    granted(spec, out);
}

fn granted(spec: &FleetSpec, out: &mut Findings) {
    for (i, tenant) in spec.tenants.iter().enumerate() {
        for (j, name) in tenant.credentials.iter().flatten().enumerate() {
            if !spec.credentials.iter().any(|c| c.name == *name) {
                let path = FieldPath::keys("spec.tenants").index(i).key("credentials").index(j);
                let message = format!("there are no credentials `{name}`");
                let known = spec.credentials.iter().map(|c| c.name.as_str()).collect::<Vec<_>>();
                let help = crate::diag::suggest::help(name, known, "the credentials listed");
                out.add(Code::UnknownCredentials, path, message, help);
            }
        }
    }
}

fn times(spec: &FleetSpec, out: &mut Findings) {
    let interval = spec.delivery.as_ref().and_then(|d| d.interval.as_deref());
    if let Some(text) = interval.filter(|t| seconds(t).is_none()) {
        let message = format!("`{text}` is not a duration");
        let help = "write hours, minutes and seconds, such as 5m or 1h30m";
        out.add(Code::InvalidValue, FieldPath::keys("spec.delivery.interval"), message, help);
    }
    let Some(example) = &spec.example else { return };
    if example.now.parse::<jiff::Timestamp>().is_err() {
        let message = format!("`{}` is not a time", example.now);
        let help = "write it as RFC 3339, such as 2026-01-31T12:00:00Z";
        out.add(Code::InvalidValue, FieldPath::keys("spec.example.now"), message, help);
    }
    if let Some(folder) = example.observed.as_ref().filter(|folder| !paths::is_folder_below(folder))
    {
        let message = format!("`{folder}` is not a folder below the fleet's root");
        let help = "write a relative path without `.`, `..` or a final `/`, such as `observed`";
        out.add(Code::InvalidValue, FieldPath::keys("spec.example.observed"), message, help);
    }
    let message =
        "this fleet is an example: its time is pinned, and it can be pushed to a local path only";
    let help = "remove `example` to make it a real fleet";
    out.add_on_key(Code::ExampleFleet, FieldPath::keys("spec.example"), message, help);
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{CARP, files_find, load_files};
    use super::*;

    fn broken(more: &str, code: Code, path: &str) {
        let carp = format!("{CARP}  {more}\n");
        files_find(&[("carp.yaml", &carp)], code, path);
        assert!(load_files(&[("carp.yaml", &carp)]).fleet_broken, "{more}");
    }

    #[test]
    fn roots_lie_in_the_fleet_and_apart() {
        for bad in ["..", "../x", "/x", "x/", "./x", "\"\"", "."] {
            broken(&format!("roots: {{fleet: {bad}}}"), Code::InvalidValue, "spec.roots.fleet");
        }
        for bad in ["workers", "workers/x", "control-plane", "decisions"] {
            broken(&format!("roots: {{fleet: {bad}}}"), Code::InvalidValue, "spec.roots.fleet");
        }
        broken("roots: {policies: fleet/policies}", Code::InvalidValue, "spec.roots.policies");
        let carp = format!("{CARP}  roots: {{fleet: desired/fleet, policies: fleetwide}}\n");
        assert!(!load_files(&[("carp.yaml", &carp)]).fleet_broken);
    }

    #[test]
    fn branches_are_what_git_takes() {
        for bad in ["a b", "a..b", "-a", "a.lock", "a/", ".a", "\"a:b\"", "HEAD", "refs/heads/x"] {
            broken(
                &format!("branches: {{output: {bad}}}"),
                Code::InvalidValue,
                "spec.branches.output",
            );
        }
        broken("branches: {status: main}", Code::InvalidValue, "spec.branches.status");
        broken("branches: {proposal: main}", Code::InvalidValue, "spec.branches.proposal");
    }

    #[test]
    fn repositories_are_named_without_credentials() {
        let token = "https://token@git.example.com/x.git";
        for field in ["output", "observed", "delivery"] {
            let path = format!("spec.{field}.url");
            broken(&format!("{field}: {{url: \"{token}\"}}"), Code::InvalidValue, &path);
        }
        broken("output: {url: ../output.git}", Code::InvalidValue, "spec.output.url");
        let more =
            "output: {url: /srv/output.git}\n  observed: {url: \"git@example.com:seen.git\"}";
        assert!(!load_files(&[("carp.yaml", &format!("{CARP}  {more}\n"))]).fleet_broken);
    }

    #[test]
    fn names_in_lists_stand_once() {
        broken("tenants: [{name: a}, {name: a}]", Code::DuplicateName, "spec.tenants[1].name");
        broken("tenants: [{name: A}]", Code::InvalidName, "spec.tenants[0].name");
        let path = "spec.tenants[0].credentials[0]";
        broken("tenants: [{name: a, credentials: [x]}]", Code::UnknownCredentials, path);
    }

    #[test]
    fn the_control_plane_has_a_name_and_known_components() {
        broken("controlPlane: {name: A}", Code::InvalidName, "spec.controlPlane.name");
        let more = "controlPlane: {name: hub, components: {x: v1}}";
        broken(more, Code::UnknownField, "spec.controlPlane.components.x");
    }

    #[test]
    fn times_are_times() {
        broken("example: {now: yesterday}", Code::InvalidValue, "spec.example.now");
        let more = "delivery: {url: https://example.com/x.git, interval: often}";
        broken(more, Code::InvalidValue, "spec.delivery.interval");
    }

    #[test]
    fn an_examples_reports_lie_in_the_fleet() {
        for bad in ["..", "../reports", "/reports", "./reports", "reports/", "\"\""] {
            let more = format!("example: {{now: 2026-01-31T12:00:00Z, observed: {bad}}}");
            broken(&more, Code::InvalidValue, "spec.example.observed");
        }
    }

    #[test]
    fn an_example_says_so_and_loads() {
        let carp = format!("{CARP}  example: {{now: 2026-01-31T12:00:00Z}}\n");
        let found = files_find(&[("carp.yaml", &carp)], Code::ExampleFleet, "spec.example");
        assert_eq!(found.severity, crate::diag::Severity::Note);
        assert!(!load_files(&[("carp.yaml", &carp)]).fleet_broken);
    }
}
