//! Whom identities trust, and the documents of issuers: what carp renders of both, and what the published documents say.

use std::path::Path;
use std::process::{Command, Output};

use carp::model::Fleet;
use carp::model::api::IssuerStorage;
use serde_json::{Value, json};

use crate::rendered_crds;
use crate::support::{documents, fleet};

/// The resource id of an identity.
const IDENTITY: &str = "/subscriptions/21111111-2222-4333-8444-555555555555/resourceGroups/fleet/providers/\
                        Microsoft.ManagedIdentity/userAssignedIdentities/capz";
/// Where the issuers of the tests are.
const PREFIX: &str = "https://oidc.example.com/workers";

/// The public half of a pair of keys for service accounts.
const KEY: &str = "\
-----BEGIN PUBLIC KEY-----\n\
MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEApOqWfkBkplayDXeq9cnw\n\
en085zukacE11guV2M03vYRFb/mZDHhbPlwp+q3+/LP0g50sMCQhSz3ikihk+mJF\n\
x7op2a6J+3kzzCSMy+pzcXbQmqY4YW/g+f43hmOGimSioof1x0hzyzNOFm/eZbAv\n\
vBS6GoPdRKEObyOeuPz+7HWrhpkGOwZP4QCSllmUHpijIBg4YXotcHF3jfqmRzUX\n\
HIBP4O6K6v9uRNo87eoGXwwsK4X+/PNNwkgdTpijoOZKNcneq93qKvZAp00a4TmE\n\
CFKpfphAqLNxGm6YNO052t85Hs+TP2EUhT/+0tM+by580ruba+nEYAWu5/lu+vVE\n\
kQIDAQAB\n\
-----END PUBLIC KEY-----\n";
/// What kube-apiserver v1.20.2 with that key answers at `/openid/v1/jwks`.
const ASKED: &str = r#"{"keys":[{"use":"sig","kty":"RSA","kid":"4Xns1jcXpBKXmZkq7XQoBCHVA5dGl2FNtjRgy6BIdtg","alg":"RS256","n":"pOqWfkBkplayDXeq9cnwen085zukacE11guV2M03vYRFb_mZDHhbPlwp-q3-_LP0g50sMCQhSz3ikihk-mJFx7op2a6J-3kzzCSMy-pzcXbQmqY4YW_g-f43hmOGimSioof1x0hzyzNOFm_eZbAvvBS6GoPdRKEObyOeuPz-7HWrhpkGOwZP4QCSllmUHpijIBg4YXotcHF3jfqmRzUXHIBP4O6K6v9uRNo87eoGXwwsK4X-_PNNwkgdTpijoOZKNcneq93qKvZAp00a4TmECFKpfphAqLNxGm6YNO052t85Hs-TP2EUhT_-0tM-by580ruba-nEYAWu5_lu-vVEkQ","e":"AQAB"}]}"#;
/// A key that is not of RSA.
const ELLIPTIC: &str = "\
-----BEGIN PUBLIC KEY-----\n\
MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEPd5DFGivxPITc6Yv9Gfn3Q5YLSR+\n\
vdBf+iOJ6oS4onmIb2p+YpJPrvu1MFacJqTnqrebm3cVhtlTBi4hRBb+oQ==\n\
-----END PUBLIC KEY-----\n";

/// Identities whose federated credentials nobody makes by hand.
pub(crate) fn trusting(fleet: &mut Fleet) {
    for azure in fleet.spec.credentials.iter_mut().filter_map(|c| c.azure.as_mut()) {
        azure.identity = Some(IDENTITY.into());
        azure.oidc_issuer_prefix = Some(PREFIX.into());
    }
}

/// The same, with issuers that nobody publishes by hand.
pub(crate) fn federated(fleet: &mut Fleet) {
    trusting(fleet);
    for azure in fleet.spec.credentials.iter_mut().filter_map(|c| c.azure.as_mut()) {
        let secret_ref = Some("oidc".into());
        azure.oidc_issuer_storage =
            Some(IssuerStorage { to: "oidc:$web/workers".into(), secret_ref });
    }
}

