//! Where in a template which filter goes.

use minijinja::machinery::ast::{
    BinOpKind, Call, CallArg, Expr, Filter, ForLoop, Stmt, UnaryOpKind,
};

use super::Insertion;

/// The filter around a value that is kept or used by an operator.
pub(super) const MEASURED: &str = "measured";
/// The filter around what is kept in a namespace.
pub(super) const FIELD: &str = "measured_field";
/// The filter around what a loop goes through.
pub(super) const LOOP: &str = "measured_loop";
/// The filter around what is repeated, with how often.
pub(super) const TIMES: &str = "measured_times";
/// The filter around what is included.
pub(super) const INCLUDE: &str = "measured_include";

/// Filters that make a short text or a number, whose own bounds are enough.
const FLAT: &[&str] = &[
    "abs",
    "block",
    "bool",
    "capitalize",
    "count",
    "float",
    "format",
    "indent",
    "int",
    "join",
    "length",
    "lower",
    "mirrored",
    "replace",
    "round",
    "sha8",
    "source",
    "string",
    "title",
    "to_yaml",
    "tojson",
    "trim",
    "upper",
];

/// What is put into a template, in no order but that of what is put at the same place.
pub(super) fn insertions(template: &Stmt, text: &str) -> Vec<Insertion> {
    let mut walk = Walk { text, insertions: Vec::new(), loops: Vec::new() };
    walk.stmt(template);
    walk.insertions
}

struct Walk<'a> {
    text: &'a str,
    insertions: Vec<Insertion>,
    /// The bytes of text that a turn of each loop around writes.
    loops: Vec<usize>,
}

