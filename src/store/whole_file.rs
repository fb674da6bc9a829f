//! A file that is there whole or not at all.

use std::io::{self, Write as _};
use std::path::Path;

/// Writes a file in the place of the one that is there: whoever reads meanwhile has either of both.
pub(super) fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(bytes)?;
    file.persist(path).map(drop).map_err(|e| e.error)
}
