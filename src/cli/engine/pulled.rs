//! The folder of definitions that were pulled: what of it stands, and what it comes to. Nothing here reads or writes.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{Digest, PulledFile, PulledLock, PulledRelease};
use crate::render::InstalledReleases;
use crate::schemas::PublishedDefinition;

/// The files of the folder, by path from there, the lock apart.
pub(super) type PulledFiles = BTreeMap<String, Vec<u8>>;

/// A file of a release that the fleet has installed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WantedFile {
    pub(super) component: String,
    pub(super) version: String,
    pub(super) address: String,
    pub(super) only: Vec<String>,
}

/// The files that a fleet wants, by component and address.
pub(super) fn wanted(installed: &InstalledReleases) -> Vec<WantedFile> {
    let files = installed.releases.iter().flat_map(|release| {
        release.addresses.iter().map(|address| WantedFile {
            component: release.component.clone(),
            version: release.version.clone(),
            address: address.clone(),
            only: release.only.clone(),
        })
    });
    files.collect()
}

/// The folder as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PulledFolder {
    pub(super) lock: PulledLock,
    pub(super) files: PulledFiles,
}

/// Why a file is not as it was pulled, in words that go on behind its component and version.
pub(super) type NotAsPulled = String;

impl PulledFolder {
    /// Whether what was pulled of a file is there, and is what is wanted of it; `own` are the names of the definitions that
    /// the fleet has itself.
    pub(super) fn stands(
        &self,
        wanted: &WantedFile,
        own: &BTreeSet<String>,
    ) -> Result<(), NotAsPulled> {
        let Some(pulled) = self.lock.releases.get(&wanted.address) else {
            let mut before: Vec<_> = self.versions(&wanted.component).collect();
            before.dedup();
            if before.is_empty() {
                return Err("is not pulled".to_owned());
            }
            return Err(format!("is not pulled; {} is", before.join(" and ")));
        };
        if (&pulled.component, &pulled.version) != (&wanted.component, &wanted.version) {
            return Err(format!("was pulled as {} {}", pulled.component, pulled.version));
        }
        if pulled.only != wanted.only {
            return Err("was pulled when other definitions of it were wanted".to_owned());
        }
        let has = |name: &String| self.lock.definitions.keys().any(|path| name_of(path) == name);
        if let Some(name) = pulled.elsewhere.iter().find(|name| !has(name)) {
            return Err(format!("was pulled when another component had {name}"));
        }
        let of_it = || self.lock.definitions.iter().filter(|(_, file)| file.of == wanted.address);
        let left_now: Vec<_> = of_it().filter(|(path, _)| own.contains(name_of(path))).collect();
        if !left_now.is_empty() || pulled.own.iter().any(|name| !own.contains(name)) {
            return Err("was pulled when the fleet had other definitions of its own".to_owned());
        }
        let is_whole = |(path, file): &(&String, &PulledFile)| {
            self.files.get(*path).is_some_and(|bytes| Digest::of(bytes) == file.sha256)
        };
        match of_it().find(|found| !is_whole(found)) {
            Some((path, _)) => Err(format!("is not as it was pulled: {path}")),
            None => Ok(()),
        }
    }

    fn versions(&self, component: &str) -> impl Iterator<Item = &str> {
        let all = self.lock.releases.values().filter(move |release| release.component == component);
        all.map(|release| release.version.as_str())
    }

    /// What is there and nobody wants: releases that are not installed any more, and files that were not pulled.
    pub(super) fn unwanted(&self, wanted: &[WantedFile]) -> Vec<String> {
        let is_wanted = |address: &String| wanted.iter().any(|file| file.address == *address);
        let has = |component: &str| wanted.iter().any(|file| file.component == component);
        let releases = self.lock.releases.iter();
        // Another version is told with the one that is wanted.
        let gone = releases.filter(|(at, of)| !is_wanted(at) && !has(&of.component));
        let gone: BTreeSet<_> = gone
            .map(|(_, of)| format!("{} {} is pulled, and not installed", of.component, of.version))
            .collect();
        let strays = self.files.keys().filter(|path| !self.lock.definitions.contains_key(*path));
        gone.into_iter().chain(strays.map(|path| format!("{path} was not pulled"))).collect()
    }

