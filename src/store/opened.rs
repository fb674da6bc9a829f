//! A folder that files are written to, held open: what somebody puts in the place of a folder meanwhile, a symbolic
//! link above all, is never written through.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use crate::model::EntryKind;

/// What stands at a name now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// A file, executable or not.
    File(EntryKind),
    /// A folder.
    Dir,
    /// A symbolic link, which is never followed.
    Link,
    /// Anything else.
    Special,
}

impl Standing {
    /// What it is, for people.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::File(_) => "a file",
            Self::Dir => "a folder",
            Self::Link => "a symbolic link",
            Self::Special => "a device, pipe or socket",
        }
    }
}

/// A folder that is open. Where the system cannot do that it is a path, and nothing holds it.
pub(super) struct Folder {
    #[cfg(unix)]
    fd: std::os::fd::OwnedFd,
    path: PathBuf,
}

impl Folder {
    /// Whether a file has these bytes.
    pub(super) fn holds(&self, name: &str, bytes: &[u8]) -> io::Result<bool> {
        let mut file = self.read(name)?;
        if file.metadata()?.len() != bytes.len() as u64 {
            return Ok(false);
        }
        let mut there = Vec::with_capacity(bytes.len());
        file.read_to_end(&mut there)?;
        Ok(there == bytes)
    }

    /// Writes a file, which at any time is either the old or the new one.
    pub(super) fn write(&self, name: &str, bytes: &[u8], kind: EntryKind) -> io::Result<()> {
        let (mut file, temporary) = self.temporary(kind)?;
        let written = file.write_all(bytes).and_then(|()| self.rename(&temporary, name));
        if written.is_err() {
            let _ = self.remove(&temporary);
        }
        written
    }

    /// A new file of a name that nothing has yet.
    fn temporary(&self, kind: EntryKind) -> io::Result<(File, String)> {
        let mut number = 0_u32;
        loop {
            let name = format!(".carp-{}-{number}", std::process::id());
            match self.create(&name, kind) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < 10_000 => {
                    number += 1;
                }
                made => return made.map(|file| (file, name)),
            }
        }
    }
}

#[cfg(unix)]
mod system {
    use std::os::unix::ffi::OsStringExt as _;

    use rustix::fs::{self, AtFlags, Dir, FileType, Mode, OFlags};
    use rustix::io::Errno;

    use super::{EntryKind, File, Folder, OsString, Path, PathBuf, Standing, io};

    impl Folder {
        /// The folder that a person named, who may have named a link; it is made if it is not there.
        pub(in crate::store) fn named(path: &Path) -> io::Result<Self> {
            std::fs::create_dir_all(path)?;
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
            let fd = fs::open(path, flags, Mode::empty())?;
            Ok(Self { fd, path: path.to_owned() })
        }

        /// A folder in it, which is made if it is not there.
        pub(in crate::store) fn folder(&self, name: &str) -> io::Result<Self> {
            match fs::mkdirat(&self.fd, name, Mode::from_raw_mode(0o777)) {
                Ok(()) | Err(Errno::EXIST) => self.enter(name),
                Err(error) => Err(error.into()),
            }
        }

        fn enter(&self, name: &str) -> io::Result<Self> {
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let fd = fs::openat(&self.fd, name, flags, Mode::empty())?;
            Ok(Self { fd, path: self.path.join(name) })
        }

        /// What a name is called for people.
        pub(in crate::store) fn shown(&self, name: &str) -> PathBuf {
            self.path.join(name)
        }

        /// What stands at a name.
        pub(in crate::store) fn look(&self, name: &str) -> io::Result<Option<Standing>> {
            let about = match fs::statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(about) => about,
                Err(Errno::NOENT) => return Ok(None),
                Err(error) => return Err(error.into()),
            };
            Ok(Some(match FileType::from_raw_mode(about.st_mode) {
                FileType::RegularFile if about.st_mode & 0o100 != 0 => {
                    Standing::File(EntryKind::Executable)
                }
                FileType::RegularFile => Standing::File(EntryKind::File),
                FileType::Directory => Standing::Dir,
                FileType::Symlink => Standing::Link,
                _ => Standing::Special,
            }))
        }

