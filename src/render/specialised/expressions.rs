//! Where the expressions of a template take what it gets.

use minijinja::machinery::ast::{BinOp, BinOpKind, CallArg, Expr, Filter, GetAttr, UnaryOpKind};

use super::flow::{Flow, FlowWalk, ValueIds};
use super::looked_at::{CONTEXT, ValueId};

/// How many steps down a value is followed.
const DEEPEST: usize = 8;

impl FlowWalk {
    /// All that an expression may hold is looked at.
    fn look_at(&mut self, expr: &Expr) {
        let flow = self.expr(expr);
        self.look_at_all(&flow.all());
    }

    /// The flow of an expression.
    pub(super) fn expr(&mut self, expr: &Expr) -> Flow {
        match expr {
            Expr::Var(variable) => self.variable(variable.id),
            Expr::Const(_) => Flow::default(),
            Expr::UnaryOp(op) if matches!(op.op, UnaryOpKind::Not) => {
                self.expr(&op.expr);
                Flow::default()
            }
            Expr::BinOp(op) => self.operation(op),
            Expr::IfExpr(cond) => {
                self.expr(&cond.test_expr);
                let otherwise = cond.false_expr.as_ref().map(|expr| self.expr(expr));
                self.expr(&cond.true_expr).and(otherwise.unwrap_or_default())
            }
            Expr::Filter(filter) => self.filter(filter),
            Expr::Test(test) if matches!(test.name, "defined" | "undefined") => {
                self.expr(&test.expr);
                Flow::default()
            }
            Expr::GetAttr(get) if is_of_the_turn(get) => Flow::default(),
            Expr::GetAttr(get) => self.field(&get.expr, get.name),
            Expr::GetItem(get) => match name_of(&get.subscript_expr) {
                Some(name) => self.field(&get.expr, &name),
                None => self.looked(&[&get.expr, &get.subscript_expr]),
            },
            Expr::List(list) => Flow::list(self.union(&list.items)),
            Expr::Tuple(tuple) => Flow::list(self.union(&tuple.items)),
            Expr::Map(map) => {
                map.keys.iter().for_each(|key| self.look_at(key));
                self.union(&map.values).held()
            }
            Expr::Slice(_)
            | Expr::UnaryOp(_)
            | Expr::Compare(_)
            | Expr::Test(_)
            | Expr::Call(_) => {
                self.look_through(expr);
                Flow::default()
            }
        }
    }

    fn variable(&mut self, name: &str) -> Flow {
        // It has items of what the loop goes through.
        self.lost |= name == "loop";
        let kept = self.variables.get(name).cloned().unwrap_or_default();
        let given = self.looked_at.field(CONTEXT, name);
        Flow::of([given].into_iter().collect()).and(kept)
    }

    fn operation(&mut self, op: &BinOp) -> Flow {
        let both = self.expr(&op.left).and(self.expr(&op.right));
        match op.op {
            BinOpKind::ScAnd | BinOpKind::ScOr => both,
            BinOpKind::Concat => both.held(),
            // Of numbers it is a sum.
            BinOpKind::Add => {
                self.look_at_themselves(&both.is);
                self.joined(both)
            }
            _ => {
                self.look_at_all(&both.all());
                Flow::default()
            }
        }
    }

    /// All parts of an expression are looked at.
    fn look_through(&mut self, expr: &Expr) {
        match expr {
            Expr::Slice(slice) => {
                let bounds = [&slice.start, &slice.stop, &slice.step];
                bounds.into_iter().flatten().for_each(|bound| self.look_at(bound));
                self.look_at(&slice.expr);
            }
            Expr::UnaryOp(op) => self.look_at(&op.expr),
            Expr::Compare(compare) => {
                compare.ops.iter().for_each(|op| self.look_at(&op.expr));
                self.look_at(&compare.expr);
            }
            Expr::Test(test) => {
                self.look_at_arguments(&test.args);
                self.look_at(&test.expr);
            }
            Expr::Call(call) => {
                self.look_at_arguments(&call.args);
                self.look_at(&call.expr);
            }
            other => self.look_at(other),
        }
    }

    /// What is looked at leaves nothing behind that could differ.
    fn looked(&mut self, all: &[&Expr]) -> Flow {
        for expr in all {
            self.look_at(expr);
        }
        Flow::default()
    }

