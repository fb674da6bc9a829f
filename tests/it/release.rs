//! The release recipe, as far as it needs no compiler: what is packed, what is in it, checksums and the signature;
//! and the action that installs what was released.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::support::reconciled::Ran;

const TARGET: &str = "x86_64-unknown-linux-musl";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// `.ci/release ARGS`, with a time of the commit.
fn release(args: &[&str]) -> Ran {
    let mut command = Command::new(root().join(".ci/release"));
    command.args(args).stdin(Stdio::null()).env("SOURCE_DATE_EPOCH", "1793491200");
    Ran::of(command)
}

#[track_caller]
fn released(args: &[&str]) -> String {
    let ran = release(args);
    assert_eq!(ran.exit, 0, "{args:?}: {}{}", ran.out, ran.err);
    ran.out
}

/// A program that stands in for carp, and a folder for what is released.
fn stage() -> (tempfile::TempDir, PathBuf, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let program = dir.path().join("carp");
    executable(&program, "#!/bin/sh\necho carp\n");
    let out = dir.path().join("out");
    (dir, program, out)
}

fn executable(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn what_is_packed_is_the_same_each_time_and_only_the_archive_has_the_version_in_its_name() {
    let (dir, program, out) = stage();
    let again = dir.path().join("again");
    for to in [&out, &again] {
        released(&["archive", TARGET, program.to_str().unwrap(), to.to_str().unwrap()]);
        // Neither the time nor the rights of the folder matter.
        fs::set_permissions(&program, fs::Permissions::from_mode(0o700)).unwrap();
    }
    let name = format!("carp-{}-{TARGET}", env!("CARGO_PKG_VERSION"));
    let archive = format!("{name}.tar.gz");
    assert_eq!(fs::read(out.join(&archive)).unwrap(), fs::read(again.join(&archive)).unwrap());
    // Renovate moves a pinned address to another version by its folder, and leaves the name of the file.
    let bare = out.join(format!("carp-{TARGET}"));
    assert_eq!(fs::read(bare).unwrap(), fs::read(&program).unwrap());
    let mut list = Command::new("tar");
    list.arg("tzf").arg(out.join(&archive));
    let listed = Ran::of(list).out;
    let wanted = ["", "CHANGELOG.md", "LICENSE", "README.md", "carp"];
    let wanted = wanted.map(|file| format!("{name}/{file}"));
    assert_eq!(listed.lines().collect::<Vec<_>>(), wanted);
    let refused = release(&["archive", "m68k-unknown-none", "/bin/sh", out.to_str().unwrap()]);
    assert_eq!(refused.exit, 1, "{}", refused.err);
    assert!(refused.err.contains("no target m68k-unknown-none"), "{}", refused.err);
}

#[test]
fn the_list_of_parts_is_what_is_built_and_no_more() {
    let dir = tempfile::tempdir().unwrap();
    let texts = ["a", "b"].map(|folder| {
        let out = dir.path().join(folder);
        released(&["sbom", out.to_str().unwrap()]);
        let file = format!("carp-{}.cdx.json", env!("CARGO_PKG_VERSION"));
        fs::read_to_string(out.join(file)).unwrap()
    });
    assert_eq!(texts[0], texts[1], "the same lock gives the same list");
    let bom: Value = serde_json::from_str(&texts[0]).unwrap();
    assert_eq!((&bom["bomFormat"], &bom["specVersion"]), (&"CycloneDX".into(), &"1.5".into()));
    let parts = bom["components"].as_array().unwrap();
    let names: BTreeSet<&str> = parts.iter().map(|part| part["name"].as_str().unwrap()).collect();
    for built in ["kube", "git2", "libgit2-sys", "rustls", "tokio", "rustix", "jsonschema"] {
        assert!(names.contains(built), "{built} is built in");
    }
    for of_tests in ["insta", "proptest", "serde_yaml", "rcgen"] {
        assert!(!names.contains(of_tests), "{of_tests} is for tests alone");
    }
    for part in parts {
        let sum = part["hashes"][0]["content"].as_str().unwrap_or_default();
        assert_eq!(sum.len(), 64, "{part}");
        let purl = part["purl"].as_str().unwrap();
        assert!(purl.starts_with("pkg:cargo/"), "{purl}");
    }
    let refs: BTreeSet<_> = parts.iter().map(|part| part["bom-ref"].to_string()).collect();
    assert_eq!(refs.len(), parts.len(), "each part once");
}

#[test]
fn what_was_changed_after_the_checksums_is_found() {
    let (dir, program, out) = stage();
    let to = out.to_str().unwrap();
    released(&["archive", TARGET, program.to_str().unwrap(), to]);
    released(&["sbom", to]);
    released(&["checksums", to]);
    released(&["verify", to]);
    let sums = fs::read_to_string(out.join("SHA256SUMS")).unwrap();
    assert_eq!(sums.lines().count(), 3, "{sums}");

    // What signs is called with the file of checksums, and leaves its bundle beside it.
    let bin = dir.path().join("bin");
    fs::create_dir(&bin).unwrap();
    executable(&bin.join("cosign"), "#!/bin/sh\necho \"$*\" > \"$4\"\n");
    let mut sign = Command::new(root().join(".ci/release"));
    let path = std::env::var("PATH").unwrap();
    sign.args(["sign", to]).env("PATH", format!("{}:{path}", bin.display()));
    assert_eq!(Ran::of(sign).exit, 0);
    let asked = fs::read_to_string(out.join("SHA256SUMS.sigstore.json")).unwrap();
    assert_eq!(asked, "sign-blob --yes --bundle SHA256SUMS.sigstore.json SHA256SUMS\n");
    released(&["verify", to]);

    for more in ["more", ".more", "SHA256SUMS.exe", "carp-x86_64-unknown.linux-musl"] {
        fs::write(out.join(more), "x").unwrap();
        let found = release(&["verify", to]).err;
        assert!(found.contains(&format!("{more} is not in SHA256SUMS")), "{more}: {found}");
        fs::remove_file(out.join(more)).unwrap();
    }
    fs::write(out.join(format!("carp-{TARGET}")), "another").unwrap();
    let found = release(&["verify", to]);
    assert_eq!(found.exit, 1, "{}", found.err);
    assert!(found.err.contains("is not what SHA256SUMS says"), "{}", found.err);
}

/// A copy of what makes an image, with a docker and a cosign that say what they were asked.
fn image_stage() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let repository = dir.path().join("repository");
    fs::create_dir_all(repository.join(".ci")).unwrap();
    for path in [".ci/release", "deploy", "Cargo.toml"] {
        let mut copy = Command::new("cp");
        copy.arg("-R").arg(root().join(path)).arg(repository.join(path));
        assert_eq!(Ran::of(copy).exit, 0, "{path}");
    }
    let bin = dir.path().join("bin");
    fs::create_dir(&bin).unwrap();
    let docker = "#!/bin/sh\necho \"docker $*\" >> \"$ASKED\"\nfor told; do :; done\n\
                  printf '{\"containerimage.digest\": \"%s\"}\\n' \"$DIGEST\" > \"$told\"\n";
    executable(&bin.join("docker"), docker);
    executable(&bin.join("cosign"), "#!/bin/sh\necho \"cosign $*\" >> \"$ASKED\"\n");
    (dir, repository)
}

