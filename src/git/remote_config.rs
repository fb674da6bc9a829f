//! How to reach a remote: settings copied from a person's clone to one of carp's own.

use std::path::Path;

use git2::{ConfigLevel, ErrorCode};

use super::worktree::is_path;
use super::{Error, Repository};

/// Beginnings of the settings that say how a remote is reached.
const LENT: [&str; 5] = ["credential.", "http.", "https.", "url.", "ssh."];
/// Settings that do so by themselves.
const LENT_WHOLE: [&str; 3] = ["core.sshcommand", "core.askpass", "core.gitproxy"];

/// Matches no value, so that a value is added.
const NONE: &str = "^$.";

impl Repository {
    /// The address that is fetched from, as it is configured.
    pub fn fetch_address(&self, remote: &str) -> Option<String> {
        let url = self.inner.find_remote(remote).ok()?.url().ok()?.to_owned();
        // Git takes a path as seen from the top of the work tree.
        let relative = is_path(&url) && !url.contains("://") && Path::new(&url).is_relative();
        match self.work_tree().filter(|_| relative) {
            Some(top) => top.join(url).to_str().map(str::to_owned),
            None => Some(url),
        }
    }

    /// Lets another clone reach a remote of this one as this one does: addresses, credentials, proxies
    /// and ssh settings of this clone's own configuration.
    ///
    /// # Errors
    /// A configuration cannot be read or written.
    pub fn copy_remote_config(&self, remote: &str, to: &Self) -> Result<(), Error> {
        let settings =
            self.remote_config(remote).map_err(|e| self.failed("reading the settings", &e))?;
        to.add_config(&settings).map_err(|e| to.failed("writing the settings", &e))
    }

    fn remote_config(&self, remote: &str) -> Result<Vec<(String, String)>, git2::Error> {
        let push = format!("remote.{remote}.pushurl");
        let config = self.inner.config()?;
        let mut entries = config.entries(None)?;
        let mut settings = Vec::new();
        while let Some(entry) = entries.next() {
            let entry = entry?;
            if !matches!(entry.level(), ConfigLevel::Local | ConfigLevel::Worktree) {
                continue;
            }
            let (Ok(name), Ok(value)) = (entry.name(), entry.value()) else { continue };
            if name == push {
                settings.push(("remote.origin.pushurl".to_owned(), value.to_owned()));
            } else if LENT_WHOLE.contains(&name) || LENT.iter().any(|start| name.starts_with(start))
            {
                settings.push((name.to_owned(), value.to_owned()));
            }
        }
        Ok(settings)
    }

    fn add_config(&self, settings: &[(String, String)]) -> Result<(), git2::Error> {
        let mut config = self.inner.config()?.open_level(ConfigLevel::Local)?;
        for (name, _) in settings {
            match config.remove_multivar(name, ".*") {
                Err(e) if e.code() != ErrorCode::NotFound => return Err(e),
                _ => {}
            }
        }
        settings.iter().try_for_each(|(name, value)| config.set_multivar(name, NONE, value))
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests read and write files")]
mod tests {
    use super::*;

    #[test]
    fn what_is_needed_to_reach_the_remote_is_lent_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let make = |name: &str| Repository::init_bare(&folder.path().join(name), "main").unwrap();
        let (mine, own) = (make("mine"), make("own"));
        mine.inner.remote("up", "https://h/r").unwrap();
        for (key, value) in [
            ("remote.up.pushurl", "https://h/push"),
            ("http.proxy", ""),
            ("core.sshCommand", "ssh -i key"),
            ("user.name", "somebody"),
            ("core.worktree", "/elsewhere"),
        ] {
            mine.configure(key, value).unwrap();
        }
        for helper in ["", "store"] {
            let mut config = mine.inner.config().unwrap();
            config.set_multivar("credential.helper", NONE, helper).unwrap();
        }
        // Twice is as good as once.
        mine.copy_remote_config("up", &own).unwrap();
        mine.copy_remote_config("up", &own).unwrap();
        let text = std::fs::read_to_string(folder.path().join("own/config")).unwrap();
        for line in ["pushurl = https://h/push", "sshcommand = ssh -i key", "helper = store"] {
            assert_eq!(text.to_lowercase().matches(line).count(), 1, "{line} in {text}");
        }
        assert!(!text.contains("somebody") && !text.contains("elsewhere"), "{text}");
        assert_eq!(mine.fetch_address("up").as_deref(), Some("https://h/r"));
    }
}
