//! The one field of a `WorkerOverlay` that `cordon` and `uncordon` set, as an edit of the file's text.
//!
//! A person's comments and other fields stay as they are. Every edit is read back, and refused where it
//! did not come out as it was meant.

use std::path::{Path, PathBuf};

use super::engine::Writable;
use super::{Error, files};
use crate::model::Name;
use crate::model::api::{API_VERSION, WorkerOverlay, WorkerOverlaySpec};

const FIELD: &str = "unschedulable";

/// Cordons a worker and says what was done.
///
/// # Errors
/// There is no such worker, or its overlay is not a file that can be edited.
pub(super) fn cordon(fleet: &Writable, worker: &Name) -> Result<String, Error> {
    check_worker(fleet, worker)?;
    let path = place(fleet, worker)?;
    let before = files::read(&path)?;
    if let Some(text) = &before
        && spec(text, worker, &path)?.unschedulable == Some(true)
    {
        return Ok(format!("worker/{worker} is cordoned already by {}", files::shown(&path)));
    }
    files::write(&path, &set(before.as_deref(), worker, &path)?)?;
    Ok(format!("worker/{worker} cordoned: wrote {}", files::shown(&path)))
}

/// Takes the cordon off and says what was done.
///
/// # Errors
/// As for [`cordon`].
pub(super) fn uncordon(fleet: &Writable, worker: &Name) -> Result<String, Error> {
    check_worker(fleet, worker)?;
    let path = place(fleet, worker)?;
    let not_here = || {
        format!(
            "worker/{worker} is not cordoned by {}\nif its own document says `unschedulable: true`, \
             remove that there",
            files::shown(&path)
        )
    };
    let Some(text) = files::read(&path)? else { return Ok(not_here()) };
    if spec(&text, worker, &path)?.unschedulable != Some(true) {
        return Ok(not_here());
    }
    if let Some(rest) = unset(&text, worker, &path)? {
        files::write(&path, &rest)?;
        return Ok(format!("worker/{worker} uncordoned: wrote {}", files::shown(&path)));
    }
    files::remove(&path)?;
    Ok(format!("worker/{worker} uncordoned: removed {}", files::shown(&path)))
}

fn check_worker(fleet: &Writable, worker: &Name) -> Result<(), Error> {
    if fleet.workers.contains(worker) {
        return Ok(());
    }
    let all: Vec<_> = fleet.workers.iter().map(Name::as_str).collect();
    let error = Error::failed(format!("there is no worker `{worker}` in this fleet"));
    Err(if all.is_empty() {
        error.help("the fleet declares no worker at all")
    } else {
        error.help(format!("its workers are {}", all.join(", ")))
    })
}

/// The file to edit. An overlay that stands elsewhere is not ours to move, and a second one of its name
/// would be refused.
fn place(fleet: &Writable, worker: &Name) -> Result<PathBuf, Error> {
    let folder = fleet.root.join(&fleet.fleet_folder);
    let path = folder.join(format!("overlays/{worker}.yaml"));
    for file in files::yaml_files(&folder)?.into_iter().filter(|f| *f != path) {
        let text = files::read(&file)?.unwrap_or_default();
        if text.contains("WorkerOverlay") && text.split("\n---").any(|doc| names(doc, worker)) {
            return Err(by_hand(&file).because("the overlay stands in a file of another name"));
        }
    }
    Ok(path)
}

fn names(document: &str, worker: &Name) -> bool {
    serde_saphyr::from_str::<WorkerOverlay>(document.trim_start_matches("---"))
        .is_ok_and(|overlay| overlay.metadata.name.as_deref() == Some(worker.as_str()))
}

fn by_hand(path: &Path) -> Error {
    Error::failed(format!("cannot edit {} safely", files::shown(path)))
        .help(format!("set or remove `spec.{FIELD}` there by hand"))
}

fn spec(text: &str, worker: &Name, path: &Path) -> Result<WorkerOverlaySpec, Error> {
    let overlay: WorkerOverlay =
        serde_saphyr::from_str(text).map_err(|error| by_hand(path).because(error))?;
    if overlay.metadata.name.as_deref() != Some(worker.as_str()) {
        return Err(by_hand(path).because(format!("it is not the overlay of {worker}")));
    }
    Ok(overlay.spec)
}

