//! Parameters of a flavor of the fleet's own, from the document to the commit: templates get them complete, a default
//! that changes is a change, what is marked stays as it is, and a slip of the pen costs nobody a cluster.

use carp::diag::Code;
use carp::model::{GateReason, Proposal};

use crate::support::people;
use crate::support::small;
use crate::support::world::World;

const FOLDER: &str = "workers/w-weu/clusters/alpha/cluster.yaml";
const DOCUMENT: &str = "fleet/clusters/alpha.yaml";
const FLAVOR: &str = "templates/lab/flavor.yaml";
const MANIFEST: &str = "\
kind: ManagedCluster
mobility: None
nodes: Containers
ranges: {pods: 10.244.0.0/16, services: 10.96.0.0/16}
objects:
- {apiVersion: v1, kind: Namespace, onDeletion: Keep}
- {apiVersion: v1, kind: ConfigMap, onDeletion: Keep}
- {apiVersion: carp.dev/v1alpha1, kind: ManagedCluster, onDeletion: Keep}
- {apiVersion: cluster.x-k8s.io/v1beta2, kind: Cluster, onDeletion: Drop}
- {apiVersion: infrastructure.cluster.x-k8s.io/v1beta2, kind: DevCluster, onDeletion: Drop}
parameters:
  include: [shared]
  openAPIV3Schema:
    type: object
    properties:
      rack: {type: string, x-carp-immutable: true}
      notes: {type: array, items: {type: string}}
";
const SHARED: &str = "\
openAPIV3Schema:
  type: object
  properties:
    speed: {type: string, description: How fast., enum: [slow, fast], default: slow}
";
const TEMPLATE: &str = "\
apiVersion: v1
kind: Namespace
metadata:
  name: {{ name }}
  labels: {carp.dev/tenant: {{ tenant }}, carp.dev/cluster: {{ name }}}
  annotations: {kustomize.toolkit.fluxcd.io/prune: disabled}
---
apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata: {name: {{ name }}, namespace: {{ name }}, labels: {carp.dev/cluster: {{ name }}}}
spec:
  infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: DevCluster, name: {{ name }}}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
kind: DevCluster
metadata: {name: {{ name }}, namespace: {{ name }}}
spec: {controlPlaneEndpoint: {host: lab.example.com, port: 6443}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: lab, namespace: {{ name }}}
data:
  speed: {{ parameters.speed }}
{% if parameters.rack is defined %}
  rack: {{ parameters.rack }}
{% endif %}
{% if parameters.notes is defined %}
  notes: {{ parameters.notes | join('; ') }}
{% endif %}
";

fn world(parameters: &str) -> World {
    let mut files = small::files();
    files.insert(FLAVOR.to_owned(), MANIFEST.to_owned());
    files.insert("templates/parameters/shared.yaml".to_owned(), SHARED.to_owned());
    files.insert("templates/lab/cluster.yaml".to_owned(), TEMPLATE.to_owned());
    let own = format!("spec:\n  flavor: lab\n  parameters: {parameters}\n");
    let document = files[DOCUMENT].replacen("spec:\n", &own, 1);
    files.insert(DOCUMENT.to_owned(), document);
    World::new(files)
}

#[test]
fn a_default_that_changes_is_a_change_of_the_template() {
    let mut world = world("{}");
    world.run();
    assert!(world.output_text(FOLDER).unwrap().contains("speed: \"slow\""));
    world.edit("templates/parameters/shared.yaml", "default: slow", "default: fast");
    let proposal = world.run();
    assert!(proposal.gates.is_empty(), "{:?}", proposal.gates);
    assert!(world.output_text(FOLDER).unwrap().contains("speed: \"fast\""));
    // What the document says it says also where that is the default.
    world.edit(DOCUMENT, "parameters: {}", "parameters: {speed: slow}");
    world.run();
    let text = world.output_text(FOLDER).unwrap();
    assert!(text.contains("speed: \"slow\"") && text.contains("speed: slow"), "{text}");
}

