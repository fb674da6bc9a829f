//! Findings on rendered objects that parameters cause: told at the parameter, in the document or in the class that says
//! it. Which one that is shows by leaving them out: without it the same templates make what has the finding no more,
//! and nothing else is found. Where no one alone is the cause, nobody is named.

use std::cell::Cell;

use serde_json::Value;

use super::overriding::made_worker_job;
use super::run::Run;
use crate::diag::{Code, Diagnostic, Diagnostics, FieldPath, Place, Step};
use crate::model::api::{NodePool, Parameters};
use crate::model::{Cluster, Name, Worker};
use crate::render::{Files, Job};

/// The most folders that are made to find out. Each is one more render of a folder that failed, in every run until it is
/// mended; where more parameters are said than these, the finding may stay at the template.
const MOST: u32 = 30;
/// The most of them in a run: a class or a template may break many folders at once, and whoever mends it needs to be told
/// once.
const MOST_OF_RUN: u32 = 300;

/// The renders that a run may still make to find out.
pub(super) struct TrialRenders(Cell<u32>);

impl Default for TrialRenders {
    fn default() -> Self {
        Self(Cell::new(MOST_OF_RUN))
    }
}

impl TrialRenders {
    /// Takes one; false where there is none left.
    fn take(&self) -> bool {
        let left = self.0.get().checked_sub(1);
        self.0.set(left.unwrap_or_default());
        left.is_some()
    }
}

/// What a folder with fewer parameters comes to.
type RenderedLess = Result<Files, Diagnostics>;

impl Run<'_> {
    /// The findings on a cluster's folder, each at the parameter that causes it where that is so.
    pub(super) fn at_parameters_of_cluster(
        self,
        cluster: &Cluster,
        worker: &Name,
        (found, trials): (Diagnostics, &TrialRenders),
    ) -> Diagnostics {
        let class = cluster.spec.class.as_deref().and_then(|name| Name::parse(name).ok());
        let class = class.and_then(|name| self.read.loaded.fleet.classes.get(&name));
        let place = |path: &FieldPath| {
            let of_class = class.filter(|class| match path.0.as_slice() {
                [_, Step::Key(name), ..] if is_of_the_whole(path) => {
                    class.value.parameters.0.get(&**name) == cluster.spec.parameters.0.get(&**name)
                }
                _ => class.value.node_pools == cluster.spec.node_pools,
            });
            match of_class {
                Some(class) => Place::field(&*class.file, class.document, below_spec("spec", path)),
                None => Place::field(&*cluster.file, cluster.document, below_spec("spec", path)),
            }
        };
        let without = |paths: &[FieldPath]| {
            let mut less = cluster.clone();
            for path in paths {
                let spec = &mut *less.spec;
                remove(&mut spec.parameters, &mut spec.node_pools, path);
            }
            self.cluster_jobs().of(&less, worker).render()
        };
        let spec = &cluster.spec;
        let said = (&spec.parameters, spec.node_pools.as_slice());
        at_parameters((found, trials), said, &without, &place)
    }

    /// The findings about the folder that makes a worker, each at the parameter that brings it about.
    pub(super) fn at_parameters_of_worker(
        self,
        worker: &Worker,
        (found, trials): (Diagnostics, &TrialRenders),
    ) -> Diagnostics {
        let spec = if worker.made_by.is_some() { "spec.template.spec" } else { "spec" };
        let place =
            |path: &FieldPath| Place::field(&*worker.file, worker.document, below_spec(spec, path));
        let without = |paths: &[FieldPath]| {
            let mut less = worker.clone();
            for path in paths {
                let spec = &mut *less.spec;
                remove(&mut spec.parameters, &mut spec.node_pools, path);
            }
            let (fleet, prefix) = (&self.read.loaded.fleet, &self.snapshot.input.prefix);
            let job = made_worker_job(fleet, &less, &self.read.templates, prefix);
            job.as_ref().map_or_else(|| Ok(Files::new()), Job::render)
        };
        let spec = &worker.spec;
        let said = (&spec.parameters, spec.node_pools.as_slice());
        at_parameters((found, trials), said, &without, &place)
    }
}