/// The text with the worker cordoned.
fn set(before: Option<&str>, worker: &Name, path: &Path) -> Result<String, Error> {
    let Some(text) = before else {
        return Ok(format!(
            "apiVersion: {API_VERSION}\nkind: WorkerOverlay\nmetadata:\n  name: {worker}\nspec:\n  \
             {FIELD}: true\n"
        ));
    };
    let wanted = WorkerOverlaySpec { unschedulable: Some(true), ..spec(text, worker, path)? };
    let mut lines = lines_of(text);
    if let Some(at) = field_line(&lines) {
        let (start, comment) = split_comment(&lines[at]);
        let indent = start.len() - start.trim_start().len();
        lines[at] = format!("{}{FIELD}: true{comment}", " ".repeat(indent));
    } else if let Some(at) = lines.iter().position(|l| is_key(l, "spec")) {
        let comment = split_comment(&lines[at]).1.to_owned();
        let indent = child_indent(&lines[at + 1..]).unwrap_or(2);
        lines[at] = format!("spec:{comment}");
        lines.insert(at + 1, format!("{}{FIELD}: true", " ".repeat(indent)));
    } else {
        lines.extend(["spec:".to_owned(), format!("  {FIELD}: true")]);
    }
    checked(lines.join("\n") + "\n", &wanted, worker, path)
}

/// The text without the cordon; `None` where nothing else is left.
fn unset(text: &str, worker: &Name, path: &Path) -> Result<Option<String>, Error> {
    let wanted = WorkerOverlaySpec { unschedulable: None, ..spec(text, worker, path)? };
    if wanted == WorkerOverlaySpec::default() {
        return Ok(None);
    }
    let mut lines = lines_of(text);
    let at = field_line(&lines).ok_or_else(|| by_hand(path))?;
    lines.remove(at);
    checked(lines.join("\n") + "\n", &wanted, worker, path).map(Some)
}

fn checked(
    text: String,
    wanted: &WorkerOverlaySpec,
    worker: &Name,
    path: &Path,
) -> Result<String, Error> {
    match spec(&text, worker, path) {
        Ok(spec) if spec == *wanted => Ok(text),
        _ => Err(by_hand(path)),
    }
}

fn lines_of(text: &str) -> Vec<String> {
    text.lines().map(ToOwned::to_owned).collect()
}

fn field_line(lines: &[String]) -> Option<usize> {
    lines.iter().position(|line| is_key(line.trim_start(), FIELD))
}

fn is_key(line: &str, key: &str) -> bool {
    line.strip_prefix(key).is_some_and(|rest| rest.starts_with(':'))
}

/// A line, and the comment at its end with the spaces before it.
fn split_comment(line: &str) -> (&str, &str) {
    let Some(at) = line.find(" #") else { return (line, "") };
    line.split_at(line[..at].trim_end().len())
}

