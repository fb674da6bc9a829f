//! How much stands below the desired roots, by whose it is. What a tenant has beyond its limits costs that tenant
//! alone: nothing of its folders is read, so its clusters stay as they are. All or nothing, so that it does not
//! depend on the names of files which of them count.
//!
//! What is counted is known before it is used: files in the walk, bytes from the objects' headers, documents and
//! rules file by file. So what is too much is never in memory as a whole.
//!
//! Where the fleet as a whole has too much the tenant that has most is left out. Who that is shows only at the end, so
//! what such a tenant has is counted on, and where it was another all is read once more.

use std::collections::{BTreeMap, BTreeSet};

use super::amounts::{Amounts, FLEET, TENANT};
use super::folders::Folders;
use super::read::MAX_FILE;
use crate::diag::{Code, Diagnostic, Place};
use crate::model::DocumentGrowth;
use crate::model::Unloaded;
use crate::model::api::FleetSpec;

/// What may come besides before it is counted whether anybody has too much. Rules of placement may not: whose
/// there are more is counted.
const SPARE: Amounts = Amounts {
    entries: DocumentGrowth::MOST.entries,
    documents: DocumentGrowth::MOST.documents,
    bytes: DocumentGrowth::MOST.bytes,
    rules: 0,
};

/// Whose something is: the tenants of a folder, or none for what is the platform's.
type Owner<'a> = Vec<&'a str>;

/// Why nothing of an owner is read.
#[derive(Clone, Copy, Debug)]
struct Over {
    /// Which of the amounts.
    which: usize,
    /// The most that it may be.
    most: u64,
    /// Whether it is the whole fleet that has too much, of which this owner has most.
    whole: bool,
    /// Whether what the owner has is counted on.
    counts: bool,
}

/// What was counted so far.
#[derive(Clone, Debug)]
pub(super) struct Meter<'a> {
    folders: Folders<'a>,
    limits: BTreeMap<&'a str, Amounts>,
    /// What all may have together.
    most: Amounts,
    used: BTreeMap<Owner<'a>, Amounts>,
    /// What all have of whom anything is read.
    total: Amounts,
    /// Files and folders of everybody.
    entries: u64,
    over: BTreeMap<Owner<'a>, Over>,
    /// Whether it was counted before who has most.
    settled: bool,
    /// Who has files whose bytes were not counted.
    unmeasured: BTreeSet<Owner<'a>>,
}

impl Default for Meter<'_> {
    fn default() -> Self {
        Self {
            folders: Folders::default(),
            limits: BTreeMap::new(),
            most: FLEET,
            used: BTreeMap::new(),
            total: Amounts::default(),
            entries: 0,
            over: BTreeMap::new(),
            settled: false,
            unmeasured: BTreeSet::new(),
        }
    }
}

impl<'a> Meter<'a> {
    pub(super) fn of(spec: Option<&'a FleetSpec>) -> Self {
        let tenants = spec.iter().flat_map(|spec| &spec.tenants);
        let limits = tenants.map(|t| (t.name.as_str(), Amounts::of_tenant(t.limits.as_ref())));
        Self { folders: Folders::of(spec), limits: limits.collect(), ..Self::default() }
    }

    /// The same where all may have no more documents together.
    #[cfg(test)]
    pub(super) fn with_documents(self, documents: u64) -> Self {
        Self { most: Amounts { documents, ..FLEET }, ..self }
    }

    /// Whether what stands at a path is read.
    pub(super) fn may(&self, path: &str) -> bool {
        self.over.is_empty() || !self.over.contains_key(self.folders.tenants_of(path))
    }

    /// Whether what stands at a path is counted, read or not.
    pub(super) fn counts(&self, path: &str) -> bool {
        self.over.is_empty()
            || self.over.get(self.folders.tenants_of(path)).is_none_or(|over| over.counts)
    }

