//! What of the losses of a folder the owner's own document asks for.
//!
//! That a document changed says nothing of what it asks for: a label is no reason for a pool to go. So what the
//! owner's own object in the folder says is held against what it said before. A pool goes or is empty, or machines are
//! replaced, by the document's wish where the document says just that of them. What a template, a class or a newer
//! carp does in the same commit is theirs.

use std::collections::BTreeMap;

use serde_json::Value;

use super::machines::MachineGroup;
use super::object::Object;
use crate::model::api::GROUP;

/// What of an owner decides over all of its machines.
const DECIDES_OVER_ALL: &[&str] = &["/spec/version", "/spec/location", "/spec/flavor"];
/// What decides over all of its machines and a class may say for it.
const DECIDES_TOO: &[&str] = &["/spec/credentials", "/spec/network", "/spec/parameters"];
/// What decides over the machines of the control plane: the names in its certificates are of how it is reached.
const DECIDES_OVER_CONTROL_PLANE: &[&str] = &["/spec/controlPlane", "/spec/access"];
/// What a flavor is told besides.
const PARAMETERS: &str = "/spec/parameters";
/// The kinds of what is installed in a cluster, each with what of it is answered by an uninstall, and an install of something
/// else (cluster-api-addon-provider-helm, `controllers/helmchartproxy/helmchartproxy_controller_phases.go`,
/// `shouldReinstallHelmRelease`; helm-controller, `internal/action/verify.go`, `ReleaseTargetChanged`).
const ADD_ONS: [(&str, &[&str]); 2] = [
    (
        "HelmChartProxy",
        &["/spec/chartName", "/spec/repoURL", "/spec/releaseName", "/spec/namespace"],
    ),
    (
        "HelmRelease",
        &[
            "/spec/chart/spec/chart",
            "/spec/releaseName",
            "/spec/targetNamespace",
            "/spec/storageNamespace",
        ],
    ),
];
/// What a release of Flux's has that is installed in another cluster.
const KUBE_CONFIG: &str = "/spec/kubeConfig";
/// What of a pool replaces no machine of it.
const IN_PLACE: [&str; 3] = ["name", "replicas", "autoscale"];

/// What the owner's own document changed, as against its class, the templates and carp itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OwnChange {
    /// Anything at all.
    pub anything: bool,
    /// Its pools.
    pub pools: bool,
    /// Its control plane, credentials, network and parameters.
    pub others: bool,
    /// Whether its folder follows another Kubernetes version step by step. That was counted when it began.
    pub steps: bool,
}

/// What an owner's own document asks for.
#[derive(Default)]
pub(super) struct IntendedChange {
    owner: String,
    own: OwnChange,
    /// All machines are others.
    all: bool,
    /// The machines of the control plane are others.
    control_plane: bool,
    /// Its flavor is told something else.
    parameters: bool,
    pools: BTreeMap<String, PoolChange>,
}

/// What becomes of a pool.
#[derive(Clone, Copy, Default)]
struct PoolChange {
    /// It is there no more, or in other zones.
    goes: bool,
    /// It is to have no machine any more.
    empty: bool,
    /// Its machines are others.
    other: bool,
}

impl IntendedChange {
    /// Read from the owner itself, which stands in its folder.
    pub(super) fn between(last: &[Object], new: &[Object], own: OwnChange) -> Self {
        let owner = |objects: &[Object]| objects.iter().find(|o| o.group() == GROUP).cloned();
        let (Some(last), Some(new)) = (owner(last), owner(new)) else {
            return Self { own, ..Self::default() };
        };
        let differs = |at: &&str| last.value.pointer(at) != new.value.pointer(at);
        Self {
            owner: last.name().to_owned(),
            all: own.anything
                && (DECIDES_OVER_ALL.iter().any(&differs)
                    || own.others && DECIDES_TOO.iter().any(&differs)),
            parameters: own.others && differs(&PARAMETERS),
            control_plane: own.others && DECIDES_OVER_CONTROL_PLANE.iter().any(&differs),
            pools: pool_changes(&pools(&last), &pools(&new)),
            own,
        }
    }

    /// Whether the folder follows another version step by step.
    pub(super) fn goes_in_steps(&self) -> bool {
        self.own.steps
    }

    /// Whether an object goes with the pool that it was made for, or is an add-on and parameters may leave it out:
    /// whether it goes by them is seen by what becomes of it without their change.
    pub(super) fn removes(&self, object: &Object) -> bool {
        if self.parameters && installed_by(object).is_some() {
            return true;
        }
        self.own.pools && self.made_for(object).is_some_and(|pool| pool.goes)
    }

