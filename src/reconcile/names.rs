//! The full names of the refs of one fleet.

use serde::{Deserialize, Serialize};

use crate::git::{Redacted, RefSpec};
use crate::model::api::{Branches, FleetSpec, WriteMode};

/// What stands for a remote in the names of refs from another repository.
const OUTPUT: &str = "carp-output";
const OBSERVED: &str = "carp-observed";

/// The most report branches that are followed: ten times the workers of the largest fleet that is measured.
const MOST_REPORTS: usize = 20_000;

/// Where the branches of a fleet are in a clone: with a remote, its tracking refs are the truth; without
/// one the local branches are. What is in another repository has tracking refs of its own.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Names {
    /// The remote, where there is one.
    pub remote: Option<String>,
    /// The branches, as `carp.yaml` calls them.
    pub branches: Branches,
    /// The repository of what carp writes, where it is another one.
    pub output_url: Option<String>,
    /// The repository of the reports, where it is another one.
    pub observed_url: Option<String>,
    /// Whether what carp decides is proposed for people to merge.
    pub proposes: bool,
}

impl Names {
    /// The names that `carp.yaml` gives, for a fleet whose root is at `prefix` of its repository. Fleets of
    /// one repository share the output and the status branch, where each has a folder; a proposal is
    /// merged as a whole, so each fleet has a branch for its own.
    #[must_use]
    pub fn of(remote: Option<String>, spec: &FleetSpec, prefix: &str) -> Self {
        let mut branches = spec.branches.clone().unwrap_or_default();
        if !prefix.is_empty() && branches.proposal == Branches::default().proposal {
            // `carp/proposal/x` could not lie beside `carp/proposal`.
            branches.proposal = format!("{}s/{}", branches.proposal, prefix.replace('/', "."));
        }
        Self {
            remote,
            branches,
            output_url: spec.output.as_ref().map(|output| output.url.clone()),
            observed_url: spec.observed.as_ref().and_then(|observed| observed.url.clone()),
            proposes: spec.git.as_ref().is_some_and(|git| git.write == WriteMode::PullRequest),
        }
    }

    /// What people write.
    #[must_use]
    pub fn input(&self) -> String {
        here(self.remote.as_deref(), &self.branches.input)
    }

    /// What carp writes.
    #[must_use]
    pub fn output(&self) -> String {
        self.written(&self.branches.output)
    }

    /// What carp knows.
    #[must_use]
    pub fn status(&self) -> String {
        self.written(&self.branches.status)
    }

    /// What carp proposes, where people merge what it writes.
    #[must_use]
    pub fn proposal(&self) -> String {
        self.written(&self.branches.proposal)
    }

    /// The proposal that people have approved.
    #[must_use]
    pub fn approved(&self) -> String {
        self.written(&approved(&self.branches.proposal))
    }

    /// What the agents' report refs begin with, a `/` at the end.
    #[must_use]
    pub fn observed(&self) -> String {
        let remote = self.observed_url.as_ref().map(|_| OBSERVED).or(self.remote.as_deref());
        format!("{}/", here(remote, &self.branches.observed))
    }

    /// The name in this clone of a branch that carp writes.
    #[must_use]
    pub fn written(&self, branch: &str) -> String {
        let remote = self.output_url.as_ref().map(|_| OUTPUT).or(self.remote.as_deref());
        here(remote, branch)
    }

    /// Where carp pushes to; `None` where it moves local branches.
    #[must_use]
    pub fn target(&self) -> Option<&str> {
        self.output_url.as_deref().or(self.remote.as_deref())
    }

    /// Where the output is pushed, as it is shown.
    #[must_use]
    pub fn target_shown(&self) -> Option<String> {
        let url = self.output_url.as_ref().map(|url| Redacted::new(url).to_string());
        url.or_else(|| self.remote.clone())
    }

    /// Whether carp writes to the very branch that people write to.
    #[must_use]
    pub fn share_a_branch(&self) -> bool {
        self.output_url.is_none() && self.branches.output == self.branches.input
    }

