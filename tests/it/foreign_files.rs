//! Files of others beside carp's, seen from other clones than the one that wrote beside them: the tree of carp's own
//! files alone is in no commit, and every clone finds the same all the same.

use std::collections::BTreeMap;

use crate::support::people::Person;
use crate::support::{Remote, git, small};

const NOTES: [&str; 3] = [
    "workers/w-weu/clusters/echo/NOTES.md",
    "workers/w-weu/clusters/echo/more/NOTES.md",
    "control-plane/w-weu/NOTES.md",
];
const ECHO: &str = "workers/w-weu/clusters/echo/cluster.yaml";
const LOCKS: [&str; 2] = ["workers/w-weu/carp.lock", "control-plane/fleet.lock"];

struct Shared {
    remote: Remote,
    author: Person,
}

impl Shared {
    /// A fleet with notes of people in two folders, both of which were written anew beside them.
    fn new() -> Self {
        let remote = Remote::new();
        let author = Person::cloning(&remote.url());
        author.push(&small::files());
        let shared = Self { remote, author };
        let writer = shared.another();
        writer.reconciles();
        shared.by_hand(&NOTES.map(|path| (path, Some("a person's\n".to_owned()))));
        let files = small::files();
        let edited =
            |path: &str, from: &str, to: &str| (path.to_owned(), files[path].replace(from, to));
        shared.author.push(&BTreeMap::from([
            edited("fleet/clusters/echo.yaml", "replicas: 2", "replicas: 5"),
            edited("fleet/workers/w-weu.yaml", "replicas: 3", "replicas: 5"),
        ]));
        git(&writer.path(), &["pull", "--quiet", "origin", "main"]);
        let said = writer.reconciles();
        assert!(said.contains("committed carp/rendered"), "{said}");
        assert!(shared.text(ECHO).contains("replicas: 5"));
        shared
    }

    /// A clone that has nothing but what is at the remote.
    fn another(&self) -> Person {
        let clone = Person::cloning(&self.remote.url());
        git(&clone.path(), &["pull", "--quiet", "origin", "main"]);
        clone
    }

    /// Writes files of the output branch, or takes them away.
    fn by_hand(&self, files: &[(&str, Option<String>)]) {
        let person = Person::cloning(&self.remote.url());
        git(&person.path(), &["checkout", "--quiet", "carp/rendered"]);
        for (path, text) in files {
            match text {
                Some(text) => person.write(path, text),
                None => std::fs::remove_file(person.path().join(path)).unwrap(),
            }
        }
        git(&person.path(), &["add", "--all"]);
        git(&person.path(), &["commit", "--quiet", "-m", "by hand"]);
        git(&person.path(), &["push", "--quiet", "origin", "HEAD:carp/rendered"]);
    }

    fn text(&self, path: &str) -> String {
        git(&self.remote.path(), &["cat-file", "blob", &format!("carp/rendered:{path}")])
    }

    /// A new clone has nothing to do, and nothing to say but that there are such files.
    #[track_caller]
    fn is_settled(&self) {
        let said = self.another().reconciles();
        assert!(said.contains("nothing to commit"), "{said}");
        assert!(!said.contains("hand-edit") && !said.contains("error"), "{said}");
        for path in NOTES {
            assert_eq!(self.text(path), "a person's", "{path}");
        }
        assert!(self.another().replays() > 0);
    }
}

#[test]
fn another_clone_knows_what_is_carps() {
    Shared::new().is_settled();
}

#[test]
fn another_clone_sets_back_what_was_edited_beside_them() {
    let shared = Shared::new();
    let good = shared.text(ECHO);
    shared.by_hand(&[(ECHO, Some(format!("# by hand\n{good}\n")))]);
    let said = shared.another().reconciles();
    assert!(said.contains("hand-edit") && !said.contains("output-collision"), "{said}");
    assert_eq!(shared.text(ECHO), good);
    shared.is_settled();
}

#[test]
fn another_clone_deletes_what_is_carps_and_nothing_else() {
    let shared = Shared::new();
    std::fs::remove_file(shared.author.path().join("fleet/clusters/echo.yaml")).unwrap();
    shared.author.push_one("README.md", "Without echo.\n");
    let said = shared.another().reconciles();
    assert!(said.contains("committed carp/rendered"), "{said}");
    assert!(!shared.text(ECHO).contains("kind: Cluster\n"), "its deletion has begun");
    shared.is_settled();
}

#[test]
fn locks_that_were_lost_say_it_again() {
    let shared = Shared::new();
    let before = LOCKS.map(|path| shared.text(path));
    shared.by_hand(&LOCKS.map(|path| (path, None)));
    shared.another().carp(&["reconcile", "--once"]);
    shared.another().carp(&["reconcile", "--once"]);
    let files = |text: &str| text.matches("\"files\"").count();
    assert_eq!(
        LOCKS.map(|path| files(&shared.text(path))),
        before.each_ref().map(|text| files(text))
    );
    shared.is_settled();
}
