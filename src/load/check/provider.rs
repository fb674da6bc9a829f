//! `unknown-provider`: providers are compared by the names that Cluster API has for them, and a flavor
//! that makes machines says itself whose they are.

use super::{CheckContext, Subject};
use crate::diag::suggest;
use crate::diag::{Code, FieldPath};
use crate::load::finding::Findings;
use crate::load::kind::DocumentSpec;
use crate::model::Flavor;
use crate::model::api::WorkerField;
use crate::model::tables::providers;

pub(super) fn check(subject: &Subject<'_>, scene: &CheckContext<'_>, out: &mut Findings) {
    if let DocumentSpec::Worker(worker) = &subject.body.spec
        && let Some(provider) = &worker.provider
    {
        let path = FieldPath::keys("spec.provider");
        let flavor = subject.flavor().unwrap_or_default();
        match subject.manifest(scene).and_then(|flavor| flavor.provider.as_deref()) {
            Some(made) if made != provider => {
                let message = format!("a worker of the flavor `{flavor}` is made of `{made}`");
                let help = "remove `provider`: only an attached worker says it itself";
                out.add(Code::UnknownProvider, path, message, help);
            }
            _ => one(provider, path, scene, out),
        }
    }
    for (path, term) in &subject.terms {
        for (i, provider) in term.providers.iter().enumerate() {
            one(provider, path.key("providers").index(i), scene, out);
        }
        for (path, provider) in super::field_values(term, path, WorkerField::Provider) {
            one(provider, path, scene, out);
        }
    }
}

fn one(provider: &str, path: FieldPath, scene: &CheckContext<'_>, out: &mut Findings) {
    let of_flavor = |(_, flavor): (_, &Flavor)| flavor.provider.as_deref() == Some(provider);
    if !providers().contains(provider) && !scene.catalogue.flavors().any(of_flavor) {
        let known = providers().iter().map(String::as_str);
        let help = suggest::help(provider, known, "providers");
        let message = format!("`{provider}` is not a provider that Cluster API knows");
        out.add(Code::UnknownProvider, path, message, help);
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{cluster, finds, finds_nothing, worker};
    use super::*;

    #[test]
    fn a_provider_is_one_that_cluster_api_knows() {
        let own =
            |term: &str| cluster(&format!("placement: {{affinity: {{required: [{term}]}}}}\n  "));
        let path = "spec.placement.affinity.required[0].providers[1]";
        let found = finds(own("{providers: [azure, azur]}"), Code::UnknownProvider, path);
        assert_eq!(found.help.as_deref(), Some("did you mean `azure`?"));
        let fields = "{matchFields: [{key: provider, operator: NotIn, values: [gpc]}]}";
        let path = "spec.placement.affinity.required[0].matchFields[0].values[0]";
        finds(own(fields), Code::UnknownProvider, path);
        finds_nothing(own("{providers: [aws, azure, docker]}"));
    }

    #[test]
    fn only_an_attached_worker_says_whose_machines_it_is_made_of() {
        finds_nothing(worker("flavor: attached\n  provider: aws\n  "));
        finds_nothing(worker("provider: azure\n  "));
        finds(worker("provider: aws\n  "), Code::UnknownProvider, "spec.provider");
        let text = worker("flavor: attached\n  provider: amazon\n  ");
        finds(text, Code::UnknownProvider, "spec.provider");
    }
}
