//! A Git repository as a store: the same ids as everywhere, one pack per flush, refs that move only
//! from where they were.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use carp::git::{Error, Repository, Swap};
use carp::model::{Dir, Entry, EntryKind, Id, Store, StoreError, blob_id};
use carp::store::{FolderStore, Limits, MemoryStore, Prune, checkout};
use proptest::prelude::*;

use super::support::{Clone, Remote, breadth, draft, git, git_may_fail, skip};

type Files = BTreeMap<String, Vec<u8>>;

/// Puts files by path and returns the tree.
fn put(store: &dyn Store, files: &Files) -> Id {
    let mut top = Dir::default();
    let mut folders: BTreeMap<&str, Files> = BTreeMap::new();
    for (path, bytes) in files {
        if let Some((folder, rest)) = path.split_once('/') {
            folders.entry(folder).or_default().insert(rest.to_owned(), bytes.clone());
        } else {
            let id = store.put_blob(bytes).unwrap();
            top.insert(path, Entry { kind: EntryKind::File, id });
        }
    }
    for (folder, files) in folders {
        top.insert(folder, Entry { kind: EntryKind::Dir, id: put(store, &files) });
    }
    store.put_dir(&top).unwrap()
}

fn files(pairs: &[(&str, &str)]) -> Files {
    pairs.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec())).collect()
}

fn bare() -> (tempfile::TempDir, Repository) {
    let dir = tempfile::tempdir().unwrap();
    let repository = Repository::init_bare(dir.path(), "main").unwrap();
    (dir, repository)
}

fn packs(git_dir: &Path) -> usize {
    let entries = fs::read_dir(git_dir.join("objects/pack")).unwrap();
    entries.filter(|e| e.as_ref().unwrap().path().extension().is_some_and(|x| x == "pack")).count()
}

fn some_files() -> impl Strategy<Value = Files> {
    // `a.b` beside `a/` is where Git's order differs from that of the names.
    let path = prop::collection::vec("[ab][.-]?[ab]?", 1..4).prop_map(|parts| parts.join("/"));
    prop::collection::btree_map(path, prop::collection::vec(any::<u8>(), 0..300), 1..12)
        .prop_map(without_clashes)
}

/// Leaves out what would be a file and a folder at once.
fn without_clashes(files: Files) -> Files {
    let is_folder = |path: &str| files.keys().any(|other| other.starts_with(&format!("{path}/")));
    files.iter().filter(|(p, _)| !is_folder(p)).map(|(p, b)| (p.clone(), b.clone())).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: breadth(24, 512), failure_persistence: None, ..Default::default() })]

    #[test]
    fn the_same_files_are_the_same_tree_in_every_store(files in some_files()) {
        let memory = MemoryStore::new();
        let tree = put(&memory, &files);

        let folder = tempfile::tempdir().unwrap();
        checkout(&memory, tree, folder.path(), Prune::Keep).unwrap();
        prop_assert_eq!(FolderStore::scan(folder.path(), Limits::default()).unwrap().1, tree);

        git(folder.path(), &["init", "--quiet"]);
        git(folder.path(), &["add", "--all", "--force"]);
        prop_assert_eq!(git(folder.path(), &["write-tree"]), tree.to_string());

        let (dir, repository) = bare();
        let store = repository.store().unwrap();
        prop_assert_eq!(put(&store, &files), tree);
        store.flush().unwrap();
        let again = Repository::open(dir.path()).unwrap();
        let again = again.store().unwrap();
        let copied = tempfile::tempdir().unwrap();
        checkout(&again, tree, copied.path(), Prune::Keep).unwrap();
        prop_assert_eq!(FolderStore::scan(copied.path(), Limits::default()).unwrap().1, tree);
    }
}

