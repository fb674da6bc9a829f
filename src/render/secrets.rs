//! What Git must not hold, and the commands that make it.

use super::context::{find_azure, issuer};
use super::flux::{FLUX_SYSTEM, ROOT, Repository, SOURCE};
use crate::model::{ATTACHED_FLAVOR, Fleet, Worker, paths};

/// The cluster on which something is done.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Where {
    /// The control-plane cluster.
    ControlPlane,
    /// The worker itself.
    Worker,
    /// Azure.
    Azure,
}

/// A Secret that a person makes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SecretWanted {
    /// Its name.
    pub name: String,
    /// Its namespace.
    pub namespace: String,
    /// The cluster that it is on.
    pub cluster: Where,
    /// What it is for.
    pub why: String,
    /// The command that makes it.
    pub command: String,
}

/// Something else that a person does once.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Preparation {
    /// Where it is done.
    pub cluster: Where,
    /// What it is for.
    pub why: String,
    /// The command.
    pub command: String,
}

/// The Secrets that a worker wants.
#[must_use]
pub fn secrets_wanted(fleet: &Fleet, worker: &Worker) -> Vec<SecretWanted> {
    let delivered = fleet.spec.delivery.as_ref().and_then(|d| d.secret_ref.as_deref());
    let Some(name) = delivered else { return Vec::new() };
    if worker.flavor() == ATTACHED_FLAVOR {
        return vec![git_credential(name, Where::Worker)];
    }
    let Some(bootstrap) = &fleet.spec.bootstrap else {
        return vec![git_credential(name, Where::Worker)];
    };
    let (namespace, source) = (worker.name.as_str(), bootstrap.credential_ref.as_str());
    let manifest = format!(
        "{{apiVersion, kind, type, data, metadata: {{name: \"{name}\", namespace: \"{FLUX_SYSTEM}\"}}}}"
    );
    vec![SecretWanted {
        name: source.to_owned(),
        namespace: namespace.to_owned(),
        cluster: Where::ControlPlane,
        why: format!("Cluster API copies it to {namespace}, whose Flux reads the output with it"),
        command: format!(
            "kubectl -n {FLUX_SYSTEM} get secret {source} -o json | jq '{manifest}' | \
             kubectl -n {namespace} create secret generic {source} \
             --type=addons.cluster.x-k8s.io/resource-set --from-file=secret.json=/dev/stdin"
        ),
    }]
}

/// The Secrets that the control-plane cluster wants.
#[must_use]
pub fn control_plane_secrets_wanted(fleet: &Fleet) -> Vec<SecretWanted> {
    let delivered = fleet.spec.delivery.as_ref().and_then(|d| d.secret_ref.as_deref());
    let bootstrap = fleet.spec.bootstrap.as_ref().map(|b| b.credential_ref.as_str());
    let mut names: Vec<_> = delivered.into_iter().chain(bootstrap).collect();
    names.sort_unstable();
    names.dedup();
    names.into_iter().map(|name| git_credential(name, Where::ControlPlane)).collect()
}

fn git_credential(name: &str, cluster: Where) -> SecretWanted {
    SecretWanted {
        name: name.to_owned(),
        namespace: FLUX_SYSTEM.to_owned(),
        cluster,
        why: "Flux reads the output with it; read access is enough".to_owned(),
        command: format!(
            "kubectl -n {FLUX_SYSTEM} create secret generic {name} --from-file=identity=KEY_FILE \
             --from-file=known_hosts=KNOWN_HOSTS_FILE"
        ),
    }
}

/// What else a worker wants once: Flux itself where carp does not bring it, and for workload identity the
/// keys of its service accounts where Azure can read them.
#[must_use]
pub fn preparations(fleet: &Fleet, worker: &Worker, prefix: &str) -> Vec<Preparation> {
    let name = worker.name.as_str();
    let mut all = Vec::new();
    if worker.flavor() == ATTACHED_FLAVOR {
        let repository = Repository { spec: &fleet.spec, prefix };
        all.extend(flux_commands(repository, Where::Worker, ROOT, &paths::worker(&worker.name)));
    }
    let credentials = find_azure(fleet, worker.spec.credentials.as_deref());
    let Some(issuer) = credentials.and_then(|c| issuer(c, name)) else { return all };
    all.push(Preparation {
        cluster: Where::Worker,
        why: format!(
            "Azure verifies the tokens of {name} with these keys: publish them at {issuer}"
        ),
        command: "kubectl get --raw /.well-known/openid-configuration > openid-configuration && \
                  kubectl get --raw /openid/v1/jwks > jwks"
            .to_owned(),
    });
    for (account, what) in
        [("capz-system:capz-manager", "capz"), ("capz-system:azureserviceoperator-default", "aso")]
    {
        all.push(Preparation {
            cluster: Where::Azure,
            why: format!("lets {account} on {name} act as the application"),
            command: format!(
                "az identity federated-credential create --name {name}-{what} --identity-name IDENTITY \
                 --resource-group GROUP --issuer {issuer} --subject system:serviceaccount:{account} \
                 --audiences api://AzureADTokenExchange"
            ),
        });
    }
    all
}

