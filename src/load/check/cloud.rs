//! The cloud of Azure: a fleet is in one, by a name that Cluster API's provider knows, and its clusters are in
//! locations of it. Of a provider whose cloud has tables of its own the same is asked: its machines are there.
//!
//! Azure Service Operator, with which that provider makes groups and networks, speaks to one cloud in each
//! installation (`cluster-api-provider-azure`, `api/v1beta1/types_class.go`, `AzureEnvironment`). The
//! control-plane cluster makes all workers, so a second cloud is a second fleet.

use super::{CheckContext, Subject};
use crate::diag::{Code, FieldPath, suggest};
use crate::load::finding::Findings;
use crate::load::kind::DocumentSpec;
use crate::load::resolve::ChosenCredentials;
use crate::model::api::{AzureCredentials, FleetSpec};
use crate::model::{PUBLIC_CLOUD, azure_cloud, azure_clouds};

/// `invalid-value` on `environment`.
pub(super) fn of_fleet(spec: &FleetSpec, out: &mut Findings) {
    let mut first: Option<&str> = None;
    for (i, credentials) in spec.credentials.iter().enumerate() {
        let Some(azure) = &credentials.azure else { continue };
        let path = FieldPath::keys("spec.credentials").index(i).key("azure").key("environment");
        let cloud = cloud_of(azure);
        if azure_cloud(cloud).is_none() {
            let known = azure_clouds().iter().map(|known| known.name.as_str());
            let help = suggest::help(cloud, known, "clouds");
            out.add(Code::InvalidValue, path, format!("`{cloud}` is no cloud of Azure"), help);
        } else if first.is_some_and(|first| first != cloud) {
            let message = format!("`{cloud}` is another cloud than the first credentials'");
            let help = "keep a fleet for each cloud: what makes its networks speaks to one";
            out.add(Code::InvalidValue, path, message, help);
        } else {
            first = Some(cloud);
        }
    }
}

/// `unknown-location` where the location is in another cloud than the credentials.
pub(super) fn check(subject: &Subject<'_>, scene: &CheckContext<'_>, out: &mut Findings) {
    let location = match &subject.body.spec {
        DocumentSpec::ManagedCluster(c) => &c.location,
        DocumentSpec::Worker(w) => &w.location,
        _ => return,
    };
    let locations = scene.catalogue.locations();
    let Some(known) = locations.get(location.as_str()) else { return };
    let Some((whose, cloud)) =
        of_credentials(subject, scene).or_else(|| of_provider(subject, scene))
    else {
        return;
    };
    if known.cloud != cloud {
        let message = format!("{location} is in {}, and {whose} {cloud}", known.cloud);
        let mut there = locations.values().filter(|l| l.cloud == cloud).map(|l| l.name.as_str());
        let some: Vec<_> = there.by_ref().take(5).collect();
        let help = format!("choose a location of {cloud}, such as {}", some.join(", "));
        out.add(Code::UnknownLocation, FieldPath::keys("spec.location"), message, help);
    }
}

/// The cloud of Azure that the credentials are of.
fn of_credentials<'a>(
    subject: &Subject<'_>,
    scene: &CheckContext<'a>,
) -> Option<(&'static str, &'a str)> {
    let fleet = scene.fleet.filter(|_| subject.is_in_azure(scene))?;
    let ChosenCredentials::Entry(index) = subject.credentials(scene)? else { return None };
    Some(("the credentials are of", cloud_of(fleet.credentials[index].azure.as_ref()?)))
}

/// The cloud with tables of its own that the flavor's machines are in.
fn of_provider<'a>(
    subject: &Subject<'_>,
    scene: &'a CheckContext<'_>,
) -> Option<(&'static str, &'a str)> {
    let provider = subject.manifest(scene)?.provider.as_deref()?;
    scene.catalogue.cloud(provider)?;
    Some(("the flavor's machines are in", provider))
}

fn cloud_of(azure: &AzureCredentials) -> &str {
    azure.environment.as_deref().unwrap_or(PUBLIC_CLOUD)
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{
        CARP, TWO_CREDENTIALS, cluster, files_find, finds, load_files, worker,
    };
    use super::*;

    const PATH: &str = "spec.credentials[0].azure.environment";

    fn carp(cloud: &str) -> String {
        format!("{CARP}      environment: {cloud}\n")
    }

    #[test]
    fn a_cloud_is_one_that_the_provider_knows() {
        let found =
            files_find(&[("carp.yaml", &*carp("AzureChineCloud"))], Code::InvalidValue, PATH);
        assert_eq!(found.help.as_deref(), Some("did you mean `AzureChinaCloud`?"));
        files_find(&[("carp.yaml", &*carp("AzureGermanCloud"))], Code::InvalidValue, PATH);
        let loaded = load_files(&[("carp.yaml", &*carp("AzureUSGovernmentCloud"))]);
        assert!(loaded.diagnostics.is_empty(), "{:?}", loaded.diagnostics);
    }

    #[test]
    fn a_fleet_is_in_one_cloud() {
        let two = TWO_CREDENTIALS.replace(
            "    azure: *azure\n",
            "    azure: {tenantID: 2a4e8c1d-3b7f-4c2a-9e1d-1f5b7d3c9a8e, subscriptionID: \
             3a4e8c1d-3b7f-4c2a-9e1d-1f5b7d3c9a8e, clientID: 4a4e8c1d-3b7f-4c2a-9e1d-1f5b7d3c9a8e, \
             environment: AzureChinaCloud}\n",
        );
        let path = "spec.credentials[1].azure.environment";
        files_find(&[("carp.yaml", &*two)], Code::InvalidValue, path);
    }

    #[test]
    fn a_location_is_in_the_cloud_of_the_flavors_provider() {
        let manifest = "kind: ManagedCluster\nmobility: None\nprovider: moon\nobjects: []\n";
        let clouds = "locations: [{name: moon-1, geography: Moon}]\n";
        let own = cluster("flavor: base\n  ");
        let there = own.replace("westeurope", "moon-1");
        let files = |text| {
            let flavor = ("templates/base/flavor.yaml", manifest);
            [("fleet/x.yaml", text), flavor, ("templates/clouds/moon.yaml", clouds)]
        };
        let found = files_find(&files(&*own), Code::UnknownLocation, "spec.location");
        assert!(found.help.unwrap().contains("moon-1"), "{}", found.message);
        let mut all = vec![("carp.yaml", CARP)];
        all.extend(files(&*there));
        let loaded = load_files(&all);
        assert!(loaded.diagnostics.is_empty(), "{:?}", loaded.diagnostics);
        let azure = cluster("").replace("westeurope", "moon-1");
        files_find(&files(&*azure), Code::UnknownLocation, "spec.location");
    }

    #[test]
    fn a_location_is_in_the_cloud_of_the_credentials() {
        let path = "spec.location";
        for text in [cluster(""), worker("")] {
            let abroad = text.replace("westeurope", "usgovvirginia");
            finds(abroad.clone(), Code::UnknownLocation, path);
            let carp = carp("AzureUSGovernmentCloud");
            let files = |text| [("carp.yaml", &*carp), ("fleet/x.yaml", text)];
            let found = files_find(&files(&text), Code::UnknownLocation, path);
            assert!(found.help.unwrap().contains("usgovvirginia"));
            let loaded = load_files(&files(&abroad));
            assert!(loaded.diagnostics.is_empty(), "{:?}", loaded.diagnostics);
        }
    }
}
