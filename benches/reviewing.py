#!/usr/bin/env python3
"""What a reviewer reads of each kind of change, and how long `carp plan --against` takes for it.

    cargo build --profile dist --bin carp --example generate-fleet
    benches/reviewing.py [--carp FILE] [--clusters 5000] [--only WORD] [--most 25] [--show]

A generated fleet is reconciled in a repository without a remote. Each kind of change is a branch of its own; of
each the lines of the plan are counted, on a terminal of any width and in the comment on a pull request, and the wall
time is taken beside that of `carp plan` of no change. `--fleet DIR` takes the files of another fleet of the same form,
`--show` prints the plans, and `--most N` exits 1 where one is longer.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
NOW = ["--now", "2026-11-01T09:00:00Z"]
ENVIRONMENT = {
    **{key: value for key, value in os.environ.items() if not key.startswith(("GIT_", "CI_", "GITHUB_", "CARP_"))},
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_AUTHOR_NAME": "bench",
    "GIT_AUTHOR_EMAIL": "bench@example.com",
    "GIT_COMMITTER_NAME": "bench",
    "GIT_COMMITTER_EMAIL": "bench@example.com",
}
HEAD = "apiVersion: carp.dev/v1alpha1\nkind: "
CLUSTER = HEAD + """ManagedCluster
metadata:
  name: {name}
  namespace: tenant-0
  labels:
    team: t000
spec:
  version: v1.34.2
  location: westeurope
  class: {size}
  deletionPolicy: Delete
"""
WORKER = HEAD + """Worker
metadata:
  name: {name}
  labels:
    tier: standard
spec:
  version: v1.34.2
  location: westeurope
  nodePools:
    - name: hcp
      replicas: 6
      vmSize: Standard_D8s_v5
  capacity:
    clusters: 48
    cpu: "200"
"""
POLICY = HEAD + """PlacementPolicy
metadata:
  name: {name}
spec:
  clusterSelector:
    matchLabels:
      team: {team}
{more}"""
CHANGES = []


def change(name):
    """A kind of change: what a person does to the files of the fleet."""

    def add(edit):
        CHANGES.append((name, edit))
        return edit

    return add


class Fleet:
    """A work tree that people edit."""

    def __init__(self, path):
        self.path = path

    def clusters(self):
        """The files of clusters, in order."""
        return sorted((self.path / "fleet/clusters").rglob("batch-*.yaml"))

    def workers(self):
        return sorted((self.path / "fleet/workers").rglob("w*.yaml"))

    def write(self, file, text):
        path = self.path / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def replace(self, file, before, after, count=1):
        path = self.path / file
        text = path.read_text()
        assert before in text, (str(file), before)
        path.write_text(text.replace(before, after, count))

    def first(self, edit):
        """Edits the first cluster's document."""
        path = self.clusters()[0]
        documents = path.read_text().split("---\n")
        documents[0] = edit(documents[0])
        path.write_text("---\n".join(documents))

    def each(self, edit, most=None):
        """Edits every cluster's document, or so many."""
        done = 0
        for path in self.clusters():
            documents = path.read_text().split("---\n")
            for at, document in enumerate(documents):
                if most is None or done < most:
                    documents[at] = edit(document)
                    done += documents[at] != document
            path.write_text("---\n".join(documents))

    def classes(self, before, after, count=1):
        self.replace("fleet/classes.yaml", before, after, count)

    def carp(self, more):
        path = self.path / "carp.yaml"
        path.write_text(path.read_text() + more)

    def first_name(self):
        return re.search(r"^  name: (\S+)$", self.clusters()[0].read_text(), re.M)[1]


def put(field):
    """Writes a field at the end of a cluster's spec."""
    return lambda text: text.rstrip("\n") + "\n" + field


def swap(before, after):
    return lambda text: re.sub(before, after, text, count=1)