        /// The names of all that is in it, sorted.
        pub(in crate::store) fn names(&self) -> io::Result<Vec<OsString>> {
            let mut names = Vec::new();
            for item in Dir::read_from(&self.fd)? {
                let name = item?.file_name().to_bytes().to_vec();
                if name != b"." && name != b".." {
                    names.push(OsString::from_vec(name));
                }
            }
            names.sort();
            Ok(names)
        }

        /// Removes a file, a link itself, or a folder with all that is in it; no link is followed.
        pub(in crate::store) fn remove(&self, name: impl AsRef<Path>) -> io::Result<()> {
            let name = name.as_ref();
            match fs::unlinkat(&self.fd, name, AtFlags::empty()) {
                // Linux says that it is a folder, others that it is not allowed.
                Err(Errno::ISDIR | Errno::PERM) => {}
                done => return Ok(done?),
            }
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let fd = fs::openat(&self.fd, name, flags, Mode::empty())?;
            let inner = Self { fd, path: self.path.join(name) };
            for name in inner.names()? {
                inner.remove(name)?;
            }
            Ok(fs::unlinkat(&self.fd, name, AtFlags::REMOVEDIR)?)
        }

        pub(super) fn read(&self, name: &str) -> io::Result<File> {
            // What is no file by now is not waited for.
            let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
            Ok(File::from(fs::openat(&self.fd, name, flags, Mode::empty())?))
        }

        pub(super) fn create(&self, name: &str, kind: EntryKind) -> io::Result<File> {
            // What the person's umask leaves of it is what any other program would have made.
            let mode = if kind == EntryKind::Executable { 0o777 } else { 0o666 };
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
            Ok(File::from(fs::openat(&self.fd, name, flags, Mode::from_raw_mode(mode))?))
        }

        pub(super) fn rename(&self, from: &str, to: &str) -> io::Result<()> {
            Ok(fs::renameat(&self.fd, from, &self.fd, to)?)
        }
    }
}

#[cfg(not(unix))]
mod system {
    use std::fs;

    use super::{EntryKind, File, Folder, OsString, Path, PathBuf, Standing, io};

    impl Folder {
        pub(in crate::store) fn named(path: &Path) -> io::Result<Self> {
            fs::create_dir_all(path)?;
            Ok(Self { path: path.to_owned() })
        }

        pub(in crate::store) fn folder(&self, name: &str) -> io::Result<Self> {
            Self::named(&self.path.join(name))
        }

        pub(in crate::store) fn shown(&self, name: &str) -> PathBuf {
            self.path.join(name)
        }

        pub(in crate::store) fn look(&self, name: &str) -> io::Result<Option<Standing>> {
            let about = match fs::symlink_metadata(self.path.join(name)) {
                Ok(about) => about,
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
                Err(error) => return Err(error),
            };
            Ok(Some(match about.file_type() {
                kind if kind.is_symlink() => Standing::Link,
                kind if kind.is_dir() => Standing::Dir,
                kind if kind.is_file() => Standing::File(EntryKind::File),
                _ => Standing::Special,
            }))
        }

        pub(in crate::store) fn names(&self) -> io::Result<Vec<OsString>> {
            let names = fs::read_dir(&self.path)?.map(|item| item.map(|item| item.file_name()));
            let mut names = names.collect::<io::Result<Vec<_>>>()?;
            names.sort();
            Ok(names)
        }

        pub(in crate::store) fn remove(&self, name: impl AsRef<Path>) -> io::Result<()> {
            let path = self.path.join(name);
            match fs::symlink_metadata(&path)?.is_dir() {
                true => fs::remove_dir_all(path),
                false => fs::remove_file(path),
            }
        }

        pub(super) fn read(&self, name: &str) -> io::Result<File> {
            File::open(self.path.join(name))
        }

        pub(super) fn create(&self, name: &str, _: EntryKind) -> io::Result<File> {
            File::create_new(self.path.join(name))
        }

        pub(super) fn rename(&self, from: &str, to: &str) -> io::Result<()> {
            fs::rename(self.path.join(from), self.path.join(to))
        }
    }
}