    /// Whether a group of machines in an object that stays goes with its pool.
    pub(super) fn removes_pool(&self, object: &Object, group: &MachineGroup) -> bool {
        self.own.pools && self.pool(object, group).is_some_and(|pool| pool.goes)
    }

    /// Whether a group of machines is empty as its pool is.
    pub(super) fn empties(&self, object: &Object, group: &MachineGroup) -> bool {
        self.own.pools && self.pool(object, group).is_some_and(|pool| pool.empty)
    }

    /// Whether the machines of a group are others as those of its pool, of the control plane, or all are.
    pub(super) fn replaces(&self, object: &Object, group: &MachineGroup) -> bool {
        if self.all {
            return true;
        }
        if object.group().starts_with("controlplane.") || group.name == "control plane" {
            return self.control_plane;
        }
        let other = match self.pool(object, group) {
            Some(pool) => pool.other,
            // A flavor may call its objects by other names than carp's own do.
            None => self.pools.values().any(|pool| pool.other),
        };
        self.own.pools && other
    }

    fn pool(&self, object: &Object, group: &MachineGroup) -> Option<PoolChange> {
        match group.name.strip_prefix("pool ") {
            Some(name) => self.pools.get(name).copied(),
            None => self.made_for(object),
        }
    }

    /// The pool that an object was made for: its name is the owner's and the pool's, and perhaps more. Where that fits
    /// several pools it is the longest one's.
    fn made_for(&self, object: &Object) -> Option<PoolChange> {
        let rest = object.name().strip_prefix(&self.owner)?.strip_prefix('-')?;
        let of = |pool: &&String| {
            let rest = rest.strip_prefix(pool.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
        };
        let longest = self.pools.keys().filter(of).max_by_key(|pool| pool.len())?;
        self.pools.get(longest).copied()
    }
}

fn pool_changes(
    last: &BTreeMap<String, Value>,
    new: &BTreeMap<String, Value>,
) -> BTreeMap<String, PoolChange> {
    let of = |(name, pool): (&String, &Value)| {
        let change = match new.get(name) {
            None => PoolChange { goes: true, ..PoolChange::default() },
            Some(now) => PoolChange {
                goes: pool.get("zones") != now.get("zones"),
                empty: is_empty(now) && !is_empty(pool),
                other: kept(pool) != kept(now),
            },
        };
        (name.clone(), change)
    };
    let added = new.keys().filter(|name| !last.contains_key(*name));
    let added = added.map(|name| (name.clone(), PoolChange::default()));
    last.iter().map(of).chain(added).collect()
}

/// Whether a pool is to have no machine.
fn is_empty(pool: &Value) -> bool {
    let most = pool.pointer("/autoscale/max").or_else(|| pool.get("replicas"));
    most.and_then(Value::as_u64) == Some(0)
}

/// What of a pool makes its machines what they are.
fn kept(pool: &Value) -> BTreeMap<&String, &Value> {
    let fields = pool.as_object().into_iter().flatten();
    fields.filter(|(field, _)| !IN_PLACE.contains(&field.as_str())).collect()
}

/// The node pools of a ManagedCluster or Worker, by name.
fn pools(owner: &Object) -> BTreeMap<String, Value> {
    let pools = owner.value.pointer("/spec/nodePools").and_then(Value::as_array);
    let named = |pool: &Value| Some((pool.get("name")?.as_str()?.to_owned(), pool.clone()));
    pools.into_iter().flatten().filter_map(named).collect()
}

/// Whether what an object installs in a cluster is taken out of it first.
pub(super) fn is_installed_anew(last: &Object, new: &Object) -> bool {
    let differs = |at: &str| last.value.pointer(at) != new.value.pointer(at);
    installed_by(last).is_some_and(|fields| fields.iter().any(|at| differs(at)))
}

/// What of an add-on of a cluster decides what is installed; `None` of anything else.
fn installed_by(object: &Object) -> Option<&'static [&'static str]> {
    let (kind, fields) = ADD_ONS.iter().find(|(kind, _)| *kind == object.kind())?;
    let of_flux = kind.ends_with("Release");
    (!of_flux || object.value.pointer(KUBE_CONFIG).is_some()).then_some(*fields)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::object::objects;
    use super::super::{Files, yaml};
    use super::*;

    const ANY: OwnChange = OwnChange { anything: true, pools: true, others: true, steps: false };

    fn made(kind: &str, name: &str, spec: &Value) -> Object {
        let group =
            if kind == "ManagedCluster" { "carp.dev/v1alpha1" } else { "cluster.x-k8s.io/v1beta2" };
        let value = json!({
            "apiVersion": group, "kind": kind, "metadata": {"name": name, "namespace": "a"}, "spec": spec,
        });
        let files = Files::from([("c.yaml".to_owned(), yaml::emit(&value).into_bytes())]);
        objects(&files).ok().unwrap().remove(0)
    }

    /// What is asked of the pool np0, of np1 and of the control plane: goes, is empty, is replaced.
    fn asked(last: &Value, new: &Value, own: OwnChange) -> [[bool; 3]; 3] {
        let owner = |spec| [made("ManagedCluster", "a", spec)];
        let asked = IntendedChange::between(&owner(last), &owner(new), own);
        let group = MachineGroup {
            name: String::new(),
            machines: 1,
            template: Value::Null,
            version: String::new(),
        };
        ["a-np0", "a-np1", "a"].map(|name| {
            let object = made("MachineDeployment", name, &json!({}));
            let of_plane = MachineGroup { name: "control plane".to_owned(), ..group.clone() };
            let group = if name == "a" { &of_plane } else { &group };
            [asked.removes(&object), asked.empties(&object, group), asked.replaces(&object, group)]
        })
    }

    fn spec(np0: &Value) -> Value {
        json!({"version": "v1.34.1", "labels": 1, "nodePools": [np0, {"name": "np1", "replicas": 2}]})
    }

    #[test]
    fn a_document_asks_for_what_it_says_and_for_nothing_else() {
        let base = spec(&json!({"name": "np0", "replicas": 3, "zones": ["1"]}));
        let no = [false; 3];
        let np0 = |pool: Value, own| asked(&base, &spec(&pool), own);
        let mut other = base.clone();
        other["labels"] = 2.into();
        other["priority"] = 7.into();
        assert_eq!(asked(&base, &other, ANY), [no; 3], "labels and the like ask for nothing");
        let pool = |replicas: u32| json!({"name": "np0", "replicas": replicas, "zones": ["1"]});
        assert_eq!(np0(pool(1), ANY), [no; 3]);
        assert_eq!(np0(pool(0), ANY), [[false, true, false], no, no]);
        let most = |most: u32| json!({"name": "np0", "zones": ["1"], "autoscale": {"min": 0, "max": most}});
        assert_eq!(np0(most(0), ANY), [[false, true, false], no, no]);
        assert_eq!(np0(most(4), ANY), [no; 3]);
        let large = json!({"name": "np0", "replicas": 3, "zones": ["1"], "vmSize": "large"});
        assert_eq!(np0(large.clone(), ANY), [[false, false, true], no, no]);
        let zones = json!({"name": "np0", "replicas": 3, "zones": ["2"]});
        assert_eq!(np0(zones, ANY), [[true, false, true], no, no]);
        let mut gone = base.clone();
        gone["nodePools"].as_array_mut().unwrap().remove(0);
        assert_eq!(asked(&base, &gone, ANY)[0], [true, false, false]);
        let class = OwnChange { pools: false, ..ANY };
        assert_eq!(np0(large, class), [no; 3], "the pools are the class's");
        assert_eq!(np0(pool(0), class), [no; 3]);
    }

    #[test]
    fn what_decides_over_all_machines_replaces_them() {
        let base = spec(&json!({"name": "np0", "replicas": 3}));
        let with = |field: &str, value: Value, own| {
            let mut new = base.clone();
            new[field] = value;
            asked(&base, &new, own).map(|of| of[2])
        };
        assert_eq!(with("version", "v1.34.2".into(), ANY), [true; 3]);
        assert_eq!(with("credentials", "b".into(), ANY), [true; 3]);
        assert_eq!(with("controlPlane", json!({"size": "x"}), ANY), [false, false, true]);
        assert_eq!(with("access", json!({"endpoint": "Private"}), ANY), [false, false, true]);
        let class = OwnChange { others: false, ..ANY };
        assert_eq!(with("credentials", "b".into(), class), [false; 3]);
        assert_eq!(with("controlPlane", json!({"size": "x"}), class), [false; 3]);
        assert_eq!(with("version", "v1.34.2".into(), OwnChange::default()), [false; 3]);
    }
}