#[test]
fn an_image_is_signed_and_the_manifests_of_its_release_name_its_digest() {
    let (dir, repository) = image_stage();
    let (out, asked) = (dir.path().join("out"), dir.path().join("asked"));
    let run = |digest: &str| {
        let mut command = Command::new(repository.join(".ci/release"));
        let path =
            format!("{}:{}", dir.path().join("bin").display(), std::env::var("PATH").unwrap());
        command.args(["image", "r.example.com/carp"]).arg(&out).stdin(Stdio::null());
        command.env("PATH", path).env("ASKED", &asked).env("DIGEST", digest);
        command.env("SOURCE_DATE_EPOCH", "1793491200");
        Ran::of(command)
    };
    let digest = format!("sha256:{}", "5a".repeat(32));
    let ran = run(&digest);
    assert_eq!(ran.exit, 0, "{}{}", ran.out, ran.err);
    let version = env!("CARGO_PKG_VERSION");
    let calls = fs::read_to_string(&asked).unwrap();
    let calls: Vec<_> = calls.lines().collect();
    assert!(calls[0].starts_with("docker buildx build"), "{calls:?}");
    for part in [&format!("--tag r.example.com/carp:{version} --push"), "--sbom=true"] {
        assert!(calls[0].contains(part), "{part} in {calls:?}");
    }
    assert_eq!(calls[1], format!("cosign sign --yes r.example.com/carp@{digest}"));

    let name = format!("carp-{version}-deploy");
    let mut unpack = Command::new("tar");
    unpack.arg("xzf").arg(out.join(format!("{name}.tar.gz"))).arg("-C").arg(dir.path());
    assert_eq!(Ran::of(unpack).exit, 0);
    for file in ["kustomization.yaml", "agent/kustomization.yaml", "flux/carp.yaml"] {
        let pinned = fs::read_to_string(dir.path().join(&name).join(file)).unwrap();
        assert!(
            pinned.contains(&digest) && pinned.contains("newName: r.example.com/carp"),
            "{file}"
        );
        let there = fs::read(repository.join("deploy").join(file)).unwrap();
        assert_eq!(there, fs::read(root().join("deploy").join(file)).unwrap(), "{file} stays");
    }
    let unknown = run("");
    assert_eq!(unknown.exit, 1, "{}", unknown.out);
    assert!(unknown.err.contains("buildx did not say what it pushed"), "{}", unknown.err);
}

