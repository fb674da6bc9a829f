//! What a template makes of contexts that differ only in what it prints.
//!
//! Most clusters of a fleet have the same shape: other names, sizes and places, and the same conditions and loops. From a
//! template's text it is known what it looks at ([`statements`]); of the rest each value is printed, joined to texts, and hashed, and
//! nothing else hangs on it. So a template is rendered once for a shape, with marks in the place of what it prints ([`marks`]), and
//! for each further context of that shape the values are put where the marks came out. It is partial evaluation, as
//! compilers have it.
//!
//! What is specialised is what the template makes, or nothing is: a mark has to come out in a word as [`crate::pattern`] has it, the
//! text has to be that of the template for the context at hand, and a debug build holds every text to the template.

mod expressions;
mod filled;
mod flow;
mod looked_at;
mod marking;
mod marks;
mod slots;
mod statements;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use minijinja::Environment;
use minijinja::machinery::parse;
use serde_json::Value;

use self::filled::SpecialisedText;
use self::looked_at::LookedAt;
use self::marking::MarkedText;
use self::slots::ContextShape;
use super::engine::{self, Texts};
use super::object::Document;
use crate::diag::Diagnostic;
use crate::model::Digest;

/// The rendering of a template from which on it is worth while to ask what it looks at, which takes as long as some four renderings: a
/// run that changes one cluster has fewer.
const FROM: usize = 8;
/// How many bytes of shapes and texts are kept.
const MAX_KEPT: usize = 8 * 1024 * 1024;
/// How many shapes that came once are kept in mind.
const MAX_SEEN: usize = 100_000;
/// How many templates are kept in mind: those of a run, and of some runs before it.
const MOST_TEMPLATES: usize = 64;
/// How often a template is rendered with marks until all of them stand well.
const MOST_TRIES: usize = 8;

thread_local! {
    static KNOWN: RefCell<BTreeMap<(Digest, String), SpecialisedTemplate>> = RefCell::default();
}

/// What renders templates.
#[derive(Clone, Copy)]
pub(super) struct Renderer<'a> {
    /// The environment of the templates.
    pub(super) env: &'a Environment<'static>,
    /// It, with hashes of marks.
    pub(super) marking: &'a std::sync::OnceLock<Environment<'static>>,
    /// The texts that it was made of.
    pub(super) texts: &'a Texts,
    /// The texts that are carp's own: what a fleet writes is measured as it is rendered.
    pub(super) is_own: &'a dyn Fn(&str) -> bool,
    /// The digest of what the templates of the folder can use.
    pub(super) digest: Digest,
}

impl Renderer<'_> {
    /// The documents that a template makes of a context.
    ///
    /// # Errors
    /// Those of the template.
    pub(super) fn documents(
        &self,
        template: &str,
        context: &Value,
    ) -> Result<Vec<Document>, Box<Diagnostic>> {
        let known = KNOWN.with_borrow_mut(|known| {
            if known.len() > MOST_TEMPLATES {
                known.clear();
            }
            let known = known.entry((self.digest, template.to_owned())).or_default();
            known.documents(context, || self.looked_at(template))
        });
        match known {
            KnownContext::Documents(documents) => {
                debug_assert_eq!(
                    self.rendered(template, context).as_deref().map(texts),
                    Ok(texts(&documents)),
                    "{template} makes something else than what was made of the shape"
                );
                Ok(documents)
            }
            KnownContext::Nothing => self.rendered(template, context),
            KnownContext::Shape => {
                let documents = self.rendered(template, context)?;
                KNOWN.with_borrow_mut(|known| {
                    if let Some(known) = known.get_mut(&(self.digest, template.to_owned())) {
                        known.specialise(self, template, context, &documents);
                    }
                });
                Ok(documents)
            }
        }
    }

    fn rendered(&self, template: &str, context: &Value) -> Result<Vec<Document>, Box<Diagnostic>> {
        let text = engine::render(self.env, self.texts, template, context)?;
        Ok(Document::all(&text).collect())
    }

    /// What a template of carp's own looks at.
    fn looked_at(&self, template: &str) -> Option<LookedAt> {
        let own = self.texts.iter().filter(|(name, _)| (self.is_own)(name));
        let parsed = own.filter_map(|(name, text)| {
            Some((name.as_str(), parse(text, name, engine::syntax()).ok()?))
        });
        statements::looked_at(template, &parsed.collect())
    }
}

