//! What a decision costs: the plain scan beside the index, for the same fleet in the same run.
//!
//! ```text
//! cargo bench --bench placement                       1,000 clusters on 20 workers, and 10,000 on 200
//! cargo bench --bench placement -- 100000x2000        other sizes; the plain scan then takes minutes
//! cargo bench --bench placement -- 100000x2000 index  without the plain scan
//! cargo bench --bench placement -- 100000x2000 next   how the next run begins, all being placed
//! cargo bench --bench placement -- 10000x200 ruled    with the rules alone, to be looked at with a profiler
//! ```
//! `Ruled` is with spread, anti-affinity and quota, `Free` without. Microseconds of processor time for each
//! cluster that is served, the median of three; the time of the wall says little on a machine that others
//! use. The next run begins by counting what is placed: row by row, or as an earlier run counted it. The
//! harness is these few lines, for those of criterion and divan measure the wall only and print no ratio.

mod fleet;

use std::io::{Write, stdout};
use std::time::Duration;

use carp::plan::{PlanInput, Planning, Queue, SearchMode};
use fleet::{Generated, Together};

const RUNS: usize = 3;

/// That of the program.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::io::Result<()> {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with("--")).collect();
    let with_scan = args.iter().all(|arg| arg != "index");
    let mut sizes: Vec<(usize, usize)> = args.iter().filter_map(|arg| size(arg)).collect();
    if sizes.is_empty() {
        sizes = vec![(1_000, 20), (10_000, 200)];
    }
    let both = [Together::Free, Together::Ruled];
    let both = &both[usize::from(args.iter().any(|arg| arg == "ruled"))..];
    let all = sizes.into_iter().flat_map(|s| both.iter().map(move |b| (s, *b)));
    if args.iter().any(|arg| arg == "next") {
        return next_runs(all);
    }
    writeln!(
        stdout(),
        "clusters workers rules  scan µs  index µs  ratio  sign µs  decide µs  tell µs  indexed"
    )?;
    for ((clusters, workers), rules) in all {
        let generated = Generated::new(clusters, workers, rules);
        let (steps, told) = measure(&generated, SearchMode::Index);
        let per_cluster = |total: f64| total / number(told.plan.clusters.len() as u64);
        let share = 100.0 * number(told.indexed) / number(told.searched);
        let index = per_cluster(steps.iter().sum());
        write!(stdout(), "{clusters:>8} {workers:>7} {rules:?}")?;
        if with_scan {
            let (scan, scanned) = measure(&generated, SearchMode::Scan);
            assert!(scanned.plan == told.plan, "the index decides as the plain scan does");
            let scan = per_cluster(scan.iter().sum());
            write!(stdout(), " {scan:>8.2}  {index:>8.2} {:>6.0}", scan / index)?;
        } else {
            write!(stdout(), "        -  {index:>8.2}      -")?;
        }
        let [sign, decide, tell] = steps.map(per_cluster);
        writeln!(stdout(), " {sign:>8.2} {decide:>10.2} {tell:>8.2} {share:>6.1} %")?;
    }
    Ok(())
}

/// How the next run begins.
fn next_runs(all: impl Iterator<Item = ((usize, usize), Together)>) -> std::io::Result<()> {
    writeln!(stdout(), "clusters workers rules  counted µs  remembered µs  ratio")?;
    for ((clusters, workers), rules) in all {
        let generated = Generated::new(clusters, workers, rules);
        let plan = Queue::new(&generated.input(), SearchMode::Index).serve().plan;
        let placed = generated.after(&plan);
        let input = placed.input();
        let afresh = Queue::new(&input, SearchMode::Index).serve();
        let remembered = PlanInput { counted: Some(&afresh.counted), ..input };
        let again = Queue::new(&remembered, SearchMode::Index).serve();
        assert!(again.context == afresh.context && again.counted_anew == 0, "the counts agree");
        let per_cluster = |input| begin(input) / number(plan.clusters.len() as u64);
        let (counted, known) = (per_cluster(&input), per_cluster(&remembered));
        let ratio = counted / known;
        writeln!(
            stdout(),
            "{clusters:>8} {workers:>7} {rules:?} {counted:>11.3}  {known:>13.3} {ratio:>6.1}"
        )?;
    }
    Ok(())
}

/// The microseconds until the first cluster is served.
fn begin(input: &PlanInput<'_>) -> f64 {
    let mut times = Vec::new();
    for _ in 0..RUNS {
        let before = processor_time();
        let queue = Queue::new(input, SearchMode::Index);
        times.push(processor_time() - before);
        drop(queue);
    }
    times.sort_by(f64::total_cmp);
    times[RUNS / 2]
}

/// `10000x200`: so many clusters on so many workers.
fn size(text: &str) -> Option<(usize, usize)> {
    let (clusters, workers) = text.split_once('x')?;
    Some((clusters.parse().ok()?, workers.parse().ok()?))
}

/// The microseconds that serving the whole queue takes: to find out who is alike, to decide, and to put together what is told; and
/// what is decided.
fn measure(generated: &Generated, way: SearchMode) -> ([f64; 3], Planning) {
    let mut times = Vec::new();
    let mut last = None;
    for _ in 0..RUNS {
        let mut queue = Queue::new(&generated.input(), way);
        let begin = processor_time();
        queue.sign();
        let signed = processor_time();
        let decided = queue.decide();
        let served = processor_time();
        last = Some(decided.into_planning());
        times.push([signed - begin, served - signed, processor_time() - served]);
    }
    times.sort_by(|one, other| one.iter().sum::<f64>().total_cmp(&other.iter().sum()));
    (times[RUNS / 2], last.expect("it ran"))
}

fn number(count: u64) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}

/// What this process has used of processors, in microseconds.
fn processor_time() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or_default();
    let nanoseconds = u32::try_from(time.tv_nsec).unwrap_or_default();
    Duration::new(seconds, nanoseconds).as_secs_f64() * 1e6
}
