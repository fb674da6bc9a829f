//! What takes time: making, taking over and deleting a cluster, each under its name's lock.
//!
//! The record in an object's status says what was begun; who owns a name on this machine stands in
//! carp's own folder too, so that two controllers, or a controller and Git, never take one name for
//! theirs at the same moment.

use std::time::Duration;

use super::config::config;
use super::engine::{Cancel, KindEngine, Order};
use super::failure::EngineFailure;
use super::reason::{KindReason, Retry};
use super::state::StateFolder;
use crate::model::api::{Endpoint, EndpointType, KINDClusterSpec};

/// The machine that has the nodes.
pub struct Host<E> {
    /// What makes clusters.
    pub engine: E,
    /// carp's folder.
    pub state: StateFolder,
    /// What the machine is called in records.
    pub name: String,
    /// How long a creation may take.
    pub limit: Duration,
}

/// What there is to hand out of a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    /// The kubeconfig for this machine.
    pub external: String,
    /// The kubeconfig that the object asks for; often the same.
    pub wanted: String,
    /// How many nodes there are.
    pub nodes: u32,
}

impl<E: KindEngine> Host<E> {
    /// Whether kind lists a cluster of that name.
    ///
    /// # Errors
    /// kind or docker failed.
    pub fn lists(&self, name: &str) -> Result<bool, EngineFailure> {
        Ok(self.engine.list()?.iter().any(|listed| listed == name))
    }

    /// Makes a cluster for an owner. What an earlier try of this owner left is removed first:
    /// `leftovers` says that the record knows of one.
    ///
    /// # Errors
    /// [`KindReason::AlreadyExists`]: the name is another's. Else kind failed, took too long or was told to
    /// stop; then nothing is left but what `retainOnFailure` asks for.
    pub fn make(
        &self,
        owner: &str,
        spec: &KINDClusterSpec,
        leftovers: bool,
        cancel: &Cancel,
    ) -> Result<(), EngineFailure> {
        let name = &spec.cluster_name;
        let config =
            config(spec).map_err(|said| EngineFailure::new(KindReason::InvalidConfig, said))?;
        let held = self.state.hold(name)?;
        if self.lists(name)? {
            let of = held.owner()?;
            if of != owner && !(of.is_empty() && leftovers) {
                return Err(taken(name));
            }
            self.engine.delete(name, &held)?;
        }
        held.set_owner(owner)?;
        let order = Order {
            name: name.clone(),
            wait: spec.wait.clone(),
            retain: spec.retain_on_failure,
            limit: self.limit,
            config: crate::load::emit_yaml(&config),
        };
        let Err(mut failure) = self.engine.create(&order, &held, cancel) else { return Ok(()) };
        match failure.reason {
            // Somebody else was faster, without carp.
            KindReason::AlreadyExists => held.set_owner("")?,
            KindReason::PortInUse if !asks_for_ports(&config) => failure.retry = Retry::Now,
            // kind that was ended leaves everything. If this fails too, the next try does it.
            KindReason::Cancelled => drop(self.engine.delete(name, &held)),
            KindReason::DeadlineExceeded if !spec.retain_on_failure => {
                drop(self.engine.delete(name, &held));
            }
            _ => {}
        }
        Err(failure)
    }

    /// Writes down that a cluster that is there is now this owner's.
    ///
    /// # Errors
    /// Another process works on it, or the disk failed.
    pub fn adopt(&self, owner: &str, name: &str) -> Result<(), EngineFailure> {
        self.state.hold(name)?.set_owner(owner)
    }

    /// Deletes a cluster, unless it has become another's.
    ///
    /// # Errors
    /// Another process works on it, or kind failed.
    pub fn remove(&self, owner: &str, name: &str) -> Result<(), EngineFailure> {
        let held = self.state.hold(name)?;
        let of = held.owner()?;
        if of != owner && !of.is_empty() {
            return Ok(());
        }
        self.engine.delete(name, &held)?;
        held.set_owner("")
    }

    /// Gives a cluster up that stays.
    ///
    /// # Errors
    /// Another process works on it, or the disk failed.
    pub fn give_up(&self, owner: &str, name: &str) -> Result<(), EngineFailure> {
        let held = self.state.hold(name)?;
        if held.owner()? == owner { held.set_owner("") } else { Ok(()) }
    }

