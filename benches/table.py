#!/usr/bin/env python3
"""What runs of carp cost in fleets of growing size, beside `git fast-import` of the same bytes.

    cargo build --profile dist --bin carp --example generate-fleet
    benches/table.py [--carp FILE] [--sizes 1000,10000] [--rounds 3] [--only PATTERN]

Each row is one command on a generated fleet in a repository without a remote: processor time of the command
and all its children, wall time, the most memory that one process had, this script's own at least, how many processes and
threads were begun meanwhile, anywhere on the machine, and how many objects the repository has more; the median of
the rounds where a command can be repeated, in which all sizes take turns. The last column is the exponent with which
processor time grows from the second largest size to the largest: 0 is flat, 1 is linear. Nothing is asserted.
"""
import argparse
import io
import itertools
import json
import math
import os
import pathlib
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
NOW = ["--now", "2026-11-01T09:00:00Z"]
ENVIRONMENT = {
    **os.environ,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_AUTHOR_NAME": "bench",
    "GIT_AUTHOR_EMAIL": "bench@example.com",
    "GIT_COMMITTER_NAME": "bench",
    "GIT_COMMITTER_EMAIL": "bench@example.com",
}


def begun_tasks():
    """How many processes and threads the system has begun since it started; 0 where it does not say."""
    try:
        lines = pathlib.Path("/proc/stat").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("processes ")), 0)