fn below_spec(spec: &'static str, path: &FieldPath) -> FieldPath {
    FieldPath(FieldPath::keys(spec).0.into_iter().chain(path.0.iter().cloned()).collect())
}

fn is_of_the_whole(path: &FieldPath) -> bool {
    path.0.first() == Some(&Step::Key("parameters".into()))
}

/// Each finding at the parameter that causes it. `without` makes the folder with some of them left out.
fn at_parameters(
    (found, trials): (Diagnostics, &TrialRenders),
    (own, pools): (&Parameters, &[NodePool]),
    without: &dyn Fn(&[FieldPath]) -> RenderedLess,
    place: &dyn Fn(&FieldPath) -> Place,
) -> Diagnostics {
    let all = paths(own, pools);
    // What was stopped because it took too much is not made again and again.
    let took_too_much = found.iter().any(|finding| finding.code == Code::TemplateBudget);
    if all.is_empty() || took_too_much || !found.iter().any(is_of_a_template) {
        return found;
    }
    let left = Cell::new(MOST);
    // The findings that go where a part is left out; `None` where others come instead, or nobody looks any more.
    let gone = |path: &FieldPath| -> Option<Vec<Diagnostic>> {
        if left.get() == 0 || !trials.take() {
            return None;
        }
        left.set(left.get() - 1);
        let rest = without(std::slice::from_ref(path)).err().unwrap_or_default();
        let known = |finding: &Diagnostic| found.iter().any(|before| before == finding);
        let goes = |finding: &&Diagnostic| {
            is_of_a_template(finding) && rest.iter().all(|other| other != *finding)
        };
        rest.iter().all(known).then(|| found.iter().filter(goes).cloned().collect())
    };
    let inner = |path: &FieldPath| inner(own, pools, path);
    let causes = causes(&found, all, &gone, &inner);
    let told = found.iter().map(|finding| {
        let cause = causes.iter().find(|(_, gone)| gone.contains(finding)).map(|(path, _)| path);
        let Some(cause) = cause else { return finding.clone() };
        let mut narrow = cause.clone();
        let goes = |part: &FieldPath| gone(part).is_some_and(|gone| gone.contains(finding));
        while let Some(part) = inner(&narrow).into_iter().find(goes) {
            narrow = part;
        }
        blamed(finding.clone(), place(&narrow), &narrow)
    });
    told.collect()
}

/// The findings that go where a path is left out; `None` where nobody can tell.
type GoneWithout<'a> = &'a dyn Fn(&FieldPath) -> Option<Vec<Diagnostic>>;

/// The paths that cause findings, each with these.
fn causes(
    found: &Diagnostics,
    all: Vec<FieldPath>,
    gone: GoneWithout<'_>,
    inner: &dyn Fn(&FieldPath) -> Vec<FieldPath>,
) -> Vec<(FieldPath, Vec<Diagnostic>)> {
    let (mut causes, mut needed) = (Vec::new(), Vec::new());
    for path in all {
        match gone(&path) {
            Some(gone) => causes.push((path, gone)),
            None => needed.push(path),
        }
    }
    let has_none = |finding: &Diagnostic| !causes.iter().any(|(_, gone)| gone.contains(finding));
    if found.iter().any(|finding| is_of_a_template(finding) && has_none(finding)) {
        // Of a parameter without which others make no sense, a part may be the cause.
        let parts = needed.iter().flat_map(inner);
        causes.extend(parts.filter_map(|part| gone(&part).map(|gone| (part, gone))));
    }
    causes
}

/// Whether a finding is about what templates make: one that has a person's file for its place is at home.
fn is_of_a_template(finding: &Diagnostic) -> bool {
    finding.place.as_ref().is_none_or(|place| place.file.starts_with("templates/"))
}

fn blamed(mut finding: Diagnostic, place: Place, path: &FieldPath) -> Diagnostic {
    let field = below_spec("spec", path);
    finding.message = format!("{}, as `{field}` has it", finding.message);
    finding.help = Some(format!("change `{field}`, or leave it out"));
    if let Some(template) = finding.place.take() {
        finding = finding.related(template, "this makes it");
    }
    finding.at(place)
}

