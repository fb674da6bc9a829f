//! What a run committed: the message, and the files and folders that are new, other or gone.

use std::fmt::Write as _;

use carp::model::{Dir, Entry, EntryKind, Id, Store};

use crate::support::golden::without_ids;
use crate::support::world::files_below;

/// A commit's message without what differs from run to run, and what differs between two trees.
pub(super) fn told(store: &dyn Store, message: &str, before: Option<Id>, after: Id) -> String {
    let mut out = "carp/rendered:\n".to_owned();
    let said = said(message);
    for line in said.lines() {
        let _ = writeln!(out, "  {line}");
    }
    if !said.is_empty() {
        out.push('\n');
    }
    changes(store, before, after, "", &mut out);
    out
}

/// The message without its first line, which a run prints, and without its trailers.
pub(super) fn said(message: &str) -> String {
    let lines = message.lines().skip(2).filter(|line| !line.starts_with("Carp-"));
    without_ids(&lines.collect::<Vec<_>>().join("\n")).trim_end().to_owned()
}

fn changes(store: &dyn Store, before: Option<Id>, after: Id, at: &str, out: &mut String) {
    let was = before.map_or_else(|| Dir::default().into(), |id| store.dir(id).unwrap());
    let is = store.dir(after).unwrap();
    let mut names: Vec<&str> = was.iter().chain(is.iter()).map(|(name, _)| name).collect();
    names.sort_unstable();
    names.dedup();
    for name in names {
        let path = if at.is_empty() { name.to_owned() } else { format!("{at}/{name}") };
        let line = match (was.get(name), is.get(name)) {
            (Some(was), Some(is)) if was.id == is.id => continue,
            (Some(was), Some(is)) if was.kind == EntryKind::Dir && is.kind == EntryKind::Dir => {
                changes(store, Some(was.id), is.id, &path, out);
                continue;
            }
            (Some(_), Some(_)) => format!("~ {path}"),
            (None, Some(is)) => format!("+ {path}{}", whole(store, is)),
            (Some(was), None) => format!("- {path}{}", whole(store, was)),
            (None, None) => continue,
        };
        let _ = writeln!(out, "  {line}");
    }
}

/// What is below a folder that is new or gone as a whole: its one file, or how many it has.
fn whole(store: &dyn Store, entry: Entry) -> String {
    if entry.kind != EntryKind::Dir {
        return String::new();
    }
    let mut files = Vec::new();
    files_below(store, entry.id, "", &mut |path, _| files.push(path.to_owned()));
    match files.as_slice() {
        [file] => format!("/{file}"),
        _ => format!("/ ({} files)", files.len()),
    }
}
