//! The filters that [`super::measured`] puts in. Each gives back the value that it got.

use minijinja::value::{DynObject, ObjectRepr, Value, ValueKind};
use minijinja::{Environment, Error, ErrorKind, State};

use super::super::budget::{bytes, spend, within};

/// Adds them. Their names are in the way of nobody.
pub(in crate::render) fn install(env: &mut Environment<'static>) {
    env.add_filter(super::walk::MEASURED, measured);
    env.add_filter(super::walk::FIELD, field);
    env.add_filter(super::walk::LOOP, looped);
    env.add_filter(super::walk::TIMES, repeated);
    env.add_filter(super::walk::INCLUDE, included);
}

/// A value that is kept or used by an operator: no larger than a file may be, nor nested without end.
fn measured(state: &mut State, value: Value) -> Result<Value, Error> {
    let size = bytes(&value)?;
    spend(state, size)?;
    if value.kind() != ValueKind::Iterable || repr(&value) != Some(ObjectRepr::Iterable) {
        return Ok(value);
    }
    // What is worked out item by item from another such value is as deep as it was often done.
    Ok(value.try_iter()?.collect::<Vec<_>>().into())
}

/// What is kept in a namespace: no namespace is in it, for one that is in itself has no end.
fn field(state: &mut State, value: Value) -> Result<Value, Error> {
    let value = measured(state, value)?;
    if has_namespace(&value) {
        let why = "a namespace cannot be kept in a namespace";
        return Err(Error::new(ErrorKind::InvalidOperation, why));
    }
    Ok(value)
}

/// What a loop goes through, of which each turn writes so many bytes of the template's own text.
fn looped(state: &mut State, value: Value, text: usize) -> Result<Value, Error> {
    let value = measured(state, value)?;
    spend(state, value.len().unwrap_or_default().saturating_mul(text))?;
    Ok(value)
}

/// What is multiplied, by what: a text or a list is made as often as the number says, whichever is which.
fn repeated(state: &mut State, value: Value, by: Value) -> Result<Value, Error> {
    let value = measured(state, value)?;
    for (what, times) in [(&value, &by), (&by, &value)] {
        if let Some(times) = times.as_usize().filter(|_| !what.is_number()) {
            within(bytes(what)?.saturating_mul(times))?;
        }
    }
    Ok(value)
}

/// The name of a template, or the names of which one is taken, whose text is put in.
fn included(state: &mut State, name: Value) -> Result<Value, Error> {
    let names = match name.as_str() {
        Some(_) => vec![name.clone()],
        None => name.try_iter().into_iter().flatten().collect(),
    };
    let mut size = 0;
    for name in names.iter().filter_map(Value::as_str) {
        size += state.env().get_template(name).map_or(0, |template| template.source().len());
    }
    spend(state, size)?;
    Ok(name)
}

fn repr(value: &Value) -> Option<ObjectRepr> {
    value.as_object().map(DynObject::repr)
}

/// Whether a namespace is anywhere in a value, which is as small and as flat as [`measured`] lets it be.
fn has_namespace(value: &Value) -> bool {
    if value.as_object().is_some_and(|object| object.type_name().ends_with("::Namespace")) {
        return true;
    }
    let is_map = value.kind() == ValueKind::Map;
    if !is_map && value.kind() != ValueKind::Seq {
        return false;
    }
    value.try_iter().into_iter().flatten().any(|item| {
        let inner = if is_map { value.get_item(&item).unwrap_or_default() } else { item };
        has_namespace(&inner)
    })
}
