//! What comes out is bounded, and so is what it takes: a few lines of a policy could double an object again and again.

use serde_json::Value;

use super::trouble::ChangeTrouble;

/// The most bytes of an object, about: as much as a whole file that a template makes.
pub(super) const MOST_BYTES: usize = 1 << 20;
/// The deepest object. The deepest that is committed, a CRD, reaches 60.
const DEEPEST: usize = 64;
/// The most steps of all policies on one folder. The largest folder has some fifty objects.
pub(super) const MOST_STEPS: usize = 20_000;

/// Whether a value is not too large and not too deep.
pub(super) fn size(value: &Value) -> Result<(), ChangeTrouble> {
    let mut bytes = 0;
    if within(value, DEEPEST, &mut bytes) {
        return Ok(());
    }
    let why = "the object would have more than 1 MiB, or more than 64 levels";
    Err(ChangeTrouble::new(
        "",
        why,
        "change less; an operation that copies may double what is there",
    ))
}

/// Counts the bytes of a value, and stops where there are too many.
fn within(value: &Value, levels: usize, bytes: &mut usize) -> bool {
    if levels == 0 {
        return false;
    }
    *bytes += match value {
        Value::String(text) => 2 + text.len(),
        _ => 8,
    };
    if *bytes > MOST_BYTES {
        return false;
    }
    match value {
        Value::Array(items) => items.iter().all(|item| within(item, levels - 1, bytes)),
        Value::Object(map) => map.iter().all(|(key, value)| {
            *bytes += 4 + key.len();
            within(value, levels - 1, bytes)
        }),
        _ => true,
    }
}

/// The steps that are left.
#[derive(Debug)]
pub(super) struct Fuel(usize);

impl Fuel {
    pub(super) const fn full() -> Self {
        Self(MOST_STEPS)
    }

    /// Takes so many steps.
    pub(super) fn spend(&mut self, steps: usize) -> Result<(), ChangeTrouble> {
        self.0 = self.0.checked_sub(steps).ok_or_else(|| {
            let why = format!("all changes together take more than {MOST_STEPS} steps");
            ChangeTrouble::new("", why, "select fewer objects, or make one change of several")
        })?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_too_large_or_too_deep_is_refused() {
        let nested = |levels: usize| (1..levels).fold(json!(1), |inner, _| json!([inner]));
        assert!(size(&nested(DEEPEST)).is_ok());
        assert!(size(&nested(DEEPEST + 1)).is_err());
        assert!(size(&json!({"a": "x".repeat(MOST_BYTES - 100)})).is_ok());
        assert!(size(&json!({"a": "x".repeat(MOST_BYTES)})).is_err());
        assert!(size(&json!(vec![0; MOST_BYTES / 4])).is_err());
    }

    #[test]
    fn steps_run_out() {
        let mut fuel = Fuel::full();
        assert!(fuel.spend(MOST_STEPS).is_ok());
        assert!(fuel.spend(1).is_err());
    }
}