fn texts(documents: &[Document]) -> Vec<&str> {
    documents.iter().map(|document| document.text.as_str()).collect()
}

/// What is known of a context.
enum KnownContext {
    /// Nothing.
    Nothing,
    /// Others of its shape came before.
    Shape,
    /// What the template makes of it.
    Documents(Vec<Document>),
}

/// What is known of a template.
#[derive(Default)]
struct SpecialisedTemplate {
    /// How often it was rendered.
    times: usize,
    /// What it looks at; nothing where it is not known.
    looked_at: Option<LookedAt>,
    /// The shapes that came once, by a hash.
    seen: BTreeSet<u64>,
    /// By shape; nothing where what comes out does not hang on the slots alone.
    texts: BTreeMap<Vec<u8>, Option<SpecialisedText>>,
    /// How many bytes `texts` takes.
    bytes: usize,
}

impl SpecialisedTemplate {
    fn documents(
        &mut self,
        context: &Value,
        looked_at: impl Fn() -> Option<LookedAt>,
    ) -> KnownContext {
        self.times += 1;
        if self.times == FROM {
            self.looked_at = looked_at();
        }
        let Some(looked_at) = &self.looked_at else { return KnownContext::Nothing };
        let shape = ContextShape::of(context, looked_at);
        if let Some(text) = self.texts.get(&shape.key) {
            let documents = text.as_ref().and_then(|text| text.with(&shape.values));
            return documents.map_or(KnownContext::Nothing, KnownContext::Documents);
        }
        if !self.seen.contains(&shape.hash()) {
            if self.seen.len() < MAX_SEEN {
                self.seen.insert(shape.hash());
            }
            return KnownContext::Nothing;
        }
        if self.bytes < MAX_KEPT { KnownContext::Shape } else { KnownContext::Nothing }
    }

