//! One object: what is seen, what the plan says, and doing it.

use std::sync::Arc;
use std::time::Duration;

use kube::ResourceExt as _;
use kube::runtime::controller::Action as Next;
use tracing::{info, warn};

use super::super::plan::{DesiredCluster, KindAction, ObservedCluster, Record, plan};
use super::super::probe::probe;
use super::super::status::{ClusterHealth, StatusBuilder, record, recorded_host, upgrade};
use super::super::work::taken;
use super::super::{
    Access, EngineFailure, Error, KindEngine, KindReason, Retry, endpoint_of, node_image,
};
use super::context::{ReconcileContext, Version};
use super::gate::{ActionGate, gate};
use super::objects::ObjectPlace;
use super::tasks::{Done, KindTask};
use super::{ADOPT, FINALIZER, history, secrets};
use crate::model::api::{KINDCluster, KINDClusterStatus, KindDeletionPolicy};

/// How soon a running creation or deletion is looked after.
const SOON: Duration = Duration::from_secs(1);
/// After how long a paused object is looked at again at the latest: its Cluster is not watched.
const PAUSED: Duration = Duration::from_secs(30);

/// Brings one object's cluster nearer to what the object asks for.
///
/// # Errors
/// The API server did not answer or refused; tried again.
pub(super) async fn reconcile<E: KindEngine>(
    seen: Arc<KINDCluster>,
    ctx: Arc<ReconcileContext<E>>,
) -> Result<Next, Error> {
    let uid = seen.uid().unwrap_or_default();
    if ctx.tasks.job(&uid).is_some() {
        if seen.metadata.deletion_timestamp.is_some() {
            ctx.tasks.cancel(&uid);
        }
        return Ok(Next::requeue(SOON));
    }
    let Some(mut visit) =
        Visit::begin(&ctx, &seen.namespace().unwrap_or_default(), &seen.name_any()).await?
    else {
        ctx.fine(&uid);
        return Ok(Next::await_change());
    };
    visit.settle().await?;
    match gate(&ctx.client, &visit.object).await? {
        ActionGate::ManagedElsewhere | ActionGate::WaitsForOwner => return Ok(Next::await_change()),
        ActionGate::Paused => {
            visit.telling().paused(true);
            visit.tell().await?;
            return Ok(Next::requeue(ctx.interval.min(PAUSED)));
        }
        ActionGate::Open => visit.telling().paused(false),
    }
    if let Some(left) = ctx.waits(&visit.uid, visit.version()) {
        return Ok(Next::requeue(left));
    }
    if !visit.deleting() {
        visit.object = visit.place.hold(visit.object.clone()).await?;
    } else if !visit.object.finalizers().iter().any(|f| f == FINALIZER) {
        return Ok(Next::await_change());
    }
    match visit.observe().await {
        Ok(observed) => visit.act(plan(&observed, &visit.desired())).await,
        Err(Error::Kind(failure)) => visit.troubled(&failure).await,
        Err(error) => Err(error),
    }
}

/// Writes down what ended while nobody looked.
///
/// # Errors
/// The API server did not answer or refused.
pub(super) async fn settle<E: KindEngine>(
    ctx: &ReconcileContext<E>,
    uid: &str,
    (namespace, name): &(String, String),
) -> Result<(), Error> {
    match Visit::begin(ctx, namespace, name).await? {
        Some(mut visit) if visit.uid == uid => visit.settle().await,
        _ => {
            ctx.tasks.forget(uid);
            Ok(())
        }
    }
}

/// One look at one object.
struct Visit<'a, E> {
    ctx: &'a ReconcileContext<E>,
    place: ObjectPlace,
    object: KINDCluster,
    uid: String,
    /// The status as it will be.
    status: KINDClusterStatus,
}

impl<'a, E: KindEngine> Visit<'a, E> {
    async fn begin(
        ctx: &'a ReconcileContext<E>,
        namespace: &str,
        name: &str,
    ) -> Result<Option<Self>, Error> {
        let place = ObjectPlace::new(&ctx.client, namespace, name);
        let Some(object) = place.read().await? else { return Ok(None) };
        let mut status = object.status.clone().unwrap_or_default();
        upgrade(&mut status);
        let uid = object.uid().unwrap_or_default();
        Ok(Some(Self { ctx, place, object, uid, status }))
    }

    fn deleting(&self) -> bool {
        self.object.metadata.deletion_timestamp.is_some()
    }

    fn adopt(&self) -> bool {
        self.object.annotations().get(ADOPT).is_some_and(|value| value == "true")
    }

    fn version(&self) -> Version {
        (self.object.metadata.generation, self.adopt())
    }

    fn desired(&self) -> DesiredCluster {
        DesiredCluster {
            deleting: self.deleting(),
            orphan: self.object.spec.deletion_policy == KindDeletionPolicy::Orphan,
            adopt: self.adopt(),
        }
    }