/// Every parameter that is said: those of the whole, and those of the pools.
fn paths(own: &Parameters, pools: &[NodePool]) -> Vec<FieldPath> {
    let whole = FieldPath::keys("parameters");
    let mut all: Vec<_> = own.0.keys().map(|name| whole.key(name)).collect();
    for (at, pool) in pools.iter().enumerate() {
        let path = FieldPath::keys("nodePools").index(at).key("parameters");
        all.extend(pool.parameters.0.keys().map(|name| path.key(name)));
    }
    all
}

/// The parts of a parameter, where it has any.
fn inner(own: &Parameters, pools: &[NodePool], path: &FieldPath) -> Vec<FieldPath> {
    let (parameters, rest) = match path.0.as_slice() {
        [_, Step::Index(at), _, rest @ ..] => match pools.get(*at) {
            Some(pool) => (&pool.parameters, rest),
            None => return Vec::new(),
        },
        [_, rest @ ..] => (own, rest),
        [] => return Vec::new(),
    };
    let value = rest.iter().try_fold(None, |above: Option<&Value>, step| match (above, step) {
        (None, Step::Key(name)) => parameters.0.get(&**name).map(Some),
        (Some(above), Step::Key(key)) => above.get(&**key).map(Some),
        (Some(above), Step::Index(at)) => above.get(at).map(Some),
        (None, Step::Index(_)) => None,
    });
    match value.flatten() {
        Some(Value::Object(map)) => map.keys().map(|key| path.key(key)).collect(),
        Some(Value::Array(items)) => (0..items.len()).map(|at| path.index(at)).collect(),
        _ => Vec::new(),
    }
}

