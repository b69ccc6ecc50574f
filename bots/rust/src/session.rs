//! What the process knows of its games, across streams: a state machine without I/O or threads that the connection
//! drives. What it wants to say gathers in `outbox`.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use crate::error::Error;
use crate::model::{End, Match, Outcome, Profile, Receipts, SeatReason};
use crate::proto::v1 as pb;
use crate::worker::Job;
use pb::arena_event::Event as Arena;
use pb::bot_event::Event as Bot;

/// The version of botarena.v1 that this SDK was written for, as major * 1000 + minor.
const PROTOCOL: u32 = 1000;
const NONCE_BYTES: usize = 16;
/// So long the arena looks for a new home for games whose gateway has crashed; then they are void.
const DOUBT: Duration = Duration::from_secs(60);

/// A running game.
struct Game {
    start: Arc<Match>,
    jobs: Sender<Job>,
    /// The decision that the arena waits for on this stream, if any.
    asked: Option<u32>,
    /// The decision that the bot thinks about, if any.
    thinking: Option<u32>,
    /// The latest that the bot gave, kept because a stream may break before the arena has it.
    answer: Option<pb::Act>,
    last_seq: Option<u32>,
    /// When a gateway that does not know the game took over; `None` once it does.
    doubted_since: Option<Instant>,
}

/// All games of one process. `seat` starts a game's bot and says where its jobs go.
pub(crate) struct Session<S> {
    profile: Profile,
    instance: String,
    credit: u32,
    seat: S,
    games: HashMap<String, Game>,
    id: String,
    pub welcome: Option<pb::Welcome>,
    pub draining: bool,
    /// The arena has nothing left for us.
    pub done: bool,
    /// Set by Draining: how far to spread the next connect.
    pub reconnect_within: Option<Duration>,
    /// Bots that have been told of their game's end but are not through with it.
    pub ending: usize,
    pub outbox: VecDeque<Bot>,
}

impl<S: FnMut(Arc<Match>) -> Sender<Job>> Session<S> {
    pub fn new(profile: Profile, instance: String, credit: u32, seat: S) -> Self {
        Self {
            profile,
            instance,
            credit,
            seat,
            games: HashMap::new(),
            id: String::new(),
            welcome: None,
            draining: false,
            done: false,
            reconnect_within: None,
            ending: 0,
            outbox: VecDeque::new(),
        }
    }

    /// Says Hello, and forgets what the old stream was waiting for: the arena asks again on the new one.
    pub fn stream_opened(&mut self) {
        self.welcome = None;
        self.reconnect_within = None;
        for game in self.games.values_mut() {
            game.asked = None;
        }
        let players = &self.profile.players;
        let support = |game: &String| pb::GameSupport { game: game.clone(), players: players.clone() };
        self.outbox.clear();
        self.outbox.push_back(Bot::Hello(pb::Hello {
            bot: self.profile.name.clone(),
            version: self.profile.version.clone(),
            instance: self.instance.clone(),
            sdk: concat!("botarena-rust/", env!("CARGO_PKG_VERSION")).into(),
            games: self.profile.games.iter().map(support).collect(),
            credit: self.credit,
            wants: Some(self.profile.wants),
            protocol: PROTOCOL,
            resume_session: self.id.clone(),
            ..pb::Hello::default()
        }));
    }

    /// Asks the arena for no new games; it closes the stream when none runs any more.
    pub fn drain(&mut self) {
        self.draining = true;
        if self.welcome.is_some() {
            self.outbox.push_back(Bot::SetCredit(pb::SetCredit { credit: 0, drain: true }));
        }
    }

    /// How many games run.
    pub fn running(&self) -> usize {
        self.games.len()
    }

    /// Whether there was a session before.
    pub fn connected_before(&self) -> bool {
        !self.id.is_empty()
    }

    /// Whether there is nothing left to connect for.
    pub fn over(&self) -> bool {
        self.done || (self.draining && self.welcome.is_none() && self.games.is_empty())
    }

