//! The catalogue of texts: what is built in, and what a fleet adds, takes the place of or breaks.

use super::super::flavor::FaultPlace;
use super::super::templates::BUILT_IN_TEMPLATES;
use super::*;

#[test]
fn what_the_build_wrote_down_says_what_the_files_say() {
    let files = BUILT_IN_TEMPLATES.iter().filter(|(path, _)| declares(path));
    let files = files.map(|(path, text)| (*path, ManifestText::Own(text)));
    let (written, read) = (Catalogue::default(), Catalogue::of(files, BTreeMap::new()));
    assert_eq!(read.broken().next(), None);
    let said = |all: &Catalogue| {
        let Inner { flavors, providers, clouds, parameters, definitions, .. } = &*all.0;
        let rest = (&all.0.locations, &all.0.provided);
        format!(
            "{flavors:#?}\n{providers:#?}\n{clouds:#?}\n{parameters:#?}\n{definitions:#?}\n{rest:#?}"
        )
    };
    assert_eq!(said(&written), said(&read));
}

#[test]
fn every_manifest_that_is_built_in_can_be_read() {
    let all = Catalogue::default();
    assert_eq!(all.broken().next(), None);
    assert!(all.names(FlavorKind::ManagedCluster).count() > 1);
    assert!(all.names(FlavorKind::Worker).count() > 1);
}

#[test]
fn a_fleets_own_flavors_stand_beside_carps_or_in_their_place() {
    let own = "kind: ManagedCluster\nmobility: None\nnetworks: Apart\nobjects: []\n";
    let all = Catalogue::with([("moon/flavor.yaml", own), ("moon/cluster.yaml", "x")]);
    assert!(all.may_be("moon", FlavorKind::ManagedCluster));
    assert!(!all.may_be("moon", FlavorKind::Worker));
    assert!(all.networks_apart().contains("moon"));
    let carps = Catalogue::default();
    let name = carps.names(FlavorKind::Worker).next().unwrap();
    assert!(all.may_be(name, FlavorKind::Worker) && !all.networks_apart().contains(name));
    let path = format!("{name}/flavor.yaml");
    let replaced = Catalogue::with([(path.as_str(), own)]);
    assert!(replaced.networks_apart().contains(name));
    assert!(!replaced.may_be(name, FlavorKind::Worker));
}

#[test]
fn of_a_manifest_that_cannot_be_read_nobody_knows_what_it_is_for() {
    let text = "kind: Worker\nmobility: None\nobjects: []\ncolour: blue\n";
    let all = Catalogue::with([("moon/flavor.yaml", text)]);
    assert!(all.may_be("moon", FlavorKind::Worker) && all.flavor("moon").is_none());
    let (path, fault) = all.broken().next().unwrap();
    assert_eq!((path, &fault.place), ("moon/flavor.yaml", &FaultPlace::Position(4, 1)));
    assert!(fault.message.contains("unknown field `colour`"), "{}", fault.message);
}

#[test]
fn agents_are_told_of_kinds_that_they_do_not_know() {
    assert_eq!(Catalogue::default().observed_besides(), Vec::<&ProvidedKind>::new());
    let own = "kind: ManagedCluster\nmobility: None\nobjects: []\nprovides:\n\
               - {apiVersion: moon.example.com/v1, kind: MoonBase, roles: [Infrastructure]}\n\
               - {apiVersion: moon.example.com/v1, kind: Crater}\n";
    let all = Catalogue::with([("moon/flavor.yaml", own)]);
    let besides: Vec<_> = all.observed_besides().into_iter().map(ToString::to_string).collect();
    assert_eq!(besides, ["moon.example.com/v1 MoonBase"]);
    // Who copied a provider's file before it declared kinds loses none of them.
    let (path, text) = (
        "providers/addon-helm.yaml",
        "kind: A\nname: helm\nnamespace: n\n\
               component: caaph\nimage: i\nmanifests: m\n",
    );
    let copied = Catalogue::with([(path, text)]);
    assert_eq!(copied.observed().count(), Catalogue::default().observed().count());
}

#[test]
fn a_fleet_has_locations_of_its_own() {
    let path = "clouds/aws.yaml";
    let text = "locations: [{name: eu-central-1, geography: Germany, zones: [a, b]}]\n";
    let all = Catalogue::with([(path, text)]);
    assert_eq!(all.locations()["eu-central-1"].cloud, "aws");
    assert!(all.locations().contains_key("westeurope") && all.cloud("aws").is_some());
    let distances = ["germanywestcentral", "westeurope"].map(|to| all.distance("eu-central-1", to));
    assert_eq!(distances, [2, 3]);
    assert!(!all.may_be_location("eu-central-9"));
    let broken = Catalogue::with([(path, "locations: [{name: x}]\n")]);
    assert_eq!(broken.broken().next().map(|(path, _)| path), Some(path));
    assert!(!broken.locations().contains_key("eu-central-1"));
    assert!(broken.may_be_location("eu-central-1"), "nobody knows");
}

#[test]
fn a_flavor_includes_parameters_that_there_are() {
    let flavor = "kind: Worker\nmobility: None\nobjects: []\nparameters:\n  include: [moon]\n  \
                  openAPIV3Schema: {type: object, properties: {a: {type: string, default: own}}}\n";
    let file =
        "openAPIV3Schema: {type: object, properties: {a: {type: string}, b: {type: integer}}}\n";
    let (flavor, path) = (("moon/flavor.yaml", flavor), "parameters/moon.yaml");
    let all = Catalogue::with([flavor, (path, file)]);
    let schema = &all.flavor("moon").unwrap().parameters.schema;
    let defaults: Vec<_> = schema.properties.values().map(|p| p.default.is_some()).collect();
    assert_eq!(defaults, [true, false], "its own take the place of those that it includes");
    let told = |all: &Catalogue| {
        let told = all.broken().find(|(path, _)| *path == "moon/flavor.yaml");
        told.map(|(_, fault)| fault.message.clone()).unwrap()
    };
    assert_eq!(
        told(&Catalogue::with([flavor])),
        "no parameters `moon` are there: `templates/parameters/moon.yaml`"
    );
    let broken = Catalogue::with([flavor, (path, "openAPIV3Schema: {type: string}\n")]);
    assert!(told(&broken).contains("can be read"));
    assert!(broken.may_be("moon", FlavorKind::Worker), "its clusters keep what they have");
}

#[test]
fn a_flavor_names_providers_that_there_are() {
    let flavor = "kind: Worker\nmobility: None\nobjects: []\nproviders: [infrastructure-moon]\n";
    let all = Catalogue::with([("moon/flavor.yaml", flavor)]);
    let (path, fault) = all.broken().next().unwrap();
    assert_eq!(path, "moon/flavor.yaml");
    assert!(fault.message.contains("infrastructure-moon"), "{}", fault.message);
    let provider = "kind: InfrastructureProvider\nname: moon\nnamespace: moon-system\n\
                    component: moon\nversion: v0.1.0\nimage: r/moon\nmanifests: r/m\n";
    let path = "providers/infrastructure-moon.yaml";
    let all = Catalogue::with([("moon/flavor.yaml", flavor), (path, provider)]);
    assert_eq!(all.broken().next(), None);
    assert_eq!(all.provider("infrastructure-moon").unwrap().container, "manager");
    assert!(all.has_component("moon") && all.has_component("capi"));
}
