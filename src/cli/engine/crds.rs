//! The definitions of the releases that a fleet has installed, as files of the fleet.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::super::show::crds::{CheckView, PullRow, PullView};
use super::super::{AgainstArgs, Context, Error, FolderArgs, ObservedArgs, files};
use super::publishers::{Publishers, ReadRelease};
use super::pulled::{PulledFolder, WantedFile, name_of, wanted};
use super::{open, reconcile};
use crate::forge::ProxySettings;
use crate::model::api::Sources;
use crate::model::{PULLED_SCHEMA, PulledLock, Unloaded, lock_from_bytes, lock_to_bytes};
use crate::render::{self, InstalledReleases};

/// The folder below the fleet's definitions that is carp's.
const FOLDER: &str = "pulled";
const LOCK: &str = "pulled.lock";
/// The most bytes of a definition, the most of all, and the most files: what loading a fleet reads.
const MOST_OF_A_FILE: usize = 3 << 20;
const MOST_OF_ALL: usize = 64 << 20;
const MOST_FILES: usize = 2_000;
/// How many workers a note names.
const MOST_NAMED: usize = 3;

/// The folder of definitions that a look is told to stand on.
///
/// # Errors
/// It is there and has no file that could be one: nothing would be found with it.
pub(in crate::cli) fn said(against: &AgainstArgs) -> Result<Option<PathBuf>, Error> {
    let Some(folder) = &against.crds else { return Ok(None) };
    if folder.is_dir() && files::yaml_files(folder)?.is_empty() {
        return Err(Error::failed(format!("{} has no definition", folder.display())).help(
            "--crds names a folder with files that are each called `<plural>.<group>.yaml`",
        ));
    }
    Ok(Some(folder.clone()))
}

/// How definitions are pulled.
#[derive(Clone, Debug, Default)]
pub(in crate::cli) struct PullOptions {
    /// A folder, or an address, that has the files by host and path; `None`: where they are published.
    pub(in crate::cli) from: Option<String>,
    /// Whether what was pulled before is read again, and may be another.
    pub(in crate::cli) again: bool,
}

/// A fleet whose definitions are pulled.
struct PulledFleet {
    /// The folder, and how it is called from the fleet's root.
    folder: PathBuf,
    shown: String,
    installed: InstalledReleases,
    wanted: Vec<WantedFile>,
    /// The definitions that the fleet has itself.
    own: BTreeSet<String>,
    before: PulledFolder,
    /// Why the lock cannot be read.
    damage: Option<String>,
    notes: Vec<String>,
}

/// Whether the definitions are those of the releases that the fleet has installed. Nothing is asked of anybody.
///
/// # Errors
/// The fleet does not load.
pub(in crate::cli) fn check(
    context: &mut Context<'_, '_>,
    args: &FolderArgs,
) -> Result<CheckView, Error> {
    let fleet = fleet(context, args, false)?;
    let found = differences(&fleet);
    let definitions = fleet.before.files.len();
    let releases = fleet.installed.releases.len();
    Ok(CheckView { folder: fleet.shown, found, definitions, releases, notes: fleet.notes })
}

/// What is not as it should be. Nobody can say anything of the files where the lock says nothing.
fn differences(fleet: &PulledFleet) -> Vec<String> {
    let aside = files::set_aside(&fleet.folder);
    if !fleet.folder.exists() && aside.exists() {
        let aside = files::shown(&aside);
        return vec![format!("a pull was killed before it ended: what was pulled is {aside}")];
    }
    if let Some(damage) = &fleet.damage {
        return vec![damage.clone()];
    }
    let mut found = Vec::new();
    for file in &fleet.wanted {
        if let Err(why) = fleet.before.stands(file, &fleet.own) {
            found.push(format!("{} {} {why}", file.component, file.version));
        }
    }
    found.dedup();
    found.extend(fleet.before.unwanted(&fleet.wanted));
    found
}