def measured(command, folder, feed=None):
    """Runs a command in a process of its own; returns processor seconds, wall seconds, MiB, tasks begun, and that nobody counted objects."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        begun = time.monotonic()
        stdin = open(feed, "rb") if feed else subprocess.DEVNULL
        tasks = begun_tasks()
        ran = subprocess.run(
            command, cwd=folder, env=ENVIRONMENT, stdin=stdin, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        )
        wall, tasks = time.monotonic() - begun, begun_tasks() - tasks
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = used.ru_utime + used.ru_stime
        error = ran.stderr.decode(errors="replace").strip().splitlines()[-1:] if ran.returncode not in (0, 3) else []
        os.write(write, json.dumps([cpu, wall, used.ru_maxrss / 1024, tasks, ran.returncode, error]).encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        told = pipe.read()
    os.waitpid(child, 0)
    cpu, wall, memory, tasks, code, error = json.loads(told)
    if error:
        sys.exit(f"{' '.join(map(str, command))}: exit {code}: {error[0]}")
    return cpu, wall, memory, tasks, None


def git(folder, *args):
    return subprocess.run(["git", *args], cwd=folder, env=ENVIRONMENT, check=True, capture_output=True, text=True).stdout


class Fleet:
    """A generated fleet in a repository without a remote."""

    def __init__(self, carp, folder, clusters):
        self.carp, self.path, self.edits, self.reports = carp, folder / "fleet", 0, 0
        self.clusters = clusters
        generator = ROOT / "target/dist/examples/generate-fleet"
        subprocess.run([generator, self.path, str(clusters)], check=True)
        git(self.path, "init", "--quiet", "--template=", "-b", "main")
        git(self.path, "config", "gc.auto", "0")
        self.commit()

    def commit(self):
        git(self.path, "add", "--all")
        git(self.path, "commit", "--quiet", "-m", "an edit")

    def objects(self):
        """How many objects the repository has, in packs and outside of them."""
        counts = dict(line.split(": ") for line in git(self.path, "count-objects", "-v").splitlines())
        return int(counts["count"]) + int(counts["in-pack"])

    def run(self, *args):
        before = self.objects()
        figures = measured([self.carp, *args, *NOW], self.path)
        return *figures[:-1], self.objects() - before

    def reconcile(self):
        return self.run("reconcile", "--once")

    def replace(self, file, before, after):
        path = self.path / file
        text = path.read_text()
        assert before in text, (file, before)
        path.write_text(text.replace(before, after, 1))
        self.commit()

    def edit(self):
        """Another label for one cluster."""
        self.edits += 1
        path = sorted((self.path / "fleet/clusters").rglob("*.yaml"))[0]
        text = path.read_text()
        label = f"    edited: \"{self.edits}\"\n"
        before = f"    edited: \"{self.edits - 1}\"\n" if self.edits > 1 else ""
        path.write_text(text.replace(f"  labels:\n{before}", f"  labels:\n{label}", 1))
        self.commit()

    def edit_policy(self):
        """Another weight in the first policy."""
        self.edits += 1
        path = self.path / "policies/teams.yaml"
        path.write_text(re.sub(r"weight: \d+", f"weight: {self.edits % 90 + 1}", path.read_text(), count=1))
        self.commit()

    def edit_class(self):
        """Another description of the first class, of which a third of the clusters is."""
        self.edits += 1
        path = self.path / "fleet/classes.yaml"
        note = f"  annotations: {{edited: \"{self.edits}\"}}\n"
        text = re.sub(r"  annotations: .*\n", "", path.read_text())
        path.write_text(text.replace("metadata:\n", f"metadata:\n{note}", 1))
        self.commit()

    def edit_template(self):
        """A comment in the template of every cluster: all are rendered anew."""
        self.edits += 1
        path = self.path / "templates/kamaji-capz/cluster.yaml"
        if not path.exists():
            self.run("templates", "export", "kamaji-capz", "--out", "templates")
        path.write_text(f"# {self.edits}\n" + path.read_text())
        self.commit()

    def add(self, count):
        """More clusters, like the first one."""
        first = sorted((self.path / "fleet/clusters").rglob("*.yaml"))[0].read_text().split("---\n")[0]
        name = next(line.split(":")[1].strip() for line in first.splitlines() if line.startswith("  name:"))
        self.edits += 1
        texts = [first.replace(f"  name: {name}\n", f"  name: x{self.edits}-{i}\n") for i in range(count)]
        (self.path / f"fleet/clusters/more-{self.edits}.yaml").write_text("---\n".join(texts))
        self.commit()

    def clusters_by_worker(self):
        """Every placed cluster under its worker, as the records on the output branch say."""
        archive = subprocess.run(
            ["git", "archive", "carp/rendered", "decisions"], cwd=self.path, env=ENVIRONMENT, check=True, capture_output=True
        )
        found = {}
        with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as records:
            for member in records:
                if member.isfile() and member.name.endswith(".yaml"):
                    text = records.extractfile(member).read().decode()
                    fields = dict(line.split(": ", 1) for line in text.splitlines() if ": " in line)
                    if "worker" in fields and "cluster" in fields:
                        found.setdefault(fields["worker"], []).append(fields["cluster"])
        return found

    def report(self, workers, degraded=False):
        """Each of these workers reports its clusters, as its agent would; all run, or the first one is degraded."""
        self.reports += 1
        time = f"2026-11-01T08:{self.reports // 60:02}:{self.reports % 60:02}Z"
        stream = []
        for worker, clusters in workers.items():
            text = (
                f"schemaVersion: 1\nworker: {worker}\nworkerUID: uid-{worker}\ntime: \"{time}\"\n"
                "complete: true\nhealthy: true\nclusters:\n"
            )
            for at, cluster in enumerate(clusters):
                phase = "Degraded" if degraded and at == 0 else "Running"
                text += f"- {{name: {cluster}, uid: uid-{cluster}, phase: {phase}, version: v1.34.2}}\n"
            stream.append(
                f"commit refs/heads/carp/observed/{worker}\ncommitter agent <agent@example.com> {self.reports} +0000\n"
                f"data 0\nM 644 inline report.yaml\ndata {len(text)}\n{text}\n"
            )
        subprocess.run(
            ["git", "fast-import", "--quiet", "--force"],
            cwd=self.path, env=ENVIRONMENT, check=True, input="".join(stream), text=True,
        )

    def a_cluster(self):
        text = sorted((self.path / "fleet/clusters").rglob("*.yaml"))[0].read_text()
        return next(line.split(":")[1].strip() for line in text.splitlines() if line.startswith("  name:"))

    def waiting_clusters(self):
        """Those that no worker takes, in the order of the queue: their numbers end like this."""
        texts = (path.read_text() for path in sorted((self.path / "fleet/clusters").rglob("*.yaml")))
        names = (line.split(":")[1].strip() for text in texts for line in text.splitlines() if line.startswith("  name:"))
        return sorted(name for name in names if name.startswith("c") and int(name[1:]) % 20 == 7)


class Row:
    """A row at one size: what comes before it, and what is measured."""

    def __init__(self, name, run, before=lambda: None, once=False):
        self.name, self.run, self.before, self.once = name, run, before, once

    def measure(self):
        self.before()
        return self.run()


def rows(fleet, folder):
    """The rows of one size, in the order in which each finds the fleet as it needs it."""
    yield Row("from nothing", fleet.reconcile, once=True)
    yield from beside(fleet, folder)
    fleet.reconcile()

    def forget(*files):
        for file in files:
            (fleet.path / ".git/carp" / file).unlink(missing_ok=True)

    baseline = ("stamp.json", "baseline.json")
    yield Row("nothing changed", fleet.reconcile)
    yield Row("nothing changed, no stamp", fleet.reconcile, lambda: forget("stamp.json"))
    yield Row("a look at everything", fleet.reconcile, lambda: forget(*baseline))
    yield Row("the first run in a clone", fleet.reconcile, lambda: forget(*baseline, "memo.json"))
    yield Row("one edit", fleet.reconcile, fleet.edit)
    yield Row("one edit, with everything", fleet.reconcile, lambda: (fleet.edit(), forget(*baseline)))
    # A run that looked at everything and changed something leaves the next one to look at what it wrote.
    yield Row("one more", fleet.reconcile, lambda: (fleet.reconcile(), fleet.add(1)))
    yield Row("100 more", fleet.reconcile, lambda: fleet.add(100))
    yield Row("a policy edit", fleet.reconcile, fleet.edit_policy)
    yield Row("a class edit", fleet.reconcile, fleet.edit_class)
    yield Row("a template edit", fleet.reconcile, fleet.edit_template)
    cluster, waiting = fleet.a_cluster(), fleet.waiting_clusters()
    for _ in range(2):
        fleet.reconcile()
    yield Row("validate", lambda: fleet.run("validate"))
    yield Row("plan", lambda: fleet.run("plan"))
    yield Row("explain of one cluster", lambda: fleet.run("explain", f"cluster/{cluster}"))
    first, middle = waiting[0], waiting[len(waiting) // 2]
    yield Row("explain of the first that waits", lambda: fleet.run("explain", f"cluster/{first}"))
    yield Row("explain of one that half of them precede", lambda: fleet.run("explain", f"cluster/{middle}"))
    yield Row("status of one cluster", lambda: fleet.run("status", f"cluster/{cluster}"))
    yield Row("simulate of one more", lambda: fleet.run("simulate", "--add", "1"))
    out = f"{folder}/out"
    no_out = lambda: shutil.rmtree(out, ignore_errors=True)
    yield Row("render of one cluster", lambda: fleet.run("render", "--cluster", cluster, "--out", out), no_out)
    everybody = fleet.clusters_by_worker()
    one = dict([min(everybody.items())])
    fleet.report(everybody)
    for _ in range(3):
        fleet.reconcile()
    # What agents say: one of them that all is as it was, one of a cluster, all of a cluster each.
    down = itertools.cycle([True, False])
    yield Row("a sign of life of one worker", fleet.reconcile, lambda: fleet.report(one))
    yield Row("one report", fleet.reconcile, lambda: fleet.report(one, degraded=next(down)))
    yield Row("a report of every worker", fleet.reconcile, lambda: fleet.report(everybody, degraded=next(down)))


# What a script does that fills a template for each cluster: read its documents, fill, write.
SCRIPT = """
import pathlib, sys, jinja2, yaml
fleet, template, out = map(pathlib.Path, sys.argv[1:])
marks = dict(variable_start_string="<<", variable_end_string=">>", block_start_string="<%", comment_start_string="<#")
filled = jinja2.Template(template.read_text(), **marks)
for file in sorted(fleet.rglob("*.yaml")):
    for document in yaml.load_all(file.read_text(), getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
        name = document["metadata"]["name"]
        (out / name).mkdir()
        (out / name / "cluster.yaml").write_text(filled.render(name=name, spec=document["spec"]))
"""


OVERLAYS = 20


def overlays(tree, folder, clusters):
    """What `kubectl kustomize` takes for as many overlays as there are clusters, by a few of them: each adds a label to what
    one cluster has."""
    total = [0] * 4
    for file in sorted(tree.glob("workers/*/clusters/*/cluster.yaml"))[:OVERLAYS]:
        base, overlay = folder / "overlays" / file.parent.name / "base", folder / "overlays" / file.parent.name / "overlay"
        shutil.copytree(file.parent, base)
        overlay.mkdir()
        files = sorted(path.name for path in base.glob("*.yaml") if path.name != "kustomization.yaml")
        (base / "kustomization.yaml").write_text("resources: " + json.dumps(files) + "\n")
        (overlay / "kustomization.yaml").write_text('resources: [../base]\nlabels: [{pairs: {edited: "1"}}]\n')
        figures = measured(["kubectl", "kustomize", str(overlay)], folder)
        total = [max(pair) if at == 2 else sum(pair) for at, pair in enumerate(zip(total, figures[:4]))]
    shutil.rmtree(folder / "overlays")
    return *(figure if at == 2 else figure * clusters / OVERLAYS for at, figure in enumerate(total)), None


def beside(fleet, folder):
    """What others take for as much: Git for the same bytes and files, overlays, and a script that only fills a template."""
    stream, bare, tree, archive = (folder / name for name in ("stream", "import.git", "files", "files.tar"))
    with open(stream, "wb") as out:
        # What a run from nothing commits: the output and the statuses.
        branches = ["carp/rendered", "carp/status"]
        subprocess.run(["git", "fast-export", *branches], cwd=fleet.path, stdout=out, check=True)
    git(folder, "init", "--quiet", "--bare", str(bare))
    fast_import = ["git", "fast-import", "--quiet", "--force"]
    yield Row("git fast-import of the same", lambda: measured(fast_import, bare, stream), once=True)
    stream.unlink()
    shutil.rmtree(bare)
    git(folder, "init", "--quiet", "--template=", str(tree))
    git(fleet.path, "archive", "--output", str(archive), "carp/rendered")
    add = ["sh", "-c", f"tar -xf {archive} && git add --all"]
    yield Row("files and git add of the same", lambda: measured(add, tree), once=True)
    if shutil.which("kubectl"):
        name = f"kubectl kustomize of as many overlays, by {OVERLAYS}"
        yield Row(name, lambda: overlays(tree, folder, fleet.clusters), once=True)
    if subprocess.run([sys.executable, "-c", "import jinja2, yaml"], capture_output=True).returncode == 0:
        cluster = next(tree.glob("workers/*/clusters/*/cluster.yaml"))
        template = folder / "template"
        template.write_text(cluster.read_text().replace(cluster.parent.name, "<< name >>").replace("v1.34.2", "<< spec.version >>"))
        out = folder / "filled"
        out.mkdir()
        script = [sys.executable, "-c", SCRIPT, str(fleet.path / "fleet/clusters"), str(template), str(out)]
        yield Row("Jinja2 and PyYAML, no checks, no Git", lambda: measured(script, folder), once=True)
        shutil.rmtree(out)
    shutil.rmtree(tree)
    archive.unlink()


def median(figures):
    return None if None in figures else statistics.median(figures)


def tables(carp, sizes, rounds, only, parent):
    """By the name of each row, what it takes at each size. All sizes take turns, so that an hour in which the machine is slow
    is one for each of them."""
    found = {}
    folders = [pathlib.Path(parent) / str(size) for size in sizes]
    for folder in folders:
        folder.mkdir()
    fleets = [Fleet(carp, folder, size) for folder, size in zip(folders, sizes)]
    for row in zip(*(rows(fleet, folder) for fleet, folder in zip(fleets, folders))):
        name, once = row[0].name, row[0].once
        if once or re.search(only, name):
            turns = [[at_size.measure() for at_size in row] for _ in range(1 if once else rounds)]
            found[name] = [tuple(map(median, zip(*size))) for size in zip(*turns)]
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--carp", default=str(ROOT / "target/dist/carp"))
    parser.add_argument("--sizes", default="1000,10000")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="", help="the rows whose names match this, and those from nothing")
    asked = parser.parse_args()
    sizes = [int(size) for size in asked.sizes.split(",")]
    carp = pathlib.Path(asked.carp).resolve(strict=True)
    with tempfile.TemporaryDirectory(prefix="carp-bench-") as parent:
        found = tables(carp, sizes, asked.rounds, asked.only, parent)
    print("| | " + " | ".join(f"{size:,} clusters" for size in sizes) + " | exponent |")
    print("|---|" + "---|" * (len(sizes) + 1))
    for name, figures in found.items():
        cells = [
            f"{cpu * 1000:,.0f} ms, {wall * 1000:,.0f} wall, {memory:,.0f} MiB, {tasks:,.0f} tasks"
            + ("" if objects is None else f", {objects:,.0f} objects")
            for cpu, wall, memory, tasks, objects in figures
        ]
        grows = ""
        if len(sizes) > 1:
            before, last = (max(cpu, 1e-4) for cpu, *_ in figures[-2:])
            grows = f"{math.log(last / before) / math.log(sizes[-1] / sizes[-2]):.2f}"
        print(f"| {name} | " + " | ".join(cells) + f" | {grows} |")


if __name__ == "__main__":
    main()