    /// Takes in one event. Fails where the arena says not to come back.
    pub fn handle(&mut self, event: pb::ArenaEvent, now: Instant) -> Result<(), Error> {
        match event.event {
            Some(Arena::Welcome(message)) => self.on_welcome(message, now),
            Some(Arena::SetOffered(message)) => self.on_offer(message),
            Some(Arena::MatchStarted(message)) => self.on_match_started(message),
            Some(Arena::EventsObserved(message)) => self.on_events(message),
            Some(Arena::DecisionRequested(message)) => self.on_decision(message, now),
            Some(Arena::ActResult(message)) => on_act_result(&message),
            Some(Arena::MatchEnded(message)) => self.on_match_ended(message),
            Some(Arena::Notice(message)) => on_notice(&message),
            Some(Arena::Draining(message)) => return self.on_draining(message),
            Some(Arena::Ping(message)) => self.outbox.push_back(Bot::Pong(pb::Pong { nonce: message.nonce })),
            None => {} // a kind newer than this SDK
        }
        Ok(())
    }

    /// Takes in what a bot decided, and sends it if this stream waits for it.
    pub fn decided(&mut self, act: pb::Act) {
        let Some(game) = self.games.get_mut(&act.game_id) else { return };
        if game.thinking == Some(act.decision_id) {
            game.thinking = None;
        }
        game.answer = Some(act);
        answer(game, &mut self.outbox);
    }

    /// Ends games that were in doubt for too long; to be called about once a second.
    pub fn settle(&mut self, now: Instant) {
        let hopeless = |game: &Game| game.doubted_since.is_some_and(|since| now - since > DOUBT);
        self.drop_games(|_, game| hopeless(game));
    }

    /// Ends games whose end this process has missed.
    fn drop_games(&mut self, missed: impl Fn(&str, &Game) -> bool) {
        let ended = self.games.iter().filter(|(id, game)| missed(id, game)).map(|(id, _)| id.clone());
        for game in ended.collect::<Vec<_>>().iter().filter_map(|id| self.games.remove(id)).collect::<Vec<_>>() {
            log::warn!("a game of {} ended while this process was not connected", game.start.game);
            let outcome = Outcome {
                end: End::Unknown,
                seat: game.start.seat as usize,
                places: Vec::new(),
                scores: Vec::new(),
                reasons: Vec::new(),
                match_id: String::new(),
                set_id: String::new(),
                receipts: None,
            };
            self.end(&game, outcome);
        }
    }

    fn end(&mut self, game: &Game, outcome: Outcome) {
        self.ending += usize::from(game.jobs.send(Job::End(outcome)).is_ok());
    }

    /// What the arena says is running, is; the rest is over. Only where it made a new session, because the gateway
    /// that had the old one is gone, it may still bring our games to it.
    fn on_welcome(&mut self, message: pb::Welcome, now: Instant) {
        let same_session = message.session == self.id;
        log::info!("playing as {} version {}", message.bot, message.version);
        if same_session {
            self.drop_games(|id, _| !message.running_games.iter().any(|running| running == id));
        } else {
            for (id, game) in &mut self.games {
                if !message.running_games.contains(id) {
                    game.doubted_since = Some(now);
                }
            }
        }
        self.id.clone_from(&message.session);
        self.welcome = Some(message);
        if self.draining {
            self.drain();
        }
    }

    fn on_offer(&mut self, message: pb::SetOffered) {
        if self.draining {
            return;
        }
        let mut nonce = vec![0; NONCE_BYTES];
        if let Err(error) = getrandom::fill(&mut nonce) {
            log::warn!("no random numbers from the system ({error}): the deal has none of ours");
            nonce.clear();
        }
        self.outbox.push_back(Bot::Ready(pb::Ready { offer_id: message.offer_id, nonce }));
    }

    fn on_match_started(&mut self, message: Match) {
        if let Some(game) = self.games.get_mut(&message.game_id) {
            game.doubted_since = None; // goes on after a reconnect; the bot has never noticed
            return;
        }
        log::info!("{} {}", if message.resumed { "goes on:" } else { "started:" }, title(&message));
        let start = Arc::new(message);
        let jobs = (self.seat)(Arc::clone(&start));
        let id = start.game_id.clone();
        let game = Game { start, jobs, asked: None, thinking: None, answer: None, last_seq: None, doubted_since: None };
        self.games.insert(id, game);
    }

    fn on_events(&mut self, message: pb::EventsObserved) {
        let Some(game) = self.games.get_mut(&message.game_id) else { return };
        // After a reconnect the arena may tell again what we have heard.
        let known = game.last_seq;
        let events: Vec<_> = message.events.into_iter().filter(|event| Some(event.seq) > known).collect();
        if let Some(last) = events.last() {
            game.last_seq = Some(last.seq);
            let _ = game.jobs.send(Job::Observe(events)); // a worker ends only after its game
        }
    }