    /// Whether the bytes of whoever has this path could be too many, now or with a little more. Else no header need be
    /// read.
    pub(super) fn wants_bytes(&mut self, path: &str) -> bool {
        let owner = self.folders.tenants_of(path);
        let most = |entries: u64| entries.saturating_mul(MAX_FILE).saturating_add(SPARE.bytes);
        let used = self.used.get(owner).copied().unwrap_or_default();
        let wants =
            most(used.entries) > self.limit(owner).bytes || most(self.entries) > self.most.bytes;
        if !wants && !self.unmeasured.contains(owner) {
            self.unmeasured.insert(owner.to_vec());
        }
        wants
    }

    /// Counts what stands at a path, and says whether it is counted on.
    pub(super) fn add(&mut self, path: &str, amounts: Amounts) -> bool {
        let owner = self.folders.tenants_of(path);
        if !self.counts(path) {
            return false;
        }
        let (limit, open) = (self.limit(owner), !self.over.contains_key(owner));
        if !self.used.contains_key(owner) {
            self.used.insert(owner.to_vec(), Amounts::default());
        }
        let Some(used) = self.used.get_mut(owner) else { return false };
        *used = used.plus(amounts);
        let (used, owner) = (*used, owner.to_vec());
        self.entries += amounts.entries;
        if open {
            self.total = self.total.plus(amounts);
        }
        if let Some(which) = used.beyond(limit) {
            let over = Over { which, most: limit.each()[which], whole: false, counts: false };
            self.give_up(owner, over);
        } else if used.beyond(self.most).is_some()
            && let Some(over) = self.over.get_mut(&owner)
        {
            // Whoever has more than all may have is left out in any case.
            over.counts = false;
        }
        self.fit();
        self.counts(path)
    }

    /// Gives up whoever has most, until the rest is not too much.
    fn fit(&mut self) {
        while let Some(which) = self.total.beyond(self.most) {
            let Some(largest) = self.largest(which) else { break };
            let over = Over { which, most: self.most.each()[which], whole: true, counts: true };
            self.give_up(largest, over);
        }
    }

    /// The meter of another reading, where others were given up than those who turned out to have most. It gives up
    /// these from the start.
    pub(super) fn again(&self) -> Option<Self> {
        let mut exact = self.clone();
        exact.over.retain(|_, over| !over.whole);
        let open = self.used.iter().filter(|(owner, _)| !exact.over.contains_key(*owner));
        exact.total = open.fold(Amounts::default(), |all, (_, used)| all.plus(*used));
        exact.fit();
        if self.settled || exact.over.keys().eq(self.over.keys()) {
            return None;
        }
        exact.over.values_mut().for_each(|over| over.counts = false);
        let (used, total) = (BTreeMap::new(), Amounts::default());
        let unmeasured = BTreeSet::new();
        Some(Self { used, total, entries: 0, settled: true, unmeasured, ..exact })
    }

    /// How many were given up.
    pub(super) fn given_up(&self) -> usize {
        self.over.len()
    }