/// The objects of the worker of a flavor on the control-plane cluster.
fn made(fleet: &Fleet) -> Vec<Value> {
    let tree = fleet::tree(fleet, "");
    let all = documents(&tree).into_iter();
    all.filter(|(path, _)| path.starts_with("control-plane/wk-"))
        .map(|(_, object)| object)
        .collect()
}

fn of_kind<'a>(objects: &'a [Value], kind: &str) -> Vec<&'a Value> {
    objects.iter().filter(|object| object["kind"] == kind).collect()
}

/// The job that publishes, with a storage.
fn job(change: impl Fn(&mut Fleet)) -> Value {
    let mut fleet = fleet::of("capz");
    federated(&mut fleet);
    change(&mut fleet);
    let objects = made(&fleet);
    let jobs = of_kind(&objects, "CronJob");
    assert_eq!(jobs.len(), 1);
    jobs[0]["spec"]["jobTemplate"]["spec"]["template"]["spec"].clone()
}

#[test]
fn identities_trust_a_worker_by_objects_that_are_accepted() {
    for flavor in ["capz", "aks"] {
        let mut fleet = fleet::of(flavor);
        let before = made(&fleet);
        federated(&mut fleet);
        rendered_crds::check(&fleet::tree(&fleet, ""));
        let objects = made(&fleet);
        let kind = "FederatedIdentityCredential";
        assert!(of_kind(&before, kind).is_empty() && of_kind(&before, "CronJob").is_empty());
        let all = of_kind(&objects, kind);
        let names: Vec<_> =
            all.iter().map(|one| one["spec"]["azureName"].as_str().unwrap()).collect();
        assert_eq!(names, ["wk-weu-1-capz", "wk-weu-1-aso"], "{flavor}");
        let credential = of_kind(&objects, "Secret");
        let credential =
            credential.iter().find(|one| one["metadata"]["name"] == "aso-credential").unwrap();
        assert_eq!(credential["stringData"]["AUTH_MODE"], "workloadidentity");
        for one in all {
            assert_eq!(one["spec"]["owner"], json!({"armId": IDENTITY}));
            let from = &one["metadata"]["annotations"]["serviceoperator.azure.com/credential-from"];
            assert_eq!(from, "aso-credential");
        }
    }
}

#[test]
fn the_issuer_of_aks_is_the_one_that_its_operator_writes_down() {
    let mut fleet = fleet::of("aks");
    federated(&mut fleet);
    let objects = made(&fleet);
    let plane = of_kind(&objects, "AzureASOManagedControlPlane")[0];
    let resources = plane["spec"]["resources"].as_array().unwrap();
    let cluster = resources.iter().find(|one| one["kind"] == "ManagedCluster").unwrap();
    let written = &cluster["spec"]["operatorSpec"]["configMaps"]["oidcIssuerProfile"];
    assert_eq!(written, &json!({"name": "wk-weu-1-issuer", "key": "issuer"}));
    for one in of_kind(&objects, "FederatedIdentityCredential") {
        assert_eq!(
            (&one["spec"]["issuerFromConfig"], &one["spec"]["issuer"]),
            (written, &Value::Null)
        );
    }
    assert!(of_kind(&objects, "CronJob").is_empty(), "Azure publishes the keys");
}

#[test]
fn another_identity_is_another_object() {
    let name = |id: &str| {
        let mut fleet = fleet::of("capz");
        trusting(&mut fleet);
        fleet.spec.credentials[0].azure.as_mut().unwrap().identity = Some(id.into());
        let objects = made(&fleet);
        of_kind(&objects, "FederatedIdentityCredential")[0]["metadata"]["name"].clone()
    };
    // Whose credential it is, Azure Service Operator does not let be changed.
    assert_ne!(name(IDENTITY), name(&IDENTITY.replace("/capz", "/other")));
    assert_eq!(name(IDENTITY), name(IDENTITY));
}