    fn on_decision(&mut self, message: pb::DecisionRequested, now: Instant) {
        let Some(game) = self.games.get_mut(&message.game_id) else {
            log::warn!("asked for a decision in a game that never started here: {}", message.game_id);
            return;
        };
        let id = message.decision_id;
        game.asked = Some(id);
        if game.answer.as_ref().is_some_and(|act| act.decision_id == id) {
            answer(game, &mut self.outbox);
        } else if game.thinking != Some(id) {
            game.thinking = Some(id);
            let _ = game.jobs.send(Job::Decide(message, now));
        }
    }

    fn on_match_ended(&mut self, message: pb::MatchEnded) {
        let Some(game) = self.games.remove(&message.game_id) else { return };
        let outcome = self.outcome(&game.start, message);
        log::info!("ended: {}: {}", title(&game.start), verdict(&outcome));
        self.end(&game, outcome);
    }

    fn outcome(&self, start: &Match, message: pb::MatchEnded) -> Outcome {
        let reasons = message.reasons().collect();
        let finished = message.end() == pb::match_ended::End::Finished;
        Outcome {
            end: if finished { End::Finished } else { End::Void },
            seat: start.seat as usize,
            places: message.places,
            scores: message.scores,
            reasons,
            match_id: message.match_id,
            set_id: message.set_id,
            receipts: Some(Receipts {
                arena_key: self.welcome.as_ref().map(|welcome| welcome.arena_key.clone()).unwrap_or_default(),
                commitment: start.commitment.clone(),
                opening: start.receipt.clone(),
                head: message.record_head,
                secret: message.secret,
                closing: message.receipt,
            }),
        }
    }

    fn on_draining(&mut self, message: pb::Draining) -> Result<(), Error> {
        use pb::draining::Reason;
        match message.reason() {
            Reason::Replaced => return Err(Error::Replaced),
            Reason::Revoked => {
                let advice = "the token was revoked: make a new one with `arena token create`";
                return Err(Error::Refused(advice.into()));
            }
            Reason::Done => self.done = true,
            Reason::Server | Reason::Unspecified => {
                log::info!("the arena's server restarts; reconnecting");
                self.reconnect_within = Some(Duration::from_millis(message.reconnect_within_ms.into()));
            }
        }
        Ok(())
    }
}

/// Sends the answer that is there, if this stream waits for it.
fn answer(game: &mut Game, outbox: &mut VecDeque<Bot>) {
    match &game.answer {
        Some(act) if game.asked == Some(act.decision_id) => {
            game.asked = None;
            outbox.push_back(Bot::Act(act.clone()));
        }
        _ => {}
    }
}

fn on_act_result(message: &pb::ActResult) {
    use pb::act_result::Code;
    let harmless = matches!(message.code(), Code::Duplicate | Code::Stale);
    let level = if harmless { log::Level::Debug } else { log::Level::Error };
    let code = message.code().as_str_name();
    log::log!(level, "the arena says {code} to decision {}: {}", message.decision_id, message.detail);
}

fn on_notice(message: &pb::Notice) {
    use pb::notice::Kind;
    let bad = matches!(message.kind(), Kind::Flood | Kind::SeatFailed | Kind::Rejected);
    let level = if bad { log::Level::Warn } else { log::Level::Info };
    log::log!(level, "{}: {}", message.kind().as_str_name(), message.text);
}

fn title(game: &Match) -> String {
    let names: Vec<&str> = game.seats.iter().map(|player| player.bot.as_str()).collect();
    format!("{}, seat {} of {} ({})", game.game, game.seat, game.players, names.join(", "))
}

fn verdict(outcome: &Outcome) -> String {
    let (Some(place), Some(score)) = (outcome.place(), outcome.score()) else {
        return "void, it is going to be played again".into();
    };
    match outcome.reasons.get(outcome.seat) {
        None | Some(SeatReason::Normal) => format!("place {place}, {score} points"),
        Some(reason) => format!("place {place}, {score} points ({})", reason.as_str_name()),
    }
}

#[cfg(test)]
#[path = "session_tests.rs"]
mod tests;
