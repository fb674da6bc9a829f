//! Local clusters, for the command line.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use super::super::{Context, Error, process};
use crate::kind::{self, Applied, ApplySettings, Cancel, KindSettings};
use crate::model::{Name, paths};
use crate::service::Election;

/// The machine that has the nodes.
#[derive(Clone, Debug)]
pub struct KindHost {
    /// The `kind` program.
    pub program: OsString,
    /// What the machine is called in records.
    pub name: String,
    /// carp's folder on it.
    pub state: PathBuf,
    /// How long a creation may take.
    pub limit: Duration,
}

/// How `carp kind run` is to run.
pub struct KindController {
    /// The kubeconfig and its context.
    pub kubeconfig: (Option<PathBuf>, Option<String>),
    /// The namespace to watch; `None`: all.
    pub namespace: Option<String>,
    /// The machine.
    pub host: KindHost,
    /// How many creations may run at a time.
    pub creations: usize,
    /// How far apart two looks at a cluster are.
    pub interval: Duration,
    /// How long creations may go on after the signal to stop.
    pub grace: Duration,
    /// Where to listen.
    pub listen: Option<SocketAddr>,
    /// The election to stand in; its identity is given here.
    pub election: Option<Election>,
}

/// carp's folder for what must outlive a run on this machine.
pub fn state_folder(context: &Context<'_, '_>) -> PathBuf {
    let env = |key: &str| context.io.env.get(key).filter(|v| !v.is_empty()).map(PathBuf::from);
    env("XDG_STATE_HOME")
        .or_else(|| env("HOME").map(|home| home.join(".local/state")))
        .unwrap_or_else(|| context.io.folder.join(".local/state"))
        .join("carp")
}

/// Runs the controller until the process is asked to end.
///
/// # Errors
/// The cluster cannot be spoken to, or this machine is not fit for it.
pub fn kind_run(controller: KindController) -> Result<(), Error> {
    let KindController {
        kubeconfig,
        namespace,
        host,
        creations,
        interval,
        grace,
        listen,
        election,
    } = controller;
    let identity = format!("{}_{:016x}", host.name, process::number());
    let settings = KindSettings {
        kubeconfig,
        namespace,
        program: host.program,
        state: host.state,
        host: host.name,
        creations,
        limit: host.limit,
        interval,
        grace,
        listen,
        election: election.map(|election| Election { identity, ..election }),
        clock: process::now,
        leave: process::leave,
    };
    kind::serve(settings).map_err(|error| Error::failed(error.to_string()))
}

/// What `carp kind apply` reads and writes.
pub struct KindTree {
    /// The fleet's repository, as this machine reaches it.
    pub url: String,
    /// The output branch.
    pub branch: String,
    /// The fleet's root in its repository.
    pub prefix: String,
    /// The worker whose folder it is; `None`: the control plane's.
    pub worker: Option<Name>,
    /// What the status branches begin with.
    pub status: String,
    /// Where kubeconfigs go.
    pub kubeconfigs: PathBuf,
    /// The machine.
    pub host: KindHost,
}

/// Makes this machine's clusters what the output branch asks for. A signal ends what runs and leaves
/// nothing half made.
///
/// # Errors
/// The repository cannot be read or written, or this machine is not fit for it.
pub fn kind_apply(context: &Context<'_, '_>, tree: KindTree) -> Result<Applied, Error> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in signal_hook::consts::TERM_SIGNALS {
        signal_hook::flag::register(*signal, Arc::clone(&stop))
            .map_err(|e| Error::failed("failed to listen for signals").because(e))?;
    }
    let folder = tree.worker.as_ref().map_or(paths::CONTROL_PLANE.to_owned(), paths::worker);
    // No worker is called so: a name has no `_`.
    let of = tree.worker.as_ref().map_or("_control-plane", Name::as_str);
    // A path is the same wherever the clone of it is.
    let local = context.io.folder.join(&tree.url);
    let url = if local.exists() { local.display().to_string() } else { tree.url.clone() };
    let settings = ApplySettings {
        url,
        branch: tree.branch,
        folder: paths::in_repository(&tree.prefix, &folder),
        status: format!("{}/{of}", tree.status),
        cache: super::open::cache(context).join("kind"),
        kubeconfigs: tree.kubeconfigs,
        program: tree.host.program,
        state: tree.host.state,
        host: tree.host.name,
        limit: tree.host.limit,
    };
    let (clock, pinned) = (context.io.clock, context.pinned_now);
    let now = move || pinned.unwrap_or_else(clock);
    kind::apply(&settings, &now, &Cancel::from_flag(stop))
        .map_err(|error| Error::failed(error.to_string()))
}
