//! What carp says of itself: codes, fields, schemas, its version, and what shells offer.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::support::people;
use crate::support::reconciled::{Ran, Reconciled};
use crate::support::small;

/// `carp ARGS` in a folder without a fleet.
fn carp(args: &[&str]) -> Ran {
    let folder = tempfile::tempdir().unwrap();
    Ran::of(people::carp(folder.path(), args))
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn a_code_and_a_field_are_explained_without_a_fleet() {
    for (args, told) in [
        (&["explain", "unknown-field"][..], "unknown-field (findings)\n"),
        (&["explain", "MassDeletion"], "To do: If exactly these are meant"),
        (&["explain", "QuotaExceeded"], "meaning: The subscription has no room"),
        (&["explain", "cluster.spec.nodePools"], "FIELD: nodePools  <[]Object>"),
        (&["explain", "placementpolicy.spec.spread.maxSkew"], "FIELD: maxSkew  <integer>"),
        (&["explain", "fleet"], "KIND:    Fleet\n"),
    ] {
        let ran = carp(args);
        assert_eq!(ran.exit, 0, "{args:?}: {}", ran.err);
        assert!(ran.out.contains(told), "{args:?}:\n{}", ran.out);
        assert!(ran.out.lines().all(|line| line.chars().count() <= 80), "{args:?}:\n{}", ran.out);
    }
    for (args, told) in [
        (&["explain", "MassDeletions"][..], "did you mean `MassDeletion`?"),
        (&["explain", "cluster.spec.nodepool"], "did you mean `nodePools`?"),
        (&["explain", "clutser.spec"], "`clutser` is no kind"),
        (&["schema", "ManagedClusters.x"], "`ManagedClusters.x` is no kind of a fleet"),
    ] {
        let ran = carp(args);
        assert_eq!((ran.exit, ran.out.as_str()), (64, ""), "{args:?}: {}", ran.err);
        assert!(ran.err.contains(told), "{args:?}: {}", ran.err);
    }
}

#[test]
fn field_reference_is_what_the_types_say() {
    let path = root().join("docs/fields.md");
    let page = carp::cli::show::fields::page();
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&path, &page).unwrap();
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    assert!(page == written, "docs/fields.md is old; run UPDATE=1 cargo test field_reference");
}

fn documents(folder: &Path, into: &mut Vec<(String, Value)>) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if path.is_dir() {
            documents(&path, into);
        } else if path.extension().is_some_and(|e| e == "yaml") {
            let text = fs::read_to_string(&path).unwrap();
            for document in serde_yaml::Deserializer::from_str(&text) {
                let value: Value = serde::Deserialize::deserialize(document).unwrap();
                into.push((path.display().to_string(), value));
            }
        }
    }
}

#[test]
fn the_schema_takes_what_carp_takes_and_refuses_what_it_refuses() {
    let ran = carp(&["schema"]);
    assert_eq!(ran.exit, 0, "{}", ran.err);
    let schema: Value = serde_json::from_str(&ran.out).unwrap();
    let schema = jsonschema::draft7::new(&schema).unwrap();
    let mut all = Vec::new();
    for folder in
        ["carp.yaml", "fleet", "policies"].iter().map(|p| root().join("fleet-repo-example").join(p))
    {
        if folder.is_dir() {
            documents(&folder, &mut all);
        }
    }
    documents(&root().join("policies"), &mut all);
    assert!(all.len() > 20, "{}", all.len());
    for (path, document) in &all {
        if let Err(error) = schema.validate(document) {
            panic!("{path}: {error} at {}", error.instance_path());
        }
    }
    let wrong = |edit: fn(&mut Value)| {
        let is_worker = |(_, document): &&(String, Value)| document["kind"] == "Worker";
        let mut document = all.iter().find(is_worker).unwrap().1.clone();
        edit(&mut document);
        !schema.is_valid(&document)
    };
    assert!(!wrong(|_| {}));
    assert!(!wrong(|w| w["spec"]["capacity"] = 5.into()), "the short form");
    assert!(!wrong(|w| w["spec"]["drain"] = true.into()), "the short form");
    assert!(wrong(|w| w["spec"]["nodeSelector"] = "x".into()));
    assert!(wrong(|w| w["spec"]["version"] = "1.34".into()));
    assert!(wrong(|w| w["kind"] = "Pod".into()));
    assert!(wrong(|w| w["metadata"]["lables"] = "x".into()));
}

