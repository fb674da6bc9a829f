//! The queue by signature: what was found out of one cluster is not asked again for others that are alike.

use super::{PlanRun, QueueingHint, Refused};
use crate::model::Cluster;
use crate::plan::candidate::Request;
use crate::plan::counts::{Membership, NumberedParts, PartNumber};
use crate::plan::group::ClusterInfo;
use crate::plan::lookup::LookupSet;
use crate::plan::pick::Selection;
use crate::plan::queue::Waiting;
use crate::plan::signature::{AlikeNumber, Signatures};

/// The most parts of groups of one cluster that are kept. Nobody writes that many rules, and where each cluster of a tenant brings
/// a hundred that are about all others, what is kept would be the square of them.
const MOST_PARTS: usize = 256;

/// What the clusters of the queue ask for, by signature, and the parts of groups by number.
#[derive(Clone, Debug)]
pub(super) struct SignedQueue<'a> {
    signatures: Signatures<'a>,
    /// By signature.
    requests: Vec<SignedRequest<'a>>,
    /// The signatures with the values of the labels by which their rules tell parts of groups apart.
    alike: LookupSet<(usize, Vec<Option<&'a str>>)>,
    /// By the number of those that are alike, the first of them and where the numbers of their parts begin.
    begin: Vec<(&'a Cluster, usize)>,
    parts: Vec<PartNumber>,
}

/// What the clusters with a signature ask for.
#[derive(Clone, Debug)]
struct SignedRequest<'a> {
    /// That of the first one.
    request: Request<'a>,
    /// `None` where it has too many parts to be kept.
    membership: Option<Membership<'a>>,
    /// The number of all of them, where no rule tells them apart by their labels.
    number: Option<usize>,
    /// What is said of those that no worker takes and that have nothing to do with any that are placed.
    refused: Option<Box<SignedRefusal<'a>>>,
}

/// What is said of the clusters with a signature that no worker takes.
#[derive(Clone, Debug)]
struct SignedRefusal<'a> {
    /// The workers were then what clusters had made of these.
    epoch: u64,
    first: Refused<'a>,
}

impl<'a> SignedQueue<'a> {
    fn new(signatures: Signatures<'a>) -> Self {
        Self {
            signatures,
            requests: Vec::new(),
            alike: LookupSet::default(),
            begin: Vec::new(),
            parts: Vec::new(),
        }
    }

    /// What clusters ask for that are alike: that of the first one with their signature.
    pub(super) fn request(&self, alike: AlikeNumber) -> &Request<'a> {
        &self.requests[alike.signature()].request
    }

    /// The parts of groups of clusters that are alike.
    pub(super) fn parts(&self, alike: AlikeNumber) -> NumberedParts<'_> {
        let membership = self.requests[alike.signature()].membership.as_ref();
        let membership = membership.expect("the parts are kept of those that are alike");
        membership.numbered(&self.parts[self.begin[alike.number()].1..])
    }
}

impl<'a> PlanRun<'a> {
    /// Finds out which clusters of the queue are alike, where so many are served that it is worth it, and of which of them the last
    /// run said why they wait, nothing being another since.
    pub(in crate::plan) fn sign(&mut self) {
        if self.is_signed {
            return;
        }
        self.is_signed = true;
        let settled = self.is_settled();
        if settled {
            self.before = self.states.counts.clone();
            for waiting in &mut self.queue {
                waiting.known = waiting.is_unchanged();
            }
        }
        self.choice.expect(self.queue.iter().filter(|waiting| !waiting.known).count());
        // Of one worker alone it matters, too, who is another than before: then nobody is like anybody.
        if !self.choice.has_index() || self.input.sole.is_some() {
            return;
        }
        let groups = self.states.counts.groups();
        let signatures = Signatures::new(self.input.fleet, &self.policies, groups);
        let mut signed = SignedQueue::new(signatures);
        let mut queue = std::mem::take(&mut self.queue);
        self.states.counts.expect(queue.len());
        for waiting in &mut queue {
            waiting.alike = self.find_alike(&mut signed, waiting);
        }
        self.find_keepers(&mut signed);
        (self.queue, self.signed) = (queue, Some(signed));
    }

    /// Of those from whom clusters keep away that stand behind them in the queue nobody knew when these were numbered.
    fn find_keepers(&mut self, signed: &mut SignedQueue<'a>) {
        let counts = &mut self.states.counts;
        for ((cluster, begin), (signature, _)) in signed.begin.iter().zip(&signed.alike) {
            let membership = signed.requests[*signature].membership.iter();
            for membership in membership {
                let numbers = &mut signed.parts[*begin..*begin + membership.parts()];
                counts.find_keepers(membership, &ClusterInfo::of(cluster), numbers);
            }
        }
        counts.note_numbered_keepers();
    }

    /// Whether a rule tells a cluster something for its name that others with its signature are not told.
    pub(in crate::plan) fn is_told_by_name(&self, cluster: &Cluster) -> bool {
        self.groups.contains_key(&cluster.name) || self.taken_names.contains(&cluster.name)
    }

