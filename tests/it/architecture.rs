//! The floors of `src/lib.rs`, held: arrows go to a lower floor only, and every file says what it is.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Every room and its floor, as the drawing in `src/lib.rs` has them. Rooms on one floor never use each
/// other.
const FLOORS: &[(&str, u8)] = &[
    ("cli", 5),
    ("reconcile", 4),
    ("agent", 4),
    ("controller", 4),
    ("kind", 4),
    ("replay", 4),
    ("simulate", 4),
    ("pipeline", 3),
    ("verify", 3),
    ("load", 2),
    ("plan", 2),
    ("render", 2),
    ("schemas", 2),
    ("overrides", 2),
    ("gate", 2),
    ("change", 2),
    ("status", 2),
    ("git", 2),
    ("store", 2),
    ("observe", 2),
    ("forge", 2),
    ("service", 2),
    ("model", 1),
    ("diag", 0),
    ("fault", 0),
    ("pattern", 0),
];

/// Crates that only some rooms may name.
const ONLY_IN: &[(&str, &[&str])] = &[
    ("git2", &["git"]),
    ("minijinja", &["render"]),
    ("clap", &["cli"]),
    ("tracing_subscriber", &["cli"]),
    ("axum", &["controller", "kind", "service"]),
    ("tokio", &["controller", "agent", "forge", "kind", "service"]),
    ("http_body_util", &["forge"]),
    ("notify", &["controller"]),
    ("prometheus_client", &["controller"]),
    ("hmac", &["controller"]),
    ("jsonschema", &["schemas"]),
    ("kube_cel", &["schemas"]),
];

/// The most lines of a file, its tests apart.
const MOST_LINES: usize = 400;

struct Source {
    /// The path below `src/`.
    path: String,
    /// The text without comments and strings.
    code: String,
    /// The text.
    text: String,
}

fn sources() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut sources: Vec<_> = rust_files(&root)
        .into_iter()
        .map(|file| {
            let text = std::fs::read_to_string(&file).unwrap();
            let path = file.strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
            Source { path, code: bare(&text), text }
        })
        .collect();
    sources.sort_by(|a, b| a.path.cmp(&b.path));
    assert!(sources.len() > 30, "the sources were found");
    sources
}

pub(crate) fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| if path.is_dir() { rust_files(&path) } else { vec![path] })
        .filter(|path| path.extension().is_some_and(|e| e == "rs"))
        .collect()
}

fn floor(room: &str) -> Option<u8> {
    FLOORS.iter().find(|(name, _)| *name == room).map(|(_, floor)| *floor)
}

/// The room that a file is in; `None` for `lib.rs` and `main.rs`, which stand outside.
fn room(path: &str) -> Option<&str> {
    let first = path.split('/').next()?;
    let name = first.strip_suffix(".rs").unwrap_or(first);
    (!["lib", "main"].contains(&name)).then_some(name)
}

/// The text without comments and the contents of strings, line breaks kept.
fn bare(text: &str) -> String {
    let bytes = text.as_bytes();
    let (mut out, mut at) = (String::new(), 0);
    while at < bytes.len() {
        let rest = &text[at..];
        let skip = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if let Some(hashes) = raw_string(rest) {
            let end = format!("\"{}", "#".repeat(hashes));
            let start = hashes + 2;
            rest[start..].find(&end).map_or(rest.len(), |found| start + found + end.len())
        } else if rest.starts_with('"') {
            string_end(rest)
        } else if rest.starts_with("'\"'") || rest.starts_with("'\\\"'") {
            rest[1..].find('\'').map_or(rest.len(), |end| end + 2)
        } else {
            0
        };
        if skip == 0 {
            let next = rest.chars().next().map_or(1, char::len_utf8);
            out.push_str(&rest[..next]);
            at += next;
        } else {
            out.extend(rest[..skip].chars().filter(|c| *c == '\n'));
            out.push(' ');
            at += skip;
        }
    }
    out
}

fn raw_string(rest: &str) -> Option<usize> {
    let after = rest.strip_prefix('r')?;
    let hashes = after.len() - after.trim_start_matches('#').len();
    after[hashes..].starts_with('"').then_some(hashes)
}

fn string_end(rest: &str) -> usize {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            '"' if !escaped => return at + 1,
            '\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    rest.len()
}

