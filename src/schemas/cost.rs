//! What evaluating a rule takes at most, worked out of its expression and the sizes of what it is asked about, before
//! anything is evaluated. CEL ends always, and still three nested loops over a long list, or a text that is put behind
//! itself forty times, never come back. An API server counts while it evaluates (`k8s.io/apiserver`,
//! `pkg/cel/limits.go`), which the library here does not.
//!
//! The bounds are coarse and above the truth: what they let pass is fast.

use std::collections::BTreeMap;

use kube_cel::cel::common::ast::{
    CallExpr, ComprehensionExpr, EntryExpr, Expr, IdedExpr, LiteralValue, operators,
};

use super::extent::ValueExtent;

/// What reading a quantity, an address or a version counts.
const OF_READING: u64 = 200;
/// What a part of a regular expression counts, and one of an expression with classes.
const OF_A_PART: u64 = 4;
const OF_A_CLASS: u64 = 100;
/// How many bytes are looked at in one step.
const STRIDE: u64 = 64;
/// The longest list that `range` may make, and the most digits of a number that is printed.
const LONGEST: i64 = 1_000;
/// Functions whose answer is a truth, a number or a moment, whatever they are asked about.
const SMALL: &[&str] = &[
    "size",
    "contains",
    "startsWith",
    "endsWith",
    "matches",
    "int",
    "uint",
    "double",
    "bool",
    "indexOf",
    "lastIndexOf",
    "isSorted",
    "isInteger",
    "isLessThan",
    "isGreaterThan",
    "compareTo",
    "sign",
    "asInteger",
    "asApproximateFloat",
    "hasValue",
    "duration",
    "timestamp",
    "isURL",
    "isIP",
    "isCIDR",
    "isQuantity",
    "isSemver",
    "sets.contains",
    "sets.equivalent",
    "sets.intersects",
    "containsIP",
    "containsCIDR",
    "family",
    "prefixLength",
    "type",
    "dyn_",
];
/// Functions that make a list of a text, or one list of several.
const LISTS: &[&str] = &["split", "findAll", "flatten"];

/// The most steps that a rule takes where names stand for values of these sizes.
pub(super) fn cost(rule: &IdedExpr, names: &BTreeMap<&str, ValueExtent>) -> u64 {
    let mut scope = RuleScope { names: names.iter().map(|(k, v)| (*k, *v)).collect(), steps: 0 };
    scope.visit(rule);
    scope.steps
}

struct RuleScope<'a> {
    /// What names stand for, inner ones last.
    names: Vec<(&'a str, ValueExtent)>,
    steps: u64,
}

impl<'a> RuleScope<'a> {
    /// Adds what evaluating takes, and returns how large the answer is.
    fn visit(&mut self, expr: &'a IdedExpr) -> ValueExtent {
        self.steps = self.steps.saturating_add(1);
        match &expr.expr {
            Expr::Literal(LiteralValue::String(text)) => ValueExtent::text(text.inner().len()),
            Expr::Literal(LiteralValue::Bytes(bytes)) => ValueExtent::text(bytes.inner().len()),
            Expr::Unspecified | Expr::Literal(_) => ValueExtent::SMALL,
            Expr::Ident(name) => {
                let known = self.names.iter().rev().find(|(known, _)| known == name);
                known.map_or(ValueExtent::SMALL, |(_, extent)| *extent)
            }
            Expr::Select(select) => {
                let of = self.visit(&select.operand);
                if select.test { ValueExtent::SMALL } else { of.part() }
            }
            Expr::List(list) => list
                .elements
                .iter()
                .fold(ValueExtent::SMALL, |all, item| all.with(self.visit(item))),
            Expr::Map(map) => {
                map.entries.iter().fold(ValueExtent::SMALL, |all, e| all.with(self.entry(&e.expr)))
            }
            Expr::Struct(of) => {
                of.entries.iter().fold(ValueExtent::SMALL, |all, e| all.with(self.entry(&e.expr)))
            }
            Expr::Call(call) => self.call(call),
            Expr::Comprehension(of) => self.comprehension(of),
        }
    }

