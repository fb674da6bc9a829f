//! `name-taken`: who has a name keeps it. The tenant of a cluster does not change while the cluster is there,
//! so a second document of another tenant has no effect and does no harm; and from a tenant's folder no name
//! is taken that is a Worker's, or that a WorkerPool would give the next one.

use std::collections::BTreeMap;

use crate::diag::{Code, FieldPath};
use crate::load::folders::Folders;
use crate::load::item::Item;
use crate::load::kind::{DocumentSpec, Kind};
use crate::load::names::HeldNames;
use crate::model::api::{Tenant, WorkerPoolSpec};
use crate::model::{Unloaded, is_dns_label, is_name_of};

/// What the rule looks at besides the documents.
pub(in crate::load) struct NameHolders<'a> {
    pub(in crate::load) folders: &'a Folders<'a>,
    pub(in crate::load) names: &'a HeldNames<'a>,
    /// The files that did not load as a whole, each with whose it is.
    pub(in crate::load) unloaded: &'a [Unloaded],
    /// The tenants of `carp.yaml`.
    pub(in crate::load) tenants: &'a [Tenant],
}

/// Who has a name.
#[derive(Clone, Copy)]
enum NameOwner<'a> {
    /// A cluster of that tenant.
    Tenant(&'a str),
    /// A worker, or what somebody wrote outside of the tenants' folders.
    Platform,
    /// A worker whose document is gone, and which is not.
    Worker,
}

/// The documents that are looked at for every name: few of many, so they are found once.
struct BesideNames<'a> {
    /// The WorkerPools that have names, which may give names to workers.
    pools: Vec<(&'a str, &'a WorkerPoolSpec)>,
    /// The documents that cannot be read so far that they have a name.
    nameless: Vec<&'a Item>,
}

impl<'a> BesideNames<'a> {
    fn of(items: &'a [Item]) -> Self {
        let pool = |item: &'a Item| match &item.body.as_ref()?.spec {
            DocumentSpec::WorkerPool(pool) => Some((item.name.as_deref()?, &**pool)),
            _ => None,
        };
        Self {
            pools: items.iter().filter_map(pool).collect(),
            nameless: items.iter().filter(|item| item.name.is_none()).collect(),
        }
    }

    /// Whether a WorkerPool may call a worker so, now or later.
    fn is_of_a_pool(&self, name: &str) -> bool {
        self.pools.iter().any(|(of, pool)| is_name_of(of, pool, name))
    }
}

/// Looks at all documents at once. The ones that want somebody else's name get a finding; all of them are
/// returned, in order, to be left out, and count for nothing.
pub(in crate::load) fn check(items: &mut [Item], ground: &NameHolders<'_>) -> Vec<usize> {
    let beside = BesideNames::of(items);
    let taken: Vec<_> = by_name(items)
        .into_iter()
        .flat_map(|(name, group)| losers(name, &group, (items, &beside), ground))
        .collect();
    let mut left_out: Vec<usize> = Vec::new();
    for (at, owner) in taken {
        tell(&mut items[at], owner, ground);
        left_out.push(at);
    }
    left_out.sort_unstable();
    left_out
}

/// The clusters and workers, which share one set of names.
fn by_name(items: &[Item]) -> BTreeMap<&str, Vec<usize>> {
    let mut groups: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, item) in items.iter().enumerate().filter(|(_, i)| is_cluster(i) || is_worker(i)) {
        if let Some(name) = item.name.as_deref() {
            groups.entry(name).or_default().push(at);
        }
    }
    groups
}

fn is_kind(item: &Item, kind: Kind) -> bool {
    item.kind.as_deref() == Some(kind.name())
}

fn is_cluster(item: &Item) -> bool {
    is_kind(item, Kind::ManagedCluster)
}

fn is_worker(item: &Item) -> bool {
    is_kind(item, Kind::Worker)
}