/// The steps of the module that a file is, from the root: `cli`, `show`, `plan` for `cli/show/plan/mod.rs`.
fn module(path: &str) -> Vec<&str> {
    let path = path.strip_suffix(".rs").unwrap_or(path);
    path.split('/').filter(|step| *step != "mod").collect()
}

/// The paths that a module names, each from the crate's root: in `plan::filter`, `super::{index::{a, b}, c}` names
/// `plan::index::a`, `plan::index::b` and `plan::c`.
fn named_paths<'c>(code: &'c str, module: &[&'c str]) -> Vec<Vec<&'c str>> {
    let mut found = Vec::new();
    for start in ["crate::", "super::", "self::"] {
        for (at, _) in code.match_indices(start) {
            let before = code[..at].chars().next_back();
            if !before.is_some_and(|c| c.is_alphanumeric() || "_:$".contains(c)) {
                follow(&code[at..], &[], &mut found);
            }
        }
    }
    let from_root = |path: Vec<&'c str>| {
        let ups = path.iter().take_while(|step| **step == "super").count();
        let kept = if path[0] == "crate" { 0 } else { module.len().saturating_sub(ups) };
        let below = path.into_iter().filter(|step| !["crate", "super", "self"].contains(step));
        module[..kept].iter().copied().chain(below).collect()
    };
    found.into_iter().map(from_root).collect()
}

/// Follows a path to the ends of all that it names, and gives what comes after it.
fn follow<'c>(text: &'c str, before: &[&'c str], found: &mut Vec<Vec<&'c str>>) -> &'c str {
    let (mut path, mut rest) = (before.to_vec(), text);
    loop {
        if let Some(group) = rest.strip_prefix('{') {
            rest = group.trim_start();
            while !rest.is_empty() && !rest.starts_with('}') {
                let after = follow(rest, &path, found);
                let next = after.find([',', '}']).unwrap_or(after.len());
                rest = after[next..].trim_start_matches(',').trim_start();
            }
            return rest.strip_prefix('}').unwrap_or(rest);
        }
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        path.push(&rest[..end]);
        rest = &rest[end..];
        let Some(below) = rest.strip_prefix("::") else { break };
        rest = below;
    }
    found.push(path);
    rest
}

/// The arrows of a file that go up or sideways.
fn wrong_arrows(path: &str, code: &str) -> Vec<String> {
    let Some(from) = room(path) else { return Vec::new() };
    let Some(from_floor) = floor(from) else { return vec![format!("{path}: {from} has no floor")] };
    let paths = named_paths(code, &module(path));
    let roots: BTreeSet<&str> = paths.iter().filter_map(|path| path.first().copied()).collect();
    roots
        .into_iter()
        .filter(|to| *to != from)
        .filter(|to| floor(to).is_some_and(|to_floor| to_floor >= from_floor))
        .map(|to| format!("{path}: {from} (F{from_floor}) uses {to}"))
        .collect()
}

fn names_crate(code: &str, name: &str) -> bool {
    code.match_indices(name).any(|(at, _)| {
        let word = |c: char| c.is_alphanumeric() || c == '_';
        let before = code[..at].chars().next_back().is_none_or(|c| !word(c));
        before && code[at + name.len()..].chars().next().is_none_or(|c| !word(c))
    })
}

#[test]
fn arrows_go_down() {
    let wrong: Vec<_> = sources().iter().flat_map(|s| wrong_arrows(&s.path, &s.code)).collect();
    assert!(wrong.is_empty(), "arrows that go up or sideways:\n{}", wrong.join("\n"));
}

/// Which of the files and folders in a folder each of them uses, their tests apart.
type Arrows<'a> = BTreeMap<&'a str, BTreeSet<&'a str>>;

/// The arrows inside each folder. Its `mod.rs` is the door of all that is in it, and is none of these.
fn inner_arrows(sources: &[Source]) -> BTreeMap<String, Arrows<'_>> {
    let product = || sources.iter().filter(|source| is_product(&source.path));
    let known: BTreeSet<Vec<&str>> = product().map(|source| module(&source.path)).collect();
    let mut folders: BTreeMap<String, Arrows<'_>> = BTreeMap::new();
    for source in product() {
        let (code, own) = (product_code(&source.code), module(&source.path));
        for path in named_paths(code, &own) {
            let shared = own.iter().zip(&path).take_while(|(a, b)| a == b).count();
            // Between rooms the floors say which arrows there may be.
            let (Some(from), Some(to)) = (own.get(shared), path.get(shared)) else { continue };
            if shared > 0 && known.contains(&path[..=shared]) {
                let arrows = folders.entry(own[..shared].join("/")).or_default();
                arrows.entry(from).or_default().insert(to);
                arrows.entry(to).or_default();
            }
        }
    }
    folders
}

