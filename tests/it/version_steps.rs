//! A cluster goes from v1.32 to v1.34: the story, and the reports that must not move it on.

use carp::model::{Name, Proposal};
use carp::render::{Templates, cluster_job};

use crate::support::small;
use crate::support::world::World;

const ALPHA: &str = "workers/w-weu/clusters/alpha/cluster.yaml";
const LOCK: &str = "workers/w-weu/carp.lock";
const WEU: &str = "11111111-1111-4111-8111-111111111111";

/// What the agent of w-weu reports of alpha.
#[derive(Clone)]
struct Seen {
    worker_uid: &'static str,
    uid: &'static str,
    digest: Option<String>,
    control_plane: &'static str,
    pools: &'static str,
    phase: &'static str,
    complete: bool,
    time: &'static str,
}

impl Seen {
    /// All of it at those versions, the folder applied as it is now.
    fn at(world: &World, control_plane: &'static str, pools: &'static str) -> Self {
        Self {
            worker_uid: WEU,
            uid: "uid-alpha",
            digest: digest(world),
            control_plane,
            pools,
            phase: "Running",
            complete: true,
            time: "2026-11-01T08:59:00Z",
        }
    }

    fn text(&self, worker: &str) -> String {
        let digest = self.digest.as_ref().map(|d| format!("  digest: {d}\n")).unwrap_or_default();
        format!(
            "schemaVersion: 1
worker: {worker}
workerUID: {}
time: {:?}
complete: {}
healthy: true
clusters:
- name: alpha
  uid: {}
{digest}  phase: {}
  version: {}
  controlPlaneVersion: {}
  poolVersion: {}
",
            self.worker_uid,
            self.time,
            self.complete,
            self.uid,
            self.phase,
            self.control_plane,
            self.control_plane,
            self.pools
        )
    }
}

fn report(world: &mut World, seen: &Seen) {
    let reports = [(Name::parse("w-weu").unwrap(), seen.text("w-weu").into_bytes())];
    world.reports = Some(reports.into());
}

/// The digest on the ManagedCluster of alpha's folder.
fn digest(world: &World) -> Option<String> {
    let text = world.output_text(ALPHA)?;
    let line = text.lines().find_map(|l| l.trim().strip_prefix("carp.dev/digest: sha256:"));
    line.map(str::to_owned)
}

/// The versions in alpha's folder: of the control plane, and of its pool.
fn rendered(world: &World) -> (String, String) {
    let text = world.output_text(ALPHA).unwrap();
    let after = |kind: &str, key: &str| {
        let (_, rest) = text.split_once(&format!("kind: {kind}\n")).unwrap();
        let line = rest.lines().find_map(|l| l.trim().strip_prefix(key)).unwrap();
        line.trim_matches('"').to_owned()
    };
    (after("KamajiControlPlane", "version: "), after("MachineDeployment", "version: "))
}

#[track_caller]
fn is_at(world: &World, control_plane: &str, pools: &str) {
    let wanted = (control_plane.to_owned(), pools.to_owned());
    assert_eq!(rendered(world), wanted);
}

/// alpha at v1.32.9 on w-weu, which has an agent.
fn fleet() -> World {
    let mut files = small::files();
    let weu = files.get_mut("fleet/workers/w-weu.yaml").unwrap();
    weu.push_str("  observation: Agent\n");
    let alpha = files.get_mut("fleet/clusters/alpha.yaml").unwrap();
    *alpha = alpha.replace("v1.34.2", "v1.32.9");
    let mut world = World::new(files);
    let first = Seen::at(&world, "v1.32.9", "v1.32.9");
    let text = first.text("w-weu");
    let (head, _) = text.split_once("clusters:").unwrap();
    world.reports = Some([(Name::parse("w-weu").unwrap(), head.as_bytes().to_vec())].into());
    world.run();
    let seen = Seen::at(&world, "v1.32.9", "v1.32.9");
    report(&mut world, &seen);
    assert!(!world.run().has_changes());
    is_at(&world, "1.32.9", "v1.32.9");
    world
}

