//! The policies of one cluster, applied to the objects of its folder.

use std::sync::Arc;

use serde_json::{Value, json};

use super::bounds::Fuel;
use super::select::selects;
use super::trouble::ChangeTrouble;
use super::{entries, field, image, items, json_patch, merge_patch, own};
use crate::diag::{Code, Diagnostic, Diagnostics, FieldPath, Place};
use crate::model::api::{ChangeOf, OverrideChange};
use crate::model::{EditedObject, Name, ObjectEdits, Override};

/// The most findings about one folder: whoever has so many mends the first ones and sees the rest.
const MOST: usize = 10;

/// The policies that a cluster has, in the order of their turns.
#[derive(Clone, Debug, Default)]
pub struct Overrides(Vec<Arc<Override>>);

impl Overrides {
    pub(super) fn new(all: Vec<Arc<Override>>) -> Self {
        Self(all)
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The policies, in the order of their turns.
    pub fn policies(&self) -> impl Iterator<Item = &Override> {
        self.0.iter().map(|policy| &**policy)
    }

    fn object(
        &self,
        object: &Value,
        fuel: &mut Fuel,
    ) -> Result<Option<EditedObject>, Box<Diagnostic>> {
        let mut now = object.clone();
        let mut by = Vec::new();
        for policy in self.policies().filter(|policy| is_for(policy, object)) {
            let before = now.clone();
            for (at, change) in policy.spec.changes.iter().enumerate() {
                make(change, &mut now, fuel)
                    .map_err(|trouble| Box::new(failed(policy, at, object, trouble)))?;
            }
            own::check(&before, &now)
                .map_err(|trouble| Box::new(refused(policy, object, &trouble)))?;
            if now != before {
                by.push(policy.name.clone());
            }
        }
        Ok((!by.is_empty()).then_some(EditedObject { value: now, by }))
    }
}

impl ObjectEdits for Overrides {
    fn facts(&self) -> Value {
        self.policies().map(|policy| json!([policy.name, policy.effect])).collect()
    }

    fn edit(&self, objects: &[&Value]) -> Result<Vec<Option<EditedObject>>, Diagnostics> {
        let (mut edited, mut found) = (Vec::new(), Diagnostics::default());
        let mut fuel = Fuel::full();
        for object in objects {
            match self.object(object, &mut fuel) {
                Ok(one) => edited.push(one),
                Err(finding) => found.push(*finding),
            }
            if found.iter().count() >= MOST {
                break;
            }
        }
        if found.is_empty() { Ok(edited) } else { Err(found) }
    }

    fn place(&self, by: &Name) -> Option<Place> {
        let policy = self.policies().find(|policy| policy.name == *by)?;
        let changes = FieldPath::keys("spec.changes");
        Some(Place::field(&*policy.file, policy.document, changes))
    }
}

fn is_for(policy: &Override, object: &Value) -> bool {
    policy.spec.objects.iter().any(|selector| selects(selector, object))
}

fn make(change: &OverrideChange, object: &mut Value, fuel: &mut Fuel) -> Result<(), ChangeTrouble> {
    fuel.spend(change.steps())?;
    for kind in change.kinds() {
        match kind {
            ChangeOf::JsonPatch(patch) => json_patch::apply(object, patch)?,
            ChangeOf::MergePatch(patch) => merge_patch::apply(object, patch)?,
            ChangeOf::Image(change) => image::apply(object, change)?,
            ChangeOf::Command(change) => items::command(object, change)?,
            ChangeOf::Args(change) => items::args(object, change)?,
            ChangeOf::Labels(change) => entries::labels(object, change),
            ChangeOf::Annotations(change) => entries::annotations(object, change),
            ChangeOf::Field(change) => field::apply(object, change)?,
        }
    }
    Ok(())
}

/// `Deployment pay-eu-autoscaler`.
fn shown(object: &Value) -> String {
    let text = |at: &str| object.pointer(at).and_then(Value::as_str).unwrap_or_default();
    format!("{} {}", text("/kind"), text("/metadata/name"))
}

fn failed(policy: &Override, at: usize, object: &Value, trouble: ChangeTrouble) -> Diagnostic {
    let trouble = trouble.below(&FieldPath::keys("spec.changes").index(at));
    let message = format!("`{}` cannot change {}: {}", policy.name, shown(object), trouble.why);
    Diagnostic::new(Code::OverrideFailed, message)
        .at(Place::field(&*policy.file, policy.document, trouble.at))
        .help(trouble.help)
}

fn refused(policy: &Override, object: &Value, trouble: &ChangeTrouble) -> Diagnostic {
    let message = format!("`{}` may not change {} so: {}", policy.name, shown(object), trouble.why);
    Diagnostic::new(Code::OverrideRefused, message)
        .at(Place::field(&*policy.file, policy.document, FieldPath::keys("spec.changes")))
        .help(&*trouble.help)
}

/// What a policy finds to do among some objects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effects {
    /// Of each of its selectors whether it selects an object.
    pub selects: Vec<bool>,
    /// Of each of its changes whether it changes an object.
    pub changes: Vec<bool>,
}

/// What a policy, alone, finds to do among some objects. A change that fails counts: that is told elsewhere.
#[must_use]
pub fn effects(policy: &Override, objects: &[Value]) -> Effects {
    let any = |selector| objects.iter().any(|object| selects(selector, object));
    let mut changes = vec![false; policy.spec.changes.len()];
    let mut fuel = Fuel::full();
    for object in objects.iter().filter(|object| is_for(policy, object)) {
        let mut now = object.clone();
        for (has_effect, change) in changes.iter_mut().zip(&policy.spec.changes) {
            let before = now.clone();
            let failed = make(change, &mut now, &mut fuel).is_err();
            *has_effect |= failed || now != before;
        }
    }
    Effects { selects: policy.spec.objects.iter().map(any).collect(), changes }
}
