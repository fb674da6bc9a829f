//! `invalid-value` on `secrets.externalSecrets`: a store has a name as Kubernetes takes it, a time is one, and
//! the name of an entry has nothing to fill in but `{worker}`.

use crate::diag::{Code, FieldPath};
use crate::load::finding::Findings;
use crate::load::resolve::seconds;
use crate::model::api::{ExternalSecretSettings, WORKER_IN_KEY};
use crate::model::is_dns_label;

pub(super) fn check(found: &ExternalSecretSettings, path: &FieldPath, out: &mut Findings) {
    let store = &found.cluster_secret_store;
    if !store.split('.').all(is_dns_label) {
        let message = format!("`{store}` cannot be the name of a ClusterSecretStore");
        let help = "use lower-case letters, digits, `-` and `.`";
        out.add(Code::InvalidValue, path.key("clusterSecretStore"), message, help);
    }
    let interval = found.refresh_interval.as_deref();
    if let Some(text) = interval.filter(|text| seconds(text).is_none()) {
        let message = format!("`{text}` is not a duration");
        let help = "write hours, minutes and seconds, such as 1h or 1h30m";
        out.add(Code::InvalidValue, path.key("refreshInterval"), message, help);
    }
    for (secret, key) in &found.keys {
        let rest = key.replace(WORKER_IN_KEY, "w");
        if rest.is_empty() || rest.contains(['{', '}']) || rest.chars().any(char::is_control) {
            let message = format!("`{key}` cannot be the name of an entry");
            let help =
                format!("write its name in the store, with `{WORKER_IN_KEY}` for the worker's");
            out.add(Code::InvalidValue, path.key("keys").key(secret), message, help);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{CARP, files_find, load_files};
    use super::*;

    fn carp(settings: &str) -> String {
        format!("{CARP}  secrets: {{externalSecrets: {{{settings}}}}}\n")
    }

    #[test]
    fn a_store_a_time_and_entries_are_what_the_operator_takes() {
        for (bad, at) in [
            ("clusterSecretStore: My Store", "clusterSecretStore"),
            ("clusterSecretStore: a, refreshInterval: often", "refreshInterval"),
            ("clusterSecretStore: a, keys: {git: \"a-{name}\"}", "keys.git"),
            ("clusterSecretStore: a, keys: {git: \"\"}", "keys.git"),
        ] {
            let path = format!("spec.secrets.externalSecrets.{at}");
            files_find(&[("carp.yaml", &*carp(bad))], Code::InvalidValue, &path);
        }
        for good in [
            "clusterSecretStore: vault.example",
            "clusterSecretStore: a, refreshInterval: 15m, keys: {git: \"kv/{worker}/git\"}",
        ] {
            let loaded = load_files(&[("carp.yaml", &*carp(good))]);
            assert!(loaded.diagnostics.is_empty(), "{good}: {:?}", loaded.diagnostics);
        }
    }
}