    /// Keeps what the template makes of all contexts of the shape of this one.
    fn specialise(
        &mut self,
        with: &Renderer<'_>,
        template: &str,
        context: &Value,
        rendered: &[Document],
    ) {
        let Some(looked_at) = &mut self.looked_at else { return };
        let env = with.marking.get_or_init(|| marking::environment(with.env));
        let mut text = None;
        // Somebody may have written what looks like a mark.
        let tries = if rendered.iter().any(|d| marks::are_in(&d.text)) { 0 } else { MOST_TRIES };
        for _ in 0..tries {
            let Some((marked, paths)) = slots::marked(context, looked_at) else { break };
            match marking::render(env, template, &marked) {
                MarkedText::Filled(filled) => {
                    text = Some(filled);
                    break;
                }
                MarkedText::Misplaced(slots) => {
                    let paths = slots.iter().filter_map(|slot| paths.get(*slot));
                    paths.for_each(|path| looked_at.look_at_path(path));
                }
                MarkedText::Unknown => break,
            }
        }
        let shape = ContextShape::of(context, looked_at);
        let is_made = |text: &SpecialisedText| {
            text.with(&shape.values).is_some_and(|made| texts(&made) == texts(rendered))
        };
        let text = text.filter(is_made);
        self.bytes += shape.key.len() + text.as_ref().map_or(0, SpecialisedText::bytes);
        self.texts.insert(shape.key, text);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::super::fixture::fleet;
    use super::super::job::Job;
    use super::super::{Templates, cluster_job};
    use super::*;
    use crate::model::Name;

    /// How many shapes of a template have a text.
    fn specialised(template: &str) -> usize {
        KNOWN.with_borrow(|known| {
            let of = known.iter().filter(|((_, name), _)| name == template);
            of.flat_map(|(_, known)| known.texts.values()).filter(|text| text.is_some()).count()
        })
    }

    fn job(change: impl Fn(&mut crate::model::Cluster)) -> Job {
        let mut fleet = fleet();
        fleet.clusters.values_mut().for_each(change);
        let cluster = fleet.clusters.values().next().unwrap();
        cluster_job(&fleet, cluster, &Name::parse("wk-1").unwrap(), &Templates::built_in())
    }

    #[test]
    fn clusters_of_a_shape_are_rendered_once() {
        let made_of = |job: &Job| {
            let (template, _) = &job.rendered[0];
            let made = job.templates.documents(&job.folder, template, &job.context).unwrap();
            made.into_iter().map(|document| document.text).collect::<Vec<_>>()
        };
        for flavor in ["kamaji-capz", "capz"] {
            let job = |nth: u32| {
                job(|cluster| {
                    cluster.name = Name::parse(&format!("shop-{nth}")).unwrap();
                    cluster.tenant = format!("team-{nth}");
                    cluster.spec.flavor = Some(flavor.to_owned());
                    cluster.spec.node_pools[0].replicas = Some(nth);
                    cluster.spec.node_pools[0].vm_size = Some(format!("Standard_D{nth}s_v5"));
                })
            };
            let made: Vec<_> = (1..30).map(|nth| made_of(&job(nth))).collect();
            assert_eq!(specialised(&format!("{flavor}/cluster.yaml")), 1, "{flavor}");
            // From the first on, without what is known by now.
            KNOWN.with_borrow_mut(BTreeMap::clear);
            for (nth, made) in (1..).zip(&made) {
                assert_eq!(&made_of(&job(nth)), made, "{flavor}");
                KNOWN.with_borrow_mut(BTreeMap::clear);
            }
        }
    }

    #[test]
    fn what_a_fleet_wrote_is_rendered_each_time() {
        let (name, text) =
            Templates::built_in_files().find(|(name, _)| *name == "parts/pools.yaml").unwrap();
        let own = BTreeMap::from([(name.to_owned(), format!("{text}{{# own #}}"))]);
        let templates = Templates::built_in().with(&own).0;
        for nth in 0..30 {
            let job = Job { templates: templates.clone(), ..job(|c| c.tenant = format!("t{nth}")) };
            job.render().unwrap();
        }
        assert_eq!(specialised("kamaji-capz/cluster.yaml"), 0);
    }

    #[test]
    fn what_looks_like_a_mark_is_rendered_each_time() {
        let of = |tenant: &str, nth: usize| {
            let job = job(|cluster| {
                cluster.tenant = tenant.to_owned();
                cluster.name = Name::parse(&format!("shop-{nth}")).unwrap();
            });
            String::from_utf8(job.render().unwrap()["cluster.yaml"].clone()).unwrap()
        };
        let mark = marks::text(3);
        for nth in 0..30 {
            assert!(of(&mark, nth).contains(&format!("carp.dev/tenant: \"{mark}\"")));
        }
        assert_eq!(specialised("kamaji-capz/cluster.yaml"), 0);
        (0..3).for_each(|nth| drop(of("team-a", nth)));
        assert_eq!(specialised("kamaji-capz/cluster.yaml"), 1, "others are as they were");
    }

    /// What the templates of these tests say, `A` and so on being values.
    const LINES: &str = r#"a: {{ A }}
b: {{ A ~ "-" ~ B }}
{% if A == B %}c: 1{% endif %}
{% if A %}d: {{ B }}{% endif %}
{% if A is defined and A in [B, "x"] %}e: 1{% endif %}
{% if A < B < "shop" %}e: 2{% endif %}
- {{ A[1:] }}
- {{ A | length }}
- {{ A | upper }}
- {{ A ~ 1 }}
- {{ A + 1 }}
{% for x in [A, B] %}{% if x == "a" %}v: {{ x }}{% endif %}{% endfor %}
{% for k, v in own | dictsort %}{{ k }}: {{ v }}{% endfor %}
{% for x in [A, B] | list %}{% if x == "a" %}x: 1{% endif %}{% endfor %}
{% set w = A %}{% if w == "a" or w == 2 %}w: 1{% endif %}
{% if A[:1] == "a" %}x: 1{% endif %}
{% if A + 1 == 3 %}x: 2{% endif %}
- {{ [A, B] }}
- {{ A | string }}
- {{ ("k: " ~ A) | sha8 }}
{% for x in list %}- {{ x.a }}{% endfor %}
{% for x in list %}{% if x.a == A %}f: {{ x.b }}{% endif %}{% endfor %}
{% for x in A ~ B %}- x{% endfor %}
{% set v = A %}g: {{ v }}
{% set v %}h: {{ A }}{% endset %}i: {{ v | sha8 }}
{% set v = v | default(A) %}j: {{ v }}
{{ A }}: 1
k: {{ A | replace(B, "z") }}
l: {{ A > B }}
l: {{ ("X" ~ A ~ "XY") | replace("XY", B) }}
m: x{{ A }}
n: {{ A }}{{ B }}
o: {{ A | safe }}
p: {{ list | length }}
q: {{ list }}
r: {{ list | join("+") }}
s: {{ (A or B) ~ "s" }}
t: {{ v | default("none") | trim }}
u: "{{ A }}"
"#;

    fn template() -> impl Strategy<Value = String> {
        let value = || prop::sample::select(vec!["name", "size", "list[0].a", "own.b", "own.c"]);
        let line = prop::sample::select(LINES.lines().collect::<Vec<_>>());
        let line =
            (line, value(), value()).prop_map(|(line, a, b)| line.replace('A', a).replace('B', b));
        prop::collection::vec(line, 1..6).prop_map(|lines| lines.join("\n") + "\n")
    }

    fn context() -> impl Strategy<Value = Value> {
        // Most may stand in a slot, so that most contexts have the shape of others.
        let plain = || prop::sample::select(vec!["a", "b1", "shop-x", "1", "YX", "no"]);
        let odd = || prop::sample::select(vec!["", "a b", "é", "a\"b", "b\\"]);
        let text = move || prop_oneof![12 => plain(), 1 => odd()];
        let number =
            || prop_oneof![12 => 1..20_u64, 1 => Just(0), 1 => Just(1_000_000_000_000_000)];
        let values = (text(), number(), text(), number(), (text(), text()));
        values.prop_map(|(name, size, a, b, (c, d))| {
            json!({"name": name, "size": size, "own": {"b": a, "c": c}, "list": [{"a": d, "b": b}]})
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]
        #[test]
        fn what_is_made_of_a_shape_is_what_the_template_makes(
            template in template(),
            contexts in prop::collection::vec(context(), 40),
        ) {
            KNOWN.with_borrow_mut(BTreeMap::clear);
            let texts = Texts::from([("t.yaml".to_owned(), template.as_str().into())]);
            let mut env = engine::environment();
            engine::offer(&mut env, texts.clone());
            let renderer = Renderer {
                env: &env,
                marking: &std::sync::OnceLock::new(),
                texts: &texts,
                is_own: &|_| true,
                digest: Digest::of(template.as_bytes()),
            };
            for context in &contexts {
                let made = renderer.documents("t.yaml", context);
                for document in made.iter().flatten() {
                    let Some(read) = &document.read else { continue };
                    let wanted = super::super::yaml::parse_shared(&document.text);
                    prop_assert_eq!(Ok(&*read.value), wanted.as_deref(), "{}", template);
                }
                let rendered = renderer.rendered("t.yaml", context);
                let (made, rendered) = (made.as_deref(), rendered.as_deref());
                prop_assert_eq!(made.map(super::texts), rendered.map(super::texts), "{}", template);
            }
        }
    }
}
