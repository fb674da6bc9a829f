//! Where in a template that which it gets goes to: into conditions and comparisons, or into what is printed.
//!
//! Each expression has a flow: what it may be or hold of what the template gets. Where a flow comes to anything but being
//! printed, joined to a text or kept in a variable, all of it is looked at. Whether a text is empty, a number is zero, or something
//! is there is no look at it: a context in which that differs has another shape.
//!
//! Variables are taken together over the whole template and what it includes, whatever the order; so the walk is repeated until
//! nothing more comes out of it.

use std::collections::BTreeMap;

use minijinja::machinery::ast::{Expr, ForLoop, Stmt};

use super::expressions::name_of;
use super::flow::{Flow, FlowWalk};
use super::looked_at::LookedAt;

/// How often a template is walked through. Each turn brings a variable one step further.
const MOST_TURNS: usize = 16;

/// What a template and those that it includes may be, read.
pub(super) type Parsed<'a> = BTreeMap<&'a str, Stmt<'a>>;

/// What a template looks at; `None` where it does what nobody follows here.
pub(super) fn looked_at(template: &str, parsed: &Parsed<'_>) -> Option<LookedAt> {
    let mut walk = FlowWalk::default();
    for _ in 0..MOST_TURNS {
        walk.found = false;
        walk.template(template, parsed, &mut Flow::default())?;
        if walk.lost {
            return None;
        }
        if !walk.found {
            return Some(walk.looked_at);
        }
    }
    None
}

impl FlowWalk {
    /// Follows a template. What it prints goes to `printed`.
    fn template(&mut self, name: &str, parsed: &Parsed<'_>, printed: &mut Flow) -> Option<()> {
        if self.within.iter().any(|around| around == name) {
            return None;
        }
        self.within.push(name.to_owned());
        self.stmt(parsed.get(name)?, parsed, printed)?;
        self.within.pop();
        Some(())
    }

    fn stmts(&mut self, all: &[Stmt], parsed: &Parsed<'_>, printed: &mut Flow) -> Option<()> {
        all.iter().try_for_each(|stmt| self.stmt(stmt, parsed, printed))
    }

    fn stmt(&mut self, stmt: &Stmt, parsed: &Parsed<'_>, printed: &mut Flow) -> Option<()> {
        match stmt {
            Stmt::Template(template) => self.stmts(&template.children, parsed, printed)?,
            Stmt::EmitExpr(emit) => {
                printed.add(self.expr(&emit.expr).held());
            }
            Stmt::EmitRaw(_) => {}
            Stmt::ForLoop(each) => self.for_loop(each, parsed, printed)?,
            Stmt::IfCond(cond) => {
                self.expr(&cond.expr);
                self.stmts(&cond.true_body, parsed, printed)?;
                self.stmts(&cond.false_body, parsed, printed)?;
            }
            Stmt::WithBlock(with) => {
                for (target, value) in &with.assignments {
                    let flow = self.expr(value);
                    self.assign(target, flow)?;
                }
                self.stmts(&with.body, parsed, printed)?;
            }
            Stmt::Set(set) => {
                let flow = self.expr(&set.expr);
                self.assign(&set.target, flow)?;
            }
            Stmt::SetBlock(set) if set.filter.is_none() => {
                let mut inner = Flow::default();
                self.stmts(&set.body, parsed, &mut inner)?;
                self.assign(&set.target, inner)?;
            }
            Stmt::Include(include) => {
                let name = name_of(&include.name)?;
                self.template(&name, parsed, printed)?;
            }
            // Macros, blocks and imports bring variables of their own.
            _ => return None,
        }
        Some(())
    }

    fn for_loop(&mut self, each: &ForLoop, parsed: &Parsed<'_>, printed: &mut Flow) -> Option<()> {
        let Flow { is, pairs, holds, items } = self.expr(&each.iter);
        let own = items.map_or_else(Flow::default, |items| *items);
        self.look_at_all(&holds);
        match &each.target {
            Expr::Var(_) => {
                self.look_at_all(&pairs);
                self.look_at_themselves(&is);
                let items = self.each(&is).and(own);
                self.assign(&each.target, items)?;
            }
            target => {
                let [key, value] = targets(target) else { return None };
                self.look_at_all(&is);
                let parts = own.items.clone().map_or_else(Flow::default, |parts| *parts);
                self.look_at_all(&Flow { items: None, ..own }.all());
                let values = self.each(&pairs);
                self.assign(key, parts.clone())?;
                self.assign(value, values.and(parts))?;
            }
        }
        if each.recursive {
            return None;
        }
        each.filter_expr.iter().for_each(|filter| drop(self.expr(filter)));
        self.stmts(&each.body, parsed, printed)?;
        self.stmts(&each.else_body, parsed, printed)
    }

    fn assign(&mut self, target: &Expr, flow: Flow) -> Option<()> {
        let Expr::Var(variable) = target else { return None };
        let kept = self.variables.entry(variable.id.to_owned()).or_default();
        self.found |= !kept.has(&flow);
        kept.add(flow);
        Some(())
    }
}

