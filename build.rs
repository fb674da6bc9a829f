//! Lists the files of `templates/`, which carp has built in: another flavor is another folder there and no code. What they
//! declare is listed once more as JSON, which is read in a fraction of the time that YAML takes: every command reads it.

#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a build script reads the disk and speaks to Cargo"
)]

use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// The folder of the templates.
const TEMPLATES: &str = "templates";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={TEMPLATES}");
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?).join(TEMPLATES);
    let mut paths = Vec::new();
    files(&root, &mut paths)?;
    paths.sort();
    let mut list = String::from("&[\n");
    let mut manifests = String::from("&[\n");
    for path in paths {
        let name = path.strip_prefix(&root)?.to_str().ok_or("a path that is no text")?;
        let name = name.replace('\\', "/");
        // The folder of the sources is named when they are compiled, wherever they lie then.
        let file = format!("/{TEMPLATES}/{name}");
        let text = format!("include_str!(concat!(env!(\"CARGO_MANIFEST_DIR\"), {file:?}))");
        writeln!(list, "    ({name:?}, {text}),")?;
        if let Some(json) = manifest(&fs::read_to_string(&path)?) {
            writeln!(manifests, "    ({name:?}, {json:?}),")?;
        }
    }
    let out = PathBuf::from(env::var("OUT_DIR")?);
    for (file, mut list) in [("templates.rs", list), ("manifests.rs", manifests)] {
        list.push(']');
        fs::write(out.join(file), list)?;
    }
    Ok(())
}

/// What a file declares, as JSON; `None` for a template.
fn manifest(text: &str) -> Option<String> {
    if text.contains("{{") || text.contains("{%") {
        return None;
    }
    let value: serde_json::Value = serde_saphyr::from_str(text).ok()?;
    // A template may happen to have nothing in it that is filled in: then it is an object of Kubernetes.
    let declares = value.is_object() && value.get("apiVersion").is_none();
    declares.then(|| value.to_string())
}

/// The YAML files of a folder and of those below it; tests of templates stay outside.
fn files(folder: &Path, into: &mut Vec<PathBuf>) -> Result<(), Box<dyn Error>> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() && !path.ends_with("tests") {
            files(&path, into)?;
        } else if path.extension().is_some_and(|end| end == "yaml") {
            into.push(path);
        }
    }
    Ok(())
}
