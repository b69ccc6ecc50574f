//! What a bot is told, and what it answers.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::error::BoxError;
use crate::proto::v1 as pb;
use crate::rng::Rng;

pub use pb::view::View as Position;
pub use pb::{Action, Annotation, Clock, MatchStarted as Match, ObservedEvent as Event, SeatReason};

/// A bot for one game. All of its methods are called on one thread, in order. Several games may go on at once, each
/// with a bot and a thread of its own.
///
/// A function or closure `Fn(&Decision) -> Result<Answer, BoxError>` is a bot that keeps no state.
pub trait Bot {
    /// Chooses one of [`Decision::legal`]. An error (or a panic) gives up this game; others go on.
    fn act(&mut self, decision: &Decision) -> Result<Answer, BoxError>;

    /// Something happened that our seat may see; told before the next `act`, own actions as well. Needs
    /// [`Profile::history`] with [`History::Delta`].
    fn on_event(&mut self, _event: &Event) {}

    /// The game is over.
    fn on_end(&mut self, _outcome: &Outcome) {}
}

impl<F> Bot for F
where
    F: FnMut(&Decision) -> Result<Answer, BoxError>,
{
    fn act(&mut self, decision: &Decision) -> Result<Answer, BoxError> {
        self(decision)
    }
}

/// A decision that is due.
#[derive(Clone, Debug)]
pub struct Decision {
    /// The game that it belongs to: its options, who sits where, which seat is ours.
    pub game: Arc<Match>,
    /// All that the arena said. What is needed often has a method below.
    pub request: pb::DecisionRequested,
    /// When the request arrived here.
    pub arrived: Instant,
}

impl Decision {
    /// The legal actions, at least two, since what is forced is played for you.
    pub fn legal(&self) -> &[Action] {
        &self.request.legal
    }

    /// The legal action with this canonical text.
    pub fn by_text(&self, text: &str) -> Option<&Action> {
        self.legal().iter().find(|action| action.text == text)
    }

    /// The position as the message of its game: match on the variant of yours, e.g. `Some(Position::Pop(view))`.
    /// `None` for a game newer than this SDK.
    pub fn position(&self) -> Option<&Position> {
        self.request.view.as_ref()?.view.as_ref()
    }

    /// The position as text, for a bot with [`Profile::text`]; else empty.
    pub fn text(&self) -> &str {
        self.request.view.as_ref().map_or("", |view| &view.text)
    }

    /// Our seat, from 0.
    pub fn seat(&self) -> usize {
        self.game.seat as usize
    }

    /// Time as the arena counts it, in ms.
    pub fn clock(&self) -> Clock {
        self.request.clock.unwrap_or_default()
    }

    /// What is left of the time for this decision. The way to the arena and back comes off it as well.
    pub fn left(&self) -> Duration {
        let limit = Duration::from_millis(self.clock().limit_ms.into());
        limit.saturating_sub(self.arrived.elapsed())
    }

    /// Random numbers for this decision, a function of the game's `bot_seed` and the decision's number alone: a seeded
    /// match repeats exactly, even where the process was restarted in between.
    pub fn rng(&self) -> Rng {
        let mut seeds = Rng::new(self.game.bot_seed);
        Rng::new(seeds.next_u64() ^ u64::from(self.request.decision_id))
    }

    /// The message for `answer`. The error says what would be legal.
    pub(crate) fn reply(&self, answer: Answer) -> Result<pb::Act, BoxError> {
        let legal = self.legal();
        let chosen = match &answer.choice {
            Choice::Id(id) => legal.iter().find(|action| action.id == *id),
            Choice::Text(text) => self.by_text(text.trim()),
        };
        let Some(chosen) = chosen else {
            return Err(format!("{:?} is not legal; legal are: {}", answer.choice, some(legal)).into());
        };
        Ok(pb::Act { annotation: answer.annotation, ..self.act(pb::act::Choice::ActionId(chosen.id)) })
    }

    /// An answer that no game has, so that the arena ends a failed seat at once instead of waiting for its clock.
    pub(crate) fn give_up(&self) -> pb::Act {
        self.act(pb::act::Choice::Text("failed: the bot's code".into()))
    }

    fn act(&self, choice: pb::act::Choice) -> pb::Act {
        pb::Act {
            game_id: self.request.game_id.clone(),
            decision_id: self.request.decision_id,
            choice: Some(choice),
            annotation: None,
        }
    }
}

/// The first few texts of `legal`, for a message.
fn some(legal: &[Action]) -> String {
    const MOST: usize = 12;
    let texts: Vec<&str> = legal.iter().take(MOST).map(|action| action.text.as_str()).collect();
    match legal.len() {
        all if all > MOST => format!("{}, ... ({all} in all)", texts.join(", ")),
        _ => texts.join(", "),
    }
}

/// What [`Bot::act`] returns: made from an action, its id or its text, as in `Ok(action.into())`.
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub struct Answer {
    choice: Choice,
    annotation: Option<Annotation>,
}

