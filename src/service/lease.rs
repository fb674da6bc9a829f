//! A Lease (`coordination.k8s.io/v1`) as an election: whoever holds it and renews it leads.
//!
//! It follows client-go: a candidate believes in nobody's clock but its own, and counts the time since
//! it last saw the Lease change. Every write carries the version that was read, so of two candidates
//! that take a Lease at the same moment one is refused.

use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use kube::api::{Api, ObjectMeta, PostParams};

use super::Error;

/// What carp calls itself where an object is written.
const FIELD_MANAGER: &str = "carp";

/// An election that a controller takes part in.
#[derive(Clone, Debug)]
pub struct Election {
    /// The namespace of the Lease; `None`: the one that the credentials belong to.
    pub namespace: Option<String>,
    /// The name of the Lease.
    pub name: String,
    /// What this candidate is called; two must differ.
    pub identity: String,
    /// How long a lead lasts without being renewed.
    pub duration: Duration,
}

/// How an election stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ElectionStanding {
    /// This candidate leads, until the duration is over.
    Leading,
    /// Another one does.
    Following {
        /// Its identity; empty where nobody holds the Lease just now.
        holder: String,
    },
}

/// One that stands for election.
pub struct LeaseCandidate {
    api: Api<Lease>,
    election: Election,
    /// What the Lease said when it last changed, and when that was by our own clock.
    last: Option<(LeaseSpec, Timestamp)>,
}

/// What a candidate does about a Lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LeaseStep {
    Renew,
    Take,
    Follow,
}

impl LeaseCandidate {
    /// Finds the cluster: the one that this process runs in, or that of the kubeconfig.
    ///
    /// # Errors
    /// There is none.
    pub async fn connect(election: &Election) -> Result<Self, Error> {
        let failed = |detail: String| Error::NoCluster { detail };
        let config = kube::Config::infer().await.map_err(|error| failed(error.to_string()))?;
        let namespace =
            election.namespace.clone().unwrap_or_else(|| config.default_namespace.clone());
        let client = kube::Client::try_from(config).map_err(|error| failed(error.to_string()))?;
        Ok(Self::new(Api::namespaced(client, &namespace), election.clone()))
    }

    /// A candidate that speaks to a given API server.
    #[must_use]
    pub fn new(api: Api<Lease>, election: Election) -> Self {
        Self { api, election, last: None }
    }

    /// How long a lead lasts without being renewed.
    #[must_use]
    pub fn duration(&self) -> Duration {
        self.election.duration
    }

    /// One round: takes the Lease if it is free or ran out, renews it if it is held.
    ///
    /// # Errors
    /// The API server did not answer, or does not allow it.
    pub async fn stand(&mut self, now: Timestamp) -> Result<ElectionStanding, Error> {
        let name = &self.election.name;
        let found = self.api.get_opt(name).await.map_err(|e| self.failed("reading", &e))?;
        let Some(lease) = found else { return self.found(now).await };
        let spec = lease.spec.clone().unwrap_or_default();
        if self.last.as_ref().is_none_or(|(last, _)| *last != spec) {
            self.last = Some((spec.clone(), now));
        }
        let since = self.last.as_ref().map_or(now, |(_, since)| *since);
        match step(&spec, &self.election, now.duration_since(since)) {
            LeaseStep::Follow => Ok(following(&spec)),
            step => {
                let spec = self.claim(&spec, step, now);
                self.replace(Lease { spec: Some(spec), ..lease }).await
            }
        }
    }

    /// Gives the lead up, so that another one need not wait for it to run out.
    ///
    /// # Errors
    /// The API server did not answer.
    pub async fn release(&mut self, now: Timestamp) -> Result<(), Error> {
        let name = &self.election.name;
        let found = self.api.get_opt(name).await.map_err(|e| self.failed("reading", &e))?;
        let Some(mut lease) = found else { return Ok(()) };
        let spec = lease.spec.get_or_insert_default();
        if spec.holder_identity.as_deref() != Some(&self.election.identity) {
            return Ok(());
        }
        spec.holder_identity = Some(String::new());
        spec.renew_time = Some(MicroTime(now));
        self.replace(lease).await.map(|_| ())
    }