/// What the control-plane cluster wants once: Flux, and the way to its folder.
#[must_use]
pub fn control_plane_preparations(fleet: &Fleet, prefix: &str) -> Vec<Preparation> {
    let repository = Repository { spec: &fleet.spec, prefix };
    flux_commands(repository, Where::ControlPlane, "carp-control-plane", paths::CONTROL_PLANE)
}

fn flux_commands(
    repository: Repository<'_>,
    cluster: Where,
    root: &str,
    folder: &str,
) -> Vec<Preparation> {
    let mut all = vec![Preparation {
        cluster: cluster.clone(),
        why: "Flux applies what carp commits".to_owned(),
        command: "flux install".to_owned(),
    }];
    let Some(source) = repository.source(folder) else { return all };
    let text = |pointer: &str| source.pointer(pointer).and_then(|v| v.as_str()).unwrap_or_default();
    let secret = match text("/spec/secretRef/name") {
        "" => String::new(),
        name => format!(" --secret-ref={name}"),
    };
    all.push(Preparation {
        cluster: cluster.clone(),
        why: "Flux finds the output".to_owned(),
        command: format!(
            "flux create source git {SOURCE} --url={} --branch={} --interval={}{secret}",
            text("/spec/url"),
            text("/spec/ref/branch"),
            text("/spec/interval"),
        ),
    });
    all.push(Preparation {
        cluster,
        why: "Flux applies this cluster's folder".to_owned(),
        command: format!(
            "flux create kustomization {root} --source=GitRepository/{SOURCE} --path={} --prune=true \
             --interval=10m --retry-interval=1m",
            repository.path(folder),
        ),
    });
    all
}

#[cfg(test)]
mod tests {
    use super::super::fixture::fleet;
    use super::*;

    fn wanted(fleet: &Fleet) -> Vec<SecretWanted> {
        secrets_wanted(fleet, fleet.workers.values().next().unwrap())
    }

    #[test]
    fn a_worker_that_carp_makes_wants_its_credential_on_the_control_plane() {
        let wanted = wanted(&fleet());
        assert_eq!(wanted.len(), 1);
        assert_eq!((wanted[0].name.as_str(), wanted[0].namespace.as_str()), ("boot", "wk-1"));
        assert_eq!(wanted[0].cluster, Where::ControlPlane);
        assert!(wanted[0].command.contains("--type=addons.cluster.x-k8s.io/resource-set"));
        let names: Vec<_> =
            control_plane_secrets_wanted(&fleet()).into_iter().map(|s| s.name).collect();
        assert_eq!(names, ["boot", "git"]);
    }

    #[test]
    fn an_attached_worker_is_told_how_to_begin() {
        let mut fleet = fleet();
        for worker in fleet.workers.values_mut() {
            worker.spec.flavor = Some(ATTACHED_FLAVOR.to_owned());
        }
        assert_eq!(wanted(&fleet)[0].cluster, Where::Worker);
        let steps = preparations(&fleet, fleet.workers.values().next().unwrap(), "p");
        assert!(steps.iter().any(|s| s.command.contains("--path=./p/workers/wk-1 ")), "{steps:?}");
        assert!(steps.iter().any(|s| s.command.contains("--secret-ref=git")), "{steps:?}");
    }

    #[test]
    fn workload_identity_wants_its_keys_published() {
        let mut fleet = fleet();
        let steps = |f: &Fleet| preparations(f, f.workers.values().next().unwrap(), "").len();
        assert_eq!(steps(&fleet), 0);
        let azure = fleet.spec.credentials[0].azure.as_mut().unwrap();
        azure.oidc_issuer_prefix = Some("https://oidc.example.com".into());
        assert_eq!(steps(&fleet), 3);
    }

    #[test]
    fn a_repository_that_all_may_read_wants_no_secret() {
        let mut fleet = fleet();
        fleet.spec.delivery.as_mut().unwrap().secret_ref = None;
        assert_eq!(wanted(&fleet), []);
    }
}