#[test]
fn nothing_is_pushed_of_a_tag_that_is_not_the_version() {
    let text = fs::read_to_string(root().join(".ci/release.github.yaml")).unwrap();
    let workflow: serde_yaml::Value = serde_yaml::from_str(&text).unwrap();
    let jobs = workflow["jobs"].as_mapping().unwrap();
    for (job, said) in jobs {
        let steps = said["steps"].as_sequence().unwrap();
        let at = |found: &dyn Fn(&str) -> bool| {
            steps.iter().position(|step| step["run"].as_str().is_some_and(found))
        };
        let tag = r#"test "$GITHUB_REF_NAME" = "v$(.ci/release version)""#;
        let tested = at(&|run| run == tag).unwrap_or_else(|| panic!("{job:?} looks at no tag"));
        let makes = at(&|run| run.contains(".ci/release ") && run != tag).unwrap();
        assert!(tested < makes, "{job:?}");
    }
    assert_eq!(workflow["jobs"]["image"]["needs"], "program");
    let needs = workflow["jobs"]["publish"]["needs"].as_sequence().unwrap();
    assert_eq!(needs, &["program", "image"].map(serde_yaml::Value::from));
    for signs in ["image", "publish"] {
        let job = &workflow["jobs"][signs];
        assert_eq!(job["permissions"]["id-token"], "write", "{signs}");
        let uses = job["steps"].as_sequence().unwrap().iter().filter_map(|s| s["uses"].as_str());
        assert!(uses.clone().any(|used| used.starts_with("sigstore/cosign-installer@")), "{signs}");
    }
}

#[test]
fn the_workflow_calls_the_parts_for_every_target() {
    let text = fs::read_to_string(root().join(".ci/release.github.yaml")).unwrap();
    let workflow: serde_yaml::Value = serde_yaml::from_str(&text).unwrap();
    let matrix =
        workflow["jobs"]["program"]["strategy"]["matrix"]["include"].as_sequence().unwrap();
    let targets: Vec<_> = matrix.iter().map(|one| one["target"].as_str().unwrap()).collect();
    assert_eq!(targets, released(&["targets"]).lines().collect::<Vec<_>>());
    assert_eq!(released(&["version"]).trim(), env!("CARGO_PKG_VERSION"));
    let script = fs::read_to_string(root().join(".ci/release")).unwrap();
    let called: BTreeSet<&str> = text
        .match_indices(".ci/release ")
        .filter_map(|(at, start)| text[at + start.len()..].split([' ', ')', '\n', ',']).next())
        .filter(|part| !part.is_empty() && *part != "which")
        .collect();
    for part in ["archive", "build", "checksums", "image", "sbom", "sign", "verify", "version"] {
        assert!(called.contains(part), "{part} is not called: {called:?}");
        assert!(script.contains(&format!("\n{part}() {{")), "{part} is no part");
    }
}

#[test]
fn the_action_installs_what_is_pinned_and_nothing_else() {
    let text = fs::read_to_string(root().join("deploy/action/action.yml")).unwrap();
    let action: serde_yaml::Value = serde_yaml::from_str(&text).unwrap();
    let step = &action["runs"]["steps"][0];
    let (dir, program, _) = stage();
    let mut sum = Command::new("sha256sum");
    sum.arg(&program);
    let sum = Ran::of(sum).out.split(' ').next().unwrap().to_owned();
    let run = |sum: &str| {
        let mut command = Command::new("sh");
        command.args(["-c", step["run"].as_str().unwrap()]).stdin(Stdio::null());
        command.env("GITHUB_ACTION_PATH", root().join("deploy/action"));
        command.env("RUNNER_TOOL_CACHE", dir.path().join("cache"));
        command.env("GITHUB_PATH", dir.path().join("path"));
        command.env("GITHUB_OUTPUT", dir.path().join("output"));
        command.env("CARP_URL", format!("file://{}", program.display())).env("CARP_SHA256", sum);
        Ran::of(command)
    };
    let refused = run(&"0".repeat(64));
    assert_eq!(refused.exit, 1, "{}", refused.out);
    assert!(refused.err.contains("has the checksum"), "{}", refused.err);
    assert!(!dir.path().join("path").exists(), "what is not pinned is on no path");
    let installed = run(&sum);
    assert_eq!(installed.exit, 0, "{}", installed.err);
    let output = fs::read_to_string(dir.path().join("output")).unwrap();
    let there = output.trim().strip_prefix("program=").unwrap();
    assert_eq!(Ran::of(Command::new(there)).out, "carp\n");
    // From then on it is there without asking anybody.
    fs::remove_file(&program).unwrap();
    assert_eq!(run(&sum).exit, 0);
    let inputs = action["inputs"].as_mapping().unwrap();
    assert_eq!(inputs.len(), 2, "{inputs:?}");
}
