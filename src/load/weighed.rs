//! Policies of placement that only weigh otherwise: among the workers that take a cluster they prefer others. Nobody who is
//! placed reads that, nor whoever waits: a worker takes it or not.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::amounts::blocks;
use super::body::Body;
use super::check::rule_count::rules;
use super::desired::MAX_DOCUMENTS;
use super::differing::{DifferingFile, DifferingFiles};
use super::document;
use super::finding::DocumentSource;
use super::kind::{DocumentSpec, Root};
use super::read;
use super::split::split;
use crate::model::api::{PlacementPolicySpec, PolicyAffinity, Strategy};
use crate::model::{Digest, DocumentGrowth, Entry, EntryKind, Id, SharedMap, Store, StoreError};

/// Files of policies that differ, of which none says anything else but what weighs.
#[derive(Clone, Debug, Default)]
pub struct WeighedPolicies {
    /// The files.
    pub files: BTreeSet<String>,
    /// Whether any policy weighs otherwise; else they differ in form alone.
    pub otherwise: bool,
    /// By how much there is more than before.
    pub growth: DocumentGrowth,
}

/// The policies that weigh otherwise in `after` than in `before`, two trees of the root of policies called `folder`; `None`
/// where more is different: a policy is new, gone or for others, or something else is in these files.
///
/// # Errors
/// The store failed.
pub fn weighed_policies(
    store: &dyn Store,
    folder: &str,
    [before, after]: [Option<Id>; 2],
) -> Result<Option<WeighedPolicies>, StoreError> {
    let mut weighed = WeighedPolicies::default();
    if before == after {
        return Ok(Some(weighed));
    }
    let mut differing = DifferingFiles::default();
    let is_small = differing.below(store, (folder, 0), [before, after])?;
    if !is_small || differing.unread || differing.entries > 0 {
        return Ok(None);
    }
    for file in differing.files {
        let Some([before, after]) = sides(store, &file)? else { return Ok(None) };
        if !before.policies.keys().eq(after.policies.keys()) || after.rules > before.rules {
            return Ok(None);
        }
        for (name, policy) in &before.policies {
            let other = &after.policies[name];
            if !policy.is_alike(other) {
                return Ok(None);
            }
            weighed.otherwise |= policy.digest != other.digest;
        }
        weighed.growth.bytes += after.bytes.saturating_sub(before.bytes);
        weighed.files.insert(file.path);
    }
    Ok(Some(weighed))
}

/// What one side of a file says.
#[derive(Default)]
struct PolicyFile {
    policies: BTreeMap<String, WeighingPolicy>,
    rules: usize,
    bytes: u64,
}

/// A policy, with what weighs apart.
struct WeighingPolicy {
    digest: Digest,
    about: (SharedMap<String>, BTreeMap<String, String>, Option<String>),
    decides: PlacementPolicySpec,
}

impl WeighingPolicy {
    fn of(body: Body) -> Option<Self> {
        let DocumentSpec::PlacementPolicy(mut decides) = body.spec else { return None };
        decides.strategy = Strategy::default();
        if let Some(affinity) = &mut decides.affinity {
            affinity.preferred.clear();
        }
        decides.affinity =
            decides.affinity.take().filter(|affinity| *affinity != PolicyAffinity::default());
        let about = (body.labels, body.annotations, body.namespace);
        Some(Self { digest: body.digest, about, decides: *decides })
    }

    /// Whether another decides the same.
    fn is_alike(&self, other: &Self) -> bool {
        self.decides == other.decides && self.about == other.about
    }
}

/// Both sides of a file; `None` where one is not there, or has anything but policies without findings.
fn sides(store: &dyn Store, file: &DifferingFile) -> Result<Option<[PolicyFile; 2]>, StoreError> {
    let [Some(before), Some(after)] = file.sides else { return Ok(None) };
    let both = [policies(store, &file.path, before)?, policies(store, &file.path, after)?];
    let [Some(before), Some(after)] = both else { return Ok(None) };
    Ok(Some([before, after]))
}

fn policies(store: &dyn Store, path: &str, entry: Entry) -> Result<Option<PolicyFile>, StoreError> {
    if !matches!(entry.kind, EntryKind::File | EntryKind::Executable) {
        return Ok(None);
    }
    let Ok(text) = read::text(store, path, entry)? else { return Ok(None) };
    let chunks = split(read::without_bom(&text));
    if !(1..=MAX_DOCUMENTS).contains(&chunks.len()) {
        return Ok(None);
    }
    let mut file = PolicyFile { bytes: blocks(text.len() as u64), ..PolicyFile::default() };
    for (document, chunk) in chunks.into_iter().enumerate() {
        let source = DocumentSource { file: Arc::from(path), document };
        let item = document::read(chunk, source, Root::Policies);
        let body = item.body.filter(|_| item.findings.list.is_empty());
        file.rules += body.as_ref().map_or(0, |body| rules(&body.spec));
        let policy = item.name.zip(body.and_then(WeighingPolicy::of));
        let Some((name, policy)) = policy else { return Ok(None) };
        if file.policies.insert(name, policy).is_some() {
            return Ok(None);
        }
    }
    Ok(Some(file))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Memory, POLICY};
    use super::*;

    /// What weighs otherwise where one file says `after` in the place of `before`; `None` where more differs.
    fn weighed(before: &str, after: &str) -> Option<WeighedPolicies> {
        let store = Memory::default();
        let sides = [before, after].map(|text| {
            let id = store.put_blob(text.as_bytes()).unwrap();
            Some(store.tree(&[("a.yaml", Entry { kind: EntryKind::File, id })]))
        });
        weighed_policies(&store, "policies", sides).unwrap()
    }

    const PREFERRED: &str =
        "    preferred:\n    - weight: 5\n      term: {locations: [northeurope]}\n";

    #[test]
    fn what_prefers_and_what_packs_weighs() {
        let prefers = format!("{POLICY}{PREFERRED}");
        for (before, after) in [
            (prefers.clone(), prefers.replace("weight: 5", "weight: 9")),
            (prefers.clone(), POLICY.to_owned()),
            (POLICY.to_owned(), format!("{POLICY}  strategy: BinPack\n")),
        ] {
            let one = weighed(&before, &after).unwrap();
            assert!(one.otherwise && one.files.contains("policies/a.yaml"), "{after}: {one:?}");
        }
        assert!(weighed(POLICY, &prefers).is_none(), "a term more counts for limits");
        assert!(!weighed(POLICY, POLICY).unwrap().otherwise);
        let commented = format!("# why\n{POLICY}");
        let form = weighed(POLICY, &commented).unwrap();
        assert!(!form.otherwise && form.files.len() == 1, "{form:?}");
    }

    #[test]
    fn what_decides_is_no_weight() {
        let two = format!("{POLICY}---\n{}", POLICY.replace("name: all", "name: other"));
        for after in [
            POLICY.replace("westeurope", "northeurope"),
            POLICY.replace("name: all", "name: other"),
            POLICY.replace("name: all", "name: all\n  labels: {a: b}"),
            format!("{POLICY}  clusterSelector: {{matchLabels: {{a: b}}}}\n"),
            format!("{POLICY}  strange: 1\n"),
            two.clone(),
            "a: [\n".to_owned(),
        ] {
            assert!(weighed(POLICY, &after).is_none(), "{after}");
        }
        assert!(weighed(&two, POLICY).is_none(), "one is gone");
    }
}
