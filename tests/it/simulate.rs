//! `carp simulate`: what it says is what a plan says once the edit is really made.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::reconciled::{Ran, Reconciled};
use crate::support::small::{cluster, files, worker};

/// The example fleet, reconciled once.
fn example() -> Reconciled {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fleet-repo-example");
    let (mut found, mut left) = (BTreeMap::new(), vec![root.clone()]);
    while let Some(dir) = left.pop() {
        for path in fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                left.push(path);
                continue;
            }
            let name = path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
            found.insert(name, fs::read_to_string(path).unwrap());
        }
    }
    Reconciled::of(&found)
}

#[track_caller]
fn simulate(fleet: &Reconciled, args: &[&str], exit: i32) -> Value {
    let ran = fleet.carp(&[&["simulate", "--output", "json"], args].concat());
    assert_eq!(ran.exit, exit, "{args:?}: {}{}", ran.out, ran.err);
    serde_json::from_str(&ran.out).unwrap()
}

/// The tree that a plan of the folder as it stands comes to.
fn planned(fleet: &Reconciled) -> Value {
    let ran = fleet.carp(&["plan", "--output", "json"]);
    let plan: Value = serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{}", ran.err));
    plan["tree"].clone()
}

/// The text without ids, which are of every byte that is rendered.
fn without_ids(ran: &Ran) -> String {
    assert_eq!(ran.err, "");
    let is_id = |word: &str| word.len() == 40 && word.bytes().all(|b| b.is_ascii_hexdigit());
    let word = |word: &str| {
        let bare = word.trim_end_matches([',', ';']);
        if is_id(bare) { word.replace(bare, "TREE") } else { word.to_owned() }
    };
    let line = |line: &str| line.split(' ').map(word).collect::<Vec<_>>().join(" ");
    ran.out.lines().map(|l| line(l) + "\n").collect()
}

#[test]
fn no_change_changes_nothing() {
    let fleet = example();
    let ran = fleet.carp(&["simulate"]);
    assert_eq!(ran.exit, 0, "{}{}", ran.out, ran.err);
    insta::assert_snapshot!(without_ids(&ran));
    let said = simulate(&fleet, &[], 0);
    assert_eq!((&said["same"], &said["tree"]), (&true.into(), &said["treeBefore"]));
    assert_eq!(said["tree"], fleet.output_tree());
    // Reports that go on saying the same make no difference either, whatever the time.
    let later = simulate(&fleet, &["--after", "240h"], 0);
    assert_eq!((&later["same"], &later["later"]), (&true.into(), &"2026-11-11T09:00:00Z".into()));
}

#[test]
fn several_changes_are_made_at_once() {
    let fleet = example();
    let output = fleet.output_tree();
    let ran = fleet.carp(&[
        "simulate",
        "--lose",
        "ne-1",
        "--uncordon",
        "we-2",
        "--add",
        "2:standard@westeurope",
        "--add",
        "3:large",
        "--tenant",
        "shop",
        "--labels",
        "env=prod",
    ]);
    assert_eq!(ran.exit, 0, "{}{}", ran.out, ran.err);
    insta::assert_snapshot!(without_ids(&Ran { err: String::new(), ..ran }));
    assert_eq!(fleet.output_tree(), output, "nothing is written");
}

#[test]
fn the_runway_says_how_much_more_fits_and_what_stops_it() {
    let fleet = example();
    let ran = fleet.carp(&["simulate", "--runway", "--capacity", "we-1=clusters:+2,memory:+8Gi"]);
    assert_eq!(ran.exit, 0, "{}{}", ran.out, ran.err);
    insta::assert_snapshot!(without_ids(&Ran { err: String::new(), ..ran }));
}

#[test]
fn what_a_guard_would_hold_is_said_with_its_exit_code() {
    let fleet = example();
    let ran = fleet.carp(&["simulate", "--remove", "we-1"]);
    assert_eq!(ran.exit, 3, "{}{}", ran.out, ran.err);
    insta::assert_snapshot!(without_ids(&ran));
}

