//! What a document, a tenant and the fleet may take, counted over small fleets.

use super::super::tests::{CARP, cluster, load_files};
use super::*;
use crate::diag::Code;
use crate::model::Name;

fn named(name: &str, tenant: &str) -> String {
    cluster("").replace("pay-eu", name).replace("namespace: shop", &format!("namespace: {tenant}"))
}

fn carp(limits: &str) -> String {
    format!(
        "{CARP}  tenants:\n  - {{name: red, paths: [fleet/red], limits: {{{limits}}}}}\n  - {{name: blue, paths: [fleet/blue]}}\n"
    )
}

/// What is found where red has this in its folder, beside a cluster of blue's: nothing but red's own.
#[track_caller]
fn only_red_is_left_out(limits: &str, files: &[(&str, &str)], said: &str) {
    let (carp, blue) = (carp(limits), named("b-1", "blue"));
    let mut all = vec![("carp.yaml", &*carp), ("fleet/blue/b.yaml", &*blue)];
    all.extend(files);
    let loaded = load_files(&all);
    let found: Vec<_> = loaded.diagnostics.iter().map(|d| (d.code, d.message.as_str())).collect();
    let [(Code::TooMuch, message)] = found[..] else { panic!("{found:?}") };
    assert!(message.contains(said) && message.contains("`red`"), "{message}");
    let names: Vec<_> = loaded.fleet.clusters.keys().map(Name::as_str).collect();
    assert_eq!(names, ["b-1"], "nothing of red's is read, and all of blue's");
    assert!(loaded.fleet.is_unsure_of("red") && !loaded.fleet.is_unsure_of("blue"));
    assert!(!loaded.fleet.is_unsure() && !loaded.fleet.holds_placements());
    assert!(!loaded.fleet_broken);
}

#[test]
fn documents_beyond_a_tenants_limit_are_its_own_error() {
    let three: Vec<_> = ["a", "b", "c"].map(|name| named(name, "red")).into();
    let one_file = three.join("---\n");
    let said = "more than 2 documents";
    only_red_is_left_out("documents: 2", &[("fleet/red/x.yaml", &one_file)], said);
    let files: Vec<_> = ["fleet/red/a.yaml", "fleet/red/b.yaml", "fleet/red/c.yaml"]
        .into_iter()
        .zip(three.iter().map(String::as_str))
        .collect();
    only_red_is_left_out("documents: 2", &files, said);
}

#[test]
fn bytes_and_rules_and_files_beyond_it_are_too() {
    let large = format!("{}# {}\n", named("a", "red"), "x".repeat(8 << 10));
    let files = [("fleet/red/a.yaml", &*large)];
    only_red_is_left_out("bytes: 8Ki", &files, "more than 8192 bytes");
    let rules = "placement: {antiAffinity: [{topologyKey: location, labelSelector: {matchLabels: {a: b}}}, \
                 {topologyKey: worker, labelSelector: {matchLabels: {a: b}}}]}\n  ";
    let of_red = cluster(rules).replace("pay-eu", "a").replace("namespace: shop", "namespace: red");
    let files = [("fleet/red/a.yaml", &*of_red)];
    only_red_is_left_out("rules: 1", &files, "more than 1 rules");
    let many: Vec<_> = (0..30).map(|i| format!("fleet/red/{i}.txt")).collect();
    let files: Vec<_> = many.iter().map(|path| (path.as_str(), "")).collect();
    only_red_is_left_out("documents: 10", &files, "more than 20 files and folders");
}

#[test]
fn what_is_within_is_read() {
    let (carp, red) = (carp("documents: 1, bytes: 4Ki, rules: 1"), named("r-1", "red"));
    let loaded = load_files(&[("carp.yaml", &carp), ("fleet/red/a.yaml", &red)]);
    assert!(loaded.diagnostics.is_empty(), "{:?}", loaded.diagnostics);
    assert_eq!(loaded.fleet.clusters.len(), 1);
}