#[test]
fn a_flush_is_one_pack_that_git_finds_sound() {
    let (dir, repository) = bare();
    let store = repository.store().unwrap();
    let large = "0123456789abcdef".repeat(40_000);
    let tree = put(&store, &files(&[("a/b/c", "1"), ("a/d", &large), ("e", "")]));
    let commit = store.commit(&draft(tree, &[], "first\n"));
    assert_eq!(packs(dir.path()), 0, "nothing is written before the flush");
    let flushed = store.flush().unwrap();
    assert_eq!((flushed.objects, packs(dir.path())), (7, 1));
    assert!(flushed.pack.unwrap().with_extension("idx").exists());
    repository.compare_and_swap("refs/heads/main", None, commit, "test").unwrap();
    let said = git(dir.path(), &["fsck", "--full", "--strict", "--no-dangling"]);
    assert_eq!(said, "");
    assert_eq!(git(dir.path(), &["show", "main:a/b/c"]), "1");
    assert_eq!(git(dir.path(), &["show", "main:a/d"]), large);
}

#[test]
fn what_is_there_is_not_written_again() {
    let (dir, repository) = bare();
    let store = repository.store().unwrap();
    let first = files(&[("a/b", "1"), ("c", "2")]);
    put(&store, &first);
    store.flush().unwrap();
    put(&store, &first);
    assert_eq!(store.objects_written(), 4);
    assert_eq!(store.flush().unwrap().pack, None);

    let another = Repository::open(dir.path()).unwrap();
    let another = another.store().unwrap();
    put(&another, &files(&[("a/b", "1"), ("c", "3")]));
    assert_eq!(another.objects_written(), 2, "the file and the top folder");
    another.flush().unwrap();
    assert_eq!(packs(dir.path()), 2);
}

#[test]
fn a_store_that_is_dropped_before_its_flush_wrote_nothing() {
    let (dir, repository) = bare();
    let id = repository.store().unwrap().put_blob(b"never").unwrap();
    assert!(matches!(repository.store().unwrap().blob(id), Err(StoreError::Absent { .. })));
    assert_eq!(packs(dir.path()), 0);
}

#[test]
fn what_was_put_reads_back_before_and_after_the_flush() {
    let (_dir, repository) = bare();
    let store = repository.store().unwrap();
    let tree = put(&store, &files(&[("a", "text")]));
    for _ in 0..2 {
        let id = store.dir(tree).unwrap().get("a").unwrap().id;
        assert_eq!(&*store.blob(id).unwrap(), b"text");
        assert_eq!(store.blob_size(id).unwrap(), 4);
        assert!(matches!(store.dir(id), Err(StoreError::Damaged { .. })));
        assert!(matches!(store.blob(tree), Err(StoreError::Damaged { .. })));
        assert!(matches!(store.blob(blob_id(b"else")), Err(StoreError::Absent { .. })));
        store.flush().unwrap();
    }
}

#[test]
fn objects_that_git_packed_as_deltas_read_the_same() {
    let dir = tempfile::tempdir().unwrap();
    git(dir.path(), &["init", "--quiet", "--initial-branch=main"]);
    let text = |n: u32| format!("{}{n}\n", "a line that repeats\n".repeat(200));
    for n in 0..5 {
        fs::write(dir.path().join("file"), text(n)).unwrap();
        git(dir.path(), &["add", "--all"]);
        git(dir.path(), &["commit", "--quiet", "--message", "next"]);
    }
    git(dir.path(), &["gc", "--quiet"]);
    let repository = Repository::open(dir.path()).unwrap();
    let store = repository.store().unwrap();
    for (back, n) in (0..5).rev().enumerate() {
        let commit = repository.rev_parse(&format!("HEAD~{back}")).unwrap();
        let top = store.dir(repository.commit_tree(commit).unwrap()).unwrap();
        let id = top.get("file").unwrap().id;
        assert_eq!(&*store.blob(id).unwrap(), text(n).as_bytes());
        assert_eq!(store.blob_size(id).unwrap(), text(n).len() as u64);
    }
}