impl Walk<'_> {
    fn stmts(&mut self, all: &[Stmt]) {
        for stmt in all {
            self.stmt(stmt);
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::EmitExpr(emit) => self.expr(&emit.expr),
            Stmt::ForLoop(each) => self.for_loop(each),
            Stmt::IfCond(cond) => self.expr(&cond.expr),
            Stmt::WithBlock(with) => {
                with.assignments.iter().for_each(|(_, value)| self.kept(value));
            }
            Stmt::Set(set) if matches!(set.target, Expr::GetAttr(_)) => {
                self.expr(&set.expr);
                self.wrap(&set.expr, FIELD.to_owned());
            }
            Stmt::Set(set) => self.kept(&set.expr),
            Stmt::SetBlock(set) => set.filter.iter().for_each(|filter| self.expr(filter)),
            Stmt::FilterBlock(block) => self.expr(&block.filter),
            Stmt::AutoEscape(escape) => self.expr(&escape.enabled),
            Stmt::Import(import) => self.expr(&import.expr),
            Stmt::FromImport(import) => self.expr(&import.expr),
            Stmt::Extends(extends) => self.expr(&extends.name),
            Stmt::Include(include) => {
                self.expr(&include.name);
                self.wrap(&include.name, INCLUDE.to_owned());
            }
            Stmt::Macro(made) => made.defaults.iter().for_each(|value| self.kept(value)),
            Stmt::CallBlock(block) => self.call(&block.call),
            Stmt::Do(done) => self.call(&done.call),
            Stmt::Template(_) | Stmt::EmitRaw(_) | Stmt::Block(_) => {}
        }
        if !matches!(stmt, Stmt::ForLoop(_)) {
            for body in bodies(stmt) {
                self.stmts(body);
            }
        }
    }

    fn for_loop(&mut self, each: &ForLoop) {
        self.expr(&each.iter);
        let text = text_of(&each.body);
        if text > 0 {
            self.wrap(&each.iter, format!("{LOOP}({text})"));
        } else if is_made(&each.iter) {
            self.wrap(&each.iter, MEASURED.to_owned());
        }
        self.loops.push(text);
        each.filter_expr.iter().for_each(|filter| self.expr(filter));
        self.stmts(&each.body);
        self.loops.pop();
        self.stmts(&each.else_body);
    }

    /// An expression whose value is kept, or is an operand.
    fn kept(&mut self, expr: &Expr) {
        self.expr(expr);
        if is_made(expr) {
            self.wrap(expr, MEASURED.to_owned());
        }
    }

    /// An expression whose value is looked through.
    fn looked(&mut self, expr: &Expr) {
        self.expr(expr);
        if !is_constant(expr) {
            self.wrap(expr, MEASURED.to_owned());
        }
    }

    fn expr(&mut self, expr: &Expr) {
        match expr {
            Expr::Var(_) | Expr::Const(_) => {}
            Expr::Slice(slice) => {
                self.kept(&slice.expr);
                let bounds = [&slice.start, &slice.stop, &slice.step];
                bounds.into_iter().flatten().for_each(|bound| self.expr(bound));
            }
            Expr::UnaryOp(op) => self.expr(&op.expr),
            Expr::BinOp(op) => self.operator(op.op, &op.left, &op.right),
            Expr::Compare(compare) => {
                self.looked(&compare.expr);
                compare.ops.iter().for_each(|op| self.looked(&op.expr));
            }
            Expr::IfExpr(choice) => {
                self.expr(&choice.test_expr);
                self.expr(&choice.true_expr);
                choice.false_expr.iter().for_each(|expr| self.expr(expr));
            }
            Expr::Filter(filter) => self.filter(filter),
            Expr::Test(test) if ["defined", "undefined", "none"].contains(&test.name) => {
                self.expr(&test.expr);
            }
            Expr::Test(test) => {
                self.looked(&test.expr);
                self.args(&test.args, Self::looked);
            }
            Expr::GetAttr(part) => self.expr(&part.expr),
            Expr::GetItem(part) => {
                self.expr(&part.expr);
                self.kept(&part.subscript_expr);
            }
            Expr::Call(call) => self.call(call),
            Expr::List(list) => list.items.iter().for_each(|item| self.kept(item)),
            Expr::Tuple(tuple) => tuple.items.iter().for_each(|item| self.kept(item)),
            Expr::Map(map) => map.keys.iter().chain(&map.values).for_each(|part| self.kept(part)),
        }
    }

    fn operator(&mut self, op: BinOpKind, left: &Expr, right: &Expr) {
        use BinOpKind::{Add, Concat, Eq, Gt, Gte, In, Lt, Lte, Mul, Ne, ScAnd, ScOr};
        match op {
            ScAnd | ScOr => {
                self.expr(left);
                self.expr(right);
            }
            Mul if self.as_written(right).is_some() => {
                self.expr(left);
                let times = self.as_written(right).unwrap_or_default();
                self.wrap(left, format!("{TIMES}({times})"));
            }
            Concat | Add | Mul if is_constant(left) && is_constant(right) => {
                // Else it would be worked out where the template is compiled.
                self.wrap(left, MEASURED.to_owned());
            }
            // A constant is short, and so is what is compared of the other one.
            Eq | Ne | Lt | Lte | Gt | Gte if is_constant(left) || is_constant(right) => {
                self.kept(left);
                self.kept(right);
            }
            Concat | Add | Mul | In | Eq | Ne | Lt | Lte | Gt | Gte => {
                self.looked(left);
                self.looked(right);
            }
            _ => {
                self.kept(left);
                self.kept(right);
            }
        }
    }

    /// The text of what costs nothing to ask for twice.
    fn as_written(&self, expr: &Expr) -> Option<String> {
        let plain = matches!(expr, Expr::Const(_) | Expr::Var(_));
        let offset = |at: u32| usize::try_from(at).unwrap_or_default();
        let span = expr.span();
        let text = self.text.get(offset(span.start_offset)..offset(span.end_offset))?;
        plain.then(|| text.to_owned())
    }

    fn filter(&mut self, filter: &Filter) {
        filter.expr.iter().for_each(|expr| self.kept(expr));
        self.args(&filter.args, Self::kept);
    }

    fn call(&mut self, call: &Call) {
        self.expr(&call.expr);
        self.args(&call.args, Self::kept);
        let text = self.loops.last().copied().unwrap_or_default();
        if let (Expr::Var(callee), Some(CallArg::Pos(arg))) = (&call.expr, call.args.first())
            && callee.id == "loop"
        {
            // A recursive loop goes through this one now.
            self.wrap(arg, format!("{LOOP}({text})"));
        }
    }

    fn args(&mut self, args: &[CallArg], of: fn(&mut Self, &Expr)) {
        for arg in args {
            let (CallArg::Pos(expr) | CallArg::Kwarg(_, expr)) = arg else {
                let (CallArg::PosSplat(expr) | CallArg::KwargSplat(expr)) = arg else { continue };
                self.kept(expr);
                continue;
            };
            of(self, expr);
        }
    }

    /// Brackets may stand around a part of what is wrapped only; that the opening one is put in behind them is the same text
    /// as before them.
    fn wrap(&mut self, expr: &Expr, filter: String) {
        if says_yes_or_no(expr) {
            return;
        }
        let end = usize::try_from(expr.span().end_offset).unwrap_or_default();
        self.insertions.push((self.start(expr), "(".to_owned()));
        self.insertions.push((end, format!(")|{filter}")));
    }

    /// Where an expression begins. The spans of operators that stand behind what they are about begin elsewhere.
    fn start(&self, expr: &Expr) -> usize {
        let own = usize::try_from(expr.span().start_offset).unwrap_or_default();
        match expr {
            Expr::Slice(slice) => self.start(&slice.expr),
            Expr::BinOp(op) => self.start(&op.left),
            Expr::Compare(compare) => self.start(&compare.expr),
            Expr::IfExpr(choice) => self.start(&choice.true_expr),
            Expr::Filter(filter) => filter.expr.as_ref().map_or(own, |expr| self.start(expr)),
            Expr::Test(test) => self.start(&test.expr),
            Expr::GetAttr(part) => self.start(&part.expr),
            Expr::GetItem(part) => self.start(&part.expr),
            Expr::Call(call) => self.start(&call.expr),
            // `not` also stands in `is not` and `not in`.
            Expr::UnaryOp(op) if !self.begins_with_operator(own) => self.start(&op.expr),
            _ => own,
        }
    }

    fn begins_with_operator(&self, at: usize) -> bool {
        let text = self.text.get(at..).unwrap_or_default();
        text.starts_with("not") || text.starts_with('-')
    }
}

