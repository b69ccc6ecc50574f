//! Plays Wyścig balonów by its lead: tries every way to lay the dice, weighs what the balloons then gain and how far its
//! own are from the landing zone, and leaves obstacles where they hurt whoever flies next, if that is somebody else.

mod board;
mod race;

use botarena::proto::games::balloon_race::v1 as messages;
use botarena::proto::v1::typed_action;
use botarena::{Action, Answer, BoxError, Decision, Position, Profile};

use messages::action::Action as Deed;
use race::Race;

fn main() -> std::process::ExitCode {
    let profile = Profile::new(["balloon-race"]).version("1").typed_actions();
    botarena::run(profile, |_| act)
}

fn act(decision: &Decision) -> Result<Answer, BoxError> {
    let Some(Position::BalloonRace(view)) = decision.position() else {
        return Err("this bot plays balloon-race only".into());
    };
    let race = Race::new(view, decision.seat())?;
    let worth = |action: &&Action| worth(&race, view, action);
    let best = decision.legal().iter().max_by(|one, other| worth(one).total_cmp(&worth(other)));
    let best = best.ok_or("there is nothing to choose from")?;
    Ok(Answer::from(best).comment(format!("leads by {:.1}", race.lead())))
}

/// How good it is to do this.
fn worth(race: &Race, view: &messages::View, action: &Action) -> f64 {
    match deed(action) {
        Some(Deed::Assign(assign)) => {
            let mut order = [0, 1, 2, 3, 4];
            if assign.direction() == messages::assign::Direction::Leftwards {
                order.reverse();
            }
            let mut after = race.clone();
            after.fly_all(&assign.dice, &order);
            after.value()
        }
        Some(Deed::To(to)) => {
            let mut after = race.clone();
            let waiting: Vec<usize> = view.waiting.iter().map(|&colour| colour as usize).collect();
            if let Some((&first, rest)) = waiting.split_first() {
                after.land(first, board::square(to.row, to.column));
                after.fly_all(&view.dice, rest);
            }
            after.value()
        }
        Some(Deed::Put(put)) => race.with_obstacle(None, board::square(put.row, put.column)).peril(),
        Some(Deed::Move(slide)) => {
            let from = board::square(slide.row, slide.column);
            let to = board::square(slide.to_row.unsigned_abs(), slide.to_column.unsigned_abs());
            race.with_obstacle(Some(from), to).peril()
        }
        Some(Deed::Timeout(_)) | None => f64::NEG_INFINITY,
    }
}

/// The typed form of a legal action.
fn deed(action: &Action) -> Option<&Deed> {
    match action.typed.as_ref()?.action.as_ref()? {
        typed_action::Action::BalloonRace(deed) => deed.action.as_ref(),
        _ => None,
    }
}