#[test]
fn a_commit_reads_back_with_its_trailers() {
    let (dir, repository) = bare();
    let store = repository.store().unwrap();
    let message = "carp: 1 worker\n\nWhy.\n\nCarp-Input: abc\nCarp-Time: 2026-01-02T03:04:05Z\n";
    let root = store.commit(&draft(Id::EMPTY_DIR, &[], "root\n"));
    let commit = store.commit(&draft(Id::EMPTY_DIR, &[root], message));
    put(&store, &Files::new());
    store.flush().unwrap();
    assert_eq!(repository.message(commit).unwrap(), message);
    let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
    assert_eq!(
        repository.trailers(commit).unwrap(),
        [pair("Carp-Input", "abc"), pair("Carp-Time", "2026-01-02T03:04:05Z")]
    );
    assert_eq!(repository.parents(commit).unwrap(), [root]);
    let shown = git(dir.path(), &["log", "-1", "--format=%an <%ae> %at", &commit.to_string()]);
    assert_eq!(shown, "carp <carp@example.com> 1767323045");
}

/// A history that parts: `main` and `side` from `base`, and `other` with nothing in common.
fn parted(repository: &Repository) -> [Id; 4] {
    let store = repository.store().unwrap();
    put(&store, &Files::new());
    let base = store.commit(&draft(Id::EMPTY_DIR, &[], "base"));
    let main = store.commit(&draft(Id::EMPTY_DIR, &[base], "main"));
    let side = store.commit(&draft(Id::EMPTY_DIR, &[base], "side"));
    let other = store.commit(&draft(Id::EMPTY_DIR, &[], "other"));
    store.flush().unwrap();
    [base, main, side, other]
}

#[test]
fn ancestors_and_merge_bases() {
    let (_dir, repository) = bare();
    let [base, main, side, other] = parted(&repository);
    assert!(repository.is_ancestor(base, main).unwrap());
    assert!(repository.is_ancestor(main, main).unwrap());
    assert!(!repository.is_ancestor(main, base).unwrap());
    assert!(!repository.is_ancestor(side, main).unwrap());
    assert_eq!(repository.merge_base(main, side).unwrap(), Some(base));
    assert_eq!(repository.merge_base(main, other).unwrap(), None);
    assert!(repository.merge_base(main, Id::EMPTY_DIR).is_err());
}

#[test]
fn a_shallow_clone_says_what_it_cannot_know() {
    let remote = Remote::new();
    let writer = Clone::of(&remote.url());
    let first = writer.commit_file(None, "a", "1");
    let second = writer.commit_file(Some(first), "b", "2");
    writer.repository.push("origin", second, "refs/heads/main", None).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let url = format!("file://{}", remote.url());
    git(dir.path(), &["clone", "--quiet", "--depth=1", &url, "."]);
    let shallow = Repository::open(dir.path()).unwrap();
    assert!(shallow.is_shallow());
    let asked = shallow.is_ancestor(first, second);
    assert!(matches!(asked, Err(Error::Shallow { .. })), "{asked:?}");
    assert!(asked.unwrap_err().to_string().contains("git fetch --unshallow"));
    assert!(shallow.rev_parse("HEAD~1").unwrap_err().to_string().contains("shallow"));
}

#[test]
fn a_ref_moves_only_from_where_it_is_expected() {
    let (_dir, repository) = bare();
    let [base, main, side, _] = parted(&repository);
    let swap = |from, to| repository.compare_and_swap("refs/heads/x", from, to, "test").unwrap();
    assert_eq!(swap(Some(base), main), Swap::Raced, "it is not there yet");
    assert_eq!(swap(None, base), Swap::Moved);
    assert_eq!(swap(None, main), Swap::Raced, "it is there now");
    assert_eq!(swap(Some(base), main), Swap::Moved);
    assert_eq!(swap(Some(base), side), Swap::Raced);
    assert_eq!(repository.resolve("refs/heads/x").unwrap(), Some(main));
    assert_eq!(repository.list_refs("refs/heads/").unwrap(), [("refs/heads/x".to_owned(), main)]);
    assert_eq!(repository.compare_and_delete("refs/heads/x", base).unwrap(), Swap::Raced);
    assert_eq!(repository.compare_and_delete("refs/heads/x", main).unwrap(), Swap::Moved);
    assert_eq!(repository.resolve("refs/heads/x").unwrap(), None);
}