    async fn found(&mut self, now: Timestamp) -> Result<ElectionStanding, Error> {
        let name = Some(self.election.name.clone());
        let spec = LeaseSpec {
            lease_transitions: Some(0),
            ..self.claim(&LeaseSpec::default(), LeaseStep::Take, now)
        };
        let metadata = ObjectMeta { name, ..ObjectMeta::default() };
        let lease = Lease { metadata, spec: Some(spec.clone()) };
        match self.api.create(&params(), &lease).await {
            Ok(_) => {
                self.last = Some((spec, now));
                Ok(ElectionStanding::Leading)
            }
            Err(kube::Error::Api(status)) if status.code == 409 => {
                Ok(ElectionStanding::Following { holder: String::new() })
            }
            Err(error) => Err(self.failed("making", &error)),
        }
    }

    async fn replace(&mut self, lease: Lease) -> Result<ElectionStanding, Error> {
        match self.api.replace(&self.election.name, &params(), &lease).await {
            Ok(_) => Ok(ElectionStanding::Leading),
            // Another one was faster; the next round shows who.
            Err(kube::Error::Api(status)) if status.code == 409 => {
                Ok(ElectionStanding::Following { holder: String::new() })
            }
            Err(error) => Err(self.failed("writing", &error)),
        }
    }

    fn claim(&self, before: &LeaseSpec, step: LeaseStep, now: Timestamp) -> LeaseSpec {
        let seconds = i32::try_from(self.election.duration.as_secs()).unwrap_or(i32::MAX);
        let mut spec = LeaseSpec {
            holder_identity: Some(self.election.identity.clone()),
            lease_duration_seconds: Some(seconds.max(1)),
            renew_time: Some(MicroTime(now)),
            ..before.clone()
        };
        if step == LeaseStep::Take {
            spec.acquire_time = Some(MicroTime(now));
            spec.lease_transitions = Some(before.lease_transitions.unwrap_or_default() + 1);
        }
        spec
    }

    fn failed(&self, what: &'static str, error: &kube::Error) -> Error {
        let name = self.election.name.clone();
        Error::Lease { what, name, detail: error.to_string() }
    }
}

fn params() -> PostParams {
    PostParams { dry_run: false, field_manager: Some(FIELD_MANAGER.to_owned()) }
}

fn following(spec: &LeaseSpec) -> ElectionStanding {
    ElectionStanding::Following { holder: spec.holder_identity.clone().unwrap_or_default() }
}

/// What to do about a Lease that has said the same for `unchanged`.
fn step(spec: &LeaseSpec, election: &Election, unchanged: jiff::SignedDuration) -> LeaseStep {
    let holder = spec.holder_identity.as_deref().unwrap_or_default();
    let own =
        jiff::SignedDuration::try_from(election.duration).unwrap_or(jiff::SignedDuration::MAX);
    let said = spec.lease_duration_seconds.map(|s| jiff::SignedDuration::from_secs(s.into()));
    match () {
        () if holder == election.identity => LeaseStep::Renew,
        () if holder.is_empty() || unchanged >= said.unwrap_or(own) => LeaseStep::Take,
        () => LeaseStep::Follow,
    }
}

#[cfg(test)]
mod tests {
    use jiff::SignedDuration;

    use super::*;

    fn step_after(holder: &str, seconds: i64) -> LeaseStep {
        let election = Election {
            namespace: None,
            name: "carp".to_owned(),
            identity: "one".to_owned(),
            duration: Duration::from_secs(15),
        };
        let spec = LeaseSpec {
            holder_identity: Some(holder.to_owned()),
            lease_duration_seconds: Some(30),
            ..LeaseSpec::default()
        };
        step(&spec, &election, SignedDuration::from_secs(seconds))
    }

    #[test]
    fn a_lease_is_taken_when_it_is_free_or_ran_out_by_our_own_clock() {
        assert_eq!(step_after("one", 0), LeaseStep::Renew);
        assert_eq!(step_after("", 0), LeaseStep::Take, "it was given up");
        assert_eq!(step_after("two", 29), LeaseStep::Follow, "what its holder said counts");
        assert_eq!(step_after("two", 30), LeaseStep::Take);
        assert_eq!(step_after("two", -86_400), LeaseStep::Follow, "a clock that went back");
    }
}