/// Reads the files of the releases, and writes their definitions.
///
/// # Errors
/// The fleet does not load, or its folder cannot be written to. A file that is not had is told in the view.
pub(in crate::cli) fn pull(
    context: &mut Context<'_, '_>,
    args: &FolderArgs,
    options: &PullOptions,
) -> Result<PullView, Error> {
    let is_more = |from: &str| from.contains("://") && from.contains(['@', '?', '#']);
    if options.from.as_deref().is_some_and(is_more) {
        return Err(Error::failed("--from has more than a host and a path")
            .help("no credential is sent: name a place that everybody may read, or a folder"));
    }
    let _progress = context.progress("reading the definitions of the releases");
    let fleet = fleet(context, args, true)?;
    let proxies = ProxySettings::of(|name| context.io.env.get(name).map(String::as_str));
    let mut publishers = Publishers::begin(options.from.clone(), proxies)?;
    let mut reads = Vec::new();
    let all_stand = !options.again && differences(&fleet).is_empty();
    for file in &fleet.wanted {
        let stands = !options.again
            && fleet.before.stands(file, &fleet.own).is_ok()
            && (all_stand || !fleet.before.leaves_some(file));
        let pulled = fleet.before.lock.releases.get(&file.address).filter(|_| !options.again);
        let read = (!stands).then(|| publishers.read(file, pulled));
        reads.push((file, read.transpose()));
    }
    let (after, rows, shared) = composed(&fleet, reads);
    bounded(&fleet, &after)?;
    if let Some(damage) =
        fleet.damage.as_ref().filter(|_| rows.iter().any(|row| row.failed.is_some()))
    {
        // Nobody knows of what stands which file it is of, so nothing of it could be kept.
        return Err(Error::failed(format!(
            "{damage}, and not all files can be read, so nothing was written"
        ))
        .help("bring the lock back from Git, or pull when all files can be read"));
    }
    let written = write(&fleet, &after)?;
    let own = after.lock.releases.values().flat_map(|release| release.own.clone()).collect();
    Ok(PullView { folder: fleet.shown, rows, own, shared, written, notes: fleet.notes })
}

/// What was read of a file; `None` where it stands as it was pulled.
type FileRead = Result<Option<ReadRelease>, String>;

/// The folder with what was read. Of a component all is new, or all is what was pulled before.
fn composed(
    fleet: &PulledFleet,
    reads: Vec<(&WantedFile, FileRead)>,
) -> (PulledFolder, Vec<PullRow>, Vec<String>) {
    let failed = reads.iter().filter(|(_, read)| read.is_err());
    let failed: BTreeSet<_> = failed.map(|(file, _)| file.component.clone()).collect();
    let (mut after, mut rows) = (PulledFolder::default(), Vec::new());
    for (address, release) in &fleet.before.lock.releases {
        if failed.contains(&release.component) {
            after.keep(&fleet.before, address);
        }
    }
    for (file, read) in reads {
        let stands = matches!(read, Ok(None));
        let told = match read {
            Ok(_) if failed.contains(&file.component) && !stands => {
                Some("not written, for another file of the release failed".to_owned())
            }
            Ok(Some(read)) => {
                after.put(file, read.sha256, read.definitions, &fleet.own);
                None
            }
            Ok(None) => {
                after.keep(&fleet.before, &file.address);
                None
            }
            Err(why) => Some(why),
        };
        rows.push(PullRow {
            component: file.component.clone(),
            version: file.version.clone(),
            address: file.address.clone(),
            definitions: 0,
            stands,
            failed: told,
        });
    }
    let shared = after.settle();
    for row in &mut rows {
        row.definitions = after.count(&row.address);
    }
    (after, rows, shared)
}

/// Loads the fleet, and reads its folder of definitions, which is put back first where it `may_write`.
fn fleet(
    context: &mut Context<'_, '_>,
    args: &FolderArgs,
    may_write: bool,
) -> Result<PulledFleet, Error> {
    let named = reconcile::argument(&args.fleet);
    let place = open::find(context, &named)?;
    let Some(root) = place.folder.filter(|_| place.revision.is_none()) else {
        return Err(Error::failed("definitions are pulled into the files of a folder")
            .help("name a folder with the fleet, without a revision"));
    };
    let look = open::look_at_input(context, &named, &ObservedArgs::default(), None)?;
    let fleet = &look.opened.proposal.fleet;
    let may_pin = |whole: &&Unloaded| {
        whole.kind.as_deref().is_none_or(|kind| ["Worker", "WorkerPool"].contains(&kind))
    };
    let unloaded = fleet.unloaded.iter().find(may_pin);
    if fleet.name.is_empty() || unloaded.is_some() {
        let file = unloaded.map_or("carp.yaml", |whole| &whole.file);
        return Err(Error::failed(format!(
            "{file} does not load, so nobody knows which versions are installed"
        ))
        .help("`carp validate` shows why"));
    }
    let crds = fleet.spec.roots.clone().unwrap_or_default().crds;
    let shown = format!("{crds}/{FOLDER}");
    let folder = root.join(&crds).join(FOLDER);
    // What is behind a link is no file of the fleet: no run would read it, and what is written would be elsewhere.
    let mut above = folder.ancestors().take_while(|path| *path != root);
    if let Some(link) = above.find(|path| path.is_symlink()) {
        return Err(Error::failed(format!("{} is a link, which no run follows", link.display()))
            .help("put a folder in its place"));
    }
    let installed = render::installed(fleet);
    if may_write {
        files::put_back(&folder)?;
    }
    let (before, damage) = read_folder(&folder, &shown)?;
    let mut notes = version_notes(&installed);
    if fleet.spec.images.as_ref().is_some_and(|images| images.sources == Sources::Mirror) {
        notes.push(
            "the clusters read from the mirror alone (images.sources); definitions are files of releases, which carp asks their \
             publishers for unless --from names who else has them"
                .to_owned(),
        );
    }
    let wanted = wanted(&installed);
    Ok(PulledFleet {
        own: own_definitions(&root.join(&crds), &folder)?,
        shown,
        folder,
        installed,
        wanted,
        before,
        damage,
        notes,
    })
}