#[test]
fn of_a_fleet_that_is_too_large_the_largest_tenant_is_left_out() {
    let text = format!(
        "{CARP}  tenants: [{{name: a, paths: [fleet/a], limits: {{documents: 4000000000}}}}, \
                        {{name: b, paths: [fleet/b], limits: {{documents: 4000000000}}}}]\n"
    );
    let spec = load_files(&[("carp.yaml", &text)]).fleet.spec;
    let mut meter = Meter::of(Some(&spec));
    let documents = |documents| Amounts { documents, ..Amounts::default() };
    assert!(meter.add("fleet/a/x.yaml", documents(300_000)));
    assert!(meter.add("fleet/x.yaml", documents(150_000)), "the platform's");
    assert!(meter.add("fleet/b/x.yaml", documents(50_000)));
    assert!(
        meter.add("fleet/b/y.yaml", documents(1)),
        "whoever comes last is not whoever has most"
    );
    assert!(!meter.may("fleet/a/x.yaml") && meter.may("fleet/x.yaml"));
    assert!(!meter.add("fleet/x.yaml", documents(400_000)), "the platform's alone is too much");
    let told = meter.findings("fleet");
    assert!(told.iter().any(|(d, unloaded)| unloaded.is_none() && d.message.contains("the fleet")));
}

#[test]
fn there_is_room_where_a_little_more_is_not_too_much() {
    let has_room = |limits: &str, used: &[(&str, Amounts)]| {
        let spec = load_files(&[("carp.yaml", &carp(limits))]).fleet.spec;
        let mut meter = Meter::of(Some(&spec));
        for (path, amounts) in used {
            assert!(meter.add(path, *amounts));
        }
        (meter.is_fine(), DocumentGrowth::MOST.fits(meter.room()))
    };
    let of = |entries, documents, bytes| Amounts { entries, documents, bytes, rules: 0 };
    let (red, blue) = ("fleet/red/a.yaml", "fleet/blue/a.yaml");
    assert_eq!(has_room("", &[(red, of(10, 10, 0)), ("fleet/a.yaml", of(9, 9, 0))]), (true, true));
    assert_eq!(
        has_room("documents: 149", &[]),
        (true, false),
        "who has nothing may have too much soon"
    );
    assert_eq!(has_room("documents: 200", &[(red, of(0, 51, 0))]), (true, false));
    assert_eq!(has_room("documents: 200", &[(red, of(0, 50, 0))]), (true, true));
    assert_eq!(has_room("documents: 200", &[(blue, of(0, 51, 0))]), (true, true), "another's");
    assert_eq!(has_room("documents: 200", &[(red, of(101, 0, 0))]), (true, false));
    assert_eq!(has_room("bytes: 16Mi", &[(red, of(0, 0, 1))]), (true, false));
    assert_eq!(has_room("rules: 1", &[(red, Amounts { rules: 1, ..of(1, 1, 0) })]), (true, true));
    let rest = of(0, FLEET.documents - 151, 0);
    assert_eq!(has_room("", &[("fleet/a.yaml", rest), (red, of(0, 2, 0))]), (true, false), "all");
    let spec = load_files(&[("carp.yaml", &carp("bytes: 17Mi"))]).fleet.spec;
    let mut meter = Meter::of(Some(&spec));
    assert!(
        meter.add(red, of(1, 1, 0))
            && !meter.wants_bytes(red)
            && DocumentGrowth::MOST.fits(meter.room())
    );
    assert!(
        meter.add(red, of(1, 1, 0)) && !DocumentGrowth::MOST.fits(meter.room()),
        "two files may be too large"
    );
    assert!(meter.wants_bytes(red));
}

#[test]
fn folders_in_folders_without_end_are_not_walked() {
    use super::super::tests::{Memory, load_tree};
    use crate::model::{Dir, Entry, EntryKind, Store as _};
    let store = Memory::default();
    let carp = store.put_blob(carp("").as_bytes()).unwrap();
    let blue = store.put_blob(named("b-1", "blue").as_bytes()).unwrap();
    let file = |id| Entry { kind: EntryKind::File, id };
    let mut bomb = file(store.put_blob(named("a", "red").as_bytes()).unwrap());
    // Ten folders of ten folders each, twenty levels deep, in twenty objects.
    for level in 0..20 {
        let mut dir = Dir::default();
        let ending = if level == 0 { ".yaml" } else { "" };
        for i in 0..10 {
            dir.insert(format!("{i}{ending}"), bomb);
        }
        bomb = Entry { kind: EntryKind::Dir, id: store.put_dir(&dir).unwrap() };
    }
    let loaded = load_tree(
        &store,
        &[("carp.yaml", file(carp)), ("fleet/blue/b.yaml", file(blue)), ("fleet/red", bomb)],
    );
    let codes: Vec<_> = loaded.diagnostics.iter().map(|d| d.code).collect();
    assert_eq!(codes, [Code::TooMuch]);
    assert_eq!(loaded.fleet.clusters.len(), 1);
}