/// The same, the control plane's first step to v1.34.2 taken.
fn stepping() -> World {
    let mut world = fleet();
    world.edit("fleet/clusters/alpha.yaml", "v1.32.9", "v1.34.2");
    let proposal = world.run();
    assert!(proposal.gates.is_empty() && proposal.diagnostics.is_empty(), "{proposal:#?}");
    let told = "alpha: control plane at v1.33.10, pools at v1.32.9, on the way to v1.34.2";
    assert!(proposal.message.contains(told), "{}", proposal.message);
    is_at(&world, "1.33.10", "v1.32.9");
    world
}

/// Planning again changes neither branch.
#[track_caller]
fn is_settled(world: &mut World) {
    let (output, status) = (world.output, world.status);
    let proposal = world.run();
    assert!(!proposal.has_changes(), "{:?}", proposal.changes);
    assert_eq!((world.output, world.status), (output, status));
    assert_eq!(world.propose_afresh().tree, output.unwrap());
}

/// What alpha's status says of its way.
fn status(world: &World) -> String {
    world.cluster_status("alpha").unwrap()
}

fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}

#[test]
fn a_cluster_goes_from_minor_to_minor_on_evidence() {
    let mut world = stepping();
    is_settled(&mut world);
    let said = status(&world);
    for part in ["phase: Updating", "type: Updating", "reason: NotApplied"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    for (reported, control_plane, pools) in [
        (("v1.33.10", "v1.32.9"), "1.33.10", "v1.33.10"),
        (("v1.33.10", "v1.33.10"), "1.34.2", "v1.33.10"),
        (("v1.34.2", "v1.33.10"), "1.34.2", "v1.34.2"),
    ] {
        let seen = Seen::at(&world, reported.0, reported.1);
        report(&mut world, &seen);
        world.run();
        is_at(&world, control_plane, pools);
        is_settled(&mut world);
    }
    assert!(!world.output_text(LOCK).unwrap().contains("versions"));
    let seen = Seen::at(&world, "v1.34.2", "v1.34.2");
    report(&mut world, &seen);
    world.run();
    assert!(status(&world).contains("phase: Running") && !status(&world).contains("Updating"));

    let proposal = world.propose();
    let alpha = &proposal.fleet.clusters["alpha"];
    let job = cluster_job(&proposal.fleet, alpha, &name("w-weu"), &Templates::built_in());
    let straight = job.render().unwrap();
    assert_eq!(world.output_text(ALPHA).unwrap().as_bytes(), straight["cluster.yaml"]);
}

/// Nothing of the output moves on, and the status says what is waited for.
#[track_caller]
fn waits(world: &mut World, seen: &Seen, reason: &str) -> Proposal {
    let before = rendered(world);
    report(world, seen);
    let proposal = world.run();
    assert!(!proposal.has_changes(), "{:?}", proposal.changes);
    assert_eq!(rendered(world), before);
    let said = status(world);
    assert!(said.contains(&format!("reason: {reason}\n")), "{reason}: {said}");
    proposal
}

#[test]
fn the_twins_of_good_evidence_move_nothing() {
    let mut world = stepping();
    let good = Seen::at(&world, "v1.33.10", "v1.32.9");
    let before = world.status;
    let stale = digest(&fleet());
    for (twin, reason) in [
        (Seen { digest: stale, ..good.clone() }, "NotApplied"),
        (Seen { digest: None, ..good.clone() }, "NotApplied"),
        (Seen { uid: "uid-of-another", ..good.clone() }, "OtherObject"),
        (Seen { complete: false, ..good.clone() }, "NoReport"),
        (Seen { control_plane: "v1.32.9", ..good.clone() }, "ControlPlane"),
        // These do not count at all, so what was known stays.
        (Seen { worker_uid: "uid-of-another", ..good.clone() }, "NotApplied"),
        (Seen { time: "2026-10-01T00:00:00Z", ..good.clone() }, "NotApplied"),
    ] {
        world.status = before;
        waits(&mut world, &twin, reason);
    }
    world.status = before;
    world.reports = Some([(name("w-weu"), good.text("w-eus").into_bytes())].into());
    assert!(!world.run().has_changes(), "a report that names another worker");
    world.now = "2026-11-01T12:00:00Z".parse().unwrap();
    world.status = before;
    waits(&mut world, &good, "NoReport");

    world.now = "2026-11-01T09:00:00Z".parse().unwrap();
    world.status = before;
    report(&mut world, &good);
    assert!(world.run().has_changes(), "the evidence itself moves it on");
    is_at(&world, "1.33.10", "v1.33.10");
}
