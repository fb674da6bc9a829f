//! What a decision costs: the plain scan beside the index, for the same fleet in the same run.
//!
//! ```text
//! cargo bench --bench placement                       1,000 clusters on 20 workers, and 10,000 on 200
//! cargo bench --bench placement -- 100000x2000        other sizes; the plain scan then takes minutes
//! cargo bench --bench placement -- 100000x2000 index  without the plain scan
//! ```
//! `Ruled` is with spread, anti-affinity and quota, `Free` without. Microseconds of processor time for each cluster that is served, the median of three; the time of the
//! wall says little on a machine that others use. The harness is these few lines, for those of criterion
//! and divan measure the wall only and print no ratio.

mod fleet;

use std::io::{Write, stdout};
use std::time::Duration;

use carp::plan::{Planning, Queue, Way};
use fleet::{Generated, Together};

const RUNS: usize = 3;

fn main() -> std::io::Result<()> {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with("--")).collect();
    let with_scan = args.iter().all(|arg| arg != "index");
    let mut sizes: Vec<(usize, usize)> = args.iter().filter_map(|arg| size(arg)).collect();
    if sizes.is_empty() {
        sizes = vec![(1_000, 20), (10_000, 200)];
    }
    writeln!(stdout(), "clusters workers rules  scan µs  index µs  ratio  indexed")?;
    let both = [Together::Free, Together::Ruled];
    for ((clusters, workers), rules) in sizes.into_iter().flat_map(|s| both.map(|b| (s, b))) {
        let generated = Generated::new(clusters, workers, rules);
        let (index, told) = measure(&generated, Way::Index);
        let per_cluster = |total: f64| total / number(told.plan.clusters.len() as u64);
        let share = 100.0 * number(told.indexed) / number(told.searched);
        let index = per_cluster(index);
        write!(stdout(), "{clusters:>8} {workers:>7} {rules:?}")?;
        if with_scan {
            let (scan, scanned) = measure(&generated, Way::Scan);
            assert!(scanned.plan == told.plan, "the index decides as the plain scan does");
            let scan = per_cluster(scan);
            write!(stdout(), " {scan:>8.2}  {index:>8.2} {:>6.0}", scan / index)?;
        } else {
            write!(stdout(), "        -  {index:>8.2}      -")?;
        }
        writeln!(stdout(), "   {share:.1} %")?;
    }
    Ok(())
}

/// `10000x200`: so many clusters on so many workers.
fn size(text: &str) -> Option<(usize, usize)> {
    let (clusters, workers) = text.split_once('x')?;
    Some((clusters.parse().ok()?, workers.parse().ok()?))
}

/// The microseconds that serving the whole queue takes, and what is decided.
fn measure(generated: &Generated, way: Way) -> (f64, Planning) {
    let mut times = Vec::new();
    let mut last = None;
    for _ in 0..RUNS {
        let queue = Queue::new(&generated.input(), way);
        let before = processor_time();
        let planning = queue.serve();
        times.push(processor_time() - before);
        last = Some(planning);
    }
    times.sort_by(f64::total_cmp);
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
