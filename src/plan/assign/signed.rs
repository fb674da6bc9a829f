//! The requests of the queue by signature: what was found out of one cluster is not asked again for others that are alike.

use super::PlanRun;
use super::line::AlikeKey;
use crate::model::Cluster;
use crate::plan::candidate::Request;
use crate::plan::counts::Membership;
use crate::plan::signature::Signatures;

/// What the clusters of the queue ask for, by signature.
#[derive(Clone, Debug)]
pub(super) struct SignedRequests<'a> {
    signatures: Signatures<'a>,
    /// The request of the first one, and the groups in which all of them are.
    requests: Vec<(Request<'a>, Membership<'a>)>,
}

impl<'a> SignedRequests<'a> {
    /// None yet.
    pub(super) fn new(signatures: Signatures<'a>) -> Self {
        Self { signatures, requests: Vec::new() }
    }

    /// The groups in which the clusters with a signature are.
    pub(super) fn membership(&self, signature: usize) -> &Membership<'a> {
        &self.requests[signature].1
    }
}

impl<'a> PlanRun<'a> {
    /// A cluster of the queue as filters and scores see it, with its signature where signatures are asked for.
    pub(super) fn request_in_queue(
        &mut self,
        cluster: &'a Cluster,
    ) -> (Request<'a>, Option<usize>) {
        let Some(signed) = &mut self.signed else { return (self.request(cluster), None) };
        let signature = signed.signatures.of(cluster);
        if let Some((first, _)) = signed.requests.get(signature) {
            let request = Request {
                cluster,
                group: self.groups.get(&cluster.name).copied(),
                is_name_taken: self.taken_names.contains(&cluster.name),
                ..*first
            };
            return (request, Some(signature));
        }
        let request = self.request(cluster);
        let membership = self.states.counts.membership(&request);
        if let Some(signed) = &mut self.signed {
            signed.requests.push((request, membership));
        }
        (request, Some(signature))
    }

    /// What a cluster has in common with those that are alike.
    pub(super) fn alike(
        &self,
        cluster: &'a Cluster,
        signature: Option<usize>,
    ) -> Option<AlikeKey<'a>> {
        let (signed, signature) = self.signed.as_ref().zip(signature)?;
        Some((signature, signed.membership(signature).values(cluster)))
    }
}