change("the version of a cluster")(lambda f: f.first(swap(r"version: v1\.34\.\d", "version: v1.34.9")))
change("the version of all of a version")(lambda f: f.each(swap(r"version: v1\.34\.0", "version: v1.34.1")))
change("the version of the small class")(
    lambda f: f.each(lambda t: swap(r"version: v1\.34\.\d", "version: v1.34.9")(t) if "class: small" in t else t)
)
change("a minor version up, everywhere")(lambda f: f.each(swap(r"version: v1\.34\.\d", "version: v1.35.0")))
change("a version back")(lambda f: f.first(swap(r"version: v1\.34\.\d", "version: v1.33.5")))
change("a label of a cluster")(lambda f: f.first(swap("  labels:\n", "  labels:\n    cost-center: \"77\"\n")))
change("a label of all clusters")(lambda f: f.each(swap("  labels:\n", "  labels:\n    cost-center: \"77\"\n")))
change("a label that policies read, of all")(lambda f: f.each(swap(r"team: t\d+", "team: t003")))
change("nodes of a cluster")(
    lambda f: f.first(put("  nodePools:\n    - name: np0\n      replicas: 7\n      vmSize: Standard_D4s_v5\n"))
)
change("nodes of a class")(lambda f: f.classes("replicas: 3", "replicas: 5"))
change("nodes of a class scale by themselves")(
    lambda f: f.classes("replicas: 3\n", "autoscale:\n        min: 3\n        max: 9\n")
)
change("another pool in a class")(
    lambda f: f.classes(
        "    - name: np0\n", "    - name: gpu\n      replicas: 1\n      vmSize: Standard_NC6s_v3\n    - name: np0\n"
    )
)
change("the VM size of a class")(lambda f: f.classes("Standard_D4s_v5", "Standard_D8s_v5"))
change("the VM size of all classes")(lambda f: f.classes("Standard_D4s_v5", "Standard_D8s_v5", -1))
change("an unknown VM size")(lambda f: f.classes("Standard_D4s_v5", "Standard_D4s_v55"))
change("control planes of a class")(lambda f: f.classes("replicas: 2", "replicas: 3"))
change("the demand of a class")(lambda f: f.classes('cpu: "3"', 'cpu: "9"'))
change("another class for a cluster")(lambda f: f.first(swap(r"class: \w+", "class: tiny")) or f.write(
    "fleet/tiny.yaml", HEAD + "ManagedClusterClass\nmetadata: {name: tiny}\nspec:\n  demand: {cpu: \"1\"}\n"
    "  nodePools:\n    - {name: np0, replicas: 1, vmSize: Standard_D4s_v5}\n"
))
change("another location for a cluster")(lambda f: f.first(swap(r"location: \w+", "location: westus3")))
change("a cluster is paused")(lambda f: f.first(put("  paused: true\n")))
change("all clusters are paused")(lambda f: f.each(put("  paused: true\n")))
change("what a removal does")(lambda f: f.each(swap("deletionPolicy: Delete", "deletionPolicy: Orphan")))
change("a new cluster")(lambda f: f.write("fleet/new.yaml", CLUSTER.format(name="new-one", size="small")))
change("300 new clusters")(
    lambda f: f.write("fleet/new.yaml", "---\n".join(CLUSTER.format(name=f"new-{n:03}", size="small") for n in range(300)))
)
change("300 new clusters that fit nowhere")(
    lambda f: f.write("fleet/new.yaml", "---\n".join(
        put("  placement:\n    affinity:\n      required:\n        - matchLabels:\n            tier: gold\n")(
            CLUSTER.format(name=f"new-{n:03}", size="small")
        ) + "" for n in range(300)
    ))
)
change("a removed cluster")(lambda f: f.clusters()[0].write_text(f.clusters()[0].read_text().split("---\n", 1)[1]))
change("a removed file of 20")(lambda f: f.clusters()[0].unlink())
change("half of the fleet removed")(lambda f: [path.unlink() for path in f.clusters()[::2]])
change("a moved file")(lambda f: f.clusters()[0].rename(f.path / "fleet/clusters/moved.yaml"))
change("all files moved")(lambda f: (f.path / "fleet/clusters").rename(f.path / "fleet/all"))
change("a comment in every file")(lambda f: [p.write_text("# looked at\n" + p.read_text()) for p in f.clusters()])
change("a file that is no YAML")(lambda f: f.clusters()[0].write_text(f.clusters()[0].read_text() + "\n  - : {\n"))
change("an unknown field in a cluster")(lambda f: f.first(put("  replicsa: 3\n")))
change("the same slip in 300 clusters")(lambda f: f.each(put("  replicsa: 3\n"), 300))
change("a name twice")(lambda f: f.write("fleet/aaa.yaml", CLUSTER.format(name=f.first_name(), size="large")))
change("a broken class")(lambda f: f.classes("demand:", "demands:"))
change("a broken carp.yaml")(lambda f: f.replace("carp.yaml", "spec:\n", "spec:\n  nope: 1\n"))
change("the weight of a policy")(lambda f: f.replace("policies/teams.yaml", "weight: 1\n", "weight: 90\n"))
change("where a policy prefers")(lambda f: f.replace("policies/teams.yaml", "[westeurope]", "[uksouth]", -1))
change("what a policy requires")(
    lambda f: f.replace("policies/teams.yaml", "    preferred:\n", "    required:\n      - locations: [westus]\n    preferred:\n", -1)
)
change("a policy that matches nothing")(
    lambda f: f.write("policies/new.yaml", POLICY.format(name="nobody", team="nobody", more="  strategy: BinPack\n"))
)
change("a policy for all")(
    lambda f: f.write("policies/new.yaml", HEAD + "PlacementPolicy\nmetadata: {name: all}\nspec: {priority: 9, strategy: BinPack}\n")
)
change("a removed policy")(lambda f: (f.path / "policies/teams.yaml").unlink())
change("a template")(lambda f: f.template(lambda text: text.replace("deletionPolicy", "deletionPolicy")))
change("a worker is drained")(lambda f: f.overlay("drain: true"))
change("a worker is cordoned")(lambda f: f.overlay("unschedulable: true"))
change("a worker's capacity down")(lambda f: f.replace(f.workers()[0], "clusters: 48", "clusters: 5"))
change("all capacities down")(lambda f: [f.replace(path, "clusters: 48", "clusters: 5") for path in f.workers()])
change("a worker's capacity up")(lambda f: f.replace(f.workers()[0], "clusters: 48", "clusters: 90"))
change("a worker's nodes")(lambda f: f.replace(f.workers()[0], "replicas: 6", "replicas: 9"))
change("a worker's version")(lambda f: f.replace(f.workers()[0], "version: v1.34.2", "version: v1.34.3"))
change("all workers' version")(lambda f: [f.replace(p, "version: v1.34.2", "version: v1.34.3") for p in f.workers()])
change("a new worker")(lambda f: f.write("fleet/new.yaml", WORKER.format(name="w-new")))
change("a removed worker")(lambda f: f.workers()[0].unlink())
change("a worker for those that wait")(
    lambda f: f.write("fleet/new.yaml", WORKER.format(name="w-new").replace("tier: standard", "accelerator: gpu"))
)
change("tenants with a quota")(lambda f: f.tenants("clusters: 100000"))
change("a quota below what is used")(lambda f: f.tenants("clusters: 1"))
change("a tenant too few")(lambda f: f.tenants("clusters: 100000", 6))
change("which versions are offered")(lambda f: f.carp("  supportedVersions:\n    - version: v1.34\n"))
change("guards")(lambda f: f.carp("  guards:\n    maxDeletions: 50\n    maxMoves: 9\n"))


