//! `command`: the command of a container. Items are taken out first, and then others added at the end.

use serde_json::Value;

use super::containers;
use super::trouble::ChangeTrouble;
use crate::diag::FieldPath;
use crate::model::api::ItemsChange;

const LIST: &str = "command";

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
    fn a_command_gets_words_and_loses_some() {
        let before = json!(["/bin/app", "serve"]);
        let wrapped = json!({"container": "app", "remove": ["serve"], "add": ["run", "--all"]});
        assert_eq!(changed(&before, &wrapped), json!(["/bin/app", "run", "--all"]));
        let all = json!({"container": "app", "remove": ["/bin/app", "serve"]});
        assert_eq!(changed(&before, &all), Value::Null, "an empty list is none");
    }

    #[test]
    fn a_container_without_a_command_gets_one() {
        let mut object = deployment(json!({}));
        let change =
            ItemsChange { container: "app".into(), add: vec!["x".into()], ..Default::default() };
        apply(&mut object, &change).unwrap();
        assert_eq!(app(&object)[LIST], json!(["x"]));
    }

    #[test]
    fn a_command_that_is_no_list_is_told() {
        let mut object = deployment(json!({LIST: "x"}));
        let change = ItemsChange { container: "app".into(), ..Default::default() };
        assert_eq!(apply(&mut object, &change).unwrap_err().at.to_string(), "command");
    }
}