/// Leaves out what stands at a path.
fn remove(own: &mut Parameters, pools: &mut [NodePool], path: &FieldPath) {
    let (parameters, rest) = match path.0.as_slice() {
        [_, Step::Index(at), _, rest @ ..] => match pools.get_mut(*at) {
            Some(pool) => (&mut pool.parameters, rest),
            None => return,
        },
        [_, rest @ ..] => (own, rest),
        [] => return,
    };
    let Some((Step::Key(name), rest)) = rest.split_first() else { return };
    let Some((last, between)) = rest.split_last() else {
        parameters.0.remove(&**name);
        return;
    };
    let above = between.iter().try_fold(parameters.0.get_mut(&**name), |above, step| {
        Some(match step {
            Step::Key(key) => above?.get_mut(&**key),
            Step::Index(at) => above?.get_mut(at),
        })
    });
    match (above.flatten(), last) {
        (Some(Value::Object(map)), Step::Key(key)) => drop(map.remove(&**key)),
        (Some(Value::Array(items)), Step::Index(at)) if *at < items.len() => {
            items.remove(*at);
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn said(value: Value) -> Parameters {
        serde_json::from_value(value).unwrap()
    }

    fn finding(message: &str) -> Diagnostic {
        Diagnostic::new(Code::RenderedInvalid, message).at(Place::file("templates/a.yaml"))
    }

    /// What is found where parameters say `bad`, wherever that is, and without `needed`.
    fn checked(own: &Parameters, pools: &[NodePool]) -> RenderedLess {
        let texts = std::iter::once(own.value().to_string());
        let texts = texts.chain(pools.iter().map(|pool| pool.parameters.value().to_string()));
        let text: String = texts.collect();
        let mut found = Diagnostics::default();
        if text.contains("bad") {
            found.push(finding("it is bad"));
        }
        if text.contains("worse") {
            found.push(finding("it is worse"));
        }
        if !text.contains("needed") {
            found.push(finding("something is missing"));
        }
        if found.is_empty() { Ok(Files::new()) } else { Err(found) }
    }

    fn told(own: Value, of_pool: Value) -> Vec<String> {
        let own = said(own);
        let pools = [NodePool { parameters: said(of_pool), ..NodePool::default() }];
        let without = |paths: &[FieldPath]| {
            let (mut own, mut pools) = (own.clone(), pools.clone());
            for path in paths {
                remove(&mut own, &mut pools, path);
            }
            checked(&own, &pools)
        };
        let place = |path: &FieldPath| Place::field("fleet/a.yaml", 0, below_spec("spec", path));
        let found = checked(&own, &pools).err().unwrap_or_default();
        let trials = TrialRenders::default();
        let found = at_parameters((found, &trials), (&own, &pools), &without, &place);
        let line = |finding: Diagnostic| {
            let place = finding.place.unwrap();
            let field = place.field.map(|field| field.to_string()).unwrap_or_default();
            format!("{} {field}: {}", place.file, finding.message)
        };
        found.into_iter().map(line).collect()
    }

    #[test]
    fn a_finding_is_at_the_innermost_that_causes_it() {
        let own = json!({"fine": "needed", "disks": [{"name": "a"}, {"name": "bad", "size": 1}]});
        let at = "spec.parameters.disks[1].name";
        assert_eq!(
            told(own, json!({})),
            [format!("fleet/a.yaml {at}: it is bad, as `{at}` has it")]
        );
        let at = "spec.nodePools[0].parameters.disk";
        assert_eq!(
            told(json!({"a": "needed"}), json!({"disk": "bad"})),
            [format!("fleet/a.yaml {at}: it is bad, as `{at}` has it")]
        );
    }

    #[test]
    fn of_what_others_need_a_part_may_be_the_cause() {
        let own = json!({"network": {"range": "needed", "peering": "bad"}, "other": 1});
        let at = "spec.parameters.network.peering";
        assert_eq!(
            told(own, json!({})),
            [format!("fleet/a.yaml {at}: it is bad, as `{at}` has it")]
        );
    }

    #[test]
    fn each_finding_has_its_own_cause() {
        let own = json!({"a": "bad", "b": "worse", "c": "needed"});
        let told = told(own, json!({}));
        assert!(told[0].starts_with("fleet/a.yaml spec.parameters.a: it is bad"), "{told:?}");
        assert!(told[1].starts_with("fleet/a.yaml spec.parameters.b: it is worse"), "{told:?}");
    }

    #[test]
    fn nobody_is_named_who_is_not_the_cause() {
        for own in [
            // It is there twice, so without either it is still there.
            json!({"a": "bad", "b": "bad", "c": "needed"}),
            // Without it something else is wrong.
            json!({"a": "bad and needed"}),
        ] {
            assert_eq!(told(own, json!({})), ["templates/a.yaml : it is bad"]);
        }
        assert_eq!(told(json!({"a": 1}), json!({})), ["templates/a.yaml : something is missing"]);
    }

    #[test]
    fn what_is_at_home_or_took_too_much_is_not_made_again() {
        let own = Diagnostic::new(Code::RenderedInvalid, "x").at(Place::file("policies/o.yaml"));
        let large = Diagnostic::new(Code::TemplateBudget, "x").at(Place::file("templates/a.yaml"));
        for finding in [own, large] {
            stays(&Diagnostics::from_iter([finding]));
        }
    }

    #[test]
    fn a_run_that_tried_enough_tries_no_more() {
        let trials = TrialRenders::default();
        assert_eq!((0..1000).take_while(|_| trials.take()).count(), MOST_OF_RUN as usize);
        stays_for(&Diagnostics::from_iter([finding("it is bad")]), &trials);
    }

    /// Checks that nothing is to be found out of findings.
    fn stays(found: &Diagnostics) {
        stays_for(found, &TrialRenders::default());
    }

    fn stays_for(found: &Diagnostics, trials: &TrialRenders) {
        let parameters = said(json!({"a": 1}));
        let never = |_: &[FieldPath]| -> RenderedLess { panic!("nothing is to be found out") };
        let place = |_: &FieldPath| Place::file("x");
        let told = at_parameters((found.clone(), trials), (&parameters, &[]), &never, &place);
        assert_eq!(told, *found);
    }
}
