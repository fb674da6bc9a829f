//! How much stands below the desired roots, by whose it is. What a tenant has beyond its limits costs that tenant
//! alone: nothing of its folders is read, so its clusters stay as they are. All or nothing, so that it does not
//! depend on the names of files which of them count.
//!
//! What is counted is known before it is used: files in the walk, bytes from the objects' headers, documents and
//! rules file by file. So what is too much is never in memory as a whole.

use std::collections::BTreeMap;

use super::folders::Folders;
use super::read::MAX_FILE;
use crate::diag::{Code, Diagnostic, Place};
use crate::model::Unloaded;
use crate::model::api::{FleetSpec, TenantLimits};

/// Amounts of what is counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Amounts {
    /// Files and folders. They have no limit of their own but that of documents: each file holds one at least.
    pub(super) entries: u64,
    pub(super) documents: u64,
    pub(super) bytes: u64,
    pub(super) rules: u64,
}

/// What a tenant may have where `carp.yaml` says nothing else: a fifth of the largest fleet that carp was made for
/// (docs/performance.md), with a page a document.
const TENANT: Amounts =
    Amounts { entries: 40_000, documents: 20_000, bytes: 128 << 20, rules: 20_000 };
/// What all may have together: five times that fleet. More does not fit into a turn's memory.
const FLEET: Amounts =
    Amounts { entries: 1_000_000, documents: 500_000, bytes: 2 << 30, rules: 200_000 };
/// Bytes are counted as disks do, so that most edits change no count.
const BLOCK: u64 = 4 << 10;

/// The bytes of a file in whole blocks.
pub(super) const fn blocks(size: u64) -> u64 {
    size.div_ceil(BLOCK) * BLOCK
}

impl Amounts {
    const NAMES: [&'static str; 4] =
        ["files and folders", "documents", "bytes", "rules of placement"];

    const fn each(self) -> [u64; 4] {
        [self.entries, self.documents, self.bytes, self.rules]
    }

    fn plus(self, other: Self) -> Self {
        Self {
            entries: self.entries + other.entries,
            documents: self.documents + other.documents,
            bytes: self.bytes.saturating_add(other.bytes),
            rules: self.rules + other.rules,
        }
    }

    fn minus(self, other: Self) -> Self {
        Self {
            entries: self.entries - other.entries,
            documents: self.documents - other.documents,
            bytes: self.bytes.saturating_sub(other.bytes),
            rules: self.rules - other.rules,
        }
    }

    /// The first of these that is more than it may be.
    fn beyond(self, most: Self) -> Option<usize> {
        self.each().iter().zip(most.each()).position(|(is, most)| *is > most)
    }

    fn of_tenant(limits: Option<&TenantLimits>) -> Self {
        let Some(limits) = limits else { return TENANT };
        let documents = limits.documents.map_or(TENANT.documents, u64::from);
        let bytes = limits.bytes.and_then(|b| u64::try_from(b.thousandths() / 1000).ok());
        Self {
            entries: documents.saturating_mul(2),
            documents,
            bytes: bytes.unwrap_or(TENANT.bytes),
            rules: limits.rules.map_or(TENANT.rules, u64::from),
        }
    }
}

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
}

/// What was counted so far.
#[derive(Debug, Default)]
pub(super) struct Meter<'a> {
    folders: Folders<'a>,
    limits: BTreeMap<&'a str, Amounts>,
    used: BTreeMap<Owner<'a>, Amounts>,
    total: Amounts,
    over: BTreeMap<Owner<'a>, Over>,
}

impl<'a> Meter<'a> {
    pub(super) fn of(spec: Option<&'a FleetSpec>) -> Self {
        let tenants = spec.iter().flat_map(|spec| &spec.tenants);
        let limits = tenants.map(|t| (t.name.as_str(), Amounts::of_tenant(t.limits.as_ref())));
        Self { folders: Folders::of(spec), limits: limits.collect(), ..Self::default() }
    }

    /// Whether what stands at a path is read.
    pub(super) fn may(&self, path: &str) -> bool {
        self.over.is_empty() || !self.over.contains_key(self.folders.tenants_of(path))
    }

    /// Whether the bytes of whoever has this path could be too many. Else no header need be read.
    pub(super) fn wants_bytes(&self, path: &str) -> bool {
        let owner = self.folders.tenants_of(path);
        let most = |used: Amounts| used.entries.saturating_mul(MAX_FILE);
        let used = self.used.get(owner).copied().unwrap_or_default();
        most(used) > self.limit(owner).bytes || most(self.total) > FLEET.bytes
    }

    /// Counts what stands at a path, and says whether it is read still.
    pub(super) fn add(&mut self, path: &str, amounts: Amounts) -> bool {
        let owner = self.folders.tenants_of(path);
        if self.over.contains_key(owner) {
            return false;
        }
        let limit = self.limit(owner);
        if !self.used.contains_key(owner) {
            self.used.insert(owner.to_vec(), Amounts::default());
        }
        let Some(used) = self.used.get_mut(owner) else { return false };
        *used = used.plus(amounts);
        let (used, owner) = (*used, owner.to_vec());
        self.total = self.total.plus(amounts);
        if let Some(which) = used.beyond(limit) {
            self.give_up(owner, Over { which, most: limit.each()[which], whole: false });
        }
        while let Some(which) = self.total.beyond(FLEET) {
            let Some(largest) = self.largest(which) else { break };
            self.give_up(largest, Over { which, most: FLEET.each()[which], whole: true });
        }
        self.may(path)
    }

    /// The tenant that has most; the platform only where no tenant has any.
    fn largest(&self, which: usize) -> Option<Owner<'a>> {
        let open = self.used.iter().filter(|(owner, _)| !self.over.contains_key(*owner));
        let of = open.map(|(owner, used)| (!owner.is_empty(), used.each()[which], owner));
        let of = of.filter(|(is_tenant, has, _)| *has > 0 || !is_tenant);
        of.max_by_key(|(is_tenant, has, _)| (*is_tenant, *has)).map(|(_, _, owner)| owner.clone())
    }

    fn give_up(&mut self, owner: Owner<'a>, over: Over) {
        self.total = self.total.minus(self.used.get(&owner).copied().unwrap_or_default());
        self.over.insert(owner, over);
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
        .unwrap_or(FLEET)
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
        let (carp, red) = (carp("documents: 1, bytes: 4Ki, rules: 1"), named("a", "red"));
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
