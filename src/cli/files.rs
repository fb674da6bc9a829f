//! Files that commands write for people: new, or with one edit in them.

#![expect(
    clippy::disallowed_methods,
    reason = "these files are the user's own, not the output tree"
)]

use std::collections::BTreeMap;
use std::fs;
use std::io::{ErrorKind, Read as _};
use std::path::Path;

use super::Error;

/// The text of a file; `None` where there is none.
///
/// # Errors
/// The file is there and cannot be read as text.
pub(super) fn read(path: &Path) -> Result<Option<String>, Error> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failed("read", path, &error)),
    }
}

/// Writes a file and the folders above it.
///
/// # Errors
/// The file cannot be written.
pub(super) fn write(path: &Path, text: &str) -> Result<(), Error> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(|error| failed("make", folder, &error))?;
    fs::write(path, text).map_err(|error| failed("write", path, &error))
}

/// Removes a file.
///
/// # Errors
/// The file cannot be removed.
pub(super) fn remove(path: &Path) -> Result<(), Error> {
    fs::remove_file(path).map_err(|error| failed("remove", path, &error))
}

/// Removes a folder with all that is in it.
///
/// # Errors
/// Something in it cannot be removed.
pub(super) fn remove_folder(path: &Path) -> Result<(), Error> {
    fs::remove_dir_all(path).map_err(|error| failed("remove", path, &error))
}

/// Whether a folder is absent or has nothing in it.
///
/// # Errors
/// There is something of that name that cannot be listed.
pub(super) fn is_empty_folder(path: &Path) -> Result<bool, Error> {
    match fs::read_dir(path) {
        Ok(mut entries) => Ok(entries.next().is_none()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(true),
        Err(error) => Err(failed("list", path, &error)),
    }
}

/// The names of what is in a folder, sorted; none where it is not there.
///
/// # Errors
/// There is something of that name that cannot be listed.
pub(super) fn entries(path: &Path) -> Result<Vec<String>, Error> {
    let entries = match fs::read_dir(path) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(failed("list", path, &error)),
    };
    let name = |entry: std::io::Result<fs::DirEntry>| {
        entry.map(|entry| entry.file_name().to_string_lossy().into_owned())
    };
    let mut names = entries
        .map(name)
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| failed("list", path, &error))?;
    names.sort();
    Ok(names)
}