#[test]
fn of_many_writers_of_one_new_ref_one_wins() {
    let (dir, repository) = bare();
    let [_, main, side, other] = parted(&repository);
    for round in 0..20 {
        let name = format!("refs/heads/round/{round}");
        let winners: Vec<Id> = std::thread::scope(|scope| {
            let threads: Vec<_> = [main, side, other]
                .map(|commit| {
                    let (dir, name) = (dir.path(), &name);
                    scope.spawn(move || {
                        let repository = Repository::open(dir).unwrap();
                        let swap = repository.compare_and_swap(name, None, commit, "test").unwrap();
                        (swap == Swap::Moved).then_some(commit)
                    })
                })
                .into_iter()
                .collect();
            threads.into_iter().filter_map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(winners.len(), 1, "round {round}");
        assert_eq!(repository.resolve(&name).unwrap(), Some(winners[0]));
    }
}

#[test]
fn a_lock_that_was_left_behind_is_named() {
    let (dir, repository) = bare();
    let [base, ..] = parted(&repository);
    let lock = dir.path().join("refs/heads/x.lock");
    fs::write(&lock, "").unwrap();
    let error = repository.compare_and_swap("refs/heads/x", None, base, "test").unwrap_err();
    assert!(matches!(error, Error::Locked { .. }), "{error:?}");
    assert!(error.to_string().contains("x.lock"), "{error}");
}

#[test]
fn a_missing_ref_is_named_with_the_fetch_that_brings_it() {
    let (_dir, repository) = bare();
    let error = repository.require("refs/remotes/origin/carp/rendered").unwrap_err().to_string();
    let line = "`git fetch origin carp/rendered:refs/remotes/origin/carp/rendered`";
    assert!(error.contains(line), "{error}");
    assert!(repository.rev_parse("nowhere").unwrap_err().to_string().contains("`nowhere`"));
}

#[test]
fn a_fleet_is_found_with_its_place_in_the_repository() {
    let dir = tempfile::tempdir().unwrap();
    git(dir.path(), &["init", "--quiet", "--initial-branch=trunk"]);
    fs::create_dir_all(dir.path().join("teams/a")).unwrap();
    let prefix = |path: &str| Repository::discover(&dir.path().join(path)).unwrap().unwrap().1;
    assert_eq!(prefix(""), "");
    assert_eq!(prefix("teams/a"), "teams/a");
    let repository = Repository::discover(dir.path()).unwrap().unwrap().0;
    assert_eq!(repository.head_branch().as_deref(), Some("trunk"));
    assert!(repository.is_checked_out("refs/heads/trunk"));
    assert!(!repository.is_checked_out("refs/heads/main"));
    assert!(repository.carp_dir().ends_with(".git/carp"));

    let outside = tempfile::tempdir().unwrap();
    assert!(Repository::discover(outside.path()).unwrap().is_none());
    let error = Repository::open(outside.path()).err().unwrap().to_string();
    assert!(error.contains("is not a Git repository"), "{error}");
}

#[test]
fn uncommitted_edits_are_named() {
    let dir = tempfile::tempdir().unwrap();
    git(dir.path(), &["init", "--quiet"]);
    for path in ["fleet/a", "fleet/b", "fleet/c", "other"] {
        fs::create_dir_all(dir.path().join("fleet")).unwrap();
        fs::write(dir.path().join(path), "1").unwrap();
    }
    git(dir.path(), &["add", "--all"]);
    git(dir.path(), &["commit", "--quiet", "--message", "first"]);
    let repository = Repository::open(dir.path()).unwrap();
    assert!(repository.uncommitted("").unwrap().is_empty());
    fs::write(dir.path().join("fleet/a"), "2").unwrap();
    fs::remove_file(dir.path().join("fleet/b")).unwrap();
    fs::write(dir.path().join("fleet/new file"), "").unwrap();
    fs::write(dir.path().join("other"), "2").unwrap();
    let below = repository.uncommitted("fleet").unwrap();
    assert_eq!(below, ["fleet/a", "fleet/b", "fleet/new file"]);
    assert_eq!(repository.uncommitted("").unwrap().len(), 4);
}

/// A work tree with few files is looked through without git: it is found clean as git finds it.
#[test]
fn a_small_work_tree_is_clean_where_git_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| fs::write(dir.path().join(path), text).unwrap();
    git(dir.path(), &["init", "--quiet"]);
    fs::create_dir(dir.path().join("fleet")).unwrap();
    write(".gitignore", "*.tmp\n");
    (0..999).for_each(|i| write(&format!("fleet/{i}"), "1"));
    git(dir.path(), &["add", "--all"]);
    git(dir.path(), &["commit", "--quiet", "--message", "first"]);
    let repository = Repository::open(dir.path()).unwrap();
    assert!(repository.has_few_files());
    let no_git = Repository::open(dir.path()).unwrap().with_program("no-such-git");
    let is_clean = || no_git.uncommitted("fleet").is_ok_and(|edits| edits.is_empty());
    assert!(is_clean(), "git is not asked");
    write("fleet/a.tmp", "ignored");
    write("elsewhere", "not below the folder");
    assert!(is_clean() && repository.uncommitted("fleet").unwrap().is_empty());
    write("fleet/1", "2");
    assert!(!is_clean(), "git is asked");
    assert_eq!(repository.uncommitted("fleet").unwrap(), ["fleet/1"]);
    git(dir.path(), &["add", "fleet/1"]);
    assert_eq!(repository.uncommitted("fleet").unwrap(), ["fleet/1"], "staged");
    git(dir.path(), &["add", "--all"]);
    assert!(!Repository::open(dir.path()).unwrap().has_few_files(), "there are 1,001");
}

#[test]
fn a_sha256_repository_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    git(dir.path(), &["init", "--quiet", "--object-format=sha256"]);
    let error = Repository::open(dir.path()).err().unwrap();
    assert!(matches!(error, Error::Sha256 { .. }), "{error:?}");
}

