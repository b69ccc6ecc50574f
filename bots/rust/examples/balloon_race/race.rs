//! A position as the bot thinks of it, and what flights make of it.

use botarena::proto::games::balloon_race::v1::View;

use crate::board::{DIRECTIONS, PAD_ROW, PAD_WIDTH, SIZE, SQUARES, distance, step};

const COLOURS: usize = 5;
/// The die whose player chooses the way.
const FREE_DIE: u32 = 6;
/// Squares that a balloon flies in a turn; also what a free die costs where no way is free.
const FLIGHT: u32 = 2;
const MAIL_POINTS: f64 = 3.0;
/// What ending the race in front is worth beyond the lead.
const FINISH: f64 = 6.0;
/// What a mail token that one die takes a balloon to is worth to whoever is next.
const MAIL_IN_REACH: f64 = 0.6;

#[derive(Clone)]
pub struct Race {
    balloons: [usize; COLOURS],
    /// By square, whether a balloon or an obstacle is there.
    taken: [bool; SQUARES],
    mail: [bool; SQUARES],
    zone: usize,
    pad: std::ops::Range<usize>,
    /// Our balloon cards.
    hand: Vec<usize>,
    /// Our points for mail and penalties less those of the best opponent.
    ahead: f64,
    /// Whether the next turn is ours.
    next_is_ours: bool,
}

impl Race {
    /// Fails while the board is being laid out; no decision is due then.
    pub fn new(view: &View, seat: usize) -> Result<Self, std::num::TryFromIntError> {
        let mut balloons = [0; COLOURS];
        for (place, &square) in balloons.iter_mut().zip(&view.balloons) {
            *place = usize::try_from(square)?;
        }
        let mut taken = [false; SQUARES];
        let blocks = view.obstacles.iter().map(|obstacle| obstacle.square as usize);
        for square in blocks.chain(balloons) {
            taken[square] = true;
        }
        let mut mail = [false; SQUARES];
        for &square in &view.mail {
            mail[square as usize] = true;
        }
        let score = |who: usize| MAIL_POINTS * f64::from(view.letters[who]) - f64::from(view.penalties[who]);
        let others = (0..view.players as usize).filter(|&who| who != seat).map(score);
        let pad = SIZE * PAD_ROW + usize::try_from(view.pad)?;
        Ok(Self {
            balloons,
            taken,
            mail,
            zone: SIZE * PAD_ROW + usize::try_from(view.zone)?,
            pad: pad..pad + PAD_WIDTH,
            hand: view.cards[seat].colours.iter().map(|&colour| colour as usize).collect(),
            ahead: score(seat) - others.fold(f64::NEG_INFINITY, f64::max),
            next_is_ours: next_turn(view) == Some(seat),
        })
    }

    /// The balloons of these colours fly one after the other; `thrown` are the dice, by colour.
    pub fn fly_all(&mut self, thrown: &[u32], order: &[usize]) {
        for &colour in order {
            let from = self.balloons[colour];
            let die = thrown[colour];
            let to = if die == FREE_DIE { self.best_way(colour) } else { self.drift(from, die) };
            let (to, penalties) = to.unwrap_or((from, FLIGHT));
            self.ahead -= f64::from(penalties);
            self.land(colour, to);
        }
    }

    /// A balloon ends its flight, and takes the mail that is there.
    pub fn land(&mut self, colour: usize, square: usize) {
        self.taken[self.balloons[colour]] = false;
        self.taken[square] = true;
        self.balloons[colour] = square;
        if std::mem::take(&mut self.mail[square]) {
            self.ahead += MAIL_POINTS;
        }
    }

    /// The same with an obstacle put there, from somewhere else or from the supply.
    pub fn with_obstacle(&self, from: Option<usize>, to: usize) -> Self {
        let mut after = self.clone();
        if let Some(from) = from {
            after.taken[from] = false;
        }
        after.taken[to] = true;
        after
    }

    /// Points by which we lead the best opponent, whose balloons may be any that we do not hold.
    pub fn lead(&self) -> f64 {
        let (mut ours, mut theirs, mut cards, mut hidden) = (0.0, 0.0, 0.0, 0.0);
        for (colour, &square) in self.balloons.iter().enumerate() {
            let away = f64::from(distance(square, self.zone));
            if self.hand.contains(&colour) {
                ours += away;
                cards += 1.0;
            } else {
                theirs += away;
                hidden += 1.0;
            }
        }
        self.ahead - ours + theirs * cards / hidden
    }

    /// How good the position is for us after our turn.
    pub fn value(&self) -> f64 {
        let lead = self.lead();
        if self.balloons.iter().any(|square| self.pad.contains(square)) {
            return lead + FINISH.copysign(lead);
        }
        let reach = MAIL_IN_REACH * f64::from(self.mail_in_reach());
        if self.next_is_ours { lead + reach } else { lead - reach }
    }

    /// Penalties that await whoever flies next, over all balloons and dice; good for us unless we are next.
    pub fn peril(&self) -> f64 {
        let dice = 1..FREE_DIE;
        let drifts = dice.flat_map(|die| self.balloons.iter().filter_map(move |&from| self.drift(from, die)));
        let penalties = f64::from(drifts.map(|(_, penalties)| penalties).sum::<u32>());
        if self.next_is_ours { -penalties } else { penalties }
    }

    /// Where a balloon with a die below 6 ends, and the penalties that it costs.
    fn drift(&self, from: usize, die: u32) -> Option<(usize, u32)> {
        let direction = DIRECTIONS.get(die as usize - 1)?;
        let mut square = from;
        for left in (1..=FLIGHT).rev() {
            match step(square, *direction) {
                None => break,
                Some(next) if self.taken[next] => return Some((square, left)),
                Some(next) => square = next,
            }
        }
        Some((square, 0))
    }

    /// Where a balloon with a 6 goes best, at no cost; `None` where no way is free.
    fn best_way(&self, colour: usize) -> Option<(usize, u32)> {
        let from = self.balloons[colour];
        let free = |square: &usize| *square == from || !self.taken[*square];
        let around = |square: usize| DIRECTIONS.iter().filter_map(move |&way| step(square, way)).filter(free);
        let lead_at = |square: usize| {
            let mut after = self.clone();
            after.land(colour, square);
            after.lead()
        };
        let ends = around(from).flat_map(around).map(|square| (square, lead_at(square)));
        ends.max_by(|one, other| one.1.total_cmp(&other.1)).map(|(square, _)| (square, 0))
    }

    /// Mail tokens that one die takes a balloon to, counted for each balloon.
    fn mail_in_reach(&self) -> u32 {
        let full_flight = |from: usize, &way: &(i32, i32)| step(step(from, way)?, way);
        let dice = &DIRECTIONS[..FREE_DIE as usize - 1];
        let ends = self.balloons.iter().flat_map(|&from| dice.iter().filter_map(move |way| full_flight(from, way)));
        ends.map(|end| u32::from(self.mail[end])).sum()
    }
}

/// The seat whose turn comes next; `None` if order cards are dealt anew before it. While an obstacle is put, the turn
/// that comes next is the first of the round.
fn next_turn(view: &View) -> Option<usize> {
    let mut turns: Vec<(u32, usize)> = view.order.iter().copied().zip(0..).collect();
    turns.sort_unstable();
    let done = view.turn as usize + usize::from(view.drawn == 0);
    turns.get(done).map(|(_, deal)| deal % view.players as usize)
}
