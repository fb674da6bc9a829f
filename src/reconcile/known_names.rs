//! What the branches are called by a `carp.yaml` that was read before. To read it takes longer than what is left of a run
//! without news.
//!
//! It is a cache in the Git directory and never an input: the names are those of these bytes.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::caches::cache_file;
use super::sources::remote;
use super::{Error, FleetPlace, Names};
use crate::change::entry_at;
use crate::git::Repository;
use crate::load;
use crate::model::{EntryKind, Id, paths};
use crate::store::{load_sealed, save_sealed};

/// What one `carp.yaml` says of names.
#[derive(Serialize, Deserialize)]
struct KnownNames {
    /// carp's version.
    version: String,
    /// The id of the file's bytes; `None` of what is no plain file, which is always read.
    file: Option<Id>,
    /// The names, of a clone without a remote.
    names: Names,
}

impl KnownNames {
    fn new(file: Option<Id>, names: Names) -> Self {
        Self { version: env!("CARGO_PKG_VERSION").to_owned(), file, names }
    }

    fn is_of(&self, file: Option<Id>) -> bool {
        file.is_some() && self.file == file && self.version == env!("CARGO_PKG_VERSION")
    }
}

/// The names that the `carp.yaml` of a tree gives; `None` where it is missing or broken.
pub(super) fn names_in(
    place: &FleetPlace,
    repository: &Repository,
    tree: Id,
) -> Result<Option<Names>, Error> {
    let (store, prefix) = (repository.store()?, &place.prefix);
    let entry = entry_at(&store, tree, &paths::in_repository(prefix, paths::FLEET_FILE))?;
    let Some(entry) = entry else { return Ok(None) };
    let path = cache_file(repository, prefix, "names.json");
    let file = Some(entry.id).filter(|_| entry.kind == EntryKind::File);
    let known = load_sealed::<KnownNames>(&path).filter(|known| known.is_of(file));
    let names = if let Some(known) = known {
        known.names
    } else {
        let Some(spec) = load::readable_fleet_spec(&store, tree, prefix)? else { return Ok(None) };
        let names = Names::of(None, &spec, prefix);
        // Who only looks at a clone in which nothing is kept makes nothing there. Where it cannot be written the file is
        // read once more.
        if path.parent().is_some_and(Path::is_dir) {
            let _ = save_sealed(&path, &KnownNames::new(file, names.clone()));
        }
        names
    };
    Ok(Some(Names { remote: remote(repository), ..names }))
}
