//! `args`: the arguments of a container. Items are taken out first, and then others added at the end.

use serde_json::Value;

use super::containers;
use super::trouble::ChangeTrouble;
use crate::diag::FieldPath;
use crate::model::api::ItemsChange;

const LIST: &str = "args";

/// Changes an object.
pub(super) fn apply(object: &mut Value, change: &ItemsChange) -> Result<(), ChangeTrouble> {
    containers::items(object, LIST, change).map_err(|trouble| trouble.below(&FieldPath::keys(LIST)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::containers::tests::{app, deployment};
    use super::*;

    fn changed(before: &Value, change: &Value) -> Value {
        let mut object = deployment(json!({LIST: before}));
        let change = serde_json::from_value(change.clone()).unwrap();
        apply(&mut object, &change).unwrap();
        let once = object.clone();
        apply(&mut object, &change).unwrap();
        assert_eq!(object, once, "once more makes no difference");
        app(&object)[LIST].clone()
    }

    #[test]
    fn an_argument_takes_the_place_of_another() {
        let before = json!(["--v=2", "--port=80", "--v=2"]);
        let change = json!({"container": "app", "remove": ["--v=2"], "add": ["--v=4"]});
        assert_eq!(changed(&before, &change), json!(["--port=80", "--v=4"]));
    }

    #[test]
    fn what_belongs_together_is_added_together() {
        let before = json!(["--set", "a=1"]);
        let change = json!({"container": "app", "add": ["--set", "b=2"]});
        assert_eq!(changed(&before, &change), json!(["--set", "a=1", "--set", "b=2"]));
        let there = json!({"container": "app", "add": ["--set", "a=1"]});
        assert_eq!(changed(&before, &there), before, "it stands there already");
    }

    #[test]
    fn another_container_is_left_alone() {
        let before = json!(["--v=2"]);
        let change = json!({"container": "other", "add": ["--v=4"]});
        assert_eq!(changed(&before, &change), before);
    }
}