def overlay(fleet, field):
    name = fleet.workers()[0].stem
    fleet.write(f"fleet/overlays/{name}.yaml", HEAD + f"WorkerOverlay\nmetadata: {{name: {name}}}\nspec: {{{field}}}\n")


def tenants(fleet, quota, count=7):
    each = "".join(f"    - name: tenant-{n}\n      quota:\n        total:\n          {quota}\n" for n in range(count))
    fleet.carp(f"  tenants:\n{each}")


def template(fleet, _edit):
    """What pools are made of gets another annotation, for every cluster."""
    flavor = ROOT / "templates/kamaji-capz/cluster.yaml"
    text = flavor.read_text()
    mark = "\n  labels:\n"
    assert mark in text, flavor
    fleet.write("templates/kamaji-capz/cluster.yaml", text.replace(mark, "\n  labels:\n    edited: \"yes\"\n"))


Fleet.overlay, Fleet.tenants, Fleet.template = overlay, tenants, template


def run(command, folder):
    ran = subprocess.run(command, cwd=folder, env=ENVIRONMENT, capture_output=True, text=True)
    return ran.returncode, ran.stdout + ran.stderr


def git(folder, *args):
    code, said = run(["git", *args], folder)
    if code:
        sys.exit(f"git {' '.join(args)}: {said}")
    return said