#[test]
fn the_version_is_told_to_people_and_programs() {
    let ran = carp(&["version"]);
    assert!(ran.out.starts_with(concat!("carp ", env!("CARGO_PKG_VERSION"), " (")), "{}", ran.out);
    let json: Value = serde_json::from_str(&carp(&["version", "-o", "json"]).out).unwrap();
    assert_eq!(json["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(json["apiVersions"][0], "carp.dev/v1alpha1");
}

#[test]
fn a_shell_offers_the_names_of_the_fleet() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(Ran::of(people::carp(folder.path(), &["init", "fleet"])).exit, 0);
    let fleet = folder.path().join("fleet");
    let carp = fs::read_to_string(fleet.join("carp.yaml")).unwrap();
    let real = carp.replace("00000000-0000-0000-0000-", "7b5d9e2c-4c8a-4d3b-8f2e-");
    fs::write(fleet.join("carp.yaml"), real).unwrap();
    let file = Ran::of(people::carp(&fleet, &["completions", "bash"]));
    fs::write(folder.path().join("carp.bash"), file.out).unwrap();
    let program = Path::new(env!("CARGO_BIN_EXE_carp")).parent().unwrap();
    let offered = |line: &str| {
        let words: Vec<String> = line.split(' ').map(|word| format!("'{word}'")).collect();
        let script = format!(
            ". ../carp.bash; COMP_WORDS=({}); COMP_CWORD={}; _carp_names carp \"${{COMP_WORDS[COMP_CWORD]}}\" x; \
             printf '%s\\n' \"${{COMPREPLY[@]}}\"",
            words.join(" "),
            words.len() - 1
        );
        let mut command = Command::new("bash");
        let path = std::env::var("PATH").unwrap_or_default();
        command.args(["-c", &script]).current_dir(&fleet);
        command.env("PATH", format!("{}:{path}", program.display())).env_remove("CARP_FLEET");
        Ran::of(command).out.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(offered("carp explain worker ne"), ["ne-1"]);
    assert_eq!(offered("carp drain we"), ["we-1", "we-2"]);
    assert_eq!(offered("carp get cluster/shop-e"), ["cluster/shop-eu"]);
    assert_eq!(offered("carp status --tenant p"), ["payments"]);
    assert_eq!(offered("carp vali"), ["validate"], "what carp offers nothing for is clap's");
}

/// zsh and fish are on few machines, so nothing is asked of them where they are not.
#[test]
fn zsh_and_fish_offer_the_names_too_and_read_their_files_without_a_complaint() {
    let fleet = Reconciled::of(&small::files());
    let folder = tempfile::tempdir().unwrap();
    let zsh = "compdef() { : }; compadd() { print -l -- ${(P)2} }; source ./carp.zsh; cd $FLEET; \
               words=(carp drain w); CURRENT=3; _carp_names";
    let fish = "source ./carp.fish; cd $FLEET; complete -C 'carp drain w-'";
    for (shell, script) in [("zsh", zsh), ("fish", fish)] {
        if Command::new(shell).arg("--version").output().is_err() {
            eprintln!("{shell} is not here to be asked");
            continue;
        }
        let file = fleet.carp(&["completions", shell]).out;
        assert_eq!(file.matches("compdef _carp carp").count(), 0, "names come with the first key");
        let name = format!("carp.{shell}");
        fs::write(folder.path().join(&name), file).unwrap();
        let run = |args: &[&str]| {
            let program = Path::new(env!("CARGO_BIN_EXE_carp")).parent().unwrap();
            let path = std::env::var("PATH").unwrap_or_default();
            let mut command = Command::new(shell);
            command.args(args).current_dir(folder.path()).env("FLEET", fleet.path());
            command.env("HOME", folder.path()).env_remove("CARP_FLEET");
            command.env("PATH", format!("{}:{path}", program.display()));
            Ran::of(command)
        };
        let read = run(&["-n", &name]);
        assert_eq!((read.exit, read.err.as_str()), (0, ""), "{shell}");
        let ran = run(&["-c", script]);
        let offered: Vec<_> =
            ran.out.lines().map(|line| line.split('\t').next().unwrap()).collect();
        assert_eq!(offered, ["w-eus", "w-weu"], "{shell}: {}{}", ran.out, ran.err);
    }
}
