//! What the providers' own files say that their webhooks refuse: for the kinds of flavors that carp has never heard of what
//! [`webhooks`](super::webhooks) is for those of its own.

use super::super::job::Job;
use super::super::object::Object;
use crate::diag::{Code, Diagnostics};

pub(super) fn check(objects: &[Object], job: &Job) -> Diagnostics {
    let help = "mend the template or the parameter: the provider's webhook refuses the object, or one that is made of it";
    let catalogue = job.templates.catalogue();
    let refused = objects.iter().flat_map(|object| {
        let known = catalogue.provided(object.group(), object.kind());
        let refusals = known.flat_map(|kind| &kind.refused);
        refusals.filter(|refusal| refusal.refuses(&object.value)).map(move |r| (object, &r.says))
    });
    let finding = |(object, says): (&Object, &String)| {
        job.finding(Code::RenderedInvalid, &object.file, &format!("{object} {says}"), help)
    };
    refused.map(finding).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::tests::{job, read};
    use super::*;

    #[test]
    fn what_a_providers_file_says_is_refused() {
        let provider = "kind: InfrastructureProvider\nname: moon\nnamespace: capm-system\ncomponent: capm\nversion: v0.1.0\n\
                        image: registry.example.com/capm/manager\nmanifests: example.com/moon\nprovides:\n\
                        - apiVersion: infrastructure.moon.example.com/v1\n  kind: MoonBase\n  refused:\n  \
                        - {says: has no crater, lacks: [/spec/crater]}\n";
        let path = "providers/infrastructure-moon.yaml".to_owned();
        let mut job = job();
        // It is told that no flavor wants it, which is no matter here.
        let (templates, _) = job.templates.with(&BTreeMap::from([(path, provider.to_owned())]));
        job.templates = templates;
        let found = |kind: &str, spec: &str| -> Vec<String> {
            let text = format!(
                "apiVersion: infrastructure.moon.example.com/v1\nkind: {kind}\nmetadata: {{name: a}}\nspec: {spec}\n"
            );
            let findings = check(&read(&text), &job);
            assert!(findings.iter().all(|d| d.code == Code::RenderedInvalid), "{findings:?}");
            findings.into_iter().map(|d| d.message).collect()
        };
        assert_eq!(found("MoonBase", "{dust: 1}"), ["MoonBase a has no crater"]);
        assert_eq!(found("MoonBase", "{crater: tycho}"), Vec::<String>::new());
        assert_eq!(found("MoonRover", "{dust: 1}"), Vec::<String>::new(), "another kind");
    }
}
