//! Who has the files of releases: their publishers, or a folder or an address in their place.

use std::path::Path;

use super::super::{Error, files};
use super::pulled::WantedFile;
use crate::forge::{DownloadError, DownloadLimits, Downloads, ProxySettings};
use crate::model::{Digest, PulledRelease};
use crate::schemas::{PublishedDefinition, published_definitions};

/// What was read of a file.
pub(super) struct ReadRelease {
    /// The digest of its bytes.
    pub(super) sha256: Digest,
    /// What of it is wanted.
    pub(super) definitions: Vec<PublishedDefinition>,
}

/// Those who have the files.
pub(super) struct Publishers {
    /// A folder, or an address, that has them by host and path; `None`: where they are published.
    from: Option<String>,
    downloads: Downloads,
}

impl Publishers {
    /// Begins to read: there is one time for all files.
    ///
    /// # Errors
    /// The machine has no room for it.
    pub(super) fn begin(from: Option<String>, proxies: ProxySettings) -> Result<Self, Error> {
        let downloads = Downloads::begin(proxies, DownloadLimits::default());
        let downloads = downloads
            .map_err(|error| Error::failed("files of releases cannot be read").because(&error))?;
        Ok(Self { from, downloads })
    }

    /// The definitions in a file, or why it was not had; `pulled` is what was pulled of it before, and must be the same.
    pub(super) fn read(
        &mut self,
        file: &WantedFile,
        pulled: Option<&PulledRelease>,
    ) -> Result<ReadRelease, String> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "._+-".contains(c);
        if !file.version.chars().all(is_plain) {
            return Err(format!("`{}` is no version of a release", file.version));
        }
        let (bytes, from) = self.bytes(&file.address)?;
        let told = |why: String| format!("{from}: {why}");
        let sha256 = Digest::of(&bytes);
        if let Some(pulled) = pulled.filter(|pulled| pulled.sha256 != sha256) {
            return Err(told(format!(
                "it is another file than was pulled of this release before (SHA-256 {}, and now {}); nobody changes a release that \
                 is out: find out who did, then --again takes it",
                pulled.sha256.short(12),
                sha256.short(12)
            )));
        }
        let text = String::from_utf8(bytes).map_err(|_| told("it is no text".to_owned()))?;
        let definitions = published_definitions(&text, &file.only).map_err(told)?;
        Ok(ReadRelease { sha256, definitions })
    }

    /// The bytes of a file, and where they were read.
    fn bytes(&mut self, address: &str) -> Result<(Vec<u8>, String), String> {
        let below = address.split_once("://").map_or(address, |(_, path)| path);
        let there = match &self.from {
            None => address.to_owned(),
            Some(base) if base.contains("://") => {
                format!("{}/{below}", base.trim_end_matches('/'))
            }
            Some(folder) => {
                let path = Path::new(folder).join(below);
                let read = files::read_at_most(&path, self.downloads.most());
                let read = read.map_err(|error| error.to_string())?;
                return Ok((read, path.display().to_string()));
            }
        };
        match self.downloads.read(&there) {
            Ok(bytes) => Ok((bytes, there)),
            // The address says nothing new where nobody was asked for it.
            Err(why @ DownloadError::StillUnreachable { .. }) => Err(why.to_string()),
            Err(why) => Err(format!("{there}: {why}")),
        }
    }
}
