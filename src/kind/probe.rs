//! Whether a cluster answers: that kind is done does not say so, nor does it stay so.

use std::time::Duration;

use k8s_openapi::api::core::v1::Node;
use kube::api::{Api, ListParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};

use super::status::ClusterHealth;

/// How long an API server may take to answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// Asks the API server of a kubeconfig whether it is ready, which version it has, and for its nodes.
pub(super) async fn probe(kubeconfig: &str, nodes: u32) -> ClusterHealth {
    let asked = tokio::time::timeout(PATIENCE, ask(kubeconfig)).await;
    let asked = asked.unwrap_or_else(|_| Err(format!("no answer within {PATIENCE:?}")));
    match asked {
        Ok((version, ready_nodes)) => ClusterHealth {
            answers: true,
            said: String::new(),
            version: Some(version),
            nodes,
            ready_nodes,
        },
        Err(said) => ClusterHealth { said, nodes, ..ClusterHealth::default() },
    }
}

async fn ask(kubeconfig: &str) -> Result<(String, Option<u32>), String> {
    let file = Kubeconfig::from_yaml(kubeconfig)
        .map_err(|_| "the kubeconfig cannot be read".to_owned())?;
    let config = Config::from_custom_kubeconfig(file, &KubeConfigOptions::default()).await;
    let config = config.map_err(|_| "the kubeconfig cannot be used".to_owned())?;
    let client = Client::try_from(config).map_err(|e| format!("no client: {e}"))?;
    let request = http::Request::get("/readyz").body(Vec::new()).map_err(|e| e.to_string())?;
    client.request_text(request).await.map_err(|e| format!("the API server is not ready: {e}"))?;
    let version = client.apiserver_version().await.map_err(|e| e.to_string())?.git_version;
    let nodes = Api::<Node>::all(client).list(&ListParams::default()).await;
    let ready = nodes.ok().map(|nodes| nodes.iter().filter(|node| is_ready(node)).count());
    Ok((version, ready.and_then(|ready| u32::try_from(ready).ok())))
}

fn is_ready(node: &Node) -> bool {
    let conditions = node.status.as_ref().and_then(|status| status.conditions.as_ref());
    conditions.into_iter().flatten().any(|c| c.type_ == "Ready" && c.status == "True")
}
