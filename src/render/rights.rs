//! What applies the folders of clusters may touch: the kinds that the flavors declare, and no others.
//!
//! Some kinds are rendered only with a setting of `carp.yaml`. They may be made while the fleet has the setting, and while a
//! folder holds what was made with it: Flux applies nothing of a folder with an object that it may not patch. What is
//! there may be looked at and deleted for good, because Flux takes it away when its folder has it no longer, and nobody
//! knows when that is (kustomize-controller, `internal/controller/kustomization_controller.go`, `prune`).

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::external::EXTERNAL_SECRETS;
use super::object::{Object, objects};
use super::templates::Templates;
use super::{Files, text};
use crate::model::api::{AzureCredentials, FleetSpec};
use crate::model::{FlavorKind, FlavorObject, RenderedWith, plural};

/// The settings with which objects are rendered that are not there without them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RenderSettings(BTreeSet<Setting>);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Setting {
    /// One that flavors name.
    Named(RenderedWith),
    /// `secrets.externalSecrets`.
    ExternalSecrets,
}

impl RenderSettings {
    /// Those that `carp.yaml` has.
    #[must_use]
    pub fn of(fleet: &FleetSpec) -> Self {
        let azure = fleet.credentials.iter().filter_map(|entry| entry.azure.as_ref());
        let named = |azure: &AzureCredentials| {
            [
                azure.identity.as_ref().map(|_| RenderedWith::Identity),
                azure.oidc_issuer_storage.as_ref().map(|_| RenderedWith::IssuerStorage),
            ]
        };
        let named = azure.flat_map(named).flatten().map(Setting::Named);
        let releases = fleet.flux_releases.then_some(Setting::Named(RenderedWith::FluxReleases));
        let peerings = fleet.vnet_peerings.then_some(Setting::Named(RenderedWith::VnetPeerings));
        let external = fleet.external_secrets().map(|_| Setting::ExternalSecrets);
        Self(named.chain(releases).chain(peerings).chain(external).collect())
    }

    /// These, and those with which objects were rendered that stand in a folder of a kind of flavors.
    #[must_use]
    pub fn and_standing(mut self, templates: &Templates, kind: FlavorKind, files: &Files) -> Self {
        let all: Vec<_> = declared(templates, kind).collect();
        let others: Vec<_> = all.iter().filter(|one| settings(one).next().is_none()).collect();
        // What another flavor has without a setting says nothing of one.
        let wanted: Vec<_> = all
            .iter()
            .filter(|one| !self.renders(one) && !others.iter().any(|other| covers(other, one)))
            .collect();
        for (file, bytes) in files {
            let content = text::of(bytes);
            if !wanted.iter().any(|one| content.contains(&one.kind)) {
                continue;
            }
            let one = Files::from([(file.clone(), bytes.clone())]);
            for object in objects(&one).unwrap_or_default() {
                let made = wanted.iter().filter(|one| is_of(&object, one));
                self.0.extend(made.flat_map(|one| settings(one)));
            }
        }
        self
    }

    /// Whether objects are rendered with a setting.
    pub(super) fn has(&self, with: RenderedWith) -> bool {
        self.0.contains(&Setting::Named(with))
    }

    fn renders(&self, object: &FlavorObject) -> bool {
        settings(object).all(|setting| self.0.contains(&setting))
    }
}

/// What is declared by all flavors of a kind.
fn declared(templates: &Templates, kind: FlavorKind) -> impl Iterator<Item = &FlavorObject> {
    let flavors = templates.flavors(kind).filter_map(|name| templates.flavor(name));
    flavors.flat_map(move |flavor| flavor.objects_of(kind))
}

/// The settings without which an object is not rendered.
fn settings(object: &FlavorObject) -> impl Iterator<Item = Setting> + use<> {
    let external = (group(object) == EXTERNAL_SECRETS).then_some(Setting::ExternalSecrets);
    object.with.map(Setting::Named).into_iter().chain(external)
}

fn group(object: &FlavorObject) -> &str {
    object.api_version.split_once('/').map_or("", |(group, _)| group)
}