    /// What is fetched, by where from.
    #[must_use]
    pub fn fetches(&self) -> Vec<(String, Vec<RefSpec>)> {
        let Branches { input, output, status, observed, proposal } = &self.branches;
        let spec = |local: String, branch: &str| RefSpec::new(Self::there(branch), local);
        let reports = spec(format!("{}*", self.observed()), &format!("{observed}/*"));
        let reports = reports.at_most(MOST_REPORTS);
        let mut written: Vec<_> =
            [output, status].map(|branch| spec(self.written(branch), branch)).into();
        if self.proposes {
            let marked = approved(proposal);
            written.extend([proposal, &marked].map(|branch| spec(self.written(branch), branch)));
        }
        let mut all = Vec::new();
        if let Some(remote) = &self.remote {
            all.push((remote.clone(), vec![spec(self.input(), input)]));
        }
        if let Some(target) = self.target() {
            add(&mut all, target, written);
        }
        if let Some(source) = self.observed_url.as_ref().or(self.remote.as_ref()) {
            add(&mut all, source, vec![reports]);
        }
        all
    }

    /// The name of a branch where it is written: on the remote, or here.
    #[must_use]
    pub fn there(branch: &str) -> String {
        format!("refs/heads/{branch}")
    }

    /// The line that a person types to bring the input branch; `None` without a remote.
    #[must_use]
    pub fn fetch_input_line(&self) -> Option<String> {
        let (remote, branch) = (self.remote.as_ref()?, &self.branches.input);
        Some(format!("git fetch {remote} +refs/heads/{branch}:{}", self.input()))
    }

    /// The line that a person types to bring branches that carp writes.
    #[must_use]
    pub fn fetch_line(&self, branches: &[&str]) -> String {
        let remote = self.target_shown().unwrap_or_else(|| "origin".to_owned());
        let local = |branch: &str| match self.target() {
            Some(_) => self.written(branch),
            None => here(Some("origin"), branch),
        };
        let spec = |branch: &&str| format!("+refs/heads/{branch}:{}", local(branch));
        let specs: Vec<_> = branches.iter().map(spec).collect();
        format!("git fetch {remote} {}", specs.join(" "))
    }
}

fn here(remote: Option<&str>, branch: &str) -> String {
    match remote {
        Some(remote) => format!("refs/remotes/{remote}/{branch}"),
        None => Names::there(branch),
    }
}

/// The branch that follows a proposal once people have approved it.
fn approved(proposal: &str) -> String {
    format!("{proposal}-approved")
}

/// One question to each repository.
fn add(all: &mut Vec<(String, Vec<RefSpec>)>, from: &str, specs: Vec<RefSpec>) {
    match all.iter_mut().find(|(known, _)| known == from) {
        Some((_, known)) => known.extend(specs),
        None => all.push((from.to_owned(), specs)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_one_repository_is_asked_for_once() {
        let names = Names { remote: Some("origin".to_owned()), ..Names::default() };
        let fetches = names.fetches();
        assert_eq!(fetches.len(), 1);
        let locals: Vec<_> = fetches[0].1.iter().map(|spec| spec.local.as_str()).collect();
        let all = ["main", "carp/rendered", "carp/status", "carp/observed/*"];
        assert_eq!(locals, all.map(|branch| format!("refs/remotes/origin/{branch}")));
        assert_eq!(Names::default().fetches(), [], "without a remote there is nothing to fetch");
    }

    #[test]
    fn fleets_of_one_repository_have_proposals_of_their_own() {
        let of = |spec: &FleetSpec, prefix: &str| Names::of(None, spec, prefix).branches.proposal;
        let plain = FleetSpec::default();
        assert_eq!(of(&plain, ""), "carp/proposal");
        assert_eq!(of(&plain, "eu"), "carp/proposals/eu");
        assert_eq!(of(&plain, "fleets/eu"), "carp/proposals/fleets.eu");
        let branches = Branches { proposal: "mine".to_owned(), ..Branches::default() };
        let named = FleetSpec { branches: Some(branches), ..FleetSpec::default() };
        assert_eq!(of(&named, "eu"), "mine", "what people write holds");
    }

    #[test]
    fn what_is_in_another_repository_has_names_of_its_own() {
        let url = |name: &str| Some(format!("https://u:p@git.example.com/{name}"));
        let names = Names {
            remote: Some("origin".to_owned()),
            output_url: url("out"),
            observed_url: url("seen"),
            ..Names::default()
        };
        assert_eq!(names.input(), "refs/remotes/origin/main");
        assert_eq!(names.output(), "refs/remotes/carp-output/carp/rendered");
        assert_eq!(names.observed(), "refs/remotes/carp-observed/carp/observed/");
        assert_eq!(names.fetches().len(), 3);
        assert_eq!(
            names.fetch_line(&["carp/rendered"]),
            "git fetch https://git.example.com/out \
             +refs/heads/carp/rendered:refs/remotes/carp-output/carp/rendered"
        );
    }
}
