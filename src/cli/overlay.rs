//! The fields of a `WorkerOverlay` that `cordon`, `drain` and `uncordon` set, as edits of the file's text.
//!
//! A person's comments and other fields stay as they are. Every edit is read back, and refused where it
//! did not come out as it was meant.

use std::path::{Path, PathBuf};

use super::engine::Writable;
use super::{Error, files};
use crate::diag::suggest;
use crate::load::worker_overlays;
use crate::model::Name;
use crate::model::api::{API_VERSION, Drain, WorkerOverlaySpec};

/// A field that is set, and the value as it is written.
struct FieldEdit {
    field: &'static str,
    value: String,
    apply: WorkerOverlaySpec,
}

const CORDON: &str = "unschedulable";
const DRAIN: &str = "drain";

fn cordoned() -> FieldEdit {
    let apply = WorkerOverlaySpec { unschedulable: Some(true), ..WorkerOverlaySpec::default() };
    FieldEdit { field: CORDON, value: "true".to_owned(), apply }
}

fn drained(max_unavailable: Option<u32>) -> FieldEdit {
    let value = match max_unavailable {
        Some(most) => format!("{{maxUnavailable: {most}}}"),
        None => "true".to_owned(),
    };
    let drain = Some(Drain { max_unavailable, ..Drain::default() });
    FieldEdit {
        field: DRAIN,
        value,
        apply: WorkerOverlaySpec { drain, ..WorkerOverlaySpec::default() },
    }
}

impl FieldEdit {
    /// The spec with the field set.
    fn on(&self, spec: WorkerOverlaySpec) -> WorkerOverlaySpec {
        WorkerOverlaySpec {
            unschedulable: self.apply.unschedulable.or(spec.unschedulable),
            drain: self.apply.drain.or(spec.drain),
            ..spec
        }
    }
}

/// Cordons a worker and says what was done.
///
/// # Errors
/// There is no such worker, or its overlay is not a file that can be edited.
pub(super) fn cordon(fleet: &Writable, worker: &Name) -> Result<String, Error> {
    write(fleet, worker, &cordoned(), "cordoned")
}

/// Drains a worker and says what was done.
///
/// # Errors
/// As for [`cordon`].
pub(super) fn drain(
    fleet: &Writable,
    worker: &Name,
    max_unavailable: Option<u32>,
) -> Result<String, Error> {
    write(fleet, worker, &drained(max_unavailable), "drained")
}

fn write(fleet: &Writable, worker: &Name, edit: &FieldEdit, done: &str) -> Result<String, Error> {
    check_worker(fleet, worker)?;
    let path = place(fleet, worker)?;
    let before = files::read(&path)?;
    if let Some(text) = &before {
        let spec = spec(text, worker, &path)?;
        if edit.on(spec.clone()) == spec {
            return Ok(format!("worker/{worker} is {done} already by {}", files::shown(&path)));
        }
    }
    files::write(&path, &set(before.as_deref(), worker, &path, edit)?)?;
    Ok(format!("worker/{worker} {done}: wrote {}", files::shown(&path)))
}

/// Takes the cordon and the drain off and says what was done.
///
/// # Errors
/// As for [`cordon`].
pub(super) fn uncordon(fleet: &Writable, worker: &Name) -> Result<String, Error> {
    check_worker(fleet, worker)?;
    let path = place(fleet, worker)?;
    let not_here = || {
        format!(
            "worker/{worker} is not cordoned or drained by {}\nif its own document says `unschedulable` or \
             `drain`, remove that there",
            files::shown(&path)
        )
    };
    let Some(text) = files::read(&path)? else { return Ok(not_here()) };
    let said = spec(&text, worker, &path)?;
    if said.unschedulable != Some(true) && said.drain.is_none_or(|drain| !drain.enabled) {
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
        error.help(suggest::help(worker, all, "its workers are"))
    })
}

/// The file to edit. An overlay that stands elsewhere is not ours to move, and a second one of its name
/// would be refused.
fn place(fleet: &Writable, worker: &Name) -> Result<PathBuf, Error> {
    let folder = fleet.root.join(&fleet.fleet_folder);
    let path = folder.join(format!("overlays/{worker}.yaml"));
    for file in files::yaml_files(&folder)?.into_iter().filter(|f| *f != path) {
        let text = files::read(&file)?.unwrap_or_default();
        let is_its = |(name, _): &(String, _)| name == worker.as_str();
        if text.contains("WorkerOverlay") && worker_overlays(&text).iter().any(is_its) {
            return Err(by_hand(&file).because("the overlay stands in a file of another name"));
        }
    }
    Ok(path)
}

fn by_hand(path: &Path) -> Error {
    Error::failed(format!("cannot edit {} safely", files::shown(path)))
        .help(format!("set or remove `spec.{CORDON}` and `spec.{DRAIN}` there by hand"))
}

fn spec(text: &str, worker: &Name, path: &Path) -> Result<WorkerOverlaySpec, Error> {
    let mut overlays = worker_overlays(text);
    match (overlays.pop(), overlays.is_empty()) {
        (Some((name, spec)), true) if name == worker.as_str() => {
            spec.map_err(|why| by_hand(path).because(why))
        }
        _ => Err(by_hand(path).because(format!("it is not the overlay of {worker} alone"))),
    }
}

