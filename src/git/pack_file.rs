//! A pack and its index as files: complete or not there, whenever the machine stops.

use std::fs::{self, File, Permissions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use tempfile::{Builder, NamedTempFile};

use super::pack::Entries;
use super::pack_index::index;
use crate::fault::{self, Point};

impl Entries {
    /// Writes the pack and its index into a repository, and returns the pack when both are on the disk. The temporary
    /// files are called as git calls its own, so `git gc` removes those that a killed process left.
    ///
    /// # Errors
    /// The disk is full or failed; then neither has its name.
    pub(super) fn write(&self, repository: &Path) -> io::Result<PathBuf> {
        let folder = repository.join("objects/pack");
        fs::create_dir_all(&folder)?;
        fault::at(Point::BeforePack)?;
        let mut pack = temporary(&folder, "tmp_pack_")?;
        let id = self.write_pack(pack.as_file_mut())?;
        fault::at(Point::HalfPack)?;
        let mut idx = temporary(&folder, "tmp_idx_")?;
        idx.write_all(&index(&self.indexed().collect::<Vec<_>>(), id))?;
        fault::at(Point::BeforeSync)?;
        pack.as_file().sync_all()?;
        idx.as_file().sync_all()?;
        // Readers look for the index, so the pack comes first.
        let path = folder.join(format!("pack-{id}.pack"));
        pack.persist(&path)?;
        idx.persist(path.with_extension("idx"))?;
        fault::at(Point::AfterPack)?;
        if cfg!(unix) {
            File::open(&folder)?.sync_all()?;
        }
        fault::at(Point::AfterSync)?;
        Ok(path)
    }
}

/// A file that nobody writes again, as git's packs are.
fn temporary(folder: &Path, prefix: &str) -> io::Result<NamedTempFile> {
    let mut builder = Builder::new();
    builder.prefix(prefix);
    #[cfg(unix)]
    builder.permissions(<Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o444));
    builder.tempfile_in(folder)
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "what was written is looked at")]
mod tests {
    use git2::{Odb, Repository};

    use super::super::pack::ObjectType;
    use super::*;

    fn entries() -> Entries {
        let folder = tempfile::tempdir().unwrap();
        let mut entries = Entries::beside(folder.path());
        for size in [0_u32, 1, 15, 16, 2047, 2048, 100_000].into_iter().chain(20..300) {
            let body: Vec<u8> =
                (0..size).map(|i| i.wrapping_mul(2_654_435_761).to_be_bytes()[1]).collect();
            entries.add(ObjectType::Blob.id(&body), ObjectType::Blob, &body);
        }
        // Files of one template, of which all but the first are deltas.
        for body in alike() {
            entries.add(ObjectType::Blob.id(&body), ObjectType::Blob, &body);
        }
        entries
    }

    fn alike() -> impl Iterator<Item = Vec<u8>> {
        (0..2_000).map(|nth| {
            let lines: Vec<_> = (0..90).map(|line| format!("  some: {line}")).collect();
            let lines = lines.join("\n");
            format!("apiVersion: example.com/v1\nname: c{nth}\n{lines}\nlast: c{nth}\n")
                .into_bytes()
        })
    }

    #[test]
    fn the_index_is_the_one_that_libgit2_makes() {
        let (theirs, ours) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let entries = entries();
        let repository = Repository::init_bare(theirs.path()).unwrap();
        let odb: Odb<'_> = repository.odb().unwrap();
        let mut writer = odb.packwriter().unwrap();
        let id = entries.write_pack(&mut writer).unwrap();
        writer.commit().unwrap();
        Repository::init_bare(ours.path()).unwrap();
        let pack = entries.write(ours.path()).unwrap();
        let same = |name: &str| {
            let file = format!("objects/pack/pack-{id}.{name}");
            let [theirs, ours] =
                [&theirs, &ours].map(|root| fs::read(root.path().join(&file)).unwrap());
            assert!(theirs == ours, "{name} differs");
        };
        same("pack");
        same("idx");
        assert_eq!(
            fs::read_dir(pack.parent().unwrap()).unwrap().count(),
            2,
            "nothing is left beside them"
        );
    }

    #[test]
    fn a_delta_is_read_as_the_file_that_it_makes() {
        let root = tempfile::tempdir().unwrap();
        let repository = Repository::init_bare(root.path()).unwrap();
        let entries = entries();
        let pack = entries.write(root.path()).unwrap();
        let odb = repository.odb().unwrap();
        for body in alike() {
            let id = ObjectType::Blob.id(&body);
            assert_eq!(entries.read(id).unwrap().unwrap(), body);
            let theirs = odb.read(git2::Oid::from_bytes(id.as_bytes()).unwrap()).unwrap();
            assert_eq!(theirs.data(), body);
        }
        let small = fs::metadata(pack).unwrap().len();
        let whole: usize = alike().map(|body| body.len()).sum();
        assert!(small < whole as u64 / 4, "{small} of {whole}");
    }

    #[test]
    fn a_pack_can_be_read_and_not_written() {
        let root = tempfile::tempdir().unwrap();
        Repository::init_bare(root.path()).unwrap();
        let pack = entries().write(root.path()).unwrap();
        assert!(fs::metadata(&pack).unwrap().permissions().readonly());
        let again = entries().write(root.path()).unwrap();
        assert_eq!(again, pack, "the same pack may be written twice");
    }
}