def branches(fleet, carp, asked):
    """The lines and seconds of each kind of change."""
    for number, (name, edit) in enumerate(CHANGES):
        if asked.only not in name:
            continue
        git(fleet.path, "switch", "--quiet", "-c", f"change-{number}", "main")
        edit(fleet)
        git(fleet.path, "add", "--all")
        git(fleet.path, "commit", "--quiet", "-m", name)
        begun = time.monotonic()
        code, said = run([carp, "plan", "--against", "main", *NOW], fleet.path)
        seconds = time.monotonic() - begun
        _, comment = run([carp, "plan", "--against", "main", "--output", "markdown", *NOW], fleet.path)
        git(fleet.path, "switch", "--quiet", "main")
        if asked.show:
            print(f"=== {name}: exit {code}\n{said}\n--- as a comment\n{comment}")
        if code not in (0, 1, 3) or not said.strip():
            sys.exit(f"{name}: exit {code}: {said}")
        yield name, len(said.splitlines()), comment_lines(comment), code, seconds


def comment_lines(text):
    """The lines of a comment that are seen: nothing that is folded, no rule of a table, no empty one."""
    depth, seen = 0, 0
    for line in text.splitlines():
        bare = line.lstrip("> ").strip()
        if bare.startswith("<details>"):
            seen += depth == 0
            depth += 1
        elif bare.startswith("</details>"):
            depth -= 1
        elif depth == 0 and bare and not re.fullmatch(r"[|\s-]+|```\w*|<!--.*-->", bare):
            seen += 1
    return seen


def prepared(asked, folder):
    path = pathlib.Path(folder) / "fleet"
    if asked.fleet:
        subprocess.run(["cp", "-R", asked.fleet, path], check=True)
    else:
        generator = pathlib.Path(asked.carp).resolve().parent / "examples/generate-fleet"
        subprocess.run([generator, path, str(asked.clusters)], check=True)
    git(path, "init", "--quiet", "--template=", "-b", "main")
    git(path, "config", "gc.auto", "0")
    git(path, "add", "--all")
    git(path, "commit", "--quiet", "-m", "the fleet")
    return Fleet(path)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--carp", default=str(ROOT / "target/dist/carp"))
    parser.add_argument("--clusters", type=int, default=5000)
    parser.add_argument("--fleet", default="")
    parser.add_argument("--only", default="")
    parser.add_argument("--most", type=int, default=0)
    parser.add_argument("--show", action="store_true")
    asked = parser.parse_args()
    carp = str(pathlib.Path(asked.carp).resolve(strict=True))
    with tempfile.TemporaryDirectory(prefix="carp-bench-") as folder:
        fleet = prepared(asked, folder)
        for _ in range(2):
            code, said = run([carp, "reconcile", "--once", *NOW], fleet.path)
            if code:
                sys.exit(f"reconcile: exit {code}: {said}")
        begun = time.monotonic()
        run([carp, "plan", *NOW], fleet.path)
        plan = time.monotonic() - begun
        rows = list(branches(fleet, carp, asked))
    print("| change | lines | in a comment | exit | time | of `plan` |\n|---|---|---|---|---|---|")
    print(f"| (`carp plan` of no change) | | | | {plan * 1000:,.0f} ms | 1.0 × |")
    for name, lines, seen, code, seconds in rows:
        times = f"{seconds * 1000:,.0f} ms | {seconds / plan:.1f} ×"
        print(f"| {name} | {lines} | {seen} | {code} | {times} |")
    long = [name for name, lines, seen, _, _ in rows if asked.most and max(lines, seen) > asked.most]
    if long:
        sys.exit(f"more than {asked.most} lines: {', '.join(long)}")


if __name__ == "__main__":
    main()