/// The text with the field set.
fn set(
    before: Option<&str>,
    worker: &Name,
    path: &Path,
    edit: &FieldEdit,
) -> Result<String, Error> {
    let FieldEdit { field, value, .. } = edit;
    let Some(text) = before else {
        return Ok(format!(
            "apiVersion: {API_VERSION}\nkind: WorkerOverlay\nmetadata:\n  name: {worker}\nspec:\n  \
             {field}: {value}\n"
        ));
    };
    let wanted = edit.on(spec(text, worker, path)?);
    let mut lines = lines_of(text);
    if let Some(at) = field_line(&lines, field) {
        let (start, comment) = split_comment(&lines[at]);
        let indent = start.len() - start.trim_start().len();
        lines[at] = format!("{}{field}: {value}{comment}", " ".repeat(indent));
    } else if let Some(at) = lines.iter().position(|l| is_key(l, "spec")) {
        let comment = split_comment(&lines[at]).1.to_owned();
        let indent = child_indent(&lines[at + 1..]).unwrap_or(2);
        lines[at] = format!("spec:{comment}");
        lines.insert(at + 1, format!("{}{field}: {value}", " ".repeat(indent)));
    } else {
        lines.extend(["spec:".to_owned(), format!("  {field}: {value}")]);
    }
    checked(lines.join("\n") + "\n", &wanted, worker, path)
}

/// The text without the cordon and the drain; `None` where nothing else is left.
fn unset(text: &str, worker: &Name, path: &Path) -> Result<Option<String>, Error> {
    let wanted =
        WorkerOverlaySpec { unschedulable: None, drain: None, ..spec(text, worker, path)? };
    if wanted == WorkerOverlaySpec::default() {
        return Ok(None);
    }
    let mut lines = lines_of(text);
    for field in [CORDON, DRAIN] {
        if let Some(at) = field_line(&lines, field) {
            lines.remove(at);
        }
    }
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

fn field_line(lines: &[String], field: &str) -> Option<usize> {
    lines.iter().position(|line| is_key(line.trim_start(), field))
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
        (
            folder,
            Writable {
                root,
                fleet_folder: "fleet".into(),
                workers,
                holds: None,
                spent: Vec::new(),
            },
        )
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
        assert!(uncordon(&fleet, &name("w1")).unwrap().contains("is not cordoned or drained"));
    }

    #[test]
    fn a_drain_is_a_small_file_too_and_an_uncordon_removes_both() {
        let (_folder, fleet) = fleet();
        let w1 = name("w1");
        let text = || files::read(&file(&fleet)).unwrap().unwrap();
        drain(&fleet, &w1, None).unwrap();
        assert!(text().ends_with("spec:\n  drain: true\n"), "{}", text());
        assert!(drain(&fleet, &w1, None).unwrap().contains("already"));
        drain(&fleet, &w1, Some(3)).unwrap();
        assert!(text().ends_with("spec:\n  drain: {maxUnavailable: 3}\n"), "{}", text());
        cordon(&fleet, &w1).unwrap();
        assert!(text().contains("  unschedulable: true\n  drain:"), "{}", text());
        uncordon(&fleet, &w1).unwrap();
        assert_eq!(files::read(&file(&fleet)).unwrap(), None);
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
    fn short_forms_are_read_and_stay_as_they_are() {
        let (_folder, fleet) = fleet();
        let short = "apiVersion: carp.dev/v1alpha1\nkind: WorkerOverlay\nmetadata: {name: w1}\nspec:\n  \
                     capacity: 6\n  drain: true\n  reserved: 1\n";
        let text = || files::read(&file(&fleet)).unwrap().unwrap();
        files::write(&file(&fleet), short).unwrap();
        cordon(&fleet, &name("w1")).unwrap();
        assert_eq!(text(), short.replace("spec:\n", "spec:\n  unschedulable: true\n"));
        drain(&fleet, &name("w1"), Some(2)).unwrap();
        assert!(text().contains("drain: {maxUnavailable: 2}\n  reserved: 1\n"), "{}", text());
        uncordon(&fleet, &name("w1")).unwrap();
        assert_eq!(text(), short.replace("  drain: true\n", ""));
        // One that stands elsewhere is found whatever its form.
        files::remove(&file(&fleet)).unwrap();
        files::write(&fleet.root.join("fleet/eu.yaml"), short).unwrap();
        assert!(cordon(&fleet, &name("w1")).unwrap_err().to_string().contains("eu.yaml"));
    }

    #[test]
    fn a_value_that_is_there_is_replaced() {
        let text = "apiVersion: carp.dev/v1alpha1\nkind: WorkerOverlay\nmetadata: {name: w1}\nspec:\n  \
                    unschedulable: false  # for now\n";
        let set = set(Some(text), &name("w1"), Path::new("x"), &cordoned()).unwrap();
        assert_eq!(set, text.replace("false", "true"));
    }

    #[test]
    fn an_empty_spec_is_filled() {
        for spec in ["", "spec: {}\n", "spec:\n"] {
            let text =
                format!("apiVersion: a/b\nkind: WorkerOverlay\nmetadata:\n  name: w1\n{spec}");
            // A document without a spec is not an overlay yet; it is refused rather than guessed at.
            match set(Some(&text), &name("w1"), Path::new("x"), &cordoned()) {
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
        help: did you mean `w1`?
        ");
    }
}