#[test]
fn a_cordon_and_its_end_are_those_that_people_write() {
    let fleet = example();
    for (args, edit) in
        [(["--cordon", "we-1"], ["cordon", "we-1"]), (["--uncordon", "we-2"], ["uncordon", "we-2"])]
    {
        let said = simulate(&fleet, &args, 0);
        assert_eq!(fleet.carp(&edit).exit, 0);
        assert_eq!(said["tree"], planned(&fleet), "{args:?}");
    }
    // One more change on top of an overlay that is there.
    let said = simulate(&fleet, &["--capacity", "we-1=9", "--uncordon", "we-1"], 0);
    let overlay = "apiVersion: carp.dev/v1alpha1\nkind: WorkerOverlay\nmetadata:\n  name: we-1\nspec:\n  \
                   capacity: 9\n  unschedulable: false\n";
    fleet.write("fleet/overlays/we-1.yaml", overlay.as_bytes());
    assert_eq!(said["tree"], planned(&fleet));
}

#[test]
fn a_drain_says_who_leaves_for_where_and_who_stays() {
    let movable = |name: &str| format!("{}  onWorkerLoss: Rebuild\n", cluster(name, "westeurope"));
    let mut all = files();
    let clusters: [&str; 3] = ["alpha", "bravo", "delta"];
    all.retain(|path, _| !path.starts_with("fleet/clusters/"));
    all.extend(clusters.map(|name| (format!("fleet/clusters/{name}.yaml"), movable(name))));
    all.insert("fleet/clusters/charlie.yaml".to_owned(), cluster("charlie", "westeurope"));
    all.insert("fleet/workers/near.yaml".to_owned(), worker("w-near", "northeurope", 9));
    let fleet = Reconciled::of(&all);

    let ran = fleet.carp(&["simulate", "--drain", "w-weu=2"]);
    assert_eq!(ran.exit, 0, "{}{}", ran.out, ran.err);
    insta::assert_snapshot!(without_ids(&ran));

    let said = simulate(&fleet, &["--drain", "w-weu"], 0);
    let state = |c: &Value| (c["after"]["state"].clone(), c["after"]["to"].clone());
    let moving: Vec<_> = said["clusters"].as_array().unwrap().iter().map(state).collect();
    assert_eq!(moving, [("Moving".into(), "w-near".into())], "one at a time: {said:#}");
    assert_eq!(said["stays"].as_array().unwrap().len(), 3, "{said:#}");
    assert_eq!(fleet.carp(&["drain", "w-weu"]).exit, 0);
    assert_eq!(said["tree"], planned(&fleet), "it is the drain that people write");
}

