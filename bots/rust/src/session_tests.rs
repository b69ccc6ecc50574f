use std::cell::RefCell;
use std::rc::Rc;
use std::sync::mpsc::{Receiver, channel};

use super::*;
use crate::model::{Action, Decision};

/// By game what its bot was given to do.
type Seats = Rc<RefCell<HashMap<String, Receiver<Job>>>>;

fn session() -> (Session<impl FnMut(Arc<Match>) -> Sender<Job>>, Seats) {
    let seats = Seats::default();
    let shared = seats.clone();
    let seat = move |game: Arc<Match>| {
        let (jobs, inbox) = channel();
        shared.borrow_mut().insert(game.game_id.clone(), inbox);
        jobs
    };
    let mut session = Session::new(Profile::new(["echo"]), "0".into(), 1, seat);
    session.stream_opened();
    (session, seats)
}

macro_rules! arena {
    ($session:ident, $kind:ident { $($field:ident: $value:expr),* $(,)? }) => {
        $session.handle(
            pb::ArenaEvent {
                #[allow(clippy::needless_update)]
                event: Some(Arena::$kind(pb::$kind { $($field: $value,)* ..Default::default() })),
            },
            Instant::now(),
        )
    };
}

fn welcome<S: FnMut(Arc<Match>) -> Sender<Job>>(session: &mut Session<S>, id: &str, running: &[&str]) {
    let running_games = running.iter().map(|game| (*game).into()).collect();
    arena!(session, Welcome { session: id.into(), running_games: running_games }).unwrap();
    session.outbox.clear();
}

fn act(decision_id: u32) -> pb::Act {
    pb::Act { game_id: "g".into(), decision_id, choice: Some(pb::act::Choice::ActionId(7)), annotation: None }
}

fn start_and_ask<S: FnMut(Arc<Match>) -> Sender<Job>>(session: &mut Session<S>) {
    arena!(session, MatchStarted { game_id: "g".into() }).unwrap();
    arena!(session, DecisionRequested { game_id: "g".into(), decision_id: 1 }).unwrap();
}

/// An answer that a broken stream may have swallowed is sent again, and the bot is not asked again.
#[test]
fn missed_answer() {
    let (mut session, seats) = session();
    welcome(&mut session, "s", &[]);
    start_and_ask(&mut session);
    session.decided(act(1));
    assert_eq!(session.outbox.pop_front(), Some(Bot::Act(act(1))));
    session.stream_opened();
    welcome(&mut session, "s", &["g"]);
    start_and_ask(&mut session);
    assert_eq!(session.outbox.pop_front(), Some(Bot::Act(act(1))));
    assert_eq!(seats.borrow()["g"].try_iter().count(), 1);
}

/// What a bot decides while there is no stream waits until the arena asks again; then it is sent once.
#[test]
fn decided_while_away() {
    let (mut session, seats) = session();
    welcome(&mut session, "s", &[]);
    start_and_ask(&mut session);
    session.stream_opened();
    session.outbox.clear();
    session.decided(act(1));
    assert!(session.outbox.is_empty());
    welcome(&mut session, "s", &["g"]);
    start_and_ask(&mut session);
    assert_eq!(session.outbox, [Bot::Act(act(1))]);
    assert_eq!(seats.borrow()["g"].try_iter().count(), 1);
}

/// Games that the arena no longer names are over, but where a new gateway has taken over they get a minute.
#[test]
fn running_games_are_authoritative() {
    let (mut session, seats) = session();
    welcome(&mut session, "s", &[]);
    arena!(session, MatchStarted { game_id: "g".into() }).unwrap();
    arena!(session, MatchStarted { game_id: "h".into() }).unwrap();
    session.stream_opened();
    welcome(&mut session, "s", &["h"]);
    let ended: Vec<Job> = seats.borrow()["g"].try_iter().collect();
    assert!(matches!(&ended[..], [Job::End(outcome)] if outcome.end == End::Unknown));
    session.stream_opened();
    welcome(&mut session, "new", &[]);
    session.settle(Instant::now() + DOUBT / 2);
    assert_eq!(session.running(), 1);
    session.settle(Instant::now() + DOUBT * 2);
    assert_eq!((session.running(), session.ending), (0, 2));
}

