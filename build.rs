//! Lists the files of `templates/`, which carp has built in: another flavor is another folder there and no code.

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
    for path in paths {
        let name = path.strip_prefix(&root)?.to_str().ok_or("a path that is no text")?;
        let name = name.replace('\\', "/");
        // The folder of the sources is named when they are compiled, wherever they lie then.
        let file = format!("/{TEMPLATES}/{name}");
        let text = format!("include_str!(concat!(env!(\"CARGO_MANIFEST_DIR\"), {file:?}))");
        writeln!(list, "    ({name:?}, {text}),")?;
    }
    list.push(']');
    fs::write(PathBuf::from(env::var("OUT_DIR")?).join("templates.rs"), list)?;
    Ok(())
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
