//! The APIs of clusters, through kube. So far one object: the Lease by which several controllers agree
//! on who acts.

mod error;
mod lease;

pub use error::Error;
pub use lease::{Candidate, Election, Standing};