    fn entry(&mut self, entry: &'a EntryExpr) -> ValueExtent {
        match entry {
            EntryExpr::StructField(field) => self.visit(&field.value),
            EntryExpr::MapEntry(entry) => {
                let (key, value) = (self.visit(&entry.key), self.visit(&entry.value));
                ValueExtent { bytes: key.bytes.saturating_add(value.bytes), ..value }
            }
        }
    }

    fn call(&mut self, call: &'a CallExpr) -> ValueExtent {
        let of = call.target.as_deref().into_iter().chain(&call.args);
        let of: Vec<ValueExtent> = of.map(|arg| self.visit(arg)).collect();
        let all = of.iter().copied().fold(ValueExtent::default(), ValueExtent::plus);
        let name = call.func_name.as_str();
        let is_operator = name.starts_with(['_', '!', '-', '@']);
        let reading = match name {
            "matches" | "find" | "findAll" => of_pattern(call),
            _ if is_operator => 0,
            _ => OF_READING,
        };
        self.steps = self.steps.saturating_add(reading).saturating_add(all.bytes / STRIDE);
        match name {
            operators::ADD | operators::CONDITIONAL => all,
            operators::INDEX | operators::OPT_INDEX | operators::OPT_SELECT => all.part(),
            _ if is_operator || SMALL.contains(&name) => ValueExtent::SMALL,
            "range" => self.range(call),
            "format" if !prints_little(call) => self.endless(),
            // No item without a byte, and each counts as a value.
            _ if LISTS.contains(&name) => {
                ValueExtent { len: all.bytes, bytes: all.bytes.saturating_mul(9), ..all }
            }
            _ => {
                // One text for each item of another, or between them: `replace`, `join`.
                let product = of.iter().fold(1_u64, |n, extent| n.saturating_mul(extent.bytes));
                let bytes = if of.len() == 1 { all.bytes.saturating_mul(4) } else { product };
                self.steps = self.steps.saturating_add(bytes / STRIDE);
                ValueExtent { bytes, ..all }
            }
        }
    }

    fn range(&mut self, call: &CallExpr) -> ValueExtent {
        match call.args.first().map(|arg| &arg.expr) {
            Some(Expr::Literal(LiteralValue::Int(to))) if *to.inner() <= LONGEST => {
                let len = u64::try_from(*to.inner()).unwrap_or_default();
                let one = ValueExtent::SMALL.with(ValueExtent::SMALL);
                one.times(len.max(1))
            }
            _ => self.endless(),
        }
    }

    /// Nobody can say how much it is.
    fn endless(&mut self) -> ValueExtent {
        self.steps = u64::MAX;
        ValueExtent::ENDLESS
    }

    /// A loop, as macros make it: each turn adds as much to what is gathered.
    fn comprehension(&mut self, of: &'a ComprehensionExpr) -> ValueExtent {
        let range = self.visit(&of.iter_range);
        let first = self.visit(&of.accu_init);
        let before = std::mem::take(&mut self.steps);
        let known = self.names.len();
        self.names.push((&of.iter_var, range.item()));
        self.names.extend(of.iter_var2.as_deref().map(|name| (name, range.item())));
        self.names.push((&of.accu_var, ValueExtent::default()));
        self.visit(&of.loop_cond);
        let turn = self.visit(&of.loop_step);
        let gathered = first.plus(turn.times(range.len));
        // What is gathered is copied at each turn.
        let each = self.steps.saturating_add(gathered.bytes / STRIDE);
        self.steps = before.saturating_add(each.saturating_mul(range.len.saturating_add(1)));
        self.names.truncate(known);
        self.names.push((&of.accu_var, gathered));
        let result = self.visit(&of.result);
        self.names.truncate(known);
        result
    }
}

