//! From decisions to files: the templates of a flavor, rendered, checked and named by digest.
//!
//! A [`Job`] is one folder: what its templates get is fixed when it is made, so its [`Job::key`] tells
//! without rendering whether the folder would come out as it was. What a template makes is committed as
//! it stands (line ends and trailing blanks aside) once it is proven to be well-formed objects that may
//! stand in that folder. Nothing here reads a clock, a file or the environment.
//!
//! | folder | door |
//! |---|---|
//! | `workers/<w>/clusters/<c>/` | [`cluster_job`], [`deletion_folder`] |
//! | `workers/<w>/` | [`worker_job`], [`clusters_index`], [`sentinel`] |
//! | `control-plane/` | [`control_plane_job`], [`control_plane_index`] |
//! | `control-plane/<w>/` | [`control_plane_worker_job`] |

mod agent;
mod appliers;
mod asked;
#[cfg(test)]
mod bombs;
mod budget;
mod change;
mod check;
mod cluster;
mod context;
mod control_plane;
mod crd;
mod default_size;
mod deletion;
mod edits;
mod engine;
mod evidence;
mod external;
mod federation;
mod filters;
mod fixed_parameters;
#[cfg(test)]
mod fixture;
mod flux;
mod folder;
mod folder_change;
mod form;
mod frozen;
mod health;
mod index;
mod installed;
mod job;
mod job_files;
mod layers;
mod machines;
mod measure;
#[cfg(test)]
mod measure_bombs;
mod mirror;
mod mutable;
mod named_secrets;
mod object;
mod overridden;
mod path;
mod plain_yaml;
mod preparation;
mod reach;
mod reader;
mod readiness;
mod reference;
mod removed;
mod rights;
mod roles;
mod rotation;
mod secrets;
mod specialised;
mod template_test;
mod templates;
mod text;
mod transfer;
mod under_way;
mod unused;
mod wanted;
mod worker;
mod worker_secrets;
mod yaml;

use std::collections::BTreeMap;

pub use agent::agent_missing;
pub use appliers::Appliers;
pub use asked::OwnChange;
pub use change::{Forbidden, forbidden_changes, version_step};
pub use cluster::{cluster_job, cluster_job_at};
pub use control_plane::{control_plane_job, control_plane_worker_job};
pub use deletion::{WorkerPlace, deletion_folder, deletion_row, worker_flavor, worker_place};
pub use evidence::{Evidence, evidence};
pub use external::names_of_stored_secrets;
pub use flux::{Applying, Removal};
pub use folder::{folder_digest, with_digest};
pub use folder_change::FolderChange;
pub use form::{same_file, same_objects};
pub use index::{IndexedCluster, bare_folder, clusters_index, control_plane_index, sentinel};
pub use installed::{InstalledRelease, InstalledReleases, OlderVersion, installed};
pub use job::Job;
pub use machines::{MachineGroup, machine_groups};
pub use named_secrets::{secrets_named_by_cluster, secrets_named_by_worker};
pub use preparation::{Once, Preparation, Where};
pub use readiness::{ReadinessJobs, ReadinessStep, readiness};
pub use reference::{CONTEXT, FILTERS};
pub use removed::{Loss, Losses, losses};
pub use rights::RenderSettings;
pub use secrets::{
    control_plane_preparations, control_plane_secrets_wanted, preparations, secrets_wanted,
};
pub use template_test::{run_template_test, template_tests};
pub use templates::Templates;
pub use transfer::{PreparedFolder, prepared_folder};
pub use under_way::rendering;
pub use wanted::SecretWanted;
pub use worker::worker_job;
pub use worker_secrets::is_bootstrapped;

/// The files of a folder, by path relative to it.
pub type Files = BTreeMap<String, Vec<u8>>;