    fn look_at_arguments(&mut self, all: &[CallArg]) {
        for arg in all {
            self.look_at(value_of(arg));
        }
    }

    fn union(&mut self, items: &[Expr]) -> Flow {
        items.iter().fold(Flow::default(), |all, item| all.and(self.expr(item)))
    }

    /// Lists one after the other, or texts.
    fn joined(&mut self, lists: Flow) -> Flow {
        let Flow { is, pairs, holds, items } = lists;
        let each = self.each(&is);
        let own = items.map_or_else(Flow::default, |items| *items);
        Flow::list(each.and(own)).and(Flow { pairs, holds, ..Flow::default() })
    }

    fn field(&mut self, of: &Expr, name: &str) -> Flow {
        let flow = self.expr(of);
        // What was put together has fields that nobody follows.
        self.look_at_all(&Flow { is: ValueIds::default(), ..flow.clone() }.all());
        let fields: ValueIds =
            flow.is.iter().map(|value| self.looked_at.field(value, name)).collect();
        let is_far = |value: &ValueId| self.looked_at.depth(*value) > DEEPEST;
        let far: ValueIds = fields.iter().filter(is_far).collect();
        self.look_at_all(&far);
        Flow::of(fields.difference(&far).collect())
    }

    fn filter(&mut self, filter: &Filter) -> Flow {
        let Some(own) = &filter.expr else { return Flow::default() };
        // Of a list that is spread out, its items are the arguments.
        self.lost |=
            filter.args.iter().any(|arg| !matches!(arg, CallArg::Pos(_) | CallArg::Kwarg(..)));
        let args: Vec<_> = filter.args.iter().map(value_of).collect();
        match (filter.name, args.as_slice()) {
            ("default", [other]) => self.expr(own).and(self.expr(other)),
            // The keys alone order them.
            ("dictsort", []) => {
                let flow = self.expr(own);
                self.look_at_all(&Flow { is: ValueIds::default(), ..flow.clone() }.all());
                Flow { pairs: flow.is, ..Flow::default() }
            }
            ("selectattr", [name, test])
                if name_of(name).is_some() && name_of(test).as_deref() == Some("defined") =>
            {
                self.through(own)
            }
            ("join" | "list", args) => {
                self.looked(args);
                self.through(own)
            }
            // What they make of a text is that text, within another one or with other blanks.
            ("block", [width]) => {
                self.look_at(width);
                self.expr(own).held()
            }
            ("mirrored", [registry]) => self.expr(own).and(self.expr(registry)).held(),
            ("sha8" | "string" | "trim", []) => self.expr(own).held(),
            // Where no value has a letter of what is looked for, it is found where it stands in the template's own text, or nowhere.
            ("replace", [searched, other])
                if name_of(searched).is_some_and(|t| is_uppercase(&t)) =>
            {
                let searched = name_of(searched).unwrap_or_default();
                let held = self.expr(own).and(self.expr(other)).held();
                for value in &held.holds {
                    self.found |= self.looked_at.look_for(&searched, value);
                }
                held
            }
            (_, args) => {
                self.looked(args);
                self.looked(&[own])
            }
        }
    }

    /// What a filter makes that goes through the items of a list.
    fn through(&mut self, own: &Expr) -> Flow {
        let flow = self.expr(own);
        self.look_at_all(&flow.holds);
        self.look_at_themselves(&flow.is);
        Flow { holds: ValueIds::default(), ..flow }.held()
    }
}

/// Whether it says of a loop which turn it is, which hangs on the length of what it goes through.
fn is_of_the_turn(get: &GetAttr) -> bool {
    let of_loop = matches!(&get.expr, Expr::Var(of) if of.id == "loop");
    of_loop && matches!(get.name, "index" | "index0" | "first" | "last")
}

/// Whether a text has uppercase letters alone, which no mark has.
fn is_uppercase(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_uppercase())
}

/// A text that stands in the template.
pub(super) fn name_of(expr: &Expr) -> Option<String> {
    let Expr::Const(value) = expr else { return None };
    value.value.as_str().map(ToOwned::to_owned)
}

fn value_of<'a, 'b>(arg: &'b CallArg<'a>) -> &'b Expr<'a> {
    match arg {
        CallArg::Pos(expr)
        | CallArg::Kwarg(_, expr)
        | CallArg::PosSplat(expr)
        | CallArg::KwargSplat(expr) => expr,
    }
}
