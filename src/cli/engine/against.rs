//! A change as it will be once it is merged, with what it causes and nothing else.

use super::super::show::plan::AgainstView;
use super::super::{AgainstArgs, Context, Error, FleetArgs, ObservedArgs};
use super::open::{self, FleetLook, build, clock, failed};
use super::{Diffs, OpenedFleet, Validated};
use crate::change::{self, Others};
use crate::model::{Id, Proposal, Verification};
use crate::reconcile::{self, Against, Compared, MissingBranches, Observing};

/// What the change is merged into: what was asked for, else what a pull request's workflow says, where the
/// fleet is a folder of a clone.
pub(super) fn asked(
    context: &Context<'_, '_>,
    fleet: &FleetArgs,
    against: &AgainstArgs,
) -> Result<Option<Against>, Error> {
    if let Some(asked) = against.asked() {
        return Ok(Some(asked));
    }
    let Some(target) = against.target(&context.io.env) else { return Ok(None) };
    let place = open::find(context, fleet)?;
    let is_change = place.folder.is_some() && place.revision.is_none();
    Ok(Some(target).filter(|_| is_change && reconcile::can_merge(&place)))
}

/// What the change causes: `plan`.
pub(super) fn propose(
    context: &Context<'_, '_>,
    fleet: &FleetArgs,
    observed: &ObservedArgs,
    against: &Against,
    diffs: Diffs,
) -> Result<OpenedFleet, Error> {
    let (mut look, _, _) = look(context, fleet, observed, against, MissingBranches::Brought)?;
    look.show(diffs)?;
    look.certify()?;
    Ok(look.opened)
}

/// What is found in the merge and not in what it is merged into: `validate`.
pub(super) fn validate(
    context: &Context<'_, '_>,
    fleet: &FleetArgs,
    observed: &ObservedArgs,
    against: &Against,
) -> Result<Validated, Error> {
    let (mut look, base, base_input) =
        look(context, fleet, observed, against, MissingBranches::Noted)?;
    if look.opened.proposal.stopped {
        return Ok(Validated { opened: look.opened, verified: Verification::default() });
    }
    let verified = look.verify(look.input, &look.opened.proposal)?;
    let known = if base.stopped { Vec::new() } else { look.verify(base_input, &base)?.findings };
    let after = verified.findings.iter().cloned().collect();
    let (others, new) = change::new_findings(&after, &known);
    look.opened.proposal.diagnostics.extend(new);
    if let Some(against) = &mut look.opened.against {
        against.others.findings += others;
    }
    Ok(Validated { opened: look.opened, verified })
}

/// The plan of the merge without what the plan of the base says too, that plan, and the tree of the base.
fn look(
    context: &Context<'_, '_>,
    fleet: &FleetArgs,
    observed: &ObservedArgs,
    against: &Against,
    missing: MissingBranches,
) -> Result<(FleetLook, Proposal, Id), Error> {
    let place = open::find(context, fleet)?;
    let shown_prefix = place.folder.as_deref().map(open::shown).unwrap_or_default();
    let observing = Observing {
        folder: observed.observed.clone(),
        first_run: observed.first_run,
        missing,
        ..Observing::default()
    };
    let compared =
        reconcile::open_against(place, clock(context), &observing, &build(context), against);
    let Compared { mut opened, base, base_input, merged } =
        compared.map_err(|error| failed(&error))?;
    let (proposal, others) = if base.stopped {
        (opened.proposal, Others::default())
    } else {
        change::caused(opened.proposal, &base)
    };
    let pressure = change::pressure(&proposal).beyond(&change::pressure(&base));
    opened.proposal = proposal;
    let mut look = open::looked(fleet, opened, shown_prefix);
    look.opened.against = Some(AgainstView { merged, others, pressure });
    Ok((look, base, base_input))
}