/// Those of one name that have no right to it.
fn losers<'a>(
    name: &str,
    group: &[usize],
    (items, beside): (&[Item], &BesideNames<'_>),
    ground: &NameHolders<'a>,
) -> Vec<(usize, NameOwner<'a>)> {
    let of = |tenant: &'a str| {
        let claims = |at: &&usize| may_be_of(&items[**at], tenant, ground);
        let claimed = group.iter().any(|at| claims(&at));
        let others = group.iter().filter(|at| !claims(at));
        // A worker's document yields to a cluster only where both are there.
        let others = others.filter(|at| claimed || is_cluster(&items[**at]));
        (claimed, others.map(|at| (*at, NameOwner::Tenant(tenant))).collect())
    };
    if let Some(tenant) = ground.names.placed(name) {
        return of(tenant).1;
    }
    if let Some(tenant) = ground.names.waiting(name) {
        let (claimed, others) = of(tenant);
        if claimed || is_unsure(tenant, beside, ground) {
            return others;
        }
    }
    let folder = |at: &&usize| !ground.folders.tenants_of(file(&items[**at])).is_empty();
    let worker = || ground.names.is_worker(name) || beside.is_of_a_pool(name);
    let platforms = group.iter().any(|at| !folder(&at));
    let of_document = group.iter().any(|at| is_worker(&items[*at]));
    let stays = || of_document || beside.is_of_a_pool(name);
    if ground.names.is_worker(name) && platforms && !stays() {
        // What is known of the worker would be taken for the cluster's, and the other way round.
        return group.iter().map(|at| (*at, NameOwner::Worker)).collect();
    }
    if !group.iter().any(|at| folder(&at)) || !(platforms || worker()) {
        return Vec::new();
    }
    group.iter().filter(folder).map(|at| (*at, NameOwner::Platform)).collect()
}

fn file(item: &Item) -> &str {
    &item.findings.source.file
}

/// Whether a document is a tenant's cluster, for all that can be read of it.
fn may_be_of(item: &Item, tenant: &str, ground: &NameHolders<'_>) -> bool {
    if !is_cluster(item) {
        return false;
    }
    let body = item.body.as_ref();
    // A namespace that cannot be one has a finding of its own.
    let is_read =
        |namespace: Option<&str>| namespace.map_or(!item.findings.has_errors(), is_dns_label);
    let read = body.filter(|body| is_read(body.namespace.as_deref()));
    if let Some(body) = read {
        return body.tenant() == tenant;
    }
    let folder = ground.folders.tenants_of(file(item));
    folder.is_empty() || folder.contains(&tenant)
}

/// Whether a document of a tenant may be there that cannot be read so far that it has a name.
fn is_unsure(tenant: &str, beside: &BesideNames<'_>, ground: &NameHolders<'_>) -> bool {
    let may_be_its = |item: &Item| {
        let folder = ground.folders.tenants_of(file(item));
        folder.is_empty() || folder.contains(&tenant)
    };
    ground.unloaded.iter().any(|unloaded| unloaded.may_be_of(tenant))
        || beside.nameless.iter().any(|item| may_be_its(item))
}

fn tell(item: &mut Item, owner: NameOwner<'_>, ground: &NameHolders<'_>) {
    // One that cannot be parsed has its finding, and so has one of a tenant that there is not.
    let Some(body) = &item.body else { return };
    let name = body.name.clone();
    let known = |tenant: &str| ground.tenants.iter().any(|known| known.name == tenant);
    if is_cluster(item) && !ground.tenants.is_empty() && !known(body.tenant()) {
        return;
    }
    let apart = !ground.folders.tenants_of(file(item)).is_empty();
    let (message, help) = match owner {
        NameOwner::Tenant(tenant) if apart || is_worker(item) => (
            format!("`{name}` is a cluster of the tenant `{tenant}`"),
            "choose another name: this one is free when that cluster is gone".to_owned(),
        ),
        NameOwner::Tenant(tenant) => (
            format!(
                "`{name}` is a cluster of the tenant `{tenant}`, and the tenant of a cluster stays"
            ),
            format!("write `namespace: {tenant}`, or choose another name"),
        ),
        NameOwner::Platform => (
            format!("`{name}` is the name of a Worker, or somebody has it outside of this folder"),
            "choose another name".to_owned(),
        ),
        NameOwner::Worker => (
            format!("`{name}` is the name of a worker that is not gone yet"),
            "choose another name: this one is free when that worker's own cluster is gone"
                .to_owned(),
        ),
    };
    item.findings.add(Code::NameTaken, FieldPath::keys("metadata.name"), message, help);
}
