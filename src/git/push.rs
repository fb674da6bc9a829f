//! The push: a compare-and-swap on a remote's ref.

use super::outcome::classify_push;
use super::program::{ASK, TRANSFER};
use super::remote::{check_ref, check_remote};
use super::repository::pass;
use super::{Error, PushOutcome, Redacted, Repository};
use crate::fault::Point;
use crate::model::Id;

impl Repository {
    /// Moves a ref of a remote (a name or a URL) from `expected` (`None`: it is not there) to a commit,
    /// if it still is at `expected`. The remote compares and swaps, so of two writers one wins, on every
    /// transport.
    ///
    /// The lease alone would let any commit through. The commit must have `expected` as its first
    /// parent, or its first parent must: a run makes two commits at most. So what is pushed always
    /// contains what was there.
    ///
    /// # Errors
    /// The commit is not here or does not follow `expected`; git cannot be run. What the remote
    /// says is no error but the outcome.
    pub fn push(
        &self,
        remote: &str,
        commit: Id,
        name: &str,
        expected: Option<Id>,
    ) -> Result<PushOutcome, Error> {
        self.push_with(remote, commit, name, expected, &[])
    }

    /// Pushes with push options (git-push(1), `--push-option`), which a host acts on.
    ///
    /// # Errors
    /// As for [`Repository::push`].
    pub fn push_with(
        &self,
        remote: &str,
        commit: Id,
        name: &str,
        expected: Option<Id>,
        options: &[String],
    ) -> Result<PushOutcome, Error> {
        check_remote(remote)?;
        check_ref(name)?;
        if let Some(expected) = expected
            && !self.is_next(commit, expected)?
        {
            return Err(Error::NotAChild { commit, expected, name: name.to_owned() });
        }
        self.push_leased(remote, &format!("{commit}:{name}"), name, expected, options)
    }

    fn is_next(&self, commit: Id, expected: Id) -> Result<bool, Error> {
        let Some(parent) = self.parents(commit)?.first().copied() else { return Ok(false) };
        Ok(parent == expected || self.parents(parent)?.first() == Some(&expected))
    }

    /// Puts a commit without parents in the place of the one that a ref of a remote names, if the ref
    /// still is at `expected`. An agent's report is replaced so, and nothing else ever is: what had a
    /// history would lose it.
    ///
    /// # Errors
    /// The commit is not here or has parents; git cannot be run. What the remote says is no error but
    /// the outcome.
    pub fn replace(
        &self,
        remote: &str,
        commit: Id,
        name: &str,
        expected: Option<Id>,
    ) -> Result<PushOutcome, Error> {
        check_remote(remote)?;
        check_ref(name)?;
        if !self.parents(commit)?.is_empty() {
            return Err(Error::NotParentless { commit, name: name.to_owned() });
        }
        self.push_leased(remote, &format!("{commit}:{name}"), name, expected, &[])
    }

    /// Removes a ref of a remote, if it still is at `expected`.
    ///
    /// # Errors
    /// Git cannot be run. What the remote says is no error but the outcome.
    pub fn delete(&self, remote: &str, name: &str, expected: Id) -> Result<PushOutcome, Error> {
        check_remote(remote)?;
        check_ref(name)?;
        self.push_leased(remote, &format!(":{name}"), name, Some(expected), &[])
    }

    fn push_leased(
        &self,
        remote: &str,
        refspec: &str,
        name: &str,
        expected: Option<Id>,
        options: &[String],
    ) -> Result<PushOutcome, Error> {
        let lease = expected.map(|id| id.to_string()).unwrap_or_default();
        let lease = format!("--force-with-lease={name}:{lease}");
        let options: Vec<_> = options.iter().map(|o| format!("--push-option={o}")).collect();
        self.is_pushed_where_it_is_read(remote, name)?;
        // A clone that mirrors its remote would push all refs, and so takes no single one.
        let mirror = format!("remote.{remote}.mirror=false");
        let mut args: Vec<&str> = if self.is_mirror(remote) { vec!["-c", &mirror] } else { vec![] };
        args.extend(["push", "--porcelain", "--no-follow-tags", "--recurse-submodules=no", &lease]);
        args.extend(options.iter().map(String::as_str));
        args.extend([remote, refspec]);
        let what = || format!("pushing from {}", self.name());
        pass(Point::BeforePush, what)?;
        let output = self.git(args, TRANSFER)?;
        pass(Point::AfterPush, what)?;
        self.is_sound("pushing", &output)?;
        Ok(classify_push(&output))
    }

    fn is_mirror(&self, remote: &str) -> bool {
        let config = self.inner.config();
        config
            .and_then(|config| config.get_bool(&format!("remote.{remote}.mirror")))
            .unwrap_or(false)
    }

    /// Fails where a remote's pushes go to another repository. Two addresses may well lead to one, such as
    /// https to read and ssh to write; then both have the same refs.
    fn is_pushed_where_it_is_read(&self, remote: &str, name: &str) -> Result<(), Error> {
        let Some(address) = self.other_push_address(remote)? else { return Ok(()) };
        let push = Redacted::new(&address);
        let mut there = self.again()?;
        there.program.reach_by(&address, push.as_str());
        // Only a ref that moves between the two questions is another one in the second.
        for _ in 0..3 {
            let refs = [name, "refs/heads/*"];
            if self.ls_remote(remote, &refs)? == there.ls_remote(push.as_str(), &refs)? {
                return Ok(());
            }
        }
        Err(Error::PushedElsewhere { remote: Redacted::new(remote), push })
    }

    /// Where git pushes a remote to, if that is not where it reads it from.
    fn other_push_address(&self, remote: &str) -> Result<Option<String>, Error> {
        if !self.has_push_settings(remote) {
            return Ok(None);
        }
        let address = |args: &[&str]| -> Result<String, Error> {
            let output = self.git(args.iter().copied().chain([remote]), ASK)?;
            Ok(output.stdout.lines().next().unwrap_or_default().to_owned())
        };
        let read = address(&["remote", "get-url"])?;
        let push = address(&["remote", "get-url", "--push"])?;
        Ok(Some(push).filter(|push| !push.is_empty() && *push != read))
    }

    /// Whether any setting, wherever it stands, sends pushes elsewhere.
    fn has_push_settings(&self, remote: &str) -> bool {
        let pushurl = format!("remote.{remote}.pushurl");
        let Ok(config) = self.inner.config() else { return true };
        let Ok(mut entries) = config.entries(None) else { return true };
        while let Some(entry) = entries.next() {
            let Ok(entry) = entry else { return true };
            let Ok(name) = entry.name() else { continue };
            if name == pushurl || name.ends_with(".pushinsteadof") {
                return true;
            }
        }
        false
    }
}