#[test]
fn the_job_sees_the_public_half_of_one_key_and_no_account() {
    let pod = job(|_| ());
    assert_eq!(pod["automountServiceAccountToken"], false);
    let volumes = pod["volumes"].as_array().unwrap();
    let secrets: Vec<_> = volumes.iter().map(|v| &v["secret"]).filter(|v| v.is_object()).collect();
    assert_eq!(secrets.len(), 2);
    assert_eq!(secrets[0]["secretName"], "wk-weu-1-sa");
    assert_eq!(secrets[0]["items"], json!([{"key": "tls.crt", "path": "tls.crt"}]));
    assert_eq!(secrets[1]["secretName"], "oidc");
    // Where the remote says what it is, there is no Secret.
    let pod = job(|fleet| {
        let azure = fleet.spec.credentials[0].azure.as_mut().unwrap();
        azure.oidc_issuer_storage.as_mut().unwrap().secret_ref = None;
    });
    assert!(!pod.to_string().contains("RCLONE_CONFIG"));
    assert_eq!(pod.to_string().matches("secretName").count(), 1);
}

/// Runs the command of the job with a stand-in for `rclone` that keeps what it is given in the folder.
#[expect(clippy::disallowed_methods, reason = "a command works on files")]
fn published(folder: &Path, key: &str) -> Output {
    let pod = job(|_| ());
    let container = &pod["containers"][0];
    let words = |field: &str| {
        let all = container[field].as_array().unwrap().iter();
        all.map(|word| word.as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let (bin, home) = (folder.join("bin"), folder.join("home"));
    std::fs::create_dir_all(&bin).unwrap();
    std::fs::create_dir_all(&home).unwrap();
    std::fs::write(folder.join("tls.crt"), key).unwrap();
    let standin = "#!/bin/sh\nfor to; do from=$last; last=$to; done\nto=$STORAGE/$to\n\
                   mkdir -p \"${to%/*}\" && cp \"$from\" \"$to\"\n";
    std::fs::write(bin.join("rclone"), standin).unwrap();
    let mut command = Command::new("chmod");
    assert!(command.arg("755").arg(bin.join("rclone")).status().unwrap().success());
    let (program, args) = (words("command"), words("args"));
    let mut command = Command::new(&program[0]);
    command.args(&program[1..]).args(args).env_clear();
    for variable in container["env"].as_array().unwrap() {
        command.env(variable["name"].as_str().unwrap(), variable["value"].as_str().unwrap());
    }
    command.env("PATH", format!("{}:/usr/local/bin:/usr/bin:/bin", bin.display()));
    command
        .env("KEY", folder.join("tls.crt"))
        .env("HOME", home)
        .env("STORAGE", folder.join("storage"));
    command.output().unwrap()
}

#[test]
#[expect(clippy::disallowed_methods, reason = "what was published is files")]
fn what_is_published_is_what_an_api_server_says_but_where_its_keys_are() {
    let folder = tempfile::tempdir().unwrap();
    let done = published(folder.path(), KEY);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let of = |path: &str| {
        let path = folder.path().join("storage/oidc:$web/workers/wk-weu-1").join(path);
        std::fs::read_to_string(path).unwrap()
    };
    assert_eq!(of("openid/v1/jwks"), ASKED);
    let issuer = format!("{PREFIX}/wk-weu-1");
    let said: Value = serde_json::from_str(&of(".well-known/openid-configuration")).unwrap();
    let wanted = json!({
        "issuer": issuer,
        "jwks_uri": format!("{issuer}/openid/v1/jwks"),
        "response_types_supported": ["id_token"],
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": ["RS256"],
    });
    assert_eq!(said, wanted);
}

#[test]
fn a_key_of_another_kind_is_not_published() {
    for key in [ELLIPTIC, "", "-----BEGIN PUBLIC KEY-----\n-----END PUBLIC KEY-----\n"] {
        let folder = tempfile::tempdir().unwrap();
        let done = published(folder.path(), key);
        assert!(!done.status.success(), "{key}");
        assert!(!folder.path().join("storage").exists(), "{key}");
    }
}