/// What people should know of the versions.
fn version_notes(installed: &InstalledReleases) -> Vec<String> {
    let mut notes = Vec::new();
    for release in installed.releases.iter().filter(|release| !release.older.is_empty()) {
        let older = release.older.iter().map(|older| {
            format!("{} {} ({})", release.component, older.version, some_of(&older.who))
        });
        notes.push(format!(
            "there is an older {}: the definitions are those of {}, the newest; what it knows and an older one does not is not found",
            older.collect::<Vec<_>>().join(" and "),
            release.version
        ));
    }
    for component in &installed.unpublished {
        notes.push(format!(
            "where the definitions of {component} are published is not known: say it with `definitions` in its provider's file, \
             or in templates/definitions/{component}.yaml"
        ));
    }
    notes
}

/// The first of those who have something, and how many more there are.
fn some_of(who: &[String]) -> String {
    let (first, more) = who.split_at(who.len().min(MOST_NAMED));
    let more = if more.is_empty() { String::new() } else { format!(" and {} more", more.len()) };
    format!("{}{more}", first.join(", "))
}

/// The names of the definitions outside of the folder.
fn own_definitions(crds: &Path, folder: &Path) -> Result<BTreeSet<String>, Error> {
    let all = files::yaml_files(crds)?.into_iter().filter(|path| !path.starts_with(folder));
    let is_hidden = |path: &Path| {
        let below = path.strip_prefix(crds).unwrap_or(path);
        below.iter().any(|part| part.to_string_lossy().starts_with('.'))
    };
    let all = all.filter(|path| !is_hidden(path));
    Ok(all.map(|path| name_of(&path.to_string_lossy()).to_owned()).collect())
}

/// The folder as it is, and why its lock cannot be read.
fn read_folder(folder: &Path, shown: &str) -> Result<(PulledFolder, Option<String>), Error> {
    let mut read = PulledFolder::default();
    for path in files::yaml_files(folder)? {
        let below = path.strip_prefix(folder).unwrap_or(&path);
        let name = below.iter().map(|part| part.to_string_lossy()).collect::<Vec<_>>().join("/");
        // One that is too large is not what was pulled.
        let bytes = files::read_at_most(&path, MOST_OF_A_FILE).unwrap_or_default();
        read.files.insert(name, bytes);
    }
    let lock = folder.join(LOCK);
    if !lock.exists() {
        return Ok((read, None));
    }
    let damage = |why: String| Some(format!("{shown}/{LOCK} cannot be read: {why}"));
    let bytes = files::read_at_most(&lock, MOST_OF_A_FILE);
    Ok(match bytes.map(|bytes| lock_from_bytes::<PulledLock>(&bytes, PULLED_SCHEMA)) {
        Ok(Ok(lock)) => (PulledFolder { lock, ..read }, None),
        Ok(Err(why)) => (read, damage(why.to_string())),
        Err(why) => (read, damage(why.to_string())),
    })
}

/// Refuses what loading the fleet would not read.
fn bounded(fleet: &PulledFleet, after: &PulledFolder) -> Result<(), Error> {
    let bytes: usize = after.files.values().map(Vec::len).sum();
    if bytes <= MOST_OF_ALL && after.files.len() + fleet.own.len() <= MOST_FILES {
        return Ok(());
    }
    let most = MOST_OF_ALL >> 20;
    Err(Error::failed(format!(
        "there are more definitions than {MOST_FILES}, or more than {most} MiB of them, which carp does not read"
    ))
    .help("say which are wanted with `only` in templates/definitions/COMPONENT.yaml"))
}

/// Writes the folder, where it differs; how many files are new or changed, and how many are gone.
fn write(fleet: &PulledFleet, after: &PulledFolder) -> Result<Option<(usize, usize)>, Error> {
    let before = &fleet.before;
    if before == after && fleet.damage.is_none() {
        return Ok(None);
    }
    let differs = |(path, bytes): &(&String, &Vec<u8>)| before.files.get(*path) != Some(*bytes);
    let written = after.files.iter().filter(differs).count();
    let gone = before.files.keys().filter(|path| !after.files.contains_key(*path)).count();
    let mut all = after.files.clone();
    all.insert(LOCK.to_owned(), lock_to_bytes(&after.lock));
    files::replace_folder(&fleet.folder, &all)?;
    Ok(Some((written, gone)))
}