#[test]
fn what_does_not_load_or_may_not_change_keeps_the_last_good_folder() {
    let mut world = world("{rack: a7}");
    world.run();
    let before = world.output_text(FOLDER).unwrap();
    assert!(before.contains("rack: \"a7\""), "{before}");
    world.edit(DOCUMENT, "{rack: a7}", "{rack: b2}");
    let proposal = world.run();
    let told = proposal.gates.iter().find(|gate| gate.name.as_str() == "alpha").unwrap();
    assert_eq!(told.reason, GateReason::ForbiddenChange, "{told:?}");
    assert_eq!(world.output_text(FOLDER).unwrap(), before);
    world.edit(DOCUMENT, "{rack: b2}", "{rack: a7, sped: fast}");
    world.run();
    assert_eq!(world.output_text(FOLDER).unwrap(), before, "an unknown parameter");
    world.edit(DOCUMENT, "{rack: a7, sped: fast}", "{rack: a7, speed: fast}");
    world.run();
    assert!(world.output_text(FOLDER).unwrap().contains("speed: \"fast\""));
}

/// What only the objects show is told where somebody can mend it.
#[test]
fn what_templates_make_of_a_parameter_is_told_at_the_parameter() {
    let key = r#"[fine, "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----"]"#;
    let places = |proposal: &Proposal| {
        let found = proposal.diagnostics.iter().filter(|d| d.code == Code::SecretInOutput);
        let places = found.map(|d| {
            assert!(d.message.contains("as `spec.parameters.notes[1]` has it"), "{}", d.message);
            let place = d.place.as_ref().unwrap();
            (place.file.clone(), place.field.as_ref().unwrap().to_string())
        });
        places.collect::<std::collections::BTreeSet<_>>()
    };
    let at = |file: &str| [(file.to_owned(), "spec.parameters.notes[1]".to_owned())].into();
    let mut world = world("{}");
    world.run();
    let before = world.output_text(FOLDER).unwrap();
    world.edit(DOCUMENT, "parameters: {}", &format!("parameters: {{notes: {key}, speed: fast}}"));
    assert_eq!(places(&world.run()), at(DOCUMENT));
    assert_eq!(world.output_text(FOLDER).unwrap(), before);
    // The same where its class says it.
    let class = "fleet/classes/labs.yaml";
    let text = format!(
        "apiVersion: carp.dev/v1alpha1\nkind: ManagedClusterClass\nmetadata:\n  name: labs\nspec:\n  flavor: lab\n  \
         parameters: {{notes: {key}}}\n"
    );
    world.write(class, &text);
    world.edit(DOCUMENT, "flavor: lab\n", "flavor: lab\n  class: labs\n");
    world.edit(DOCUMENT, &format!("{{notes: {key}, speed: fast}}"), "{speed: fast}");
    assert_eq!(places(&world.run()), at(class));
    assert_eq!(world.output_text(FOLDER).unwrap(), before);
}

#[test]
fn a_slip_of_the_pen_is_shown_where_it_stands() {
    let folder = tempfile::tempdir().unwrap();
    let world = world("{rack: 7, sped: fast}");
    for (path, text) in &world.files {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let run = |args: &[&str]| {
        let out = people::carp(folder.path(), args).output().unwrap();
        (
            out.status.code(),
            String::from_utf8_lossy(&out.stdout).into_owned(),
            String::from_utf8_lossy(&out.stderr).into_owned(),
        )
    };
    let (code, out, err) = run(&["validate"]);
    let told = format!("{out}{err}");
    assert_eq!(code, Some(1), "{told}");
    for line in [
        "fleet/clusters/alpha.yaml:8:22",
        "`spec.parameters.rack` is `7`, a number; it wants text",
        "fleet/clusters/alpha.yaml:8:25",
        "did you mean `speed`?; `carp templates explain lab` lists them",
    ] {
        assert!(told.contains(line), "{line}:\n{told}");
    }
    let (code, out, err) = run(&["templates", "explain", "lab"]);
    assert_eq!(code, Some(0), "{err}");
    assert_eq!(
        out,
        "FLAVOR: lab\nMAKES:  ManagedCluster\n\nPARAMETERS:\n  notes  <[]string>\n  rack  <string>\n      It stays as it is\n  speed  <string>\n      \
         How fast.\n      One of: slow, fast\n      Default: slow\n"
    );
    let (code, _, err) = run(&["templates", "explain", "labs"]);
    assert!(code == Some(64) && err.contains("did you mean `lab`?"), "{err}");
}