/// A file's code above its tests.
fn product_code(code: &str) -> &str {
    code.split("#[cfg(test)]\nmod tests").next().unwrap_or_default()
}

/// Whether a file has more than tests. Models of the planner's tests are no product.
fn is_product(path: &str) -> bool {
    let tests = ["/tests/", "/laws/", "/world/", "/promises/"];
    !path.ends_with("tests.rs") && !tests.iter().any(|of| path.contains(of))
}

/// Those that come back to themselves.
fn in_circles<'a>(arrows: &Arrows<'a>) -> Vec<&'a str> {
    let comes_back = |start: &&&'a str| {
        let (mut seen, mut ahead) = (BTreeSet::new(), vec![**start]);
        while let Some(at) = ahead.pop() {
            ahead.extend(arrows[at].iter().filter(|next| seen.insert(**next)));
        }
        seen.contains(**start)
    };
    arrows.keys().filter(comes_back).copied().collect()
}

/// What two files or folders share has a file of its own below both.
#[test]
fn no_circle_stands_inside_a_folder() {
    let sources = sources();
    let folders = inner_arrows(&sources);
    assert!(folders.len() > 40, "the folders were found: {:?}", folders.keys());
    let circles = folders.iter().map(|(folder, arrows)| (folder, in_circles(arrows)));
    let circles: Vec<_> = circles.filter(|(_, found)| !found.is_empty()).collect();
    assert!(circles.is_empty(), "these come back to themselves: {circles:#?}");
}

#[test]
fn a_circle_is_found_through_others_and_not_by_a_mention_of_oneself() {
    let file = |path: &str, code: &str| Source {
        path: path.to_owned(),
        code: bare(code),
        text: String::new(),
    };
    let sources = [
        file("plan/mod.rs", "mod a; use a::x; pub(in crate::plan) fn f() {}"),
        file("plan/a.rs", "use super::b::X; use super::a::Own;"),
        file("plan/b/mod.rs", "use super::c;"),
        file("plan/b/deep.rs", "use super::super::d; use super::{flat as x, far::{self, y}};"),
        file("plan/b/far.rs", "use super::super::c;"),
        file("plan/b/flat.rs", "use crate::{model, plan::{b::deep, d}};"),
        file("plan/c.rs", "fn f() { crate::plan::a::x::<T>(); }"),
        file("plan/d.rs", "fn f() {}\n#[cfg(test)]\nmod tests { use super::super::a; }"),
        file("plan/d/tests.rs", "use crate::plan::a;"),
    ];
    let folders = inner_arrows(&sources);
    assert_eq!(folders.keys().collect::<Vec<_>>(), ["plan", "plan/b"]);
    assert_eq!(in_circles(&folders["plan"]), ["a", "b", "c"]);
    assert_eq!(in_circles(&folders["plan/b"]), ["deep", "flat"]);
    assert_eq!(folders["plan/b"]["deep"], BTreeSet::from(["far", "flat"]));
}

#[test]
fn every_room_has_a_floor_and_stands_in_the_drawing() {
    let lib =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lib.rs")).unwrap();
    for source in sources() {
        let Some(room) = room(&source.path) else { continue };
        let floor = floor(room).unwrap_or_else(|| panic!("{room} has no floor"));
        let line = lib.lines().find(|line| line.starts_with(&format!("//! F{floor} ")));
        let line = line.unwrap_or_else(|| panic!("src/lib.rs draws no F{floor}"));
        assert!(names_crate(line, room), "src/lib.rs does not draw {room} on F{floor}: {line}");
    }
}

#[test]
fn some_crates_are_named_in_their_rooms_only() {
    for source in sources() {
        for (name, owners) in ONLY_IN {
            let is_owner = room(&source.path).is_some_and(|room| owners.contains(&room));
            assert!(is_owner || !names_crate(&source.code, name), "{}: names {name}", source.path);
        }
    }
}