fn says_yes_or_no(expr: &Expr) -> bool {
    match expr {
        Expr::UnaryOp(op) => matches!(op.op, UnaryOpKind::Not),
        Expr::Compare(_) | Expr::Test(_) => true,
        _ => false,
    }
}

/// Whether an expression makes a value that nobody looked at yet. What a variable has was measured when it got it.
fn is_made(expr: &Expr) -> bool {
    match expr {
        Expr::Var(_)
        | Expr::Const(_)
        | Expr::GetAttr(_)
        | Expr::GetItem(_)
        | Expr::UnaryOp(_)
        | Expr::Compare(_)
        | Expr::Test(_) => false,
        Expr::BinOp(op) => match op.op {
            BinOpKind::ScAnd | BinOpKind::ScOr => is_made(&op.left) || is_made(&op.right),
            op => matches!(op, BinOpKind::Add | BinOpKind::Mul | BinOpKind::Concat),
        },
        Expr::IfExpr(choice) => {
            is_made(&choice.true_expr) || choice.false_expr.as_ref().is_some_and(is_made)
        }
        Expr::Filter(filter) => !FLAT.contains(&filter.name),
        // It has at most a hundred thousand numbers, and makes them one by one.
        Expr::Call(call) => !matches!(&call.expr, Expr::Var(callee) if callee.id == "range"),
        Expr::Slice(_) => true,
        Expr::List(_) | Expr::Tuple(_) | Expr::Map(_) => !is_constant(expr),
    }
}

/// Whether an expression is written out.
fn is_constant(expr: &Expr) -> bool {
    match expr {
        Expr::Const(_) => true,
        Expr::List(list) => list.items.iter().all(is_constant),
        Expr::Tuple(tuple) => tuple.items.iter().all(is_constant),
        Expr::Map(map) => map.keys.iter().chain(&map.values).all(is_constant),
        _ => false,
    }
}

/// What stands within a statement.
fn bodies<'a, 't>(stmt: &'a Stmt<'t>) -> Vec<&'a [Stmt<'t>]> {
    match stmt {
        Stmt::Template(all) => vec![&all.children],
        Stmt::ForLoop(each) => vec![&each.body, &each.else_body],
        Stmt::IfCond(cond) => vec![&cond.true_body, &cond.false_body],
        Stmt::WithBlock(with) => vec![&with.body],
        Stmt::SetBlock(set) => vec![&set.body],
        Stmt::FilterBlock(block) => vec![&block.body],
        Stmt::AutoEscape(escape) => vec![&escape.body],
        Stmt::Block(block) => vec![&block.body],
        Stmt::Macro(made) => vec![&made.body],
        Stmt::CallBlock(block) => vec![&block.macro_decl.body],
        _ => Vec::new(),
    }
}

/// The bytes of text that statements write themselves: not those of a loop or a macro in them, which count by
/// themselves.
fn text_of(all: &[Stmt]) -> usize {
    let of = |stmt: &Stmt| match stmt {
        Stmt::EmitRaw(text) => text.raw.len(),
        Stmt::ForLoop(_) | Stmt::Macro(_) => 0,
        other => bodies(other).into_iter().map(text_of).sum(),
    };
    all.iter().map(of).sum()
}