/// Whether whatever one declaration is for is what another is for too.
fn covers(any: &FlavorObject, one: &FlavorObject) -> bool {
    (group(any), &any.kind) == (group(one), &one.kind)
        && (any.name.is_none() || any.name == one.name)
}

fn is_of(object: &Object, declared: &FlavorObject) -> bool {
    (object.group(), object.kind()) == (group(declared), &*declared.kind)
        && declared.name.as_deref().is_none_or(|name| object.name() == name)
}

/// Kinds as rules of a ClusterRole have them: by API group, and by the names that their objects may have.
#[derive(Default)]
struct Touched<'a> {
    groups: BTreeMap<&'a str, BTreeSet<String>>,
    named: BTreeMap<(&'a str, String), BTreeSet<&'a str>>,
}

impl<'a> Touched<'a> {
    fn of(objects: impl Iterator<Item = &'a FlavorObject>) -> Self {
        let mut all = Self::default();
        for object in objects {
            let (group, resource) = (group(object), plural(&object.kind));
            if let Some(name) = &object.name {
                all.named.entry((group, resource)).or_default().insert(name);
            } else {
                all.groups.entry(group).or_default().insert(resource);
            }
        }
        // What one flavor names, and another has without a name, may be touched whatever it is called.
        let Self { groups, named } = &mut all;
        named.retain(|(group, resource), _| !has(groups, group, resource));
        all
    }

    /// What of these others do not have.
    fn without(mut self, others: &Self) -> Self {
        for (group, resources) in &mut self.groups {
            resources.retain(|resource| !has(&others.groups, group, resource));
        }
        self.groups.retain(|_, resources| !resources.is_empty());
        for (key, names) in &mut self.named {
            let theirs = others.named.get(key);
            names.retain(|name| theirs.is_none_or(|theirs| !theirs.contains(name)));
        }
        self.named.retain(|(group, resource), names| {
            !names.is_empty() && !has(&others.groups, group, resource)
        });
        self
    }

    /// A rule for each group, and one for each kind of which only objects of some names may be there.
    fn rules(&self) -> impl Iterator<Item = Value> {
        let all = self.groups.iter();
        let all = all.map(|(group, kinds)| json!({"group": group, "resources": kinds}));
        let named = self.named.iter().map(|((group, resource), names)| {
            json!({"group": group, "resources": [resource], "names": names})
        });
        all.chain(named)
    }
}

fn has(groups: &BTreeMap<&str, BTreeSet<String>>, group: &str, resource: &String) -> bool {
    groups.get(group).is_some_and(|resources| resources.contains(resource))
}