/// What a loop puts the parts of each item in.
fn targets<'a, 'b>(target: &'b Expr<'a>) -> &'b [Expr<'a>] {
    match target {
        Expr::List(targets) => &targets.items,
        Expr::Tuple(targets) => &targets.items,
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use minijinja::machinery::parse;

    use super::super::super::engine;
    use super::*;

    /// What a template looks at, beside one that it may include.
    fn paths(text: &str) -> Option<Vec<String>> {
        let texts = [
            ("a", text),
            ("part", "{{ c }}{% if d == 1 %}{% endif %}"),
            ("self", "{% include \"self\" %}"),
        ];
        let parsed = texts.map(|(name, text)| (name, parse(text, name, engine::syntax()).unwrap()));
        Some(looked_at("a", &parsed.into())?.paths())
    }

    fn assert_looked_at(cases: &[(&str, &str)]) {
        for (text, wanted) in cases {
            let wanted = wanted.split_whitespace().map(ToOwned::to_owned).collect();
            assert_eq!(paths(text), Some(wanted), "{text}");
        }
    }

    #[test]
    fn what_is_printed_joined_or_kept_is_not_looked_at() {
        for text in [
            "{{ a }}{{ a.b.c }}{{ [a, {\"b\": c}] }}",
            "{{ a ~ \"-\" ~ b[\"c\"] }}",
            "{% set x = a %}{% if x %}{{ x.b | default(c) }}{% endif %}",
            "{% if a is defined and not b or c.d %}{{ a if b else c }}{% endif %}",
            "{% set x %}a: {{ a }}{% endset %}{{ x | block(2) }}{{ x | trim | sha8 }}",
            "{{ (a ~ \":1\") | mirrored(b) }}{{ a | string }}",
            "{% with x = a %}{{ x }}{% endwith %}",
            "{{ (\"FILE\" ~ a) | replace(\"FILE\", b) }}",
        ] {
            assert_eq!(paths(text), Some(Vec::new()), "{text}");
        }
    }

    #[test]
    fn what_is_compared_cut_or_counted_is_looked_at() {
        assert_looked_at(&[
            ("{{ a == b.c }}", "a b.c"),
            ("{% if a in b %}{% endif %}", "a b"),
            ("{% if a < 1 %}{% endif %}", "a"),
            ("{% if a < b < c %}{% endif %}", "a b c"),
            ("{{ a - 1 }}{{ -b }}{{ c * 2 }}", "a b c"),
            ("{{ a + 1 }}", "a?"),
            ("{{ a[1:] }}{{ b[0] }}", "a b"),
            ("{{ a | length }}{{ b | lower }}{{ c | replace(d, \"\") }}", "a b c d"),
            ("{{ a | block(b) }}{{ c | trim(d) }}", "b c d"),
            ("{{ a | default(b, true) }}", "a b"),
            ("{{ a is none }}{{ b is startingwith(c) }}", "a b c"),
            ("{{ range(a) }}{{ dict(x=b) }}", "a b dict range"),
            ("{{ a[b] }}", "a b"),
            ("{{ {a: 1} }}", "a"),
        ]);
    }

    #[test]
    fn a_loop_looks_at_what_it_goes_through_and_not_at_the_items() {
        assert_looked_at(&[
            ("{% for x in a %}{{ x }}{{ x.b }}{{ loop.index0 }}{% endfor %}", "a?"),
            ("{% for x in a if x.b == 1 %}{{ x.c }}{% endfor %}", "a.*.b a? x.b"),
            ("{% for k, v in a | dictsort %}{{ k }}{{ v }}{% endfor %}", ""),
            ("{% for k, v in a | dictsort %}{{ v == 1 }}{% endfor %}", "a.* v"),
            ("{% for x in [a, b] %}{{ x.c }}{% endfor %}", ""),
            ("{% for x in [a] + b %}{{ x == 1 }}{% endfor %}", "a b.* b? x"),
            (
                "{% for k, v in [[a, b]] + c | dictsort %}{{ k }}{{ v == 1 }}{% endfor %}",
                "a b c.* v",
            ),
            ("{% for k, v in [a] %}{{ k }}{% endfor %}", "a"),
            ("{% for x in a ~ b %}x{% endfor %}", "a b"),
            ("{{ a | join(b) }}{% for x in c | list %}x{% endfor %}", "a? b c"),
            ("{% for x in a | selectattr(\"b\", \"defined\") | list %}{{ x }}{% endfor %}", "a"),
        ]);
    }

    #[test]
    fn a_look_is_found_through_variables_and_includes() {
        assert_looked_at(&[
            ("{% set x = a %}{% set y = x ~ b %}{% if y == \"\" %}{% endif %}", "a b x y"),
            // Whatever the order: a loop may come back.
            ("{% if y == 1 %}{% endif %}{% set y = x %}{% set x = a.b %}", "a.b x y"),
            ("{% set x %}{% include \"part\" %}{% endset %}{{ x | length }}", "c d x"),
            ("{% set x = a | sha8 %}{% if x == b %}{% endif %}", "a b x"),
        ]);
    }

    #[test]
    fn what_is_not_followed_is_not_known() {
        for text in [
            "{% macro m(x) %}{{ x }}{% endmacro %}{{ m(a) }}",
            "{% for x in a %}{{ loop.previtem }}{% endfor %}",
            "{% for x in a %}{% set l = loop %}{{ l.previtem }}{% endfor %}",
            "{% for x in a %}{{ loop[\"previtem\"] }}{% endfor %}",
            "{% for x in a recursive %}{% endfor %}",
            "{{ a | default(*b) }}",
            "{% set x | trim %}{{ a }}{% endset %}",
            "{% filter trim %}{{ a }}{% endfilter %}",
            "{% set n = namespace(x=1) %}{% set n.x = a %}",
            "{% include a %}",
            "{% include \"gone\" %}",
            "{% include \"self\" %}",
            "{% autoescape false %}{{ a }}{% endautoescape %}",
            "{% import \"part\" as x %}",
            "{% block x %}{% endblock %}",
            "{% for x, y, z in a %}{% endfor %}",
        ] {
            assert_eq!(paths(text), None, "{text}");
        }
    }
}