#[test]
fn a_rebalance_lists_its_moves_with_what_they_gain_and_how_to_request_them() {
    let movable = |name: &str| format!("{}  onWorkerLoss: Rebuild\n", cluster(name, "westeurope"));
    let mut all = files();
    all.retain(|path, _| !path.starts_with("fleet/clusters/"));
    for name in ["alpha", "bravo", "charlie"] {
        all.insert(format!("fleet/clusters/{name}.yaml"), movable(name));
    }
    all.insert("fleet/clusters/delta.yaml".to_owned(), cluster("delta", "westeurope"));
    let fleet = Reconciled::of(&all);
    fleet.write("fleet/workers/new.yaml", worker("w-new", "westeurope", 4).as_bytes());

    let ran = fleet.carp(&["simulate", "--rebalance", "5"]);
    assert_eq!(ran.exit, 0, "{}{}", ran.out, ran.err);
    let uncommitted = Ran { err: String::new(), ..ran };
    insta::assert_snapshot!(without_ids(&uncommitted));
    let said = simulate(&fleet, &["--rebalance", "5"], 0);
    let proposed = &said["rebalance"];
    let gains: Vec<_> = proposed["moves"].as_array().unwrap().iter().map(|m| &m["gain"]).collect();
    assert_eq!(gains, [75, 25], "{said:#}");

    // What moves keeps its place on both workers.
    let counted = simulate(&fleet, &["--rebalance", "5", "--runway"], 0);
    let fits = |when: &str| counted["runway"][0][when]["fits"].as_u64().unwrap();
    assert_eq!(fits("then") + 2, fits("now"), "{counted:#}");

    // The moves are chosen with the other changes made.
    let cordoned = simulate(&fleet, &["--rebalance", "5", "--cordon", "w-new"], 0);
    assert_eq!(cordoned["rebalance"]["moves"], serde_json::json!([]));
    let none = fleet.carp(&["simulate", "--rebalance", "5:76"]);
    assert!(
        none.out.contains("no move that may begin now gains 76 percent points"),
        "{}",
        none.out
    );

    let command = proposed["command"].as_str().unwrap();
    let args: Vec<&str> = command.split(' ').skip(1).collect();
    assert_eq!(fleet.carp(&args).exit, 0, "{command}");
    assert_eq!(said["tree"], planned(&fleet), "it is the request that people write");
    let explained = fleet.carp(&["explain", "cluster/alpha"]);
    assert!(explained.out.contains("as was acknowledged"), "{}", explained.out);
    assert!(!explained.out.contains("stays there"), "{}", explained.out);
}

#[test]
fn capacity_policies_and_workers_are_those_that_people_write() {
    let fleet = example();
    let said = simulate(&fleet, &["--capacity", "us-1=+5"], 0);
    let workers = fleet.read("fleet/workers/eastus.yaml");
    fleet.write(
        "fleet/workers/eastus.yaml",
        workers.replace("capacity: 10\n", "capacity: 15\n").as_bytes(),
    );
    assert_eq!(said["tree"], planned(&fleet));

    let said = simulate(&fleet, &["--remove-policy", "card-data"], 0);
    let policies = fleet.read("policies/placement.yaml");
    let rest = policies.split_once("\n---\n").unwrap().1.to_owned();
    fleet.write("policies/placement.yaml", rest.as_bytes());
    assert_eq!(said["tree"], planned(&fleet));

    let said = simulate(&fleet, &["--remove", "us-2"], 0);
    let workers = fleet.read("fleet/workers/eastus.yaml");
    let first = workers.split_once("\n---\n").unwrap().0.to_owned();
    fleet.write("fleet/workers/eastus.yaml", format!("{first}\n").as_bytes());
    assert_eq!(said["tree"], planned(&fleet));
}

#[test]
fn an_added_cluster_is_one_that_people_write() {
    let fleet = example();
    let args = ["--add", "1:small@northeurope", "--tenant", "shop", "--labels", "env=dev"];
    let said = simulate(&fleet, &args, 0);
    let name = said["added"][0]["names"][0].as_str().unwrap().to_owned();
    let text = format!(
        "apiVersion: carp.dev/v1alpha1\nkind: ManagedCluster\nmetadata:\n  name: {name}\n  namespace: shop\n  \
         labels: {{env: dev}}\nspec:\n  version: {}\n  location: northeurope\n  class: small\n",
        version_of(&fleet)
    );
    fleet.write("fleet/shop/more.yaml", text.as_bytes());
    assert_eq!(said["tree"], planned(&fleet));
    let placed = said["clusters"].as_array().unwrap();
    assert_eq!(placed.len(), 1, "nobody else moves: {placed:?}");
    // Its name is taken now, and the next one has another.
    let next = simulate(&fleet, &args, 0);
    assert_ne!(next["added"][0]["names"][0], name);
}