/// The kinds of all flavors as the templates get them: those that may be made first, then those of settings that are not
/// there.
pub(super) fn rules(templates: &Templates, kind: FlavorKind, settings: &RenderSettings) -> Value {
    let made = Touched::of(declared(templates, kind).filter(|object| settings.renders(object)));
    let left = declared(templates, kind).filter(|object| !settings.renders(object));
    // With a HelmRelease the worker itself is reached, so that no account has it where nobody asked for it: charts go
    // before the setting does.
    let left = left.filter(|object| object.with != Some(RenderedWith::FluxReleases));
    let left = Touched::of(left);
    let left = left.without(&made);
    let left = left.rules().map(|mut rule| {
        rule["leaves"] = true.into();
        rule
    });
    made.rules().chain(left).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const RELEASES: Setting = Setting::Named(RenderedWith::FluxReleases);
    const ALL: [Setting; 3] = [
        Setting::Named(RenderedWith::Identity),
        Setting::Named(RenderedWith::IssuerStorage),
        Setting::ExternalSecrets,
    ];

    fn of(kind: FlavorKind, settings: &[Setting]) -> Vec<Value> {
        let settings = RenderSettings(settings.iter().copied().collect());
        rules(&Templates::built_in(), kind, &settings).as_array().unwrap().clone()
    }

    /// The rules about a kind of resources.
    fn about(rules: &[Value], resource: &str) -> Vec<Value> {
        let names =
            |rule: &&Value| rule["resources"].as_array().unwrap().contains(&json!(resource));
        rules.iter().filter(names).cloned().collect()
    }

    #[test]
    fn the_service_account_may_touch_the_flavors_kinds_and_nothing_else() {
        let rules = of(FlavorKind::ManagedCluster, &[]);
        assert_eq!(rules[0]["resources"], json!(["configmaps", "namespaces", "serviceaccounts"]));
        let all = json!(rules).to_string();
        assert!(all.contains("kamajicontrolplanes"), "{all}");
        assert!(!all.contains('*') && !all.contains("leaves"), "{all}");
        // Of Secrets it may touch those that a flavor names, which hold IDs.
        let ids = json!({"group": "", "resources": ["secrets"], "names": ["aso-credential"]});
        assert_eq!(about(&rules, "secrets"), [ids]);
        let workers = json!(of(FlavorKind::Worker, &[])).to_string();
        assert!(workers.contains("externalsecrets") && !all.contains("externalsecrets"));
        assert!(workers.contains("ocirepositories") && !all.contains("ocirepositories"));
        assert!(all.contains("kindclusters") && workers.contains("kindclusters"));
    }

    #[test]
    fn releases_are_touched_where_they_are_asked_for_alone() {
        for kind in [FlavorKind::ManagedCluster, FlavorKind::Worker] {
            let without = of(kind, &[]);
            assert_eq!(about(&without, "helmreleases"), Vec::<Value>::new());
            let with = of(kind, &[RELEASES]);
            let asked = about(&with, "helmreleases").len() + about(&with, "helmrepositories").len();
            assert_eq!(asked, if kind == FlavorKind::ManagedCluster { 2 } else { 0 });
        }
    }

    #[test]
    fn what_a_setting_renders_may_be_made_with_it_and_deleted_without() {
        let (with, without) = (of(FlavorKind::Worker, &ALL), of(FlavorKind::Worker, &[]));
        for (group, resource, names) in [
            ("external-secrets.io", "externalsecrets", None),
            ("managedidentity.azure.com", "federatedidentitycredentials", None),
            ("batch", "cronjobs", Some(["issuer"])),
        ] {
            let mut rule = json!({"group": group, "resources": [resource]});
            if let Some(names) = names {
                rule["names"] = json!(names);
            }
            assert_eq!(about(&with, resource), [rule.clone()]);
            rule["leaves"] = true.into();
            assert_eq!(about(&without, resource), [rule]);
        }
        assert_eq!(about(&with, "secrets"), about(&without, "secrets"), "AKS has it anyway");
    }

    #[test]
    fn what_stands_says_with_which_setting_it_was_rendered() {
        let object = |group: &str, kind: &str, name: &str| {
            format!("apiVersion: {group}/v1\nkind: {kind}\nmetadata:\n  name: {name}\n")
        };
        let standing = |text: &str| {
            let files = Files::from([("cluster.yaml".to_owned(), text.as_bytes().to_vec())]);
            let none = RenderSettings::default();
            none.and_standing(&Templates::built_in(), FlavorKind::Worker, &files).0
        };
        let trust = object("managedidentity.azure.com", "FederatedIdentityCredential", "capz-1");
        let job = object("batch", "CronJob", "issuer");
        let entry = object("external-secrets.io", "ExternalSecret", "git");
        assert_eq!(standing(&trust), BTreeSet::from([ALL[0]]));
        assert_eq!(standing(&format!("{trust}---\n{job}---\n{entry}")), BTreeSet::from(ALL));
        // Another kind of that name, another name of that kind, and what AKS has without a setting.
        let ids = "apiVersion: v1\nkind: Secret\nmetadata:\n  name: aso-credential\n";
        let others =
            [object("example.com", "CronJob", "issuer"), object("batch", "CronJob", "other")];
        for text in others.iter().map(String::as_str).chain([ids, "kind: CronJob: :"]) {
            assert_eq!(standing(text), BTreeSet::new(), "{text}");
        }
    }
}
