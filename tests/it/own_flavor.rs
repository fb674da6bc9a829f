//! A flavor of a fleet's own templates alone, of an invented provider: its documents, and its mistakes. And carp's own
//! flavors are named in its code no more than that.

use std::path::{Path, PathBuf};

use carp::model::Catalogue;

use crate::support::small;
use crate::support::world::World;

const DOCUMENT: &str = "fleet/clusters/base.yaml";

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/flavors/moon").join(name)
}

/// The files of the flavor, as they stand in the fleet.
#[expect(clippy::disallowed_methods, reason = "tests read their files")]
fn templates() -> Vec<(String, String)> {
    let mut all = Vec::new();
    for path in
        ["moon-base/flavor.yaml", "moon-base/cluster.yaml", "providers/infrastructure-moon.yaml"]
    {
        let text = std::fs::read_to_string(folder("templates").join(path)).unwrap();
        all.push((format!("templates/{path}"), text));
    }
    all
}

/// The small fleet, with the flavor and a cluster of it.
fn world() -> World {
    let mut files = small::files();
    files.retain(|path, _| !path.starts_with("fleet/clusters/"));
    files.remove("fleet/workers/w-eus.yaml");
    files.extend(templates());
    let carp = files.get_mut("carp.yaml").unwrap();
    carp.push_str(
        "    - name: moon\n      provider: moon\n      values: {crater: tycho}\n  images: {registry: \
         r.example.com}\n",
    );
    let worker = files.get_mut("fleet/workers/w-weu.yaml").unwrap();
    worker.push_str("  observation: Agent\n");
    let base = small::cluster("base", "westeurope");
    let base = base.replace(
        "  replicas: 2\n",
        "  flavor: moon-base\n  nodePools: [{name: np0, replicas: 2, vmSize: rover.small}]\n",
    );
    files.insert(DOCUMENT.to_owned(), base);
    World::new(files)
}

#[test]
fn its_mistakes_are_told_where_they_stand() {
    let mut world = world();
    let found = |world: &mut World| -> Vec<(String, String)> {
        let all = world.propose().diagnostics;
        all.iter().map(|d| (d.code.name().to_owned(), d.message.clone())).collect()
    };
    assert_eq!(found(&mut world), []);
    world.edit(DOCUMENT, "rover.small", "rover.smal");
    let told = found(&mut world);
    assert_eq!(told[0].0, "suspicious-vm-size", "{told:?}");
    world.edit(DOCUMENT, "rover.smal", "rover.small").edit(
        "carp.yaml",
        "crater: tycho",
        "creater: tycho",
    );
    let told = found(&mut world);
    assert!(told.iter().any(|(_, message)| message.contains("no `crater`")), "{told:?}");
    world.edit("carp.yaml", "creater: tycho", "crater: tycho");
    world.edit("templates/moon-base/flavor.yaml", "objects:", "object:");
    let all = world.propose().diagnostics;
    let broken = all.iter().find(|d| d.message.contains("unknown field `object`")).unwrap();
    let place = broken.place.clone().unwrap();
    let at = place.position.map(|position| (position.line, position.column));
    assert_eq!((&*place.file, at), ("templates/moon-base/flavor.yaml", Some((11, 1))));
}

#[test]
#[expect(clippy::disallowed_methods, reason = "tests read their files")]
fn the_page_shows_these_files() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/flavors.md");
    let page = std::fs::read_to_string(page).unwrap();
    let shown = templates().into_iter().filter(|(path, _)| !path.ends_with("cluster.yaml"));
    for (path, text) in shown {
        let said = text.lines().take_while(|line| *line != "readiness:");
        let said: Vec<_> = said.filter(|line| !line.starts_with('#')).collect();
        let block = format!("`{path}`:\n\n```yaml\n{}\n```\n", said.join("\n"));
        assert!(page.contains(&block), "{path} is shown otherwise");
    }
}

/// Where a flavor that is shipped may be named, and why.
const NAMED_IN: &[(&str, &str)] = &[
    ("model/fleet.rs", "the flavors of what names none"),
    ("cli/examples.rs", "what people type"),
    ("cli/templates.rs", "what people type"),
    ("render/secrets.rs", "the end of a name in Azure"),
];

#[test]
#[expect(clippy::disallowed_methods, reason = "tests read their files")]
fn no_flavor_that_is_shipped_is_named_in_code() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut open = vec![root.clone()];
    let mut found = Vec::new();
    let catalogue = Catalogue::default();
    // `kind` is also a key of every document.
    let names = catalogue.flavors().map(|(name, _)| name).filter(|name| *name != "kind");
    let names: Vec<_> = names.map(|name| (format!("\"{name}\""), format!("\"{name}/"))).collect();
    while let Some(folder) = open.pop() {
        for path in folder.read_dir().unwrap().map(|entry| entry.unwrap().path()) {
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            let of_tests = ["tests", "fixture", "sample", "world", "laws", "table"];
            if of_tests.contains(&&*name) || name.ends_with("_tests") {
                continue;
            }
            if path.is_dir() {
                open.push(path);
                continue;
            }
            let Ok(text) = std::fs::read_to_string(&path) else { continue };
            let code = text.lines().take_while(|line| *line != "#[cfg(test)]");
            let code = code.filter(|line| !line.trim_start().starts_with("//"));
            let wrong = |line: &&str| {
                names.iter().any(|(whole, begun)| line.contains(whole) || line.contains(begun))
                    || line.contains("flavor") && line.contains("\"kind\"")
            };
            let at = path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
            let allowed = NAMED_IN.iter().any(|(file, _)| *file == at);
            found.extend(
                code.filter(wrong).filter(|_| !allowed).map(|line| format!("{at}: {line}")),
            );
        }
    }
    assert_eq!(found, Vec::<String>::new());
}