    /// The name that the cluster has: the recorded one, else the one that is asked for.
    fn cluster_name(&self) -> String {
        let recorded = self.status.cluster_name.clone();
        recorded.unwrap_or_else(|| self.object.spec.cluster_name.clone())
    }

    fn telling(&mut self) -> StatusBuilder<'_> {
        StatusBuilder {
            status: &mut self.status,
            now: (self.ctx.clock)(),
            generation: self.object.metadata.generation,
        }
    }

    /// Writes the status, and what is new as an event.
    async fn tell(&mut self) -> Result<(), Error> {
        let before = self.object.status.clone().unwrap_or_default();
        self.object = self.place.tell(self.object.clone(), self.status.clone()).await?;
        history::publish(&self.ctx.recorder, &self.object, &before, &self.status).await;
        Ok(())
    }

    /// Writes down what became of the task that ended.
    async fn settle(&mut self) -> Result<(), Error> {
        let Some(Done { job, outcome }) = self.ctx.tasks.ended(&self.uid) else { return Ok(()) };
        let of = format!("{}/{}", self.place.namespace, self.place.name);
        let deleting = self.deleting();
        match (&job, &outcome) {
            (KindTask::Create(_), Ok(())) => info!("{of}: the cluster was created"),
            (KindTask::Delete, Ok(())) => info!("{of}: the cluster was deleted"),
            (_, Err(failure)) => warn!("{of}: {}: {failure}", failure.reason),
        }
        match (&job, &outcome) {
            (KindTask::Create(digest), Ok(())) => self.telling().made(digest, false),
            (KindTask::Create(_), Err(_)) if deleting => {}
            (KindTask::Create(_), Err(failure)) => {
                if failure.reason == KindReason::AlreadyExists {
                    self.telling().disown();
                }
                self.telling().creation_failed(failure.reason, &failure.message);
            }
            (KindTask::Delete, Ok(())) => {}
            (KindTask::Delete, Err(failure)) => {
                self.telling().deleting(Some((failure.reason, &failure.message)));
            }
        }
        self.tell().await?;
        self.ctx.tasks.forget(&self.uid);
        match outcome {
            Ok(()) => self.ctx.fine(&self.uid),
            Err(failure) => drop(self.ctx.failed(&self.uid, self.version(), failure.retry)),
        }
        Ok(())
    }

    async fn observe(&self) -> Result<ObservedCluster, Error> {
        let name = self.cluster_name();
        let asked = name.clone();
        let listed = self.ctx.blocking(move |host| host.lists(&asked)).await?;
        let host = recorded_host(&self.status);
        let generation = self.object.metadata.generation;
        let failed = self
            .status
            .failure_reason
            .as_deref()
            .filter(|_| self.status.observed_generation == generation && generation.is_some());
        let hopeless = KindReason::ALL.iter().find(|reason| {
            reason.retry() == Retry::Never
                && **reason != KindReason::Renamed
                && failed == Some(reason.word())
        });
        Ok(ObservedCluster {
            record: record(&self.status),
            renamed: name != self.object.spec.cluster_name,
            other_host: host.is_some_and(|host| host != self.ctx.host.name),
            listed,
            creating: false,
            hopeless: hopeless.copied(),
        })
    }

    async fn act(&mut self, action: KindAction) -> Result<Next, Error> {
        let spec = self.object.spec.clone();
        let host = self.ctx.host.name.clone();
        match action {
            KindAction::Wait | KindAction::Cancel => return Ok(Next::requeue(SOON)),
            KindAction::Begin | KindAction::BeginAgain => {
                let again = action == KindAction::BeginAgain;
                let why = if again { "the cluster that was made is gone" } else { "" };
                self.telling().set_desired(&spec, &host, why);
                self.tell().await?;
                self.create(false).await;
            }
            KindAction::Create { leftovers } => self.create(leftovers).await,
            KindAction::Adopt => {
                let (uid, name) = (self.uid.clone(), spec.cluster_name.clone());
                match self.ctx.blocking(move |host| host.adopt(&uid, &name)).await {
                    Ok(()) => self.telling().adopt(&spec, &host),
                    Err(Error::Kind(failure)) => return self.troubled(&failure).await,
                    Err(error) => return Err(error),
                }
                self.tell().await?;
                return self.check().await;
            }
            KindAction::Check => return self.check().await,
            KindAction::Delete => {
                self.telling().deleting(None);
                self.tell().await?;
                self.delete();
            }
            KindAction::Release => return self.release().await,
            KindAction::Refuse(reason) => return self.refuse(reason).await,
        }
        Ok(Next::requeue(SOON))
    }

    async fn create(&self, leftovers: bool) {
        let spec = self.object.spec.clone();
        let image = node_image(&spec.kubernetes_version).filter(|_| spec.image.is_none());
        if image.is_some_and(|image| !image.tested) {
            let note =
                format!("nobody tests Kubernetes {} with today's kind", spec.kubernetes_version);
            let reason = "UntestedVersion".to_owned();
            history::say(&self.ctx.recorder, &self.object, true, reason, note).await;
        }
        info!("{}/{}: creating {}", self.place.namespace, self.place.name, spec.cluster_name);
        let (uid, host) = (self.uid.clone(), Arc::clone(&self.ctx.host));
        let place = (self.place.namespace.clone(), self.place.name.clone());
        self.ctx.tasks.begin(&self.uid, place, KindTask::Create(spec.digest()), move |cancel| {
            host.make(&uid, &spec, leftovers, cancel)
        });
    }

    fn delete(&self) {
        let (uid, name) = (self.uid.clone(), self.cluster_name());
        let host = Arc::clone(&self.ctx.host);
        let place = (self.place.namespace.clone(), self.place.name.clone());
        self.ctx.tasks.begin(&self.uid, place, KindTask::Delete, move |_| host.remove(&uid, &name));
    }

    /// Whether the cluster answers; and its kubeconfig to where it belongs.
    async fn check(&mut self) -> Result<Next, Error> {
        let (name, spec) = (self.cluster_name(), self.object.spec.clone());
        let asked = name.clone();
        let access = self.ctx.blocking(move |host| host.access(&asked, spec.endpoint_type)).await;
        let access = match access {
            Ok(access) => access,
            Err(Error::Kind(failure)) => return self.troubled(&failure).await,
            Err(error) => return Err(error),
        };
        let health = healthy(&access).await;
        self.object =
            self.place.set_endpoint(self.object.clone(), endpoint_of(&access.wanted)).await?;
        let spec = self.object.spec.clone();
        self.telling().checked(&spec, &health);
        match secrets::write(&self.ctx.client, &self.object, &name, &access).await {
            Ok(()) => self.telling().kubeconfig_ready(),
            Err(error) => self.telling().kubeconfig_failed(&error.to_string()),
        }
        self.tell().await?;
        if self.status.ready == Some(true) {
            self.ctx.fine(&self.uid);
            return Ok(Next::requeue(self.ctx.interval));
        }
        Ok(self.later(Retry::Backoff))
    }

    /// Lets the object go: its secrets first.
    async fn release(&mut self) -> Result<Next, Error> {
        if record(&self.status) != Record::None {
            let (uid, name) = (self.uid.clone(), self.cluster_name());
            let asked = name.clone();
            match self.ctx.blocking(move |host| host.give_up(&uid, &asked)).await {
                Err(Error::Kind(failure)) => return self.troubled(&failure).await,
                done => done?,
            }
            secrets::delete(&self.ctx.client, &self.object, &name).await?;
        }
        self.place.release(&self.object).await?;
        self.ctx.fine(&self.uid);
        info!("{}/{}: let go", self.place.namespace, self.place.name);
        Ok(Next::await_change())
    }

    async fn refuse(&mut self, reason: KindReason) -> Result<Next, Error> {
        let spec = &self.object.spec;
        let said = match reason {
            KindReason::AlreadyExists => taken(&spec.cluster_name).message,
            KindReason::Renamed => {
                let (old, new) = (self.cluster_name(), &spec.cluster_name);
                format!("the cluster is called {old} and cannot be renamed {new}")
            }
            KindReason::OtherHost => {
                let host = recorded_host(&self.status).unwrap_or_default();
                format!("the cluster is on {host}, not on {}", self.ctx.host.name)
            }
            // Told already, in kind's own words.
            _ => return Ok(Next::await_change()),
        };
        self.telling().not_done(reason, &format!("{said}: {}", reason.help()));
        self.tell().await?;
        Ok(self.later(reason.retry()))
    }

    /// kind or docker failed at something that is no creation.
    async fn troubled(&mut self, failure: &EngineFailure) -> Result<Next, Error> {
        if self.deleting() {
            self.telling().deleting(Some((failure.reason, &failure.message)));
        } else {
            self.telling().not_done(failure.reason, &failure.message);
        }
        self.tell().await?;
        Ok(self.later(failure.retry))
    }

    fn later(&self, retry: Retry) -> Next {
        let pause = self.ctx.failed(&self.uid, self.version(), retry);
        pause.map_or_else(Next::await_change, Next::requeue)
    }
}

/// Asks a cluster from here; and, where that is another way, as the object asks for.
async fn healthy(access: &Access) -> ClusterHealth {
    let health = probe(&access.external, access.nodes).await;
    if health.answers || access.wanted == access.external {
        return health;
    }
    probe(&access.wanted, access.nodes).await
}
