//! `carp init`: a fleet repository to start from.

mod owners;

use std::path::{Path, PathBuf};

use super::show::schema;
use super::{Context, EXAMPLE, Error, Exit, files};

/// Write a commented fleet repository to start from, with CI for GitHub and GitLab
///
/// It is the example fleet without what pins it; its IDs are placeholders, and `carp validate` names
/// each until it is replaced. Its clusters are placed before any worker has an agent. A fresh clone
/// that has nothing but a README and a licence is a folder to write to, too.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {
    /// The folder to write to: a new or an empty one, or a fresh clone
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

/// What is written besides the example.
const OWN: &[(&str, &str)] = &[
    (README, include_str!("README.md")),
    (".github/workflows/carp.yaml", include_str!("github.yaml")),
    (".gitlab-ci.yml", include_str!("gitlab.yaml")),
    (".pre-commit-config.yaml", include_str!("pre-commit.yaml")),
    ("renovate.json", include_str!("renovate.json")),
    (".carp/ci.sh", include_str!("ci.sh")),
    (".carp/carp.env", include_str!("carp.env")),
];
const README: &str = "README.md";
/// What forges put into a new repository; it stays as it is.
const FROM_FORGES: &[&str] =
    &[".git", ".gitattributes", ".gitignore", "LICENSE", "LICENSE.md", "LICENSE.txt", README];
/// What stands above `spec.example` in the example's `carp.yaml`, down to the end of the file.
const EXAMPLE_MARK: &str = "\n  # Only for demonstrations:";

pub(super) fn run(args: &Args, context: &mut Context<'_, '_>) -> Result<Exit, Error> {
    let there = files::entries(&args.folder)?;
    let written = write(&args.folder, &there)?;
    let folder = args.folder.display();
    let is_clone = there.iter().any(|name| name == ".git");
    let begin = match (is_clone, args.folder == Path::new(".")) {
        (true, true) => String::new(),
        (true, false) => format!("  cd {folder}\n"),
        (false, true) => "  git init -b main\n".to_owned(),
        (false, false) => format!("  cd {folder} && git init -b main\n"),
    };
    let files = super::show::count(written as u64, "file");
    context.print(&format!(
        "wrote {files} to {folder}\n\nnext:\n{begin}  carp validate      names the placeholders to \
         replace\n  carp plan          shows what the first run would do\n"
    ))?;
    Ok(Exit::Fine)
}

/// Writes the files beside what is there.
fn write(folder: &Path, there: &[String]) -> Result<usize, Error> {
    if let Some(other) = there.iter().find(|name| !FROM_FORGES.contains(&name.as_str())) {
        let help = "name a folder that does not exist yet, or a fresh clone";
        return Err(
            Error::usage(format!("{} is not empty: it has {other}", folder.display())).help(help)
        );
    }
    let mut files = starting_files();
    files.retain(|(path, _)| !there.iter().any(|name| name == path));
    for (path, text) in &files {
        files::write(&folder.join(path), text)?;
    }
    Ok(files.len())
}

fn starting_files() -> Vec<(&'static str, String)> {
    let is_wanted = |path: &str| path != README && !path.starts_with("observed/");
    let example = EXAMPLE.iter().filter(|(path, _)| is_wanted(path));
    let mut files: Vec<_> =
        example.map(|(path, text)| (*path, with_schema(path, &started(path, text)))).collect();
    let fleet = files.iter().find(|(path, _)| *path == "carp.yaml").map(|(_, text)| text.clone());
    files.push(("CODEOWNERS", owners::text(&fleet.unwrap_or_default())));
    files.push((schema::SCHEMA_FILE, schema::text(&schema::all())));
    files.extend(OWN.iter().map(|(path, text)| (*path, (*text).to_owned())));
    files
}

/// A file of the example without what makes it one: the pinned time, the reports, and workers that are
/// believed only with a report. Each tenant has its folder.
fn started(path: &str, text: &str) -> String {
    if path == "carp.yaml" {
        let text = text.split_once(EXAMPLE_MARK).map_or(text, |(before, _)| before);
        return owners::with_paths(text);
    }
    if !path.starts_with("fleet/workers/") {
        return text.to_owned();
    }
    let mut out = String::new();
    for line in text.lines() {
        match line.trim_start() {
            "observation: Agent" => {
                let indent = &line[..line.len() - line.trim_start().len()];
                out.push_str(indent);
                out.push_str("# observation: Agent # once its agent reports\n");
            }
            "# Its agent reports; without a fresh report nothing new is placed here."
            | "# nothing is taken away from it either." => {}
            "# Its reports stopped more than an hour ago (`heartbeatTimeout`): nothing new is placed here, and" =>
            {
                out.push_str("# Another one beside it, of an older version.\n");
            }
            _ => {
                out.push_str(line);
                out.push('\n');
            }
        }
    }
    out
}

/// The text with the line that tells editors where its schema is.
fn with_schema(path: &str, text: &str) -> String {
    let up = "../".repeat(path.matches('/').count());
    format!("# yaml-language-server: $schema={up}{}\n{text}", schema::SCHEMA_FILE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::api::Fleet;

    #[test]
    fn the_fleet_is_no_example_any_more() {
        let files = starting_files();
        let (_, carp_yaml) = files.iter().find(|(path, _)| *path == "carp.yaml").unwrap();
        let fleet: Fleet = serde_saphyr::from_str(carp_yaml).unwrap();
        assert_eq!(fleet.spec.example, None);
        assert_eq!(fleet.spec.guards.and_then(|g| g.max_deletions), Some(2));
        assert!(carp_yaml.ends_with("maxMoves: 0\n"), "{carp_yaml}");
        assert!(fleet.spec.tenants.iter().all(|tenant| tenant.paths.len() == 1));
        for (path, text) in &files {
            assert!(!path.starts_with("observed/"), "{path}");
            assert!(text.ends_with('\n'), "{path}");
            let is_worker = path.starts_with("fleet/workers/");
            let believes = text.contains("Its reports") || text.contains("  observation: Agent\n");
            assert!(!is_worker || !believes, "{path}:\n{text}");
        }
    }

    #[test]
    fn only_an_empty_folder_or_a_fresh_clone_is_written_to() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("fleet");
        assert_eq!(write(&target, &[]).unwrap(), starting_files().len());
        let error = write(&target, &files::entries(&target).unwrap()).unwrap_err();
        assert_eq!(error.exit, Exit::Usage);
        assert!(error.message.contains("is not empty: it has .carp"), "{error}");

        let clone = folder.path().join("clone");
        files::write(&clone.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        files::write(&clone.join(README), "# Ours\n").unwrap();
        let there = files::entries(&clone).unwrap();
        assert_eq!(write(&clone, &there).unwrap(), starting_files().len() - 1);
        assert_eq!(files::read(&clone.join(README)).unwrap().as_deref(), Some("# Ours\n"));
    }
}