#[test]
fn a_cluster_of_nobody_in_particular_is_one_that_its_tenant_may_have() {
    let fleet = example();
    let said = simulate(&fleet, &["--add", "3:small", "--runway"], 0);
    assert_eq!(said["findings"].as_array().map(Vec::len), Some(0), "it loads: {said:#}");
    assert_eq!(said["added"][0]["names"].as_array().unwrap().len(), 3);
    let rows = said["runway"].as_array().unwrap();
    let fits = |when: &str| rows.iter().filter_map(|row| row[when]["fits"].as_u64()).sum::<u64>();
    assert!(fits("then") > 0 && fits("then") < fits("now"), "{rows:#?}");

    // A class may name credentials that not every tenant may use.
    let class = "fleet/classes/archive.yaml";
    fleet.write(
        class,
        b"apiVersion: carp.dev/v1alpha1\nkind: ManagedClusterClass\nmetadata: {name: archive}\n\
          spec: {credentials: shop}\n",
    );
    let said = simulate(&fleet, &["--add", "1:archive"], 0);
    assert_eq!(said["clusters"][0]["after"]["state"], "Placed", "{said:#}");
}

#[test]
fn an_added_cluster_stands_where_its_tenant_may_write() {
    let fleet = example();
    let carp = fs::read_to_string(fleet.path().join("carp.yaml")).unwrap();
    let own = carp.replacen(
        "    - name: shop\n      pools",
        "    - name: shop\n      paths: [fleet/shop]\n      pools",
        1,
    );
    assert_ne!(own, carp);
    fleet.write("carp.yaml", own.as_bytes());
    let args = ["--add", "2:small", "--tenant", "shop", "--runway"];
    let said = simulate(&fleet, &args, 0);
    assert_eq!(said["findings"].as_array().map(Vec::len), Some(0), "it loads: {said:#}");
    assert!(said["clusters"].as_array().unwrap().iter().any(|c| c["after"]["state"] == "Placed"));
    let rows = said["runway"].as_array().unwrap();
    assert!(rows.iter().any(|row| row["now"]["fits"].as_u64() > Some(0)), "{rows:#?}");
    // A rebalance and an overlay stand where the fleet's own documents do.
    let said = simulate(&fleet, &["--cordon", "us-1", "--add", "1:small", "--tenant", "shop"], 0);
    assert_eq!(said["findings"].as_array().map(Vec::len), Some(0), "{said:#}");
}

/// The version that most clusters have.
fn version_of(fleet: &Reconciled) -> String {
    let ran = fleet.carp(&["simulate", "--add", "1", "--tenant", "shop", "--output", "json"]);
    assert_eq!(ran.exit, 0, "{}", ran.err);
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for path in ["payments/ledger-archive", "payments/payments", "shop/analytics"]
        .iter()
        .chain(&["shop/non-production", "shop/production"])
    {
        let text = fleet.read(&format!("fleet/{path}.yaml"));
        for line in text.lines().filter_map(|line| line.trim().strip_prefix("version: ")) {
            *counts.entry(line.split(' ').next().unwrap().to_owned()).or_default() += 1;
        }
    }
    let most = counts.values().max().copied().unwrap();
    counts.into_iter().find(|(_, count)| *count == most).unwrap().0
}

/// As many fit as the runway says, and not one more.
#[test]
fn the_runway_agrees_with_the_planner() {
    let fleet = example();
    let said = simulate(&fleet, &["--runway"], 0);
    let rows = said["runway"].as_array().unwrap();
    assert_eq!(rows.len(), 6, "three classes for two tenants");
    for row in rows {
        let (class, tenant) = (row["class"].as_str().unwrap(), row["tenant"].as_str().unwrap());
        let fits = row["now"]["fits"].as_u64().unwrap();
        let rooms = row["now"]["rooms"].as_array().unwrap();
        assert_eq!(rooms.iter().map(|room| room["fits"].as_u64().unwrap()).sum::<u64>(), fits);
        assert!(!row["now"]["reasons"].as_array().unwrap().is_empty(), "{row:#}");
        for (number, wanted) in [(fits, 0), (fits + 1, 1)] {
            if number == 0 {
                continue;
            }
            let add = format!("{number}:{class}");
            let said = simulate(&fleet, &["--add", &add, "--tenant", tenant], 0);
            let mut clusters = said["clusters"].as_array().unwrap().clone();
            // What waits already may have one more reason.
            clusters.retain(|cluster| cluster["before"]["state"] == "Absent");
            assert_eq!(clusters.len() as u64, number, "{add} of {tenant}: {said:#}");
            let waits = |c: &&Value| c["after"]["state"] == "Waiting";
            assert_eq!(clusters.iter().filter(waits).count(), wanted, "{add} of {tenant}");
        }
    }
}