/// Decisions are the same on every machine: shares are fractions of whole numbers.
#[test]
fn placement_counts_without_floats() {
    for source in sources().iter().filter(|s| room(&s.path) == Some("plan")) {
        for float in ["f32", "f64"] {
            assert!(!names_crate(&source.code, float), "{}: names {float}", source.path);
        }
    }
}

#[test]
fn every_file_says_what_it_is_and_is_not_too_long() {
    for source in sources() {
        assert!(source.text.starts_with("//! "), "{}: no `//!` header", source.path);
        let lines = source.text.lines().take_while(|line| *line != "#[cfg(test)]").count();
        assert!(lines <= MOST_LINES, "{}: {lines} lines", source.path);
    }
}

/// The types that a source defines at its margin, above its tests.
fn types_of(text: &str) -> Vec<&str> {
    let code = text.split("\n#[cfg(test)]\nmod ").next().unwrap_or_default();
    let types = code.lines().filter_map(|line| {
        let line = match line.strip_prefix("pub") {
            Some(rest) if rest.starts_with("(in ") => rest.split_once(") ")?.1,
            Some(rest) => rest.split_once(' ')?.1,
            None => line,
        };
        let kinds = ["struct ", "enum ", "trait ", "type "];
        let rest = kinds.iter().find_map(|kind| line.strip_prefix(kind))?;
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
        Some(&rest[..end])
    });
    types.collect()
}

/// Whoever reads a type's name finds the one type that it is. Commands have `Args`, rooms an `Error`.
#[test]
fn a_type_is_called_once() {
    let text = "struct A;\npub(in crate::x) enum B {\n    type C;\n}\n#[cfg(test)]\nmod tests {\nstruct D;";
    assert_eq!(types_of(text), ["A", "B"]);
    let mut seen: BTreeMap<String, String> = BTreeMap::new();
    for source in sources().iter().filter(|s| is_product(&s.path)) {
        // The same type for two systems is two definitions in one file.
        let types: BTreeSet<&str> = types_of(&source.text).into_iter().collect();
        for name in types.into_iter().filter(|name| !["Args", "Error"].contains(name)) {
            let before = seen.insert(name.to_owned(), source.path.clone());
            assert_eq!(before, None, "{name} is defined in {}, too", source.path);
        }
    }
    assert!(seen.len() > 500, "the types were found");
}

/// What a reason holds is data of a kind: its sentences are made where it is told.
#[test]
fn a_reason_holds_no_bare_text() {
    let sources = sources();
    let reason = sources.iter().find(|s| s.path == "model/reason/mod.rs").unwrap();
    let (_, rest) = reason.code.split_once("pub enum Reason {").unwrap();
    let (variants, _) = rest.split_once("\n}").unwrap();
    assert!(names_crate(variants, "ResourceName") && names_crate(variants, "Evicted"));
    for text in ["String", "str", "Cow"] {
        assert!(!names_crate(variants, text), "Reason holds a {text}");
    }
}

#[test]
fn an_arrow_up_is_found_however_it_is_written() {
    let up = |code: &str| wrong_arrows("plan/filter/x.rs", &bare(code)).len();
    assert_eq!(up("use crate::cli::Io;"), 1);
    assert_eq!(up("use crate::{diag::Code, load::{a, b}, model, render};"), 2);
    assert_eq!(up("fn f() -> crate::pipeline::X { crate::model::y() }"), 1);
    assert_eq!(up("use super::super::super::load::X;"), 1);
    assert_eq!(up("use crate::plan::x; use super::super::assign; use crate::model::Id;"), 0);
    assert_eq!(
        up(
            "// crate::cli::x\n/* crate::cli */ const A: &str = \"crate::cli::\\\"x\"; const B: char = '\"';"
        ),
        0
    );
    assert_eq!(up("const A: &str = r#\"use crate::cli::\"x\"#; use crate::git::Y;"), 1);
    assert_eq!(wrong_arrows("attic/mod.rs", "").len(), 1, "a room without a floor");
}

#[test]
fn a_crate_is_named_as_a_whole_word_only() {
    assert!(names_crate("use clap::Parser;", "clap"));
    assert!(!names_crate("use clap_complete::Shell;", "clap"));
}
