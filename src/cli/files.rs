//! Files that commands write for people: new, or with one edit in them.

#![expect(
    clippy::disallowed_methods,
    reason = "these files are the user's own, not the output tree"
)]

use std::fs;
use std::io::ErrorKind;
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
    fn paths_read_as_people_write_them() {
        assert_eq!(shown(Path::new("./fleet/a.yaml")), "fleet/a.yaml");
        assert_eq!(shown(Path::new("../fleet/a.yaml")), "../fleet/a.yaml");
        assert_eq!(shown(Path::new("/x/a.yaml")), "/x/a.yaml");
    }
}