#[test]
fn a_repository_with_a_reftable_is_refused_in_words() {
    let dir = tempfile::tempdir().unwrap();
    let made = git_may_fail(dir.path(), &["init", "--quiet", "--ref-format=reftable"]);
    if !made.status.success() {
        return skip("a_repository_with_a_reftable_is_refused_in_words", "git has no reftables");
    }
    let error = Repository::open(dir.path()).err().unwrap();
    assert!(matches!(error, Error::Reftable { .. }), "{error:?}");
    assert!(error.to_string().contains("git refs migrate --ref-format=files"), "{error}");
}

#[test]
fn a_flush_that_fails_loses_nothing_and_can_be_tried_again() {
    let (dir, repository) = bare();
    let store = repository.store().unwrap();
    let tree = put(&store, &files(&[("a", "1")]));
    let packs_dir = dir.path().join("objects/pack");
    fs::remove_dir(&packs_dir).unwrap();
    fs::write(&packs_dir, "in the way").unwrap();
    let error = store.flush().unwrap_err().to_string();
    assert!(error.contains("writing a pack"), "{error}");
    fs::remove_file(&packs_dir).unwrap();
    fs::create_dir(&packs_dir).unwrap();
    assert_eq!(store.flush().unwrap().objects, 2);
    let again = Repository::open(dir.path()).unwrap();
    assert!(again.store().unwrap().dir(tree).is_ok());
}
