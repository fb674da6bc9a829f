//! A way to an API server, found as `kubectl` finds it.

use std::path::Path;

use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};

use super::Error;

/// Connects as `kubectl` does: with the file and context that are named, else with `KUBECONFIG`, else as
/// a pod of the cluster. Nothing is sent yet.
///
/// # Errors
/// Nothing says where the API server is, or the file cannot be read.
pub async fn client(file: Option<&Path>, context: Option<&str>) -> Result<Client, Error> {
    let failed = |e: &dyn std::fmt::Display| Error::NoCluster { detail: e.to_string() };
    let options =
        KubeConfigOptions { context: context.map(str::to_owned), ..KubeConfigOptions::default() };
    let config = match file {
        Some(file) => {
            let file = Kubeconfig::read_from(file).map_err(|e| failed(&e))?;
            Config::from_custom_kubeconfig(file, &options).await.map_err(|e| failed(&e))?
        }
        None if context.is_some() => {
            Config::from_kubeconfig(&options).await.map_err(|e| failed(&e))?
        }
        None => Config::infer().await.map_err(|e| failed(&e))?,
    };
    Client::try_from(config).map_err(|e| failed(&e))
}