    /// Keeps of the folder before what was pulled of a file.
    pub(super) fn keep(&mut self, before: &Self, address: &str) {
        let Some(release) = before.lock.releases.get(address) else { return };
        self.lock.releases.insert(address.to_owned(), release.clone());
        for (path, file) in before.lock.definitions.iter().filter(|(_, file)| file.of == address) {
            let Some(bytes) = before.files.get(path) else { continue };
            self.lock.definitions.insert(path.clone(), file.clone());
            self.files.insert(path.clone(), bytes.clone());
        }
    }

    /// Whether a file left definitions to others: what these have of them may be another when one of them is read anew.
    pub(super) fn leaves_some(&self, wanted: &WantedFile) -> bool {
        let pulled = self.lock.releases.get(&wanted.address);
        pulled.is_some_and(|pulled| !pulled.elsewhere.is_empty())
    }

    /// Puts what was read of a file into the folder, but for what the fleet has itself. Of two files of one component the
    /// first has a definition.
    pub(super) fn put(
        &mut self,
        wanted: &WantedFile,
        sha256: Digest,
        definitions: Vec<PublishedDefinition>,
        own: &BTreeSet<String>,
    ) {
        let (mut left, mut elsewhere) = (Vec::new(), Vec::new());
        for PublishedDefinition { name, text } in definitions {
            let path = format!("{}/{name}.yaml", wanted.component);
            if own.contains(&name) {
                left.push(name);
            } else if !self.files.contains_key(&path) {
                let file =
                    PulledFile { of: wanted.address.clone(), sha256: Digest::of(text.as_bytes()) };
                self.lock.definitions.insert(path.clone(), file);
                self.files.insert(path, text.into_bytes());
            } else {
                elsewhere.push(name);
            }
        }
        let WantedFile { component, version, address, only } = wanted.clone();
        let release = PulledRelease { component, version, sha256, only, own: left, elsewhere };
        self.lock.releases.insert(address, release);
    }

    /// Leaves each definition to the first component that has it; what was left, and to whom, in words.
    pub(super) fn settle(&mut self) -> Vec<String> {
        let mut first = BTreeMap::new();
        let mut told = Vec::new();
        for path in self.lock.definitions.keys().cloned().collect::<Vec<_>>() {
            let name = name_of(&path).to_owned();
            let Some(other) = first.get(&name) else {
                first.insert(name, path);
                continue;
            };
            let (had, has) = (self.files.remove(&path), self.files.get(other));
            let component = |path: &str| path.split('/').next().unwrap_or_default().to_owned();
            let (of, owner) = (component(&path), component(other));
            let same = if had.as_ref() == has { "" } else { ", and says something else of it" };
            told.push(format!("{name} of {of}, which {owner} has too{same}"));
            let Some(file) = self.lock.definitions.remove(&path) else { continue };
            if let Some(release) = self.lock.releases.get_mut(&file.of) {
                release.elsewhere.push(name);
                release.elsewhere.sort();
            }
        }
        told
    }

    /// How many definitions come from a file.
    pub(super) fn count(&self, address: &str) -> usize {
        self.lock.definitions.values().filter(|file| file.of == address).count()
    }
}

