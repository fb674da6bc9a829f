//! A file's bytes to text, or to the reason why not.

use crate::diag::{Code, Diagnostic, Place};
use crate::model::{Entry, EntryKind, Store, StoreError};

/// The largest file that carp reads, in bytes.
pub(super) const MAX_FILE: u64 = 1 << 20;

/// What every pointer to large-file storage begins with (git-lfs, docs/spec.md).
const LFS_POINTER: &str = "version https://git-lfs.github.com/spec/";

/// The text of a file, or the finding that there is none.
///
/// # Errors
/// The store failed.
pub(super) fn text(
    store: &dyn Store,
    path: &str,
    entry: Entry,
) -> Result<Result<String, Diagnostic>, StoreError> {
    text_of_at_most(store, path, entry, MAX_FILE)
}

/// The text of a file that may have so many bytes, or the finding that there is none.
///
/// # Errors
/// The store failed.
pub(super) fn text_of_at_most(
    store: &dyn Store,
    path: &str,
    entry: Entry,
    most: u64,
) -> Result<Result<String, Diagnostic>, StoreError> {
    if let Some(finding) = not_plain(path, entry.kind) {
        return Ok(Err(finding));
    }
    let size = store.blob_size(entry.id)?;
    if size > most {
        let (size, most) = ((size - 1) >> 20, most >> 20);
        let message = format!("the file has more than {size} MiB; carp reads up to {most} MiB");
        let finding = Diagnostic::new(Code::FileTooLarge, message).at(Place::file(path));
        return Ok(Err(finding.help("split it into several files")));
    }
    let bytes = store.blob(entry.id)?;
    Ok(match std::str::from_utf8(&bytes) {
        Ok(text) if text.starts_with(LFS_POINTER) => {
            Err(Diagnostic::new(Code::FileNotPlain, "the file is a pointer to large-file storage")
                .at(Place::file(path))
                .help("take the file out of Git LFS: `git lfs untrack`, then add it again"))
        }
        Ok(text) => Ok(text.to_owned()),
        Err(error) => {
            let before = String::from_utf8_lossy(&bytes[..error.valid_up_to()]);
            let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
            let line = number(before.split('\n').count());
            let column = before.rsplit('\n').next().map_or(0, |rest| rest.chars().count()) + 1;
            let message = "the file is not UTF-8";
            Err(Diagnostic::new(Code::FileNotUtf8, message)
                .at(Place::file(path).at(line, number(column)))
                .help("save it as UTF-8"))
        }
    })
}

fn not_plain(path: &str, kind: EntryKind) -> Option<Diagnostic> {
    let what = match kind {
        EntryKind::Symlink => "a symbolic link, which carp does not follow",
        EntryKind::Submodule => "a submodule, which carp does not enter",
        EntryKind::File | EntryKind::Executable if path.contains('\u{fffd}') => {
            "a file whose name is not UTF-8"
        }
        EntryKind::Dir => "a folder where a file should be",
        EntryKind::File | EntryKind::Executable => return None,
    };
    let finding = Diagnostic::new(Code::FileNotPlain, format!("`{path}` is {what}"));
    Some(finding.at(Place::file(path)).help("put a plain file there, or remove it"))
}

/// The text without the mark that some editors put before it.
pub(super) fn without_bom(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Memory, cluster, load_tree};
    use super::*;

    fn code_of(kind: EntryKind, bytes: &[u8]) -> (Vec<Code>, usize) {
        let store = Memory::default();
        let id = store.put_blob(bytes).unwrap();
        let loaded = load_tree(&store, &[("fleet/x.yaml", Entry { kind, id })]);
        (loaded.diagnostics.iter().map(|d| d.code).collect(), loaded.fleet.unloaded.len())
    }

    #[test]
    fn only_plain_files_are_read() {
        assert_eq!(code_of(EntryKind::Symlink, b"../x"), (vec![Code::FileNotPlain], 1));
        assert_eq!(code_of(EntryKind::Submodule, b""), (vec![Code::FileNotPlain], 1));
        let pointer = format!("{LFS_POINTER}v1\noid sha256:0\nsize 1\n");
        assert_eq!(code_of(EntryKind::File, pointer.as_bytes()), (vec![Code::FileNotPlain], 1));
        assert_eq!(code_of(EntryKind::Executable, cluster("").as_bytes()), (vec![], 0));
    }

    #[test]
    fn a_large_file_is_not_even_read() {
        let large = vec![b'#'; 10 << 20];
        assert_eq!(code_of(EntryKind::File, &large), (vec![Code::FileTooLarge], 1));
    }

    #[test]
    fn text_is_utf8() {
        assert_eq!(code_of(EntryKind::File, b"a: \xff\n"), (vec![Code::FileNotUtf8], 1));
    }

    #[test]
    fn an_empty_file_does_not_load() {
        assert_eq!(code_of(EntryKind::File, b""), (vec![Code::FileEmpty], 1));
        assert_eq!(code_of(EntryKind::File, b"# nothing\n---\n"), (vec![Code::FileEmpty], 1));
    }
}