    /// The tenant that has most; the platform only where no tenant has any.
    fn largest(&self, which: usize) -> Option<Owner<'a>> {
        let open = self.used.iter().filter(|(owner, _)| !self.over.contains_key(*owner));
        let of = open.map(|(owner, used)| (!owner.is_empty(), used.each()[which], owner));
        let of = of.filter(|(is_tenant, has, _)| *has > 0 || !is_tenant);
        of.max_by_key(|(is_tenant, has, _)| (*is_tenant, *has)).map(|(_, _, owner)| owner.clone())
    }

    fn give_up(&mut self, owner: Owner<'a>, over: Over) {
        let used = self.used.get(&owner).copied().unwrap_or_default();
        if self.over.insert(owner, over).is_none() {
            self.total = self.total.minus(used);
        }
    }

    /// What the owner of a folder may have; the platform as much as the whole fleet. Where a folder is of several
    /// tenants it is what one of them may have, of each the most.
    fn limit(&self, owner: &[&str]) -> Amounts {
        let each = owner.iter().map(|tenant| self.limits.get(tenant).copied().unwrap_or(TENANT));
        each.reduce(|a, b| Amounts {
            entries: a.entries.max(b.entries),
            documents: a.documents.max(b.documents),
            bytes: a.bytes.max(b.bytes),
            rules: a.rules.max(b.rules),
        })
        .unwrap_or(self.most)
    }

    /// Whether nobody is near a limit, nor would be with a little more.
    pub(super) fn has_room(&self) -> bool {
        let tenants = self.limits.keys().map(|tenant| (vec![*tenant], Amounts::default()));
        let owners =
            self.used.iter().map(|(owner, used)| (owner.clone(), self.at_most(owner, *used)));
        let all = owners.clone().fold(Amounts::default(), |all, (_, used)| all.plus(used));
        let fits = |used: Amounts, limit| used.plus(SPARE).beyond(limit).is_none();
        tenants.chain(owners).all(|(owner, used)| fits(used, self.limit(&owner)))
            && fits(all, self.most)
    }

    /// What an owner has, with the most that the files may be of which no header was read.
    fn at_most(&self, owner: &[&'a str], used: Amounts) -> Amounts {
        let unread = if self.unmeasured.contains(owner) { used.entries } else { 0 };
        Amounts { bytes: unread.saturating_mul(MAX_FILE), ..Amounts::default() }.plus(used)
    }

    /// Whether nothing was too much.
    pub(super) fn is_fine(&self) -> bool {
        self.over.is_empty()
    }

    /// What is told of each that has too much, with what did not load because of it; `None` for the platform,
    /// without whose files nothing can be decided.
    pub(super) fn findings(&self, root: &str) -> Vec<(Diagnostic, Option<Unloaded>)> {
        self.over.iter().map(|(owner, over)| self.finding(owner, *over, root)).collect()
    }

    fn finding(&self, owner: &[&str], over: Over, root: &str) -> (Diagnostic, Option<Unloaded>) {
        let (what, most) = (Amounts::NAMES[over.which], over.most);
        let folder = self.folders.folder_of(owner).unwrap_or(root).to_owned();
        let tenants = owner.join("` and `");
        let (message, help) = match (owner.is_empty(), over.whole) {
            (true, _) => (
                format!("the fleet holds more than {most} {what}, so nothing of it is decided"),
                "take out what is not wanted, or make two fleets of it".to_owned(),
            ),
            (false, true) => (
                format!("the fleet holds more than {most} {what}, most of them in the folders of `{tenants}`"),
                "nothing of these folders is read until there are fewer; lower `limits` of the tenant".to_owned(),
            ),
            (false, false) => (
                format!("the folders of `{tenants}` hold more than {most} {what}"),
                "nothing of these folders is read until there are fewer, or `limits` of the tenant in \
                 `carp.yaml` allow more"
                    .to_owned(),
            ),
        };
        let finding = Diagnostic::new(Code::TooMuch, message).at(Place::file(&*folder)).help(help);
        let unloaded = Unloaded {
            file: folder,
            document: None,
            kind: None,
            name: None,
            blocks_placements: true,
            tenants: Vec::new(),
        };
        (finding, (!owner.is_empty()).then_some(unloaded))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{CARP, cluster, load_files};
    use super::*;
    use crate::model::Name;

    fn named(name: &str, tenant: &str) -> String {
        cluster("")
            .replace("pay-eu", name)
            .replace("namespace: shop", &format!("namespace: {tenant}"))
    }

    fn carp(limits: &str) -> String {
        format!(
            "{CARP}  tenants:\n  - {{name: red, paths: [fleet/red], limits: {{{limits}}}}}\n  - {{name: blue, paths: [fleet/blue]}}\n"
        )
    }

    /// What is found where red has this in its folder, beside a cluster of blue's: nothing but red's own.
    #[track_caller]
    fn only_red_is_left_out(limits: &str, files: &[(&str, &str)], said: &str) {
        let (carp, blue) = (carp(limits), named("b-1", "blue"));
        let mut all = vec![("carp.yaml", &*carp), ("fleet/blue/b.yaml", &*blue)];
        all.extend(files);
        let loaded = load_files(&all);
        let found: Vec<_> =
            loaded.diagnostics.iter().map(|d| (d.code, d.message.as_str())).collect();
        let [(Code::TooMuch, message)] = found[..] else { panic!("{found:?}") };
        assert!(message.contains(said) && message.contains("`red`"), "{message}");
        let names: Vec<_> = loaded.fleet.clusters.keys().map(Name::as_str).collect();
        assert_eq!(names, ["b-1"], "nothing of red's is read, and all of blue's");
        assert!(loaded.fleet.is_unsure_of("red") && !loaded.fleet.is_unsure_of("blue"));
        assert!(!loaded.fleet.is_unsure() && !loaded.fleet.holds_placements());
        assert!(!loaded.fleet_broken);
    }

    #[test]
    fn documents_beyond_a_tenants_limit_are_its_own_error() {
        let three: Vec<_> = ["a", "b", "c"].map(|name| named(name, "red")).into();
        let one_file = three.join("---\n");
        let said = "more than 2 documents";
        only_red_is_left_out("documents: 2", &[("fleet/red/x.yaml", &one_file)], said);
        let files: Vec<_> = ["fleet/red/a.yaml", "fleet/red/b.yaml", "fleet/red/c.yaml"]
            .into_iter()
            .zip(three.iter().map(String::as_str))
            .collect();
        only_red_is_left_out("documents: 2", &files, said);
    }

    #[test]
    fn bytes_and_rules_and_files_beyond_it_are_too() {
        let large = format!("{}# {}\n", named("a", "red"), "x".repeat(8 << 10));
        let files = [("fleet/red/a.yaml", &*large)];
        only_red_is_left_out("bytes: 8Ki", &files, "more than 8192 bytes");
        let rules = "placement: {antiAffinity: [{topologyKey: location, labelSelector: {matchLabels: {a: b}}}, \
                     {topologyKey: worker, labelSelector: {matchLabels: {a: b}}}]}\n  ";
        let of_red =
            cluster(rules).replace("pay-eu", "a").replace("namespace: shop", "namespace: red");
        let files = [("fleet/red/a.yaml", &*of_red)];
        only_red_is_left_out("rules: 1", &files, "more than 1 rules");
        let many: Vec<_> = (0..30).map(|i| format!("fleet/red/{i}.txt")).collect();
        let files: Vec<_> = many.iter().map(|path| (path.as_str(), "")).collect();
        only_red_is_left_out("documents: 10", &files, "more than 20 files and folders");
    }

    #[test]
    fn what_is_within_is_read() {
        let (carp, red) = (carp("documents: 1, bytes: 4Ki, rules: 1"), named("r-1", "red"));
        let loaded = load_files(&[("carp.yaml", &carp), ("fleet/red/a.yaml", &red)]);
        assert!(loaded.diagnostics.is_empty(), "{:?}", loaded.diagnostics);
        assert_eq!(loaded.fleet.clusters.len(), 1);
    }

    #[test]
    fn of_a_fleet_that_is_too_large_the_largest_tenant_is_left_out() {
        let text = format!(
            "{CARP}  tenants: [{{name: a, paths: [fleet/a], limits: {{documents: 4000000000}}}}, \
                            {{name: b, paths: [fleet/b], limits: {{documents: 4000000000}}}}]\n"
        );
        let spec = load_files(&[("carp.yaml", &text)]).fleet.spec;
        let mut meter = Meter::of(Some(&spec));
        let documents = |documents| Amounts { documents, ..Amounts::default() };
        assert!(meter.add("fleet/a/x.yaml", documents(300_000)));
        assert!(meter.add("fleet/x.yaml", documents(150_000)), "the platform's");
        assert!(meter.add("fleet/b/x.yaml", documents(50_000)));
        assert!(
            meter.add("fleet/b/y.yaml", documents(1)),
            "whoever comes last is not whoever has most"
        );
        assert!(!meter.may("fleet/a/x.yaml") && meter.may("fleet/x.yaml"));
        assert!(!meter.add("fleet/x.yaml", documents(400_000)), "the platform's alone is too much");
        let told = meter.findings("fleet");
        assert!(
            told.iter().any(|(d, unloaded)| unloaded.is_none() && d.message.contains("the fleet"))
        );
    }

    #[test]
    fn there_is_room_where_a_little_more_is_not_too_much() {
        let has_room = |limits: &str, used: &[(&str, Amounts)]| {
            let spec = load_files(&[("carp.yaml", &carp(limits))]).fleet.spec;
            let mut meter = Meter::of(Some(&spec));
            for (path, amounts) in used {
                assert!(meter.add(path, *amounts));
            }
            (meter.is_fine(), meter.has_room())
        };
        let of = |entries, documents, bytes| Amounts { entries, documents, bytes, rules: 0 };
        let (red, blue) = ("fleet/red/a.yaml", "fleet/blue/a.yaml");
        assert_eq!(
            has_room("", &[(red, of(10, 10, 0)), ("fleet/a.yaml", of(9, 9, 0))]),
            (true, true)
        );
        assert_eq!(
            has_room("documents: 149", &[]),
            (true, false),
            "who has nothing may have too much soon"
        );
        assert_eq!(has_room("documents: 200", &[(red, of(0, 51, 0))]), (true, false));
        assert_eq!(has_room("documents: 200", &[(red, of(0, 50, 0))]), (true, true));
        assert_eq!(has_room("documents: 200", &[(blue, of(0, 51, 0))]), (true, true), "another's");
        assert_eq!(has_room("documents: 200", &[(red, of(101, 0, 0))]), (true, false));
        assert_eq!(has_room("bytes: 16Mi", &[(red, of(0, 0, 1))]), (true, false));
        assert_eq!(
            has_room("rules: 1", &[(red, Amounts { rules: 1, ..of(1, 1, 0) })]),
            (true, true)
        );
        let rest = of(0, FLEET.documents - 151, 0);
        assert_eq!(
            has_room("", &[("fleet/a.yaml", rest), (red, of(0, 2, 0))]),
            (true, false),
            "all"
        );
        let spec = load_files(&[("carp.yaml", &carp("bytes: 17Mi"))]).fleet.spec;
        let mut meter = Meter::of(Some(&spec));
        assert!(meter.add(red, of(1, 1, 0)) && !meter.wants_bytes(red) && meter.has_room());
        assert!(meter.add(red, of(1, 1, 0)) && !meter.has_room(), "two files may be too large");
        assert!(meter.wants_bytes(red));
    }

    #[test]
    fn folders_in_folders_without_end_are_not_walked() {
        use super::super::tests::{Memory, load_tree};
        use crate::model::{Dir, Entry, EntryKind, Store as _};
        let store = Memory::default();
        let carp = store.put_blob(carp("").as_bytes()).unwrap();
        let blue = store.put_blob(named("b-1", "blue").as_bytes()).unwrap();
        let file = |id| Entry { kind: EntryKind::File, id };
        let mut bomb = file(store.put_blob(named("a", "red").as_bytes()).unwrap());
        // Ten folders of ten folders each, twenty levels deep, in twenty objects.
        for level in 0..20 {
            let mut dir = Dir::default();
            let ending = if level == 0 { ".yaml" } else { "" };
            for i in 0..10 {
                dir.insert(format!("{i}{ending}"), bomb);
            }
            bomb = Entry { kind: EntryKind::Dir, id: store.put_dir(&dir).unwrap() };
        }
        let loaded = load_tree(
            &store,
            &[("carp.yaml", file(carp)), ("fleet/blue/b.yaml", file(blue)), ("fleet/red", bomb)],
        );
        let codes: Vec<_> = loaded.diagnostics.iter().map(|d| d.code).collect();
        assert_eq!(codes, [Code::TooMuch]);
        assert_eq!(loaded.fleet.clusters.len(), 1);
    }
}