/// A report as an agent makes it.
fn report(folder: &Path, worker: &str, time: &str) {
    let text = format!(
        "schemaVersion: 1\nworker: {worker}\nworkerUID: uid-{worker}\ntime: \"{time}\"\ncomplete: true\n\
         healthy: true\n"
    );
    fs::create_dir_all(folder).unwrap();
    fs::write(folder.join(format!("{worker}.yaml")), text).unwrap();
}

/// A fleet whose two workers report.
fn observed() -> (Reconciled, PathBuf) {
    let mut files = files();
    for worker in ["w-weu", "w-eus"] {
        let text = files.get_mut(&format!("fleet/workers/{worker}.yaml")).unwrap();
        text.push_str("  observation: Agent\n  heartbeatTimeout: 10m\n");
    }
    let fleet = Reconciled::of(&files);
    let reports = fleet.beside("reports");
    report(&reports, "w-weu", "2026-11-01T08:59:00Z");
    report(&reports, "w-eus", "2026-11-01T08:58:00Z");
    let path = reports.to_str().unwrap().to_owned();
    let ran = fleet.carp(&["reconcile", "--once", "--observed", &path]);
    assert_eq!(ran.exit, 0, "{}{}", ran.out, ran.err);
    (fleet, reports)
}

#[test]
fn a_lost_worker_is_one_that_really_fell_silent() {
    let (fleet, reports) = observed();
    let path = reports.to_str().unwrap();
    fleet.write("fleet/clusters/golf.yaml", cluster("golf", "westeurope").as_bytes());
    for observed in [&["--observed", path][..], &[]] {
        let before = simulate(&fleet, observed, 0);
        let said = simulate(&fleet, &[observed, &["--lose", "w-weu"]].concat(), 0);
        assert_eq!(said["later"], "2026-11-01T09:10:00Z", "then even the last report is too old");
        let golf = &said["clusters"][0];
        assert_eq!((&golf["name"], &golf["before"]["worker"]), (&"golf".into(), &"w-weu".into()));
        assert_eq!(golf["after"]["worker"], "w-eus");
        assert_eq!(said["clusters"].as_array().unwrap().len(), 1, "nobody moves: {said:#}");
        assert_ne!(said["tree"], before["tree"]);

        // Really: the one reports no more, and the other does.
        let later = fleet.beside("later");
        report(&later, "w-weu", "2026-11-01T08:59:00Z");
        report(&later, "w-eus", "2026-11-01T09:10:00Z");
        let args = ["plan", "--output", "json", "--observed", later.to_str().unwrap()];
        let mut command = crate::support::people::carp(
            &fleet.path(),
            &[&args[..], &["--now", "2026-11-01T09:10:00Z"]].concat(),
        );
        let output = command.output().unwrap();
        let plan: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(plan["tree"], said["tree"]);
    }
}