    /// The kubeconfigs and nodes of a cluster.
    ///
    /// # Errors
    /// kind failed.
    pub fn access(&self, name: &str, wanted: EndpointType) -> Result<Access, EngineFailure> {
        let external = self.engine.kubeconfig(name, EndpointType::External)?;
        let wanted = match wanted {
            EndpointType::External => external.clone(),
            EndpointType::Internal => self.engine.kubeconfig(name, wanted)?,
        };
        let nodes = u32::try_from(self.engine.nodes(name)?.len()).unwrap_or(u32::MAX);
        Ok(Access { external, wanted, nodes })
    }
}

/// What is said of a name that is another's.
pub(super) fn taken(name: &str) -> EngineFailure {
    let message = format!("a cluster with the name {name} is there and is not this object's");
    EngineFailure::new(KindReason::AlreadyExists, message)
}

/// Whether a configuration asks for ports of the machine; without it docker picks them.
fn asks_for_ports(config: &serde_json::Value) -> bool {
    let fixed = |port: &serde_json::Value| port.as_i64().is_some_and(|port| port > 0);
    let nodes = config["nodes"].as_array().into_iter().flatten();
    let mut mappings = nodes.flat_map(|n| n["extraPortMappings"].as_array().into_iter().flatten());
    fixed(&config["networking"]["apiServerPort"]) || mappings.any(|m| fixed(&m["hostPort"]))
}