/// What compiling a regular expression counts, which is done at each evaluation: each part as often as it is repeated, and
/// a class of Unicode is hundreds of ranges. Nobody knows one that is worked out.
fn of_pattern(call: &CallExpr) -> u64 {
    let at = usize::from(call.target.is_none());
    let Some(Expr::Literal(LiteralValue::String(text))) = call.args.get(at).map(|arg| &arg.expr)
    else {
        return u64::MAX;
    };
    let text = text.inner();
    let repeated = text.split('{').skip(1).filter_map(|rest| {
        let (times, _) = rest.split_once('}')?;
        times.split(',').filter_map(|n| n.trim().parse::<u64>().ok()).max()
    });
    let times = repeated.fold(1_u64, |all, times| all.saturating_mul(times.max(1)));
    let is_wide = text.contains(['\\', '.']) || text.contains("(?");
    let part = if is_wide { OF_A_CLASS } else { OF_A_PART };
    let parts = u64::try_from(text.len()).unwrap_or(u64::MAX).saturating_mul(times);
    OF_READING.saturating_add(parts.saturating_mul(part))
}

/// Whether a format is a text that asks for no long numbers.
fn prints_little(call: &CallExpr) -> bool {
    let Some(Expr::Literal(LiteralValue::String(text))) = call.target.as_ref().map(|t| &t.expr)
    else {
        return false;
    };
    let numbers = text.inner().split(|c: char| !c.is_ascii_digit()).filter(|n| !n.is_empty());
    numbers.into_iter().all(|n| n.parse::<i64>().is_ok_and(|n| n <= LONGEST))
}

#[cfg(test)]
mod tests {
    use kube_cel::cel::Program;

    use super::*;

    fn steps(rule: &str, items: u64) -> u64 {
        let program = Program::compile(rule).unwrap();
        let item = ValueExtent { len: 4, items: 0, bytes: 60, largest: 20 };
        let of = (0..items).fold(ValueExtent::SMALL, |all, _| all.with(item));
        cost(program.expression(), &BTreeMap::from([("self", of)]))
    }

    #[test]
    fn rules_as_people_write_them_take_little() {
        for rule in [
            "self.replicas >= 0",
            "has(self.a) || !has(self.b)",
            "self.all(x, self.exists_one(y, x.name == y.name))",
            "self.matches('^[a-z0-9]+$') && size(self) < 63",
            "self.filter(x, x.primary).map(x, x.name).size() == 1",
            "cidr(self).prefixLength() > 8",
        ] {
            assert!(steps(rule, 30) < 200_000, "{rule}: {}", steps(rule, 30));
        }
        let split = Program::compile("self.split('/').all(p, p.size() < 10)").unwrap();
        let text = BTreeMap::from([("self", ValueExtent::text(60))]);
        assert!(cost(split.expression(), &text) < 200_000);
    }

    #[test]
    fn an_expression_is_compiled_each_time() {
        let small = steps("self.all(x, x.name.matches('^[a-z0-9-]{1,63}$'))", 64);
        assert!(small < 2_000_000, "{small}");
        let wide = steps(r"self.all(x, x.name.matches('(\\w{40}){3}'))", 64);
        assert!(wide > 5_000_000, "{wide}");
        assert!(steps("self.matches(self)", 1) > 100_000_000);
    }

    #[test]
    fn loops_in_loops_take_a_power() {
        let (one, two) =
            (steps("self.all(x, true)", 100), steps("self.all(x, self.all(y, true))", 100));
        assert!(one > 100 && two > 100 * 100, "{one} {two}");
        let deep = "self.all(a, self.all(b, self.all(c, self.all(d, a == b && c == d))))";
        assert!(steps(deep, 100) > 100_000_000);
    }

    #[test]
    fn a_text_that_grows_takes_what_it_comes_to() {
        let mut rule = "x".to_owned();
        for _ in 0..30 {
            rule = format!("[{rule}].map(x, x + x)[0]");
        }
        let rule = format!("['aaaaaaaa'].map(x, {rule}).size() == 1");
        assert!(steps(&rule, 1) > 100_000_000, "{}", steps(&rule, 1));
    }

    #[test]
    fn what_nobody_can_bound_has_no_bound() {
        for rule in [
            "lists.range(1000000000).size() > 0",
            "lists.range(self).size() > 0",
            "'%.99999999f'.format([1.0]) == ''",
            "self.format([1.0]) == ''",
        ] {
            assert_eq!(steps(rule, 1), u64::MAX, "{rule}");
        }
        assert!(steps("lists.range(10).size() > 0", 1) < 10_000);
        assert!(steps("'%.2f'.format([1.0]) == ''", 1) < 10_000);
    }
}
