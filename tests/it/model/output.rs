//! What people do on the output branch, where carp writes at the same time: they read, edit and push, and
//! do it again where carp was faster.

use std::collections::BTreeMap;
use std::fs;

use super::world::{OUTPUT, World};
use crate::support::{git, git_may_fail};

/// How often a person tries again.
const TRIES: u32 = 20;
/// What carp's own commits begin with.
const OWN: &str = "--grep=^Carp-Plan:";

impl World {
    /// Brings the output branch into the meddler's work tree.
    fn read_output(&self) -> String {
        let path = self.meddler.path();
        git(
            &path,
            &["fetch", "--quiet", "origin", "+carp/rendered:refs/remotes/origin/carp/rendered"],
        );
        git(&path, &["checkout", "--quiet", "--force", "--detach", "origin/carp/rendered"]);
        git(&path, &["clean", "--quiet", "-fd"]);
        git(&path, &["rev-parse", "HEAD"])
    }

    /// Edits the output branch until nobody was faster. `edit` gets the tip, and says what it did; `None`
    /// is nothing.
    fn meddle(&mut self, edit: impl Fn(&mut Self, &str) -> Option<String>) {
        let path = self.meddler.path();
        for _ in 0..TRIES {
            let tip = self.read_output();
            let Some(what) = edit(self, &tip) else { return };
            git(&path, &["add", "--all"]);
            if git_may_fail(&path, &["diff", "--cached", "--quiet"]).status.success() {
                return;
            }
            git(&path, &["commit", "--quiet", "-m", &what]);
            let commit = git(&path, &["rev-parse", "HEAD"]);
            let push =
                git_may_fail(&path, &["push", "--quiet", "origin", &format!("HEAD:{OUTPUT}")]);
            if push.status.success() {
                self.tell(format!(
                    "a person commits on the output branch: {what} ({})",
                    &commit[..8]
                ));
                self.know_foreign(&commit);
                return self.keep(OUTPUT, commit);
            }
        }
        self.fail("a person could not push to the output branch");
    }

    /// The foreign files are what they are in a person's commit.
    fn know_foreign(&mut self, commit: &str) {
        let read = |path: &String| {
            let text = git_may_fail(
                &self.meddler.path(),
                &["cat-file", "blob", &format!("{commit}:{path}")],
            );
            let text = text.status.success().then(|| String::from_utf8(text.stdout).unwrap())?;
            Some((path.clone(), text))
        };
        self.foreign = self.foreign_paths.iter().filter_map(read).collect::<BTreeMap<_, _>>();
    }

    /// Paths below the meddler's work tree that end so.
    fn generated(&self, end: &str) -> Vec<String> {
        let all = git(&self.meddler.path(), &["ls-files"]);
        let mut paths: Vec<_> =
            all.lines().filter(|l| l.ends_with(end)).map(str::to_owned).collect();
        paths.retain(|path| !self.foreign_paths.contains(path));
        paths
    }

    /// A file of theirs, beside what carp writes or in the middle of it.
    pub(super) fn foreign_file(&mut self) {
        let n = self.next();
        let place = self.random.below(5);
        let pick = self.random.below(1000);
        self.meddle(|world, _| {
            let some = |all: Vec<String>| {
                let path = all.get(pick % all.len().max(1))?;
                Some(path.rsplit_once('/')?.0.to_owned())
            };
            let folder = match place {
                0 => Some("notes".to_owned()),
                1 => some(world.generated("/cluster.yaml")),
                2 => some(world.generated("/carp.lock")),
                3 => Some("decisions".to_owned()),
                _ => Some("control-plane".to_owned()),
            }?;
            let path = format!("{folder}/note-{n}.md");
            world.meddler.write(&path, &format!("A note, {n}.\n"));
            world.foreign_paths.insert(path.clone());
            Some(format!("{path} is a person's"))
        });
    }

    pub(super) fn change_foreign(&mut self) {
        let n = self.next();
        let paths: Vec<_> = self.foreign.keys().cloned().collect();
        let Some(path) = paths.get(self.random.below(paths.len().max(1))).cloned() else { return };
        let removed = self.random.below(3) == 0;
        self.meddle(|world, _| {
            if removed {
                let _ = fs::remove_file(world.meddler.path().join(&path));
                return Some(format!("{path} is taken away by its person"));
            }
            world.meddler.write(&path, &format!("A note, now {n}.\n"));
            Some(format!("{path} is changed by its person"))
        });
    }

