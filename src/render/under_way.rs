//! Which templates are being rendered, told to whoever watches.
//!
//! Steps, filters, output (`budget`) and what is kept and joined (`measure`) have their bounds. What none of these
//! finds meets the bounds of the process: whoever watches these ends it, and says which template it was.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// Renderings that began and did not end.
static UNDER_WAY: Mutex<Vec<(u64, String)>> = Mutex::new(Vec::new());
static BEGUN: AtomicU64 = AtomicU64::new(0);

/// The rendering that began first of those that did not end: its number, and the path of its template. One that
/// keeps its number for long does not end.
#[must_use]
pub fn rendering() -> Option<(u64, String)> {
    let under_way = UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner);
    under_way.iter().min_by_key(|(number, _)| *number).cloned()
}

/// Begins a rendering, which ends when the result is dropped.
pub(super) fn begin(template: &str) -> UnderWay {
    let number = BEGUN.fetch_add(1, Ordering::Relaxed);
    let path = format!("templates/{template}");
    UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner).push((number, path));
    UnderWay(number)
}

/// A rendering under way.
pub(super) struct UnderWay(u64);

impl Drop for UnderWay {
    fn drop(&mut self) {
        let mut under_way = UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = under_way.iter().position(|(number, _)| *number == self.0) {
            under_way.swap_remove(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_rendered_is_told_while_it_is() {
        let path = "a-template-of-this-test.yaml";
        let is_told = || {
            let under_way = UNDER_WAY.lock().unwrap();
            under_way.iter().any(|(_, told)| told.ends_with(path))
        };
        let under = begin(path);
        assert!(is_told() && rendering().is_some());
        drop(under);
        assert!(!is_told());
    }
}