    /// With whom a cluster is alike; `None` where it is told something for its name, and where too many rules are about it.
    fn find_alike(
        &mut self,
        signed: &mut SignedQueue<'a>,
        waiting: &Waiting<'a>,
    ) -> Option<AlikeNumber> {
        let cluster = waiting.cluster;
        if self.is_told_by_name(cluster) {
            return None;
        }
        let signature = signed.signatures.of(cluster);
        if signature == signed.requests.len() {
            let request = self.request(cluster);
            let membership = Some(self.states.counts.membership(&request));
            let membership = membership.filter(|membership| membership.parts() <= MOST_PARTS);
            signed.requests.push(SignedRequest {
                request,
                membership,
                number: None,
                refused: None,
            });
        }
        let of = &mut signed.requests[signature];
        if let Some(number) = of.number {
            return Some(AlikeNumber::new(signature, number));
        }
        let membership = of.membership.as_ref()?;
        let values = membership.values(cluster);
        let is_one = values.is_empty();
        let (number, is_new) = signed.alike.insert_full((signature, values));
        if is_new {
            signed.begin.push((cluster, signed.parts.len()));
            let info = ClusterInfo::of(cluster);
            self.states.counts.number_parts(membership, &info, &mut signed.parts);
        }
        of.number = is_one.then_some(number);
        Some(AlikeNumber::new(signature, number))
    }

    /// The clusters of the queue that are alike, with their parts of groups.
    #[cfg(test)]
    pub(in crate::plan) fn alike(
        &self,
    ) -> impl Iterator<Item = (&'a Cluster, AlikeNumber, NumberedParts<'_>)> {
        let signed = self.signed.iter();
        let of_queue = signed.flat_map(|signed| self.queue.iter().map(move |one| (signed, one)));
        of_queue.filter_map(|(signed, waiting)| {
            let alike = waiting.alike?;
            Some((waiting.cluster, alike, signed.parts(alike)))
        })
    }

    /// A cluster of the queue as filters and scores see it.
    pub(super) fn request_in_queue(&self, waiting: &Waiting<'a>) -> Request<'a> {
        let cluster = waiting.cluster;
        match (&self.signed, waiting.alike) {
            (Some(signed), Some(alike)) => Request { cluster, ..*signed.request(alike) },
            _ => self.request(cluster),
        }
    }

    /// After how many bindings a domain may have opened last to a cluster of the queue, where that is known of those that are alike.
    pub(super) fn min_raised(&mut self, one: &Refused<'a>) -> Option<u64> {
        let alike = one.alike()?;
        let parts = self.signed.as_ref()?.parts(alike);
        self.choice.min_raised(alike.signature(), parts, &self.states)
    }

    /// What a refused cluster of the queue waits for: the fewest of what its constraints count, where these are known of those that
    /// are alike.
    pub(super) fn watch(&mut self, one: &Refused<'a>) -> Option<QueueingHint<'a>> {
        let alike = one.alike()?;
        let parts = self.signed.as_ref()?.parts(alike);
        let is_known = self.choice.watch(alike.signature(), parts, &self.states);
        is_known.then(|| QueueingHint::Since(self.states.counts.now()))
    }

    /// What is said of a cluster of the queue that no worker takes, where another one with its signature was refused that had as
    /// little to do with any that are placed: what is free has only shrunk since.
    pub(super) fn refused_before(&self, waiting: Waiting<'a>) -> Option<Refused<'a>> {
        let (signed, alike) = self.signed.as_ref().zip(waiting.alike)?;
        let SignedRefusal { epoch, first } =
            signed.requests[alike.signature()].refused.as_deref()?;
        let counts = &self.states.counts;
        // Where something has changed since that they depend on, they are looked at again at the end.
        let is_alike = *epoch == self.states.epoch()
            && counts.meets_nobody(signed.parts(alike), waiting.cluster);
        is_alike.then(|| Refused { waiting, ..first.clone() })
    }

    /// Keeps what was found of a cluster of the queue that no worker takes, for others with its signature.
    pub(super) fn note_refused(&mut self, one: &Refused<'a>) {
        let Some((signed, alike)) = self.signed.as_mut().zip(one.alike()) else { return };
        if self.states.counts.meets_nobody(signed.parts(alike), one.waiting.cluster) {
            let refused = SignedRefusal { epoch: self.states.epoch(), first: one.clone() };
            signed.requests[alike.signature()].refused = Some(Box::new(refused));
        }
    }

    /// At which binding anything changed last that a cluster of the queue depends on.
    pub(super) fn changed_for(&self, one: &Refused<'a>) -> u64 {
        let (counts, cluster) = (&self.states.counts, one.waiting.cluster);
        if let Some((signed, alike)) = self.signed.as_ref().zip(one.alike()) {
            return counts.changed_for_parts(signed.parts(alike), cluster);
        }
        let request = self.request_in_queue(&one.waiting);
        let groups = request.spread().map(|(_, group)| group);
        let groups = groups.chain(request.anti_affinity().map(|term| term.group));
        counts.changed_for(&request.info(), groups)
    }

    /// What is known of a cluster of the queue without asking any worker.
    pub(super) fn select(&mut self, one: &Refused<'a>) -> Selection {
        let Some((signed, alike)) = self.signed.as_ref().zip(one.alike()) else {
            return Selection::Unknown;
        };
        let parts = signed.parts(alike);
        let signature = (one.waiting.cluster, alike.signature());
        self.choice.select(signed.request(alike), signature, parts, &self.states)
    }
}
