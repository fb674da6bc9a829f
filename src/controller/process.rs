//! What the system says about this process, under the names that every Prometheus client uses. Where
//! the system does not say it, nothing is shown.
#![expect(clippy::disallowed_methods, reason = "the process looks at itself in /proc")]

use std::fmt;
use std::fs;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;

/// Clock ticks a second in `/proc`: 100 on every Linux that carp runs on (`getconf CLK_TCK`).
const TICKS: f64 = 100.0;

/// Reads `/proc/self` whenever it is asked.
#[derive(Debug)]
pub(super) struct Process;

impl Collector for Process {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        if let Some(seconds) = cpu_seconds() {
            let help = "Processor time, that of git and other children included";
            counter(&mut encoder, "process_cpu_seconds", help, seconds)?;
        }
        let gauges = [
            ("process_resident_memory_bytes", "Memory in use", memory("VmRSS:")),
            ("process_virtual_memory_bytes", "Memory that is mapped", memory("VmSize:")),
            ("process_open_fds", "Open files", open_files()),
            ("process_max_fds", "How many files may be open", most_files()),
            ("process_threads", "Threads", status("Threads:")),
            ("process_start_time_seconds", "When the process began", started()),
        ];
        for (name, help, value) in gauges {
            let Some(value) = value else { continue };
            let gauge = ConstGauge::new(value);
            gauge.encode(encoder.encode_descriptor(name, help, None, gauge.metric_type())?)?;
        }
        Ok(())
    }
}

fn counter(
    encoder: &mut DescriptorEncoder<'_>,
    name: &str,
    help: &str,
    value: f64,
) -> Result<(), fmt::Error> {
    let counter = ConstCounter::new(value);
    counter.encode(encoder.encode_descriptor(name, help, None, counter.metric_type())?)
}

/// The n-th field of `/proc/self/stat`, from 1, as proc(5) counts them.
fn stat(field: usize) -> Option<f64> {
    let text = fs::read_to_string("/proc/self/stat").ok()?;
    // The second field is the program's name, which may hold anything.
    let (_, rest) = text.rsplit_once(')')?;
    rest.split_whitespace().nth(field.checked_sub(3)?)?.parse().ok()
}

fn cpu_seconds() -> Option<f64> {
    let ticks: Option<f64> = (14..=17).map(stat).sum();
    Some(ticks? / TICKS)
}

fn started() -> Option<f64> {
    let text = fs::read_to_string("/proc/stat").ok()?;
    let booted: f64 = text.lines().find_map(|l| l.strip_prefix("btime "))?.trim().parse().ok()?;
    Some(booted + stat(22)? / TICKS)
}

fn status(key: &str) -> Option<f64> {
    let text = fs::read_to_string("/proc/self/status").ok()?;
    let value = text.lines().find_map(|line| line.strip_prefix(key))?;
    value.split_whitespace().next()?.parse().ok()
}

/// `/proc` counts memory in KiB.
fn memory(key: &str) -> Option<f64> {
    status(key).map(|kib| kib * 1024.0)
}

fn open_files() -> Option<f64> {
    let count = fs::read_dir("/proc/self/fd").ok()?.count();
    u32::try_from(count).ok().map(f64::from)
}

fn most_files() -> Option<f64> {
    let text = fs::read_to_string("/proc/self/limits").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn the_system_tells_all_of_it() {
        assert!(cpu_seconds().is_some_and(|seconds| seconds >= 0.0));
        assert!(memory("VmRSS:").is_some_and(|bytes| bytes > 1e6));
        assert!(open_files().is_some_and(|count| count >= 3.0));
        assert!(most_files() >= open_files());
        // Later than 2020, and no more than a boot time from now.
        assert!(started().is_some_and(|second| second > 1.6e9));
    }
}
