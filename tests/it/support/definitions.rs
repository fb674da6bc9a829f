//! API servers that serve definitions from their start.
//!
//! A server builds its whole `OpenAPI` anew for every definition that it learns, which is most of what a
//! test with a server costs. So the definitions are learned once: what etcd has then is kept in cargo's
//! folder for the files of tests, and each test begins with a copy of it. What they say to people of their fields, which is seven
//! tenths of them, changes nothing that a server does, and is left out.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde::Deserialize as _;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::apiserver::ApiServer;
use super::objects::Objects;

/// Held while definitions are learned, for two tests would learn the same.
static LEARNING: Mutex<()> = Mutex::new(());

/// A pair whose server serves the definitions of these files, which have a name together; `None` where
/// `KUBEBUILDER_ASSETS` is unset.
#[expect(clippy::disallowed_methods, reason = "tests read their environment")]
pub(crate) fn serving(set: &str, files: &[PathBuf]) -> Option<ApiServer> {
    let assets = std::env::var_os("KUBEBUILDER_ASSETS")?;
    // What was kept with descriptions is not taken.
    let mut digest = Sha256::new_with_prefix("without descriptions");
    for program in ["etcd", "kube-apiserver"].map(|name| Path::new(&assets).join(name)) {
        // Another version has another length.
        digest.update(fs::metadata(program).unwrap().len().to_be_bytes());
    }
    for file in files {
        digest.update(fs::read(file).unwrap());
    }
    let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("apiserver-{set}"));
    {
        let _one = LEARNING.lock().unwrap_or_else(PoisonError::into_inner);
        keep(&kept, files, &digest.finalize())?;
    }
    let dir = tempfile::tempdir().unwrap();
    copy(&kept.join("etcd"), &dir.path().join("etcd"));
    let server = ApiServer::start_in(dir)?;
    let names = fs::read_to_string(kept.join("names")).unwrap();
    wait_served(&server, &names.lines().collect());
    Some(server)
}

/// Lets a server learn the definitions and keeps what etcd has then, unless that was done before.
fn keep(kept: &Path, files: &[PathBuf], digest: &[u8]) -> Option<()> {
    let is_kept = || fs::read(kept.join("digest")).is_ok_and(|known| known == digest);
    if is_kept() {
        return Some(());
    }
    let parent = kept.parent().unwrap();
    let server = ApiServer::start_in(tempfile::tempdir_in(parent).unwrap())?;
    let names = learn(&server, &[without_descriptions(server.dir(), files)]);
    let learned = tempfile::tempdir_in(parent).unwrap();
    server.end_into(&learned.path().join("etcd"));
    fs::write(learned.path().join("names"), names).unwrap();
    fs::write(learned.path().join("digest"), digest).unwrap();
    let _ = fs::remove_dir_all(kept);
    // Another run of the tests may have been faster.
    assert!(
        fs::rename(learned.path(), kept).is_ok() || is_kept(),
        "{} is not kept",
        kept.display()
    );
    Some(())
}

/// The definitions of these files in one, without the descriptions of fields.
fn without_descriptions(dir: &Path, files: &[PathBuf]) -> PathBuf {
    let texts = files.iter().map(|file| fs::read_to_string(file).unwrap());
    let documents = texts.flat_map(|text| {
        let documents = serde_yaml::Deserializer::from_str(&text);
        documents.map(|document| Value::deserialize(document).unwrap()).collect::<Vec<_>>()
    });
    let items: Vec<Value> = documents.filter(|document| !document.is_null()).map(bare).collect();
    let list = dir.join("definitions.json");
    let text = json!({"apiVersion": "v1", "kind": "List", "items": items}).to_string();
    fs::write(&list, text).unwrap();
    list
}

/// A definition without the descriptions of its fields.
fn bare(mut definition: Value) -> Value {
    for version in definition["spec"]["versions"].as_array_mut().into_iter().flatten() {
        version.pointer_mut("/schema/openAPIV3Schema").into_iter().for_each(undescribed);
    }
    definition
}

fn undescribed(schema: &mut Value) {
    let Some(schema) = schema.as_object_mut() else { return };
    schema.remove("description");
    for (keyword, value) in schema {
        match (keyword.as_str(), value) {
            ("properties" | "patternProperties", Value::Object(fields)) => {
                fields.values_mut().for_each(undescribed);
            }
            ("allOf" | "anyOf" | "oneOf", Value::Array(of)) => of.iter_mut().for_each(undescribed),
            ("items" | "additionalProperties" | "not", of) => undescribed(of),
            _ => {}
        }
    }
}

/// Lets a server learn definitions and waits until it serves them; the names of all that it knows then,
/// a line each.
pub(crate) fn learn(server: &ApiServer, files: &[PathBuf]) -> String {
    let files: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
    let mut args = vec!["create", "--validate=false"];
    args.extend(files.iter().flat_map(|file| ["-f", file]));
    server.kubectl(&args);
    wait_established(server);
    let names = server.kubectl(&["get", "crd", "-o", r"jsonpath={.items[*].metadata.name}"]);
    wait_served(server, &names.split(' ').collect());
    names.replace(' ', "\n")
}

/// Until the server has taken every definition that it has.
///
/// Asked anew where it fails: a definition's conditions are `null` at first, and `kubectl wait` ends with
/// an error over one that it reads then (`kubectl`'s `pkg/cmd/wait/condition.go`).
fn wait_established(server: &ApiServer) {
    let all = ["wait", "--for=condition=Established", "crd", "--all", "--timeout=60s"];
    for _ in 0..100 {
        if server.kubectl_may_fail(&all).status.success() {
            return;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    server.kubectl(&all);
}

/// Until the server offers every one of the kinds; half a minute at most.
fn wait_served(server: &ApiServer, names: &BTreeSet<&str>) {
    let objects = server.objects();
    let groups: BTreeSet<&str> =
        names.iter().filter_map(|name| name.split_once('.')).map(|n| n.1).collect();
    for _ in 0..100 {
        let offered: BTreeSet<String> =
            groups.iter().flat_map(|group| offered(&objects, group)).collect();
        if names.iter().all(|name| offered.contains(*name)) {
            return;
        }
        std::thread::sleep(Duration::from_millis(300));
    }
    panic!("some of these kinds are not served: {names:?}");
}

/// The names of the definitions of a group that the server offers, in any version.
fn offered(objects: &Objects, group: &str) -> Vec<String> {
    let of = |value: Value, list: &str, key: &str| -> Vec<String> {
        let items = value[list].as_array().into_iter().flatten();
        items.filter_map(|item| Some(item[key].as_str()?.to_owned())).collect()
    };
    let answer = |path: String| objects.get_if_ready(&path).unwrap_or_default();
    let versions = of(answer(format!("/apis/{group}")), "versions", "groupVersion");
    let kinds = versions
        .iter()
        .flat_map(|version| of(answer(format!("/apis/{version}")), "resources", "name"));
    kinds.map(|plural| format!("{plural}.{group}")).collect()
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else if entry.path().extension().is_none_or(|e| e != "tmp") {
            // etcd makes files in advance, whose names end so.
            fs::copy(entry.path(), to).unwrap();
        }
    }
}
