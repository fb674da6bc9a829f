//! Going on where a clone is damaged: with a new one where it is carp's own, and where it is a person's
//! with one of carp's own. Of a person's clone nothing is touched.

use super::once::once;
use super::options::Options;
use super::outcome::ReconcileResult;
use super::place::LentClone;
use super::sources::remote;
use super::telling::ForgeTelling;
use super::{Error, FleetPlace};
use crate::git::{OwnClone, Repository};

/// How often one run changes to another clone: from a person's to carp's own, from that to a new one.
const CHANGES: usize = 2;

/// Where the clone of carp's own lies in carp's folder of a person's Git directory.
const BESIDE: &str = "clone.git";

/// Reconciles a fleet once, and once more on another clone if this one is damaged. Then the forge is told.
///
/// # Errors
/// As for [`once`]; the clone is damaged and there is no remote to make another from.
pub fn once_on_a_sound_clone(
    place: &mut FleetPlace,
    options: &Options,
) -> Result<ReconcileResult, Error> {
    let mut told = Vec::new();
    let unreadable = place.repository.as_ref().and_then(Repository::unreadable);
    if let Some(object) = unreadable {
        told.push(change_clone(place, &format!("reading {object} did not come to an end"))?);
    }
    loop {
        match once(place, options) {
            Ok(mut ran) => {
                let notes = match &mut ran {
                    ReconcileResult::Through(outcome) => &mut outcome.notes,
                    ReconcileResult::Settled(turn) => &mut turn.notes,
                };
                notes.splice(0..0, told);
                tell_forge(place, options, &mut ran);
                return Ok(ran);
            }
            Err(error) if error.is_damage() && told.len() < CHANGES => {
                told.push(change_clone(place, &error.to_string())?);
            }
            Err(error) => return Err(error),
        }
    }
}

/// Comes last: a forge that does not answer holds up nothing of the turn.
fn tell_forge(place: &FleetPlace, options: &Options, ran: &mut ReconcileResult) {
    let Some(repository) = &place.repository else { return };
    let now = options.clock.wall;
    ForgeTelling { repository, prefix: &place.prefix, options: &options.forge, now }.of(ran);
}

/// Lets the place be read from another clone, and says so.
fn change_clone(place: &mut FleetPlace, why: &str) -> Result<String, Error> {
    let damaged = place.repository.take();
    if let Some(own) = &place.own {
        // Closed before its files go.
        drop(damaged);
        let clone = own.clone.anew()?;
        own.lend_to(&clone)?;
        place.repository = Some(clone);
        return Ok(format!("{why}; this clone is carp's own, and it was made anew"));
    }
    let Some(person) = damaged else { return Err(Error::NoRepository(folder(place))) };
    let address = remote(&person).and_then(|name| Some((person.fetch_address(&name)?, name)));
    let Some((url, name)) = address else {
        return Err(Error::Damaged { why: why.to_owned(), folder: folder(place) });
    };
    let own = OwnClone::hold(&person.carp_dir().join(BESIDE), &url)?;
    let clone = own.open()?;
    let told = format!(
        "{why}; nothing there was changed, and carp goes on with a clone of its own at `{}`; `git fsck` \
         names what is damaged",
        own.path().display()
    );
    let own = LentClone { clone: own, lender: Some((person, name)) };
    own.lend_to(&clone)?;
    place.own = Some(own);
    place.repository = Some(clone);
    Ok(told)
}

fn folder(place: &FleetPlace) -> std::path::PathBuf {
    place.folder.clone().unwrap_or_default()
}