/// What the definition in a file is called.
pub(super) fn name_of(path: &str) -> &str {
    let file = path.rsplit('/').next().unwrap_or(path);
    file.strip_suffix(".yaml").or_else(|| file.strip_suffix(".yml")).unwrap_or(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(version: &str) -> WantedFile {
        let address = format!("https://x.example.com/{version}.yaml");
        WantedFile { component: "moon".into(), version: version.into(), address, only: Vec::new() }
    }

    fn definition(name: &str) -> PublishedDefinition {
        PublishedDefinition { name: name.into(), text: format!("# {name}\n") }
    }

    fn names(all: &[&str]) -> BTreeSet<String> {
        all.iter().map(|name| (*name).to_owned()).collect()
    }

    fn pulled(own: &[&str]) -> PulledFolder {
        let mut folder = PulledFolder::default();
        let all = vec![definition("as.x.io"), definition("bs.x.io")];
        folder.put(&file("v1"), Digest::of(b"release"), all, &names(own));
        folder
    }

    #[test]
    fn what_was_pulled_stands_until_something_else_is_wanted() {
        let (folder, none) = (pulled(&[]), names(&[]));
        assert_eq!(folder.count(&file("v1").address), 2);
        assert_eq!(folder.stands(&file("v1"), &none), Ok(()));
        assert_eq!(folder.unwanted(&[file("v1")]), [""; 0]);
        assert_eq!(folder.stands(&file("v2"), &none).unwrap_err(), "is not pulled; v1 is");
        assert_eq!(folder.unwanted(&[file("v2")]), [""; 0], "told with the one that is wanted");
        assert_eq!(folder.unwanted(&[]), ["moon v1 is pulled, and not installed"]);
        let other = WantedFile { component: "sun".into(), ..file("v2") };
        assert_eq!(folder.stands(&other, &none).unwrap_err(), "is not pulled");
        let only = WantedFile { only: vec!["as.x.io".into()], ..file("v1") };
        assert!(folder.stands(&only, &none).unwrap_err().contains("other definitions"));
    }

    #[test]
    fn an_edit_by_hand_is_found() {
        let none = names(&[]);
        let mut folder = pulled(&[]);
        folder.files.insert("moon/bs.x.io.yaml".into(), b"edited".to_vec());
        folder.files.insert("moon/stray.yaml".into(), Vec::new());
        let told = folder.stands(&file("v1"), &none).unwrap_err();
        assert_eq!(told, "is not as it was pulled: moon/bs.x.io.yaml");
        assert_eq!(folder.unwanted(&[file("v1")]), ["moon/stray.yaml was not pulled"]);
        folder.files.remove("moon/bs.x.io.yaml");
        assert!(folder.stands(&file("v1"), &none).is_err(), "one that is missing");
    }

    #[test]
    fn what_the_fleet_has_itself_is_left_to_it() {
        let folder = pulled(&["as.x.io"]);
        assert_eq!(folder.files.keys().collect::<Vec<_>>(), ["moon/bs.x.io.yaml"]);
        assert_eq!(folder.stands(&file("v1"), &names(&["as.x.io"])), Ok(()));
        for own in [&[][..], &["bs.x.io", "as.x.io"]] {
            let told = folder.stands(&file("v1"), &names(own)).unwrap_err();
            assert!(told.contains("of its own"), "{own:?}: {told}");
        }
    }

    #[test]
    fn a_definition_of_two_components_is_there_once() {
        let (none, mut folder) = (names(&[]), pulled(&[]));
        let sun = WantedFile {
            component: "sun".into(),
            address: "https://y.example.com/sun.yaml".into(),
            ..file("v1")
        };
        let other = PublishedDefinition { text: "other\n".into(), ..definition("as.x.io") };
        let all = vec![other, definition("bs.x.io"), definition("cs.x.io")];
        folder.put(&sun, Digest::of(b"sun"), all, &none);
        assert_eq!(
            folder.settle(),
            [
                "as.x.io of sun, which moon has too, and says something else of it",
                "bs.x.io of sun, which moon has too"
            ]
        );
        let paths: Vec<_> = folder.files.keys().map(String::as_str).collect();
        assert_eq!(paths, ["moon/as.x.io.yaml", "moon/bs.x.io.yaml", "sun/cs.x.io.yaml"]);
        assert_eq!(folder.count(&sun.address), 1);
        for wanted in [&file("v1"), &sun] {
            assert_eq!(folder.stands(wanted, &none), Ok(()));
        }
        assert!(folder.leaves_some(&sun) && !folder.leaves_some(&file("v1")));
        assert_eq!(folder.settle(), [""; 0]);
        // Nobody has it once the first component is gone.
        let mut alone = PulledFolder::default();
        alone.keep(&folder, &sun.address);
        let told = alone.stands(&sun, &none).unwrap_err();
        assert_eq!(told, "was pulled when another component had as.x.io");
    }

    #[test]
    fn what_is_kept_is_what_was_there() {
        let before = pulled(&[]);
        let mut after = PulledFolder::default();
        after.keep(&before, &file("v2").address);
        assert_eq!(after, PulledFolder::default());
        after.keep(&before, &file("v1").address);
        assert_eq!(after, before);
    }
}