fn child_indent(lines: &[String]) -> Option<usize> {
    let child = lines.iter().find(|l| !l.trim().is_empty() && !l.trim_start().starts_with('#'))?;
    Some(child.len() - child.trim_start().len()).filter(|indent| *indent > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMMENTED: &str = "# Why: new disks.\napiVersion: carp.dev/v1alpha1\nkind: WorkerOverlay\n\
         metadata:\n    name: w1\nspec: # see the runbook\n    # less than it has\n    capacity: {clusters: 5}\n";

    fn fleet() -> (tempfile::TempDir, Writable) {
        let folder = tempfile::tempdir().unwrap();
        let workers = ["w1", "w2"].map(|n| Name::parse(n).unwrap()).into();
        let root = folder.path().to_owned();
        (folder, Writable { root, fleet_folder: "fleet".into(), workers })
    }

    fn name(text: &str) -> Name {
        Name::parse(text).unwrap()
    }

    fn file(fleet: &Writable) -> PathBuf {
        fleet.root.join("fleet/overlays/w1.yaml")
    }

    #[test]
    fn a_cordon_is_a_small_file_and_an_uncordon_removes_it() {
        let (_folder, fleet) = fleet();
        cordon(&fleet, &name("w1")).unwrap();
        insta::assert_snapshot!(files::read(&file(&fleet)).unwrap().unwrap(), @r"
        apiVersion: carp.dev/v1alpha1
        kind: WorkerOverlay
        metadata:
          name: w1
        spec:
          unschedulable: true
        ");
        assert!(cordon(&fleet, &name("w1")).unwrap().contains("already"));
        uncordon(&fleet, &name("w1")).unwrap();
        assert_eq!(files::read(&file(&fleet)).unwrap(), None);
        assert!(uncordon(&fleet, &name("w1")).unwrap().contains("is not cordoned"));
    }

    #[test]
    fn comments_and_other_fields_stay() {
        let (_folder, fleet) = fleet();
        files::write(&file(&fleet), COMMENTED).unwrap();
        cordon(&fleet, &name("w1")).unwrap();
        let cordoned = files::read(&file(&fleet)).unwrap().unwrap();
        let line = "spec: # see the runbook\n    unschedulable: true\n    # less than it has\n";
        assert!(cordoned.contains(line), "{cordoned}");
        uncordon(&fleet, &name("w1")).unwrap();
        assert_eq!(files::read(&file(&fleet)).unwrap().unwrap(), COMMENTED);
    }

    #[test]
    fn a_value_that_is_there_is_replaced() {
        let text = "apiVersion: carp.dev/v1alpha1\nkind: WorkerOverlay\nmetadata: {name: w1}\nspec:\n  \
                    unschedulable: false  # for now\n";
        let set = set(Some(text), &name("w1"), Path::new("x")).unwrap();
        assert_eq!(set, text.replace("false", "true"));
    }

    #[test]
    fn an_empty_spec_is_filled() {
        for spec in ["", "spec: {}\n", "spec:\n"] {
            let text =
                format!("apiVersion: a/b\nkind: WorkerOverlay\nmetadata:\n  name: w1\n{spec}");
            // A document without a spec is not an overlay yet; it is refused rather than guessed at.
            match set(Some(&text), &name("w1"), Path::new("x")) {
                Ok(done) => assert!(done.ends_with("spec:\n  unschedulable: true\n"), "{done}"),
                Err(error) => assert!(error.message.contains("cannot edit"), "{error}"),
            }
        }
    }

    #[test]
    fn what_cannot_be_edited_safely_is_left_alone() {
        let (_folder, fleet) = fleet();
        for text in [
            "apiVersion: a/b\nkind: WorkerOverlay\nmetadata: {name: w1}\nspec: {capacity: {clusters: 1}}\n",
            "apiVersion: a/b\nkind: WorkerOverlay\nmetadata: {name: w2}\nspec: {}\n",
            "not: an overlay\n",
        ] {
            files::write(&file(&fleet), text).unwrap();
            let error = cordon(&fleet, &name("w1")).unwrap_err();
            assert!(error.message.contains("safely"), "{error}");
            assert_eq!(files::read(&file(&fleet)).unwrap().unwrap(), text);
        }
    }

    #[test]
    fn an_overlay_elsewhere_is_not_doubled() {
        let (_folder, fleet) = fleet();
        let elsewhere = fleet.root.join("fleet/eu.yaml");
        files::write(&elsewhere, &format!("kind: Other\n---\n{COMMENTED}")).unwrap();
        let error = cordon(&fleet, &name("w1")).unwrap_err();
        assert!(error.to_string().contains("eu.yaml"), "{error}");
        cordon(&fleet, &name("w2")).unwrap();
    }

    #[test]
    fn a_worker_that_is_not_there_is_named() {
        let (_folder, fleet) = fleet();
        let error = cordon(&fleet, &name("w3")).unwrap_err();
        insta::assert_snapshot!(error, @r"
        there is no worker `w3` in this fleet
        help: its workers are w1, w2
        ");
    }
}