/// A draining bot takes no offer, says so again on a new stream, and is over when nothing runs.
#[test]
fn draining() {
    let (mut session, _) = session();
    welcome(&mut session, "s", &[]);
    arena!(session, SetOffered { offer_id: "o".into() }).unwrap();
    assert!(matches!(session.outbox.pop_front(), Some(Bot::Ready(ready)) if ready.nonce.len() == NONCE_BYTES));
    session.drain();
    session.outbox.clear();
    arena!(session, SetOffered { offer_id: "p".into() }).unwrap();
    assert!(session.outbox.is_empty());
    session.stream_opened();
    assert!(session.over());
    session.outbox.clear();
    arena!(session, Welcome { session: "s".into() }).unwrap();
    assert_eq!(session.outbox, [Bot::SetCredit(pb::SetCredit { credit: 0, drain: true })]);
    arena!(session, Draining { reason: pb::draining::Reason::Done.into() }).unwrap();
    assert!(session.done);
}

/// Where the arena says not to come back the session ends, each reason with its exit code; else it says how far to
/// spread.
#[test]
fn sent_away() {
    let (mut session, _) = session();
    let mut told = |reason: pb::draining::Reason| {
        arena!(session, Draining { reason: reason.into(), reconnect_within_ms: 900 }).map_err(|error| error.exit_code())
    };
    assert_eq!(told(pb::draining::Reason::Replaced), Err(5));
    assert_eq!(told(pb::draining::Reason::Revoked), Err(3));
    assert_eq!(told(pb::draining::Reason::Server), Ok(()));
    assert_eq!(session.reconnect_within, Some(Duration::from_millis(900)));
}

/// Events told again after a reconnect reach the bot once.
#[test]
fn events_once() {
    let (mut session, seats) = session();
    arena!(session, MatchStarted { game_id: "g".into() }).unwrap();
    let events = |seqs: &[u32]| seqs.iter().map(|&seq| pb::ObservedEvent { seq, ..Default::default() }).collect();
    arena!(session, EventsObserved { game_id: "g".into(), events: events(&[0, 1]) }).unwrap();
    arena!(session, EventsObserved { game_id: "g".into(), events: events(&[0, 1, 2]) }).unwrap();
    let seqs = |job| match job {
        Job::Observe(events) => events.iter().map(|event| event.seq).collect(),
        _ => vec![],
    };
    let heard: Vec<u32> = seats.borrow()["g"].try_iter().flat_map(seqs).collect();
    assert_eq!(heard, [0, 1, 2]);
}

/// Both receipts of a game are handed over at its end, with the key that they are checked with.
#[test]
fn receipts() {
    let (mut session, seats) = session();
    arena!(session, Welcome { session: "s".into(), arena_key: vec![1] }).unwrap();
    arena!(session, MatchStarted { game_id: "g".into(), commitment: vec![2], receipt: vec![3] }).unwrap();
    let end = pb::match_ended::End::Finished.into();
    arena!(
        session,
        MatchEnded { game_id: "g".into(), end: end, record_head: vec![4], secret: vec![5], receipt: vec![6] }
    )
    .unwrap();
    let Ok(Job::End(outcome)) = seats.borrow()["g"].try_recv() else { panic!("the bot was not told") };
    let receipts = outcome.receipts.unwrap();
    assert_eq!((receipts.arena_key, receipts.commitment, receipts.opening), (vec![1], vec![2], vec![3]));
    assert_eq!((receipts.head, receipts.secret, receipts.closing), (vec![4], vec![5], vec![6]));
}

/// Kinds of events and values of enums that this SDK does not know change nothing.
#[test]
fn newer_than_this_sdk() {
    let (mut session, _) = session();
    session.handle(pb::ArenaEvent { event: None }, Instant::now()).unwrap();
    arena!(session, Notice { kind: 99 }).unwrap();
    arena!(session, ActResult { code: 99 }).unwrap();
    arena!(session, MatchStarted { game_id: "g".into() }).unwrap();
    arena!(session, MatchEnded { game_id: "g".into(), end: 99, reasons: vec![99] }).unwrap();
    assert_eq!(session.running(), 0);
}

/// An answer is an action, an id or a text, and only what is legal becomes a message.
#[test]
fn answers() {
    let action = |id, text: &str| Action { id, text: text.into(), typed: None };
    let request = pb::DecisionRequested { legal: vec![action(7, "up"), action(9, "down")], ..Default::default() };
    let decision = Decision { game: Arc::default(), request, arrived: Instant::now() };
    let id = |answer| decision.reply(answer).map(|act| act.choice).map_err(|error| error.to_string());
    let nine = Ok(Some(pb::act::Choice::ActionId(9)));
    assert_eq!(id((&decision.legal()[1]).into()), nine);
    assert_eq!(id(9.into()), nine);
    assert_eq!(id(" down".into()), nine);
    assert!(id(8.into()).unwrap_err().contains("up, down"));
    let note = decision.reply(crate::Answer::from(7).comment("hm")).unwrap().annotation.unwrap();
    assert_eq!(note.comment, "hm");
}