    /// Somebody mends a generated file by hand, or takes it away.
    pub(super) fn edit_generated(&mut self) {
        let (n, pick) = (self.next(), self.random.below(1000));
        let (end, removed) = match self.random.below(4) {
            0 => ("/clusters.yaml", false),
            1 => ("/cluster.yaml", true),
            _ => ("/cluster.yaml", false),
        };
        self.meddle(|world, _| {
            let paths = world.generated(end);
            let path = paths.get(pick % paths.len().max(1))?;
            let file = world.meddler.path().join(path);
            if removed {
                fs::remove_file(file).unwrap();
                return Some(format!("{path} is taken away by hand"));
            }
            let text = fs::read_to_string(&file).unwrap();
            fs::write(&file, format!("# by hand, {n}\n{text}")).unwrap();
            Some(format!("{path} is edited by hand"))
        });
    }

    pub(super) fn delete_decision(&mut self) {
        let pick = self.random.below(1000);
        self.meddle(|world, _| {
            let mut paths = world.generated(".yaml");
            paths.retain(|path| path.starts_with("decisions/"));
            let path = paths.get(pick % paths.len().max(1))?;
            fs::remove_file(world.meddler.path().join(path)).unwrap();
            Some(format!("the decision {path} is deleted"))
        });
    }

    /// Reverts a commit that is near the tip: carp's or a person's, never carp's first.
    pub(super) fn revert_output(&mut self) {
        let back = self.random.below(3);
        self.meddle(|world, _| {
            let path = world.meddler.path();
            let commit =
                git_may_fail(&path, &["rev-parse", "--verify", "--quiet", &format!("HEAD~{back}")]);
            let commit = String::from_utf8(commit.stdout).unwrap().trim().to_owned();
            if commit.is_empty() || commit == world.first_of_carp() {
                return None;
            }
            if !git_may_fail(&path, &["revert", "--no-commit", &commit]).status.success() {
                git(&path, &["reset", "--quiet", "--hard", "HEAD"]);
                return None;
            }
            git_may_fail(&path, &["revert", "--quit"]);
            Some(format!("revert of {}", &commit[..8]))
        });
    }

    /// Sets the output branch back, to carp's first commit at the earliest.
    pub(super) fn rewind_output(&mut self) {
        let path = self.meddler.path();
        self.read_output();
        let back = self.random.below(3) + 1;
        let to =
            git_may_fail(&path, &["rev-parse", "--verify", "--quiet", &format!("HEAD~{back}")]);
        let to = String::from_utf8(to.stdout).unwrap().trim().to_owned();
        let first = self.first_of_carp();
        let after = |to: &str| {
            git_may_fail(&path, &["merge-base", "--is-ancestor", &first, to]).status.success()
        };
        if to.is_empty() || !after(&to) {
            return;
        }
        let there = format!("{to}:{OUTPUT}");
        let push = git_may_fail(&path, &["push", "--quiet", "--force", "origin", &there]);
        if !push.status.success() {
            // carp's push was on its way in that very moment, and the server takes one at a time.
            self.tell("a person who sets the output branch back is refused");
            return;
        }
        self.tell(format!("a person sets the output branch back by {back}, to {}", &to[..8]));
        self.know_foreign(&to);
        self.kept.get_mut(OUTPUT).unwrap().retain(|commit| {
            git_may_fail(&path, &["merge-base", "--is-ancestor", commit, &to]).status.success()
        });
        self.keep(OUTPUT, to);
    }

    /// Makes the output what it was at a commit, with the people's files as they are.
    pub(super) fn restore_output(&mut self, good: &str) {
        let foreign = self.foreign.clone();
        self.meddle(|world, _| {
            let path = world.meddler.path();
            git(&path, &["rm", "-r", "--quiet", "."]);
            git(&path, &["checkout", "--quiet", good, "--", "."]);
            for file in &world.foreign_paths {
                let _ = fs::remove_file(path.join(file));
            }
            for (file, text) in &foreign {
                world.meddler.write(file, text);
            }
            Some(format!("all as in {}", &good[..8]))
        });
    }

    fn first_of_carp(&self) -> String {
        let all =
            git(&self.meddler.path(), &["rev-list", "--reverse", OWN, "origin/carp/rendered"]);
        all.lines().next().unwrap_or_default().to_owned()
    }
}
