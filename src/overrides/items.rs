//! `command` and `args`: lists of texts of a container. Items are taken out first, and then others added at the end.

use serde_json::{Value, json};

use super::containers::containers;
use super::trouble::ChangeTrouble;
use crate::diag::FieldPath;
use crate::model::api::ItemsChange;

/// Changes the command of a container.
pub(super) fn command(object: &mut Value, change: &ItemsChange) -> Result<(), ChangeTrouble> {
    apply(object, "command", change)
}

/// Changes the arguments of a container.
pub(super) fn args(object: &mut Value, change: &ItemsChange) -> Result<(), ChangeTrouble> {
    apply(object, "args", change)
}

/// Changes a list of every container of the name. A list without items is left out.
fn apply(object: &mut Value, list: &str, change: &ItemsChange) -> Result<(), ChangeTrouble> {
    for container in containers(object, Some(&change.container)) {
        let Some(container) = container.as_object_mut() else { continue };
        let known = match container.get(list) {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Array(items)) => items.clone(),
            Some(_) => {
                let why = format!("`{list}` of the container `{}` is no list", change.container);
                let trouble = ChangeTrouble::new("", why, "mend the template");
                return Err(trouble.below(&FieldPath::default().key(list)));
            }
        };
        let mut items = known.clone();
        items.retain(|item| {
            item.as_str().is_none_or(|item| !change.remove.iter().any(|r| r == item))
        });
        let added: Vec<Value> = change.add.iter().map(|item| json!(item)).collect();
        if !added.is_empty() && !items.windows(added.len()).any(|part| part == added) {
            items.extend(added);
        }
        if items.is_empty() {
            container.remove(list);
        } else if items != known {
            container.insert(list.to_owned(), items.into());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::containers::tests::{app, deployment};
    use super::*;

    type Apply = fn(&mut Value, &ItemsChange) -> Result<(), ChangeTrouble>;

    /// Both lists, and what changes each of them.
    const BOTH: [(&str, Apply); 2] = [("command", command), ("args", args)];

    /// Checks what comes of a change of each list; the other one stays.
    fn check(before: &Value, change: &Value, after: &Value) {
        let change = serde_json::from_value(change.clone()).unwrap();
        for (list, apply) in BOTH {
            let other = if list == "args" { "command" } else { "args" };
            let mut object = deployment(json!({list: before, other: ["own"]}));
            apply(&mut object, &change).unwrap();
            assert_eq!(app(&object)[list], *after, "{list}");
            assert_eq!(app(&object)[other], json!(["own"]), "{list} is not {other}");
            let once = object.clone();
            apply(&mut object, &change).unwrap();
            assert_eq!(object, once, "{list}: once more makes no difference");
        }
    }

    #[test]
    fn items_are_taken_out_wherever_they_stand_and_added_at_the_end() {
        let before = json!(["--v=2", "--port=80", "--v=2"]);
        let change = json!({"container": "app", "remove": ["--v=2"], "add": ["--v=4"]});
        check(&before, &change, &json!(["--port=80", "--v=4"]));
        let all = json!({"container": "app", "remove": ["--v=2", "--port=80"]});
        check(&before, &all, &Value::Null);
        check(&Value::Null, &json!({"container": "app", "add": ["x"]}), &json!(["x"]));
    }

    #[test]
    fn what_belongs_together_is_added_together() {
        let before = json!(["--set", "a=1"]);
        let change = json!({"container": "app", "add": ["--set", "b=2"]});
        check(&before, &change, &json!(["--set", "a=1", "--set", "b=2"]));
        check(&before, &json!({"container": "app", "add": ["--set", "a=1"]}), &before);
    }

    #[test]
    fn another_container_is_left_alone() {
        let before = json!(["--v=2"]);
        check(&before, &json!({"container": "other", "add": ["--v=4"]}), &before);
    }

    #[test]
    fn what_is_no_list_is_told() {
        for (list, apply) in BOTH {
            let mut object = deployment(json!({list: "x"}));
            let change = ItemsChange { container: "app".into(), ..Default::default() };
            assert_eq!(apply(&mut object, &change).unwrap_err().at.to_string(), list);
        }
    }
}
