//! What differs, what stays beside new content, and what is in the way.

use super::*;
use crate::change::fixture::{Memory, folder};
use crate::model::blob_id;

fn dir(id: Id) -> Entry {
    Entry { kind: EntryKind::Dir, id }
}

/// What a folder has otherwise than expected, in words.
fn unlike(expected: &str, actual: &str) -> String {
    let store = Memory::default();
    let expected = files_of(&store, folder(&store, expected)).unwrap();
    told(&compare(&store, Some(dir(folder(&store, actual))), &expected).unwrap())
}

fn told(unlike: &Unlike) -> String {
    let edited = unlike.edited.iter().map(|(path, edit, _)| format!("{path} {edit}"));
    let foreign = unlike.foreign.iter().map(|(path, _)| format!("{path} foreign"));
    edited.chain(foreign).collect::<Vec<_>>().join(", ")
}

#[test]
fn what_differs_is_changed_removed_or_foreign() {
    assert_eq!(unlike("a=1 b/c=2", "a=1 b/c=2"), "");
    assert_eq!(unlike("a=1 b/c=2", "a=9 b/c=2"), "a changed");
    assert_eq!(unlike("a=1 b/c=2", "a=1"), "b/c removed");
    assert_eq!(unlike("a=1 b/c=2 b/d=3", "b/d=3"), "a removed, b/c removed");
    assert_eq!(unlike("a=1", "a=1 b=2 c/d=3 c/e=4"), "b foreign, c foreign");
    assert_eq!(unlike("a/b=1", "a/b=1 a/c=2"), "a/c foreign");
    // Names that sort between a folder and what is below it.
    assert_eq!(unlike("a/b=1 a-b=2 ab=3", "a/b=1 a-b=2 ab=3 a.b=4"), "a.b foreign");
}

#[test]
fn a_file_where_a_folder_was_is_foreign_and_the_folder_gone() {
    assert_eq!(unlike("a/b=1 a/c=2", "a=9"), "a/b removed, a/c removed, a foreign");
    assert_eq!(unlike("a=9", "a/b=1"), "a removed, a foreign");
}

#[test]
fn a_bit_is_a_change_too() {
    let store = Memory::default();
    let expected = files_of(&store, folder(&store, "a=1")).unwrap();
    let mut changed = Dir::default();
    changed.insert("a", Entry { kind: EntryKind::Executable, id: blob_id(b"1") });
    let changed = store.put_dir(&changed).unwrap();
    assert_eq!(told(&compare(&store, Some(dir(changed)), &expected).unwrap()), "a changed");
}

#[test]
fn a_folder_that_is_owned_as_a_whole_is_entered_where_it_differs() {
    let store = Memory::default();
    let expected = |files| ExpectedFolder::from([("w/c".to_owned(), dir(folder(&store, files)))]);
    let actual = |files| Some(dir(folder(&store, files)));
    let told = |e: &ExpectedFolder, a| told(&compare(&store, a, e).unwrap());
    assert_eq!(told(&expected("x=1 y=2"), actual("w/c/x=1 w/c/y=2")), "");
    let found = told(&expected("x=1 y=2 z=3"), actual("w/c/x=9 w/c/n=5 w/c/z=3"));
    assert_eq!(found, "w/c/x changed, w/c/y removed, w/c/n foreign");
    assert_eq!(told(&expected("x=1"), actual("w/d=1")), "w/c removed, w/d foreign");
    assert_eq!(told(&expected("x=1"), None), "w/c removed");
    // Nobody knows what was in it.
    let gone = ExpectedFolder::from([("w/c".to_owned(), dir(Id::from_bytes([7; 20])))]);
    assert_eq!(told(&gone, actual("w/c/x=1")), "w/c changed");
}

/// What becomes of a folder with files of other people.
fn beside(actual: &str, old: Option<&str>, new: &str) -> String {
    let store = Memory::default();
    let (actual, new) = (dir(folder(&store, actual)), folder(&store, new));
    let old = old.map(|files| folder(&store, files));
    match beside_foreign(&store, Some(actual), old, new).unwrap() {
        Ok(id) => {
            let files = files_of(&store, id).unwrap().into_iter().map(|(path, entry)| {
                let text = store.blob(entry.id).unwrap();
                format!("{path}={}", String::from_utf8_lossy(&text))
            });
            files.collect::<Vec<_>>().join(" ")
        }
        Err(taken) => format!("taken: {}", taken.join(" ")),
    }
}

#[test]
fn files_of_others_stay_beside_new_content() {
    assert_eq!(beside("a=1", Some("a=1"), "a=2"), "a=2");
    assert_eq!(beside("a=1 n=x", Some("a=1"), "a=2 b=3"), "a=2 b=3 n=x");
    assert_eq!(beside("a=9 n/o=x", Some("a=1"), "a=2"), "a=2 n/o=x");
    assert_eq!(beside("a=1 b/c=1 b/n=x", Some("a=1 b/c=1"), "a=2"), "a=2 b/n=x");
    assert_eq!(beside("n=x", None, "a=2"), "a=2 n=x");
    assert_eq!(beside("b/n=x", None, "b/c=2"), "b/c=2 b/n=x");
}

#[test]
fn a_file_of_others_is_never_written_over() {
    assert_eq!(beside("a=1 n=x", Some("a=1"), "a=2 n=3"), "taken: n");
    assert_eq!(beside("a=1 n=x", Some("a=1"), "a=2 n/o=3"), "taken: n");
    assert_eq!(beside("a=1 n/o=x", Some("a=1"), "a=2 n=3"), "taken: n");
    assert_eq!(beside("a=x", None, "a=2"), "taken: a");
    assert_eq!(beside("a=2", None, "a=2 b=3"), "a=2 b=3", "it is what would be written");
}

#[test]
fn a_file_in_place_of_a_folder_is_in_the_way_unless_it_replaced_ours() {
    let store = Memory::default();
    let new = folder(&store, "a=2");
    let file = Entry { kind: EntryKind::File, id: store.put_blob(b"x").unwrap() };
    let taken = beside_foreign(&store, Some(file), None, new).unwrap();
    assert_eq!(taken, Err(vec![String::new()]));
    let old = folder(&store, "a=1");
    assert_eq!(beside_foreign(&store, Some(file), Some(old), new).unwrap(), Ok(new));
}