#[derive(Clone, Debug, PartialEq)]
enum Choice {
    Id(u32),
    Text(String),
}

impl Answer {
    /// Adds what the bot thinks of its move, which spectators see once the game is over.
    pub fn with(self, annotation: Annotation) -> Self {
        Self { annotation: Some(annotation), ..self }
    }

    /// Adds a comment; see [`Answer::with`].
    pub fn comment(self, comment: impl Into<String>) -> Self {
        self.with(Annotation { comment: comment.into(), ..Annotation::default() })
    }
}

impl From<&Action> for Answer {
    fn from(action: &Action) -> Self {
        action.id.into()
    }
}

impl From<u32> for Answer {
    fn from(id: u32) -> Self {
        Self { choice: Choice::Id(id), annotation: None }
    }
}

impl From<&str> for Answer {
    fn from(text: &str) -> Self {
        Self { choice: Choice::Text(text.into()), annotation: None }
    }
}

/// How a game ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Whether it has a result.
    pub end: End,
    /// Our seat, from 0.
    pub seat: usize,
    /// By seat, from 1; joint places are shared. Empty unless finished.
    pub places: Vec<u32>,
    /// By seat. Empty unless finished.
    pub scores: Vec<i32>,
    /// By seat, how it ended.
    pub reasons: Vec<SeatReason>,
    /// The name of the match on the arena's pages.
    pub match_id: String,
    /// The name of its set.
    pub set_id: String,
    /// What proves the deal and the record; `None` where the end was missed.
    pub receipts: Option<Receipts>,
}

impl Outcome {
    /// Our place, from 1; `None` unless finished.
    pub fn place(&self) -> Option<u32> {
        self.places.get(self.seat).copied()
    }

    /// Our score; `None` unless finished.
    pub fn score(&self) -> Option<i32> {
        self.scores.get(self.seat).copied()
    }
}

/// Whether a game has a result.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum End {
    /// It has one.
    Finished,
    /// The arena failed: nobody loses, the game is played again.
    Void,
    /// It ended while this process was not connected; the arena's pages have the result.
    Unknown,
}

/// What proves afterwards that the arena dealt fairly and has not rewritten the game: two signatures by `arena_key`
/// (Ed25519), one made before the first event and one at the end. `arena verify` checks them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Receipts {
    /// The arena's public key.
    pub arena_key: Vec<u8>,
    /// The arena's promise about the deal.
    pub commitment: Vec<u8>,
    /// Signature over (match, commitment).
    pub opening: Vec<u8>,
    /// Head of the record's hash chain.
    pub head: Vec<u8>,
    /// What the commitment was made of; empty for a shared deal until the whole set is over.
    pub secret: Vec<u8>,
    /// Signature over (match, head, secret).
    pub closing: Vec<u8>,
}

/// What a bot tells the arena about itself.
#[derive(Clone, Debug)]
#[must_use]
pub struct Profile {
    pub(crate) games: Vec<String>,
    pub(crate) players: Vec<u32>,
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) wants: pb::Wants,
}

/// How much of what happens a bot is told.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum History {
    /// Nothing; the default.
    None,
    /// Events as they happen, by [`Bot::on_event`].
    Delta,
    /// Also the whole history in each decision's `request.history`, for bots that keep no state.
    Full,
}

impl Profile {
    /// A bot that plays these games, e.g. `["balloon-race"]`; none: every game of the arena.
    pub fn new<const N: usize>(games: [&str; N]) -> Self {
        Self {
            games: games.map(str::to_owned).into(),
            players: Vec::new(),
            name: String::new(),
            version: "1".into(),
            wants: pb::Wants::default(),
        }
        .history(History::None)
    }

    /// The name as registered; without it the bot that the token was made for.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Your name for this version of the program (default: "1"); a new one starts its own rating.
    pub fn version(mut self, version: impl Into<String>) -> Self {
        self.version = version.into();
        self
    }

    /// Numbers of players that it plays its games with; without it all.
    pub fn players(mut self, players: impl Into<Vec<u32>>) -> Self {
        self.players = players.into();
        self
    }

    /// Asks for the position as text, for a language model or to look at.
    pub fn text(mut self) -> Self {
        self.wants.text = true;
        self
    }

    /// Asks for the position as JSON instead of the game's message; it comes as [`Position::Json`].
    pub fn json(mut self) -> Self {
        self.wants.json = true;
        self
    }

    /// Asks for each action's typed form, in `action.typed`.
    pub fn typed_actions(mut self) -> Self {
        self.wants.typed_actions = true;
        self
    }

    /// Asks for what happens.
    pub fn history(mut self, history: History) -> Self {
        let history = match history {
            History::None => pb::wants::History::None,
            History::Delta => pb::wants::History::Delta,
            History::Full => pb::wants::History::Full,
        };
        self.wants.set_history(history);
        self
    }
}
