//! `carp init`: a fleet repository to start from.

use std::path::{Path, PathBuf};

use super::{Context, EXAMPLE, Error, Exit, files};

/// Write a commented fleet repository to start from, with a workflow for pull requests
///
/// It is the example fleet without what pins it; its IDs are placeholders, and `carp validate` names
/// each until it is replaced.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {
    /// The folder to write to: a new or an empty one
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

const README: &str = include_str!("README.md");
const WORKFLOW: &str = include_str!("workflow.yaml");
const WORKFLOW_PATH: &str = ".github/workflows/carp.yaml";
/// What stands above `spec.example` in the example's `carp.yaml`, down to the end of the file.
const EXAMPLE_MARK: &str = "\n  # Only for demonstrations:";

pub(super) fn run(args: &Args, context: &mut Context<'_, '_>) -> Result<Exit, Error> {
    let written = write(&args.folder)?;
    let folder = args.folder.display();
    context.print(&format!(
        "wrote {written} files to {folder}\n\nnext:\n  cd {folder} && git init -b main\n  \
         carp validate      names the placeholders to replace\n  carp plan          shows what the \
         first run would do\n"
    ))?;
    Ok(Exit::Fine)
}

fn write(folder: &Path) -> Result<usize, Error> {
    if !files::is_empty_folder(folder)? {
        return Err(Error::usage(format!("{} is not empty", folder.display()))
            .help("name a folder that does not exist yet"));
    }
    let files = starting_files();
    for (path, text) in &files {
        files::write(&folder.join(path), text)?;
    }
    Ok(files.len())
}

fn starting_files() -> Vec<(&'static str, String)> {
    let from_example = EXAMPLE
        .iter()
        .filter(|(path, _)| *path != "README.md" && !path.starts_with("observed/"))
        .map(|(path, text)| (*path, without_example(text)));
    let own = [("README.md", README.to_owned()), (WORKFLOW_PATH, WORKFLOW.to_owned())];
    from_example.chain(own).collect()
}

fn without_example(text: &str) -> String {
    text.split_once(EXAMPLE_MARK).map_or(text, |(before, _)| before).to_owned()
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
        assert!(files.iter().all(|(path, text)| {
            !path.starts_with("observed/") && text.ends_with('\n') && !text.contains("observed/")
        }));
    }

    #[test]
    fn only_an_empty_folder_is_written_to() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("fleet");
        assert_eq!(write(&target).unwrap(), starting_files().len());
        assert!(target.join(WORKFLOW_PATH).is_file());
        let error = write(&target).unwrap_err();
        assert_eq!(error.exit, Exit::Usage);
        assert!(error.message.ends_with("is not empty"));
    }

    #[test]
    fn the_workflow_is_yaml_that_validates_and_plans() {
        let workflow: serde_json::Value = serde_saphyr::from_str(WORKFLOW).unwrap();
        assert!(workflow["jobs"]["plan"]["steps"].as_array().is_some_and(|steps| steps.len() > 3));
        for command in ["carp validate --output github", "carp plan --output markdown"] {
            assert!(WORKFLOW.contains(command), "{command}");
        }
    }
}