#[test]
fn what_nothing_names_stays_on_a_lost_worker_and_is_told() {
    let (fleet, reports) = observed();
    let observed = ["--observed", reports.to_str().unwrap()];
    let lose = |at: &[&str]| simulate(&fleet, &[&["--lose", "w-weu"], at, &observed].concat(), 0);
    let left = &lose(&[])["left"][0];
    assert_eq!(left["clusters"], serde_json::json!(["alpha", "bravo", "echo"]));
    assert_eq!((&left["worker"], &left["failover"]), (&"w-weu".into(), &Value::Null));
    let told = fleet.carp(&["simulate", "--lose", "w-weu", "--observed", observed[1]]).out;
    assert!(
        told.contains("LOST w-weu: 3 clusters stay there (alpha, bravo, echo), for no"),
        "{told}"
    );

    let policy = "apiVersion: carp.dev/v1alpha1\nkind: PlacementPolicy\nmetadata: {name: over}\n\
                  spec: {clusterSelector: {names: [bravo]}, failover: {grace: 30m}}\n";
    fleet.write("policies/over.yaml", policy.as_bytes());
    let said = lose(&[]);
    assert_eq!(said["left"][0]["clusters"], serde_json::json!(["alpha", "echo"]));
    let from = said["left"][1]["failover"]["from"].as_str().unwrap();
    let one = (&said["left"][1]["clusters"], &said["left"][1]["failover"]["policy"]);
    assert_eq!(one, (&serde_json::json!(["bravo"]), &"over".into()));
    // From then on it is named, and cannot move.
    let then = lose(&["--at", from]);
    assert_eq!(then["left"].as_array().unwrap().len(), 1, "{then:#}");
    assert_eq!(then["stays"][0]["name"], "bravo", "{then:#}");
}

#[test]
fn a_worker_is_not_lost_before_its_time() {
    let (fleet, reports) = observed();
    let path = reports.to_str().unwrap();
    fleet.write("fleet/clusters/golf.yaml", cluster("golf", "westeurope").as_bytes());
    let lose = |after: &str| {
        simulate(&fleet, &["--lose", "w-weu", "--after", after, "--observed", path], 0)
    };
    assert_eq!(lose("8m")["same"], true, "the report is 9 minutes old");
    assert_eq!(lose("9m")["same"], false);
    let ran = fleet.carp(&["simulate", "--at", "2026-11-01T08:00:00Z"]);
    assert_eq!(ran.exit, 1);
    assert!(ran.err.contains("before the time of the run"), "{}", ran.err);
}

#[test]
fn what_would_change_nothing_is_said() {
    let fleet = Reconciled::of(&files());
    let ran = fleet.carp(&["simulate", "--lose", "w-weu"]);
    assert_eq!(ran.exit, 0, "{}", ran.err);
    assert!(ran.err.contains("w-weu has `observation: None`"), "{}", ran.err);
    assert!(ran.out.contains("Nothing would be otherwise."), "{}", ran.out);
}

#[test]
fn what_is_not_there_is_named_with_what_is() {
    let fleet = example();
    for (args, words) in [
        (&["--cordon", "nope"][..], "there is no worker `nope`"),
        (&["--lose", "nope"], "ne-1, pci-1, us-1, us-2, we-1, we-2"),
        (&["--remove-policy", "nope"], "card-data"),
        (&["--add", "1:nope"], "large, small, standard"),
        (&["--add", "1", "--tenant", "nope"], "payments, shop"),
        (&["--capacity", "we-1=-99"], "we-1 would have -93 clusters"),
    ] {
        let ran = fleet.carp(&[&["simulate"], args].concat());
        assert_eq!(ran.exit, 1, "{args:?}: {}", ran.err);
        assert!(ran.err.contains(words), "{args:?}: {}", ran.err);
    }
    // What only the fleet's own rules know is found by them.
    let ran = fleet.carp(&["simulate", "--add", "1:small@nowhere", "--tenant", "shop"]);
    assert_eq!(ran.exit, 1, "{}{}", ran.out, ran.err);
    assert!(
        ran.out.contains("unknown-location") && ran.out.contains("simulated.yaml"),
        "{}",
        ran.out
    );
}