/// Where the API server of a kubeconfig is.
#[must_use]
pub fn endpoint_of(kubeconfig: &str) -> Option<Endpoint> {
    let config: serde_json::Value = serde_saphyr::from_str(kubeconfig).ok()?;
    let server = config["clusters"][0]["cluster"]["server"].as_str()?;
    let address = server.strip_prefix("https://")?.trim_end_matches('/');
    let (host, port) = address.rsplit_once(':')?;
    let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
    Some(Endpoint { host, port: port.parse().ok()? })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::{Mutex, PoisonError};

    use super::super::state::NameLock;
    use super::*;

    /// An engine in memory.
    #[derive(Default)]
    struct Fake {
        clusters: Mutex<BTreeSet<String>>,
        fails: Mutex<Option<KindReason>>,
        deleted: Mutex<u32>,
    }

    impl Fake {
        fn clusters(&self) -> std::sync::MutexGuard<'_, BTreeSet<String>> {
            self.clusters.lock().unwrap_or_else(PoisonError::into_inner)
        }
    }

    impl KindEngine for Fake {
        fn list(&self) -> Result<Vec<String>, EngineFailure> {
            Ok(self.clusters().iter().cloned().collect())
        }

        fn create(&self, order: &Order, _: &NameLock, _: &Cancel) -> Result<(), EngineFailure> {
            let fails = self.fails.lock().unwrap().take();
            if !matches!(fails, Some(KindReason::ImagePullFailed | KindReason::PortInUse)) {
                self.clusters().insert(order.name.clone());
            }
            fails.map_or(Ok(()), |reason| Err(EngineFailure::new(reason, "told to")))
        }

        fn kubeconfig(&self, name: &str, from: EndpointType) -> Result<String, EngineFailure> {
            Ok(format!("{name} {from:?}"))
        }

        fn nodes(&self, name: &str) -> Result<Vec<String>, EngineFailure> {
            Ok(vec![format!("{name}-control-plane")])
        }

        fn delete(&self, name: &str, _: &NameLock) -> Result<(), EngineFailure> {
            self.clusters().remove(name);
            *self.deleted.lock().unwrap() += 1;
            Ok(())
        }
    }

    fn host() -> (tempfile::TempDir, Host<Fake>) {
        let folder = tempfile::tempdir().unwrap();
        let state = StateFolder::open(folder.path()).unwrap();
        let (engine, name) = (Fake::default(), "box".to_owned());
        (folder, Host { engine, state, name, limit: Duration::from_secs(60) })
    }

    fn make(host: &Host<Fake>, owner: &str, leftovers: bool) -> Result<(), KindReason> {
        let spec = KINDClusterSpec::named("a");
        host.make(owner, &spec, leftovers, &Cancel::default()).map_err(|f| f.reason)
    }

    fn fail(host: &Host<Fake>, reason: KindReason) {
        *host.engine.fails.lock().unwrap() = Some(reason);
    }

    #[test]
    fn of_two_owners_of_one_name_one_has_the_cluster() {
        let (_folder, host) = host();
        make(&host, "one", false).unwrap();
        // The other one had recorded its own creation before the first one's was to be seen.
        assert_eq!(make(&host, "two", true), Err(KindReason::AlreadyExists));
        assert_eq!(*host.engine.deleted.lock().unwrap(), 0);
        host.remove("two", "a").unwrap();
        assert!(host.lists("a").unwrap(), "what is another's is not deleted");
        host.remove("one", "a").unwrap();
        assert!(!host.lists("a").unwrap());
        make(&host, "two", true).unwrap();
    }

    #[test]
    fn what_an_interrupted_creation_left_is_removed_first() {
        let (_folder, host) = host();
        fail(&host, KindReason::KubeadmFailed);
        assert_eq!(make(&host, "one", false), Err(KindReason::KubeadmFailed));
        assert!(host.lists("a").unwrap());
        // The record may be older than what is to be seen: whose it is stands in the folder.
        make(&host, "one", false).unwrap();
        assert_eq!(*host.engine.deleted.lock().unwrap(), 1);
    }

    #[test]
    fn a_lost_folder_leaves_the_record_to_decide() {
        let (_folder, host) = host();
        host.engine.clusters().insert("a".to_owned());
        assert_eq!(make(&host, "one", false), Err(KindReason::AlreadyExists), "somebody's own");
        make(&host, "one", true).unwrap();
    }

    #[test]
    fn a_creation_that_was_ended_leaves_nothing() {
        let (_folder, host) = host();
        for reason in [KindReason::Cancelled, KindReason::DeadlineExceeded] {
            fail(&host, reason);
            assert_eq!(make(&host, "one", false), Err(reason));
            assert!(!host.lists("a").unwrap(), "{reason}");
        }
        let spec = KINDClusterSpec { retain_on_failure: true, ..KINDClusterSpec::named("a") };
        fail(&host, KindReason::DeadlineExceeded);
        host.make("one", &spec, false, &Cancel::default()).unwrap_err();
        assert!(host.lists("a").unwrap(), "kept to be looked at");
    }

    #[test]
    fn a_random_port_that_is_taken_is_tried_again_at_once() {
        let (_folder, host) = host();
        let retry = |spec: &KINDClusterSpec| {
            fail(&host, KindReason::PortInUse);
            host.make("one", spec, false, &Cancel::default()).unwrap_err().retry
        };
        let spec = KINDClusterSpec::named("a");
        assert_eq!(retry(&spec), Retry::Now);
        let config = Some(serde_json::json!({"networking": {"apiServerPort": 6443}}));
        assert_eq!(retry(&KINDClusterSpec { config, ..spec }), Retry::Slow);
    }

    #[test]
    fn a_cluster_that_another_took_over_is_let_alone() {
        let (_folder, host) = host();
        make(&host, "one", false).unwrap();
        host.adopt("two", "a").unwrap();
        host.remove("one", "a").unwrap();
        host.give_up("one", "a").unwrap();
        assert!(host.lists("a").unwrap());
        host.give_up("two", "a").unwrap();
        assert_eq!(host.state.hold("a").unwrap().owner().unwrap(), "");
    }

    #[test]
    fn an_endpoint_is_read_out_of_a_kubeconfig() {
        let config = |server: &str| format!("clusters: [{{cluster: {{server: '{server}'}}}}]");
        let of = |server: &str| endpoint_of(&config(server)).map(|e| (e.host, e.port));
        assert_eq!(of("https://127.0.0.1:40001"), Some(("127.0.0.1".to_owned(), 40001)));
        assert_eq!(of("https://a-control-plane:6443/"), Some(("a-control-plane".to_owned(), 6443)));
        assert_eq!(of("https://[::1]:6443"), Some(("::1".to_owned(), 6443)));
        assert_eq!(of("http://x"), None);
    }
}