/// The YAML files below a folder, sorted; symbolic links are not followed.
///
/// # Errors
/// A folder cannot be listed.
pub(super) fn yaml_files(folder: &Path) -> Result<Vec<std::path::PathBuf>, Error> {
    let mut found = Vec::new();
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(found),
        Err(error) => return Err(failed("list", folder, &error)),
    };
    for entry in entries {
        let entry = entry.map_err(|error| failed("list", folder, &error))?;
        let kind = entry.file_type().map_err(|error| failed("list", folder, &error))?;
        let path = entry.path();
        if kind.is_dir() {
            found.extend(yaml_files(&path)?);
        } else if kind.is_file() && path.extension().is_some_and(|e| e == "yaml" || e == "yml") {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// Where a folder is while another takes its place.
pub(super) fn set_aside(folder: &Path) -> std::path::PathBuf {
    beside(folder, "old")
}

fn beside(folder: &Path, what: &str) -> std::path::PathBuf {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    folder.with_file_name(format!(".{name}.{what}"))
}

/// Puts a folder back that was set aside by somebody who was killed before another was in its place.
///
/// # Errors
/// It cannot be renamed.
pub(super) fn put_back(folder: &Path) -> Result<(), Error> {
    let old = set_aside(folder);
    if folder.exists() || !old.exists() {
        return Ok(());
    }
    fs::rename(&old, folder).map_err(|error| failed("rename", &old, &error))
}

/// Makes a folder of files, by path from there, in the place of the one that is there: at no moment is it half of both.
///
/// # Errors
/// Something cannot be written. What was there stays, or is beside it under a name that is told.
pub(super) fn replace_folder(
    folder: &Path,
    files: &BTreeMap<String, Vec<u8>>,
) -> Result<(), Error> {
    if folder.file_name().is_none() {
        return Err(Error::failed(format!("{} is no folder", shown(folder))));
    }
    put_back(folder)?;
    let (new, old) = (beside(folder, "new"), set_aside(folder));
    for left in [&new, &old].into_iter().filter(|left| left.exists()) {
        remove_folder(left)?;
    }
    fs::create_dir_all(&new).map_err(|error| failed("make", &new, &error))?;
    for (path, bytes) in files {
        let path = new.join(path);
        let above = path.parent().unwrap_or(&new);
        fs::create_dir_all(above).map_err(|error| failed("make", above, &error))?;
        fs::write(&path, bytes).map_err(|error| failed("write", &path, &error))?;
    }
    match fs::rename(folder, &old) {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(failed("rename", folder, &error)),
    }
    fs::rename(&new, folder).map_err(|error| {
        let told = failed("rename", &new, &error);
        if old.exists() { told.help(format!("what was there is {}", shown(&old))) } else { told }
    })?;
    if old.exists() { remove_folder(&old) } else { Ok(()) }
}

/// The bytes of a file of at most so many.
///
/// # Errors
/// It cannot be read, or has more.
pub(super) fn read_at_most(path: &Path, most: usize) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    let file = fs::File::open(path).map_err(|error| failed("read", path, &error))?;
    let read = file.take(most as u64 + 1).read_to_end(&mut bytes);
    read.map_err(|error| failed("read", path, &error))?;
    if bytes.len() > most {
        return Err(Error::failed(format!("{} has more than {} MiB", shown(path), most >> 20)));
    }
    Ok(bytes)
}

/// A path as people would write it: `fleet/a.yaml`, not `./fleet/a.yaml`.
pub(super) fn shown(path: &Path) -> String {
    path.strip_prefix(".").unwrap_or(path).display().to_string()
}

fn failed(what: &str, path: &Path, error: &std::io::Error) -> Error {
    Error::failed(format!("failed to {what} {}", shown(path))).because(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_takes_the_place_of_another_as_a_whole() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("a");
        let files = |name: &str| BTreeMap::from([(format!("b/{name}"), b"x".to_vec())]);
        for name in ["one", "two"] {
            // What a process that was killed had begun.
            write(&dir.path().join(".a.new/c"), "").unwrap();
            replace_folder(&folder, &files(name)).unwrap();
            assert_eq!(entries(&folder.join("b")).unwrap(), [name]);
            assert_eq!(entries(dir.path()).unwrap(), ["a"]);
        }
        write(&dir.path().join("d"), "").unwrap();
        assert!(replace_folder(&dir.path().join("d/e"), &files("one")).is_err());
    }

    #[test]
    fn what_was_set_aside_is_put_back_and_never_removed_before_another_is_there() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("a");
        write(&folder.join("one"), "").unwrap();
        put_back(&folder).unwrap();
        assert_eq!(entries(dir.path()).unwrap(), ["a"]);
        // Somebody was killed between two renames, and the next one cannot write.
        fs::rename(&folder, set_aside(&folder)).unwrap();
        let files = BTreeMap::from([("b".to_owned(), Vec::new()), ("b/c".to_owned(), Vec::new())]);
        assert!(replace_folder(&folder, &files).is_err());
        assert_eq!(entries(&folder).unwrap(), ["one"]);
        fs::rename(&folder, set_aside(&folder)).unwrap();
        put_back(&folder).unwrap();
        assert_eq!(entries(&folder).unwrap(), ["one"]);
        // Where the other is there already, it stays.
        write(&set_aside(&folder).join("two"), "").unwrap();
        put_back(&folder).unwrap();
        assert_eq!(entries(&folder).unwrap(), ["one"]);
    }

    #[test]
    fn a_file_is_read_up_to_a_bound() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        write(&path, "123").unwrap();
        assert_eq!(read_at_most(&path, 3).unwrap(), b"123");
        assert!(read_at_most(&path, 2).is_err() && read_at_most(dir.path(), 2).is_err());
    }

    #[test]
    fn paths_read_as_people_write_them() {
        assert_eq!(shown(Path::new("./fleet/a.yaml")), "fleet/a.yaml");
        assert_eq!(shown(Path::new("../fleet/a.yaml")), "../fleet/a.yaml");
        assert_eq!(shown(Path::new("/x/a.yaml")), "/x/a.yaml");
    }
}
