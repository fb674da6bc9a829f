//! Arguments that several commands have.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use jiff::SignedDuration;

use crate::model::api::ForgeKind;
use crate::model::{Name, NameError};
use crate::reconcile::{Against, Base, ForgeChoice};

/// Which fleet a command reads.
#[derive(Clone, Debug, clap::Args)]
pub struct FleetArgs {
    /// The fleet: a folder as it stands, a Git URL, a bare repository, each with @REV too
    #[arg(
        long,
        value_name = "FLEET",
        default_value = ".",
        env = "CARP_FLEET",
        hide_env_values = true
    )]
    pub fleet: String,
}

/// Which fleet a command writes to: it must be a folder.
#[derive(Clone, Debug, clap::Args)]
pub struct FolderArgs {
    /// The folder of the fleet
    #[arg(
        long,
        value_name = "FOLDER",
        default_value = ".",
        env = "CARP_FLEET",
        hide_env_values = true
    )]
    pub fleet: PathBuf,
}

/// What a command that plans is told of the fleet's past: where the workers' reports are, and that there is
/// none.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct ObservedArgs {
    /// A folder with the workers' reports, one WORKER.yaml each, instead of those in the repository
    #[arg(long, value_name = "DIR")]
    pub observed: Option<PathBuf>,
    /// No cluster runs yet: asked for where the output is in a repository of its own
    #[arg(long)]
    pub first_run: bool,
}

/// What a change is merged into before it is looked at.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct AgainstArgs {
    /// Merge the change into REV in memory, and show only what it causes; without REV into the
    /// remote's input branch. In a pull request's workflow its target is the default
    #[arg(long, value_name = "REV", num_args = 0..=1, default_missing_value = "")]
    pub against: Option<String>,
    /// Merge another open change beside it; may be given several times
    #[arg(long, value_name = "REV")]
    pub with: Vec<String>,
    /// Look at the files by themselves, in a pull request's workflow too
    #[arg(long, conflicts_with_all = ["against", "with"])]
    pub no_against: bool,
    /// Look at the files by themselves, as if the definitions in DIR were all of the fleet's crds/: what another release
    /// would not take. No commit is made by them
    #[arg(long, value_name = "DIR", conflicts_with_all = ["against", "with"])]
    pub crds: Option<PathBuf>,
}

/// What the forge is told of each turn.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct ForgeArgs {
    /// Tell this forge how each commit fared, by a status and a comment; the token is `CARP_FORGE_TOKEN`.
    /// Without it as spec.forge of carp.yaml says
    #[arg(long, value_enum, value_name = "FORGE")]
    pub forge: Option<ForgeName>,
    /// The page of the repository there, such as `https://git.example.com/org/fleet`, where it does not
    /// follow from the remote's address
    #[arg(long, value_name = "URL")]
    pub forge_url: Option<String>,
}

/// A forge on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum ForgeName {
    /// Nobody is told
    Off,
    /// github.com, or GitHub Enterprise
    Github,
    /// GitLab
    Gitlab,
    /// Gitea, or Forgejo
    Gitea,
}

impl ForgeName {
    /// Whether the forge is told, and which one it is.
    #[must_use]
    pub fn choice(self) -> ForgeChoice {
        match self {
            Self::Off => ForgeChoice::Off,
            Self::Github => ForgeChoice::On(ForgeKind::GitHub),
            Self::Gitlab => ForgeChoice::On(ForgeKind::GitLab),
            Self::Gitea => ForgeChoice::On(ForgeKind::Gitea),
        }
    }
}

/// The variables in which workflows say what a pull request is to be merged into: of GitHub, Gitea and
/// Forgejo, and of GitLab.
const TARGETS: [&str; 2] = ["GITHUB_BASE_REF", "CI_MERGE_REQUEST_TARGET_BRANCH_NAME"];

impl AgainstArgs {
    /// What is asked for.
    #[must_use]
    pub fn asked(&self) -> Option<Against> {
        let base = match self.against.as_deref() {
            None if self.with.is_empty() => return None,
            None | Some("") => Base::Input,
            Some(revision) => Base::Named(revision.to_owned()),
        };
        Some(Against { base, with: self.with.clone() })
    }

    /// What the environment says a pull request is to be merged into, where nobody asked for anything.
    #[must_use]
    pub fn target(&self, env: &BTreeMap<String, String>) -> Option<Against> {
        let said = TARGETS.iter().filter_map(|name| env.get(*name)).find(|name| !name.is_empty());
        let by_itself = self.no_against || self.crds.is_some();
        let base = Base::Branch(said.filter(|_| !by_itself)?.clone());
        Some(Against { base, with: self.with.clone() })
    }
}

/// Reads a time that something may take.
pub(super) fn timeout(text: &str) -> Result<Duration, String> {
    at_least(text, Duration::from_millis(10), "10ms")
}

/// Reads a time between two things that are done again and again.
pub(super) fn interval(text: &str) -> Result<Duration, String> {
    at_least(text, Duration::from_secs(1), "1s")
}

fn at_least(text: &str, shortest: Duration, shown: &str) -> Result<Duration, String> {
    let duration: SignedDuration = text.parse().map_err(|error: jiff::Error| error.to_string())?;
    match Duration::try_from(duration) {
        Ok(duration) if duration >= shortest => Ok(duration),
        _ => Err(format!("the shortest time is {shown}")),
    }
}

/// Reads a name from the command line.
pub(super) fn name(text: &str) -> Result<Name, NameError> {
    Name::parse(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_has_its_shortest() {
        assert_eq!(interval("5m"), Ok(Duration::from_secs(300)));
        for wrong in ["0s", "-5s", "x", "100ms"] {
            assert!(interval(wrong).is_err(), "{wrong}");
        }
        assert_eq!(timeout("100ms"), Ok(Duration::from_millis(100)));
        assert!(timeout("9ms").is_err());
    }

    #[test]
    fn a_pull_request_is_merged_into_its_target_unless_somebody_says_otherwise() {
        let env = |name: &str, value: &str| BTreeMap::from([(name.to_owned(), value.to_owned())]);
        let main = Some(Against { base: Base::Branch("main".to_owned()), with: Vec::new() });
        let args = AgainstArgs::default();
        for name in TARGETS {
            assert_eq!(args.target(&env(name, "main")), main);
            assert_eq!(args.target(&env(name, "")), None, "a push has no target");
        }
        let alone = AgainstArgs { no_against: true, ..args.clone() };
        assert_eq!(alone.target(&env(TARGETS[0], "main")), None);
        assert_eq!(args.asked(), None);
        let with = AgainstArgs { with: vec!["other".to_owned()], ..args };
        assert_eq!(with.asked().map(|asked| asked.base), Some(Base::Input));
    }
}
