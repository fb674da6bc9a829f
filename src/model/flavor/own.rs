//! What the fleet brings itself, in place of the flavor or beside it, as its parameters say.

use serde_json::Value;

use super::super::api::Parameters;
use super::super::parameters::{ParameterSchema, ParameterType};
use super::{Brings, Flavor, FlavorFault, FlavorStep};
use crate::diag::FieldPath;

/// What a parameter says that leaves something to the fleet.
const OWN: &str = "own";

impl Flavor {
    /// Whether a parameter, by its path (`addOns.cni`), leaves to the fleet what it is about.
    #[must_use]
    pub fn is_own(&self, parameter: &str, said: &Parameters) -> bool {
        self.said(parameter, said).is_some_and(|value| value == OWN)
    }

    /// Whether its clusters have something from their cloud, or from the fleet, as these parameters say.
    #[must_use]
    pub fn leaves_out(&self, what: Brings, said: &Parameters) -> bool {
        self.brings(what) || self.own.get(&what).is_some_and(|path| self.is_own(path, said))
    }

    /// The names of what a parameter lists, in its order.
    #[must_use]
    pub fn names_in(&self, parameter: &str, said: &Parameters) -> Vec<String> {
        let listed = self.said(parameter, said);
        let items = listed.as_ref().and_then(Value::as_array).into_iter().flatten();
        items.filter_map(|item| Some(item.get("name")?.as_str()?.to_owned())).collect()
    }

    fn said(&self, parameter: &str, said: &Parameters) -> Option<Value> {
        let all = self.parameters.schema.filled(&said.value());
        parameter.split('.').try_fold(&all, |value, name| value.get(name)).cloned()
    }

    /// A parameter that is named and leaves nothing to the fleet, or lists nothing. It is asked once the parameters of other
    /// files are in the schema.
    pub(in crate::model) fn nothing_own(&self) -> Option<FlavorFault> {
        let schema = &self.parameters.schema;
        let unlike_own = |path: &str| {
            let leaves = |found: &ParameterSchema| found.allowed.iter().any(|value| value == OWN);
            (!declared(schema, path).is_some_and(leaves))
                .then(|| format!("`{path}` is no parameter whose `enum` has `{OWN}`"))
        };
        let whole = self.own.iter().find_map(|(what, path)| {
            let at = FieldPath::keys("own").key(what.name());
            Some(FlavorFault::at(at, unlike_own(path)?))
        });
        whole.or_else(|| {
            self.readiness.iter().enumerate().find_map(|(i, step)| {
                let at = FieldPath::keys("readiness").index(i);
                let own = step.own.as_deref().and_then(unlike_own);
                let own = own.map(|message| FlavorFault::at(at.key("own"), message));
                own.or_else(|| {
                    let message = self.wrong_each(step)?;
                    Some(FlavorFault::at(at.key("each"), message))
                })
            })
        })
    }

    /// What is wrong with a step whose objects a parameter lists.
    fn wrong_each(&self, step: &FlavorStep) -> Option<String> {
        let path = step.each.as_deref()?;
        let items = declared(&self.parameters.schema, path).and_then(|list| list.items.as_ref());
        let name = items.and_then(|items| items.properties.get("name"));
        if name.is_none_or(|name| name.kind != Some(ParameterType::String)) {
            return Some(format!("`{path}` is no parameter that lists what has a `name`"));
        }
        if step.name.is_some() || step.own.is_some() {
            return Some("`each` goes with neither `name` nor `own`".to_owned());
        }
        // Where nothing is listed there is no such step.
        let waits = self.readiness.iter().find(|other| other.after.contains(&step.step))?;
        Some(format!(
            "the step `{}` is after `{}`, which is not always there",
            waits.step, step.step
        ))
    }
}

fn declared<'s>(schema: &'s ParameterSchema, path: &str) -> Option<&'s ParameterSchema> {
    path.split('.').try_fold(schema, |schema, name| schema.properties.get(name))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::read_flavor;
    use super::*;

    const TEXT: &str = "kind: Worker\nmobility: None\nbrings: [Issuer]\nown: {StorageClass: addOns.csi}\n\
        parameters:\n  openAPIV3Schema:\n    type: object\n    properties:\n      addOns:\n        type: object\n        \
        default: {}\n        properties:\n          csi: {type: string, enum: [ebs, own], default: ebs}\n          \
        os: {type: string}\n      charts: {type: array, items: {type: object, properties: {name: {type: string}}}}\n\
        objects: [{apiVersion: v1, kind: A, onDeletion: Keep}]\nreadiness:\n- {step: disks, kind: A, own: addOns.csi}\n\
        - {step: charts, kind: A, each: charts}\n";

    fn parameters(value: Value) -> Parameters {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn what_a_parameter_calls_own_is_the_fleets() {
        let flavor = read_flavor(TEXT).unwrap();
        assert_eq!(flavor.nothing_own(), None);
        let own = |value: Value| {
            let said = parameters(value);
            (flavor.is_own("addOns.csi", &said), flavor.leaves_out(Brings::StorageClass, &said))
        };
        assert_eq!(own(json!({})), (false, false));
        assert_eq!(own(json!({"addOns": {"csi": "ebs"}})), (false, false));
        assert_eq!(own(json!({"addOns": {"csi": "own"}})), (true, true));
        assert!(flavor.leaves_out(Brings::Issuer, &parameters(json!({}))));
        let listed = parameters(json!({"charts": [{"name": "b"}, {"name": "a"}]}));
        assert_eq!(flavor.names_in("charts", &listed), ["b", "a"]);
        assert_eq!(flavor.names_in("charts", &parameters(json!({}))), Vec::<String>::new());
    }

    #[test]
    fn a_parameter_that_leaves_nothing_to_the_fleet_is_told() {
        let told = |from: &str, to: &str| {
            assert!(TEXT.contains(from), "{from}");
            let fault = read_flavor(&TEXT.replacen(from, to, 1)).unwrap().nothing_own().unwrap();
            let super::super::FaultPlace::Field(field) = fault.place else { panic!("{fault:?}") };
            format!("{field}: {}", fault.message)
        };
        let no = "is no parameter whose `enum` has `own`";
        assert_eq!(
            told("StorageClass: addOns.csi", "StorageClass: addOns.os"),
            format!("own.StorageClass: `addOns.os` {no}")
        );
        assert_eq!(
            told("own: addOns.csi}\n-", "own: addOn.csi}\n-"),
            format!("readiness[0].own: `addOn.csi` {no}")
        );
        assert_eq!(
            told("each: charts", "each: addOns"),
            "readiness[1].each: `addOns` is no parameter that lists what has a `name`"
        );
        assert_eq!(
            told("each: charts", "each: charts, name: a"),
            "readiness[1].each: `each` goes with neither `name` nor `own`"
        );
        assert_eq!(
            told("each: charts}\n", "each: charts}\n- {step: last, kind: A, after: [charts]}\n"),
            "readiness[1].each: the step `last` is after `charts`, which is not always there"
        );
    }
}
