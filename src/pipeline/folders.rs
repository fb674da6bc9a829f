//! Folders as they go between the store and the renderer.

use std::collections::BTreeMap;

use crate::change::TreeEdit;
use crate::model::{EntryKind, FlavorKind, Fleet, Id, Previous, Store, StoreError, WorkerLock};
use crate::render::{Files, RenderSettings, Templates};

/// Puts the files of a folder; returns the folder's id.
pub(super) fn put_folder(store: &dyn Store, files: &Files) -> Result<Id, StoreError> {
    let mut edit = TreeEdit::default();
    for (path, bytes) in files {
        edit.file(path, store.put_blob(bytes)?);
    }
    edit.apply(store, None)
}

/// Makes the trees of all folders beside which others' files lie, of what the locks list of them. Else only the clone
/// that wrote such a folder has its tree.
pub(super) fn make_listed(store: &dyn Store, previous: &Previous) -> Result<(), StoreError> {
    for lock in previous.workers.values() {
        make_listed_on(store, lock)?;
    }
    let made = previous.fleet.iter().flat_map(|lock| lock.workers.values());
    made.map(|row| &row.files).try_for_each(|files| make_tree(store, files))
}

/// As [`make_listed`], of the clusters on one worker.
pub(super) fn make_listed_on(store: &dyn Store, lock: &WorkerLock) -> Result<(), StoreError> {
    lock.clusters.values().map(|row| &row.files).try_for_each(|files| make_tree(store, files))
}

/// The settings with which objects are rendered, those of the fleet and those that folders of workers were rendered with.
pub(super) fn standing_settings(
    store: &dyn Store,
    fleet: &Fleet,
    templates: &Templates,
    mut folders: impl Iterator<Item = Id>,
) -> Result<RenderSettings, StoreError> {
    folders.try_fold(RenderSettings::of(&fleet.spec), |settings, folder| {
        let files = read_folder(store, folder)?;
        Ok(settings.and_standing(templates, FlavorKind::Worker, &files))
    })
}

fn make_tree(store: &dyn Store, files: &BTreeMap<String, Id>) -> Result<(), StoreError> {
    if files.is_empty() {
        return Ok(());
    }
    let mut edit = TreeEdit::default();
    for (path, id) in files {
        edit.file(path, *id);
    }
    edit.apply(store, None).map(drop)
}

/// Puts files and returns their ids by path.
pub(super) fn put_files(
    store: &dyn Store,
    files: &Files,
) -> Result<BTreeMap<String, Id>, StoreError> {
    files.iter().map(|(path, bytes)| Ok((path.clone(), store.put_blob(bytes)?))).collect()
}

/// Reads the files of a folder that carp made.
pub(super) fn read_folder(store: &dyn Store, folder: Id) -> Result<Files, StoreError> {
    let mut files = Files::new();
    read_into(store, folder, "", &mut files)?;
    Ok(files)
}

fn read_into(
    store: &dyn Store,
    folder: Id,
    prefix: &str,
    files: &mut Files,
) -> Result<(), StoreError> {
    for (name, entry) in store.dir(folder)?.iter() {
        let path = format!("{prefix}{name}");
        match entry.kind {
            EntryKind::Dir => read_into(store, entry.id, &format!("{path}/"), files)?,
            EntryKind::File | EntryKind::Executable => {
                files.insert(path, store.blob(entry.id)?.to_vec());
            }
            EntryKind::Symlink | EntryKind::Submodule => {}
        }
    }
    Ok(())
}
