//! A whole bot process, short of its `main`, against an arena that does what a test tells it to.

mod scripted;

use std::sync::Barrier;
use std::sync::mpsc::{Sender, channel};
use std::thread::{JoinHandle, spawn};

use botarena::proto::v1 as pb;
use botarena::{Answer, Bot, BoxError, Decision, End, Error, Event, Outcome, Profile, Settings};
use pb::act::Choice;
use pb::bot_event::Event as Said;
use scripted::{Arena, Stream};
use tonic::Code;

/// What decision 2 waits for.
static GATE: Barrier = Barrier::new(2);

/// Plays the first legal action; thinks about decision 2 until the gate opens, panics at decision 13. Tells what it hears.
struct Tester(Sender<String>);

impl Bot for Tester {
    fn act(&mut self, decision: &Decision) -> Result<Answer, BoxError> {
        self.0.send(format!("act {}", decision.request.decision_id))?;
        match decision.request.decision_id {
            2 => _ = GATE.wait(),
            13 => panic!("thirteen"),
            _ => {}
        }
        Ok((&decision.legal()[0]).into())
    }

    fn on_event(&mut self, event: &Event) {
        self.0.send(event.text.clone()).unwrap();
    }

    fn on_end(&mut self, outcome: &Outcome) {
        self.0.send(format!("end {:?}", outcome.end)).unwrap();
    }
}

/// The bot on a thread of its own, and what it hears.
fn play(arena: &Arena, token: &str) -> (JoinHandle<Result<(), Error>>, std::sync::mpsc::Receiver<String>) {
    let (tell, heard) = channel();
    let tell = std::sync::Mutex::new(tell);
    let settings = Settings { address: arena.address.clone(), token: token.into(), ..Settings::default() };
    let profile = Profile::new(["echo"]).history(botarena::History::Delta);
    let bot = move |_: &botarena::Match| Tester(tell.lock().unwrap().clone());
    (spawn(move || botarena::play(&settings, profile, bot)), heard)
}

/// What the bot answered to a decision.
fn chosen(said: Said) -> (u32, Choice) {
    let Said::Act(act) = said else { panic!("no Act but {said:?}") };
    (act.decision_id, act.choice.unwrap())
}

async fn finish(mut stream: Stream, player: JoinHandle<Result<(), Error>>) {
    stream.quiet().await;
    stream.say(scripted::draining(pb::draining::Reason::Done));
    tokio::task::spawn_blocking(|| player.join().unwrap().unwrap()).await.unwrap();
}

/// A game from Hello to its end: what the arena gets, and what the bot hears.
#[tokio::test]
async fn a_game() {
    let mut arena = Arena::start();
    let (player, heard) = play(&arena, "secret");
    let mut stream = arena.stream().await;
    assert_eq!(stream.authorization, "Bearer secret");
    let hello = stream.welcome(&[]).await;
    assert_eq!((hello.games[0].game.as_str(), hello.credit, hello.protocol), ("echo", 1, 1000));
    stream.say(scripted::offer("o"));
    assert!(matches!(stream.hear().await, Said::Ready(ready) if ready.offer_id == "o" && ready.nonce.len() == 16));
    stream.say(scripted::start("g"));
    stream.say(scripted::observed("g", 0, "deal"));
    stream.say(scripted::ask("g", 1));
    assert_eq!(chosen(stream.hear().await), (1, Choice::ActionId(10)));
    stream.say(scripted::end("g"));
    finish(stream, player).await;
    assert_eq!(heard.iter().collect::<Vec<_>>(), ["deal", "act 1", &format!("end {:?}", End::Finished)]);
}

/// After a cut the bot comes back to its session, repeats the answer that was missed, and is not asked again.
#[tokio::test]
async fn cut_and_resume() {
    let mut arena = Arena::start();
    let (player, heard) = play(&arena, "secret");
    let mut stream = arena.stream().await;
    stream.welcome(&[]).await;
    stream.say(scripted::start("g"));
    stream.say(scripted::ask("g", 1));
    let answer = chosen(stream.hear().await);
    stream.end(Code::Unavailable, "gone");
    let mut stream = arena.stream().await;
    assert_eq!(stream.welcome(&["g"]).await.resume_session, "s1");
    stream.say(scripted::start("g"));
    stream.say(scripted::ask("g", 1));
    assert_eq!(chosen(stream.hear().await), answer);
    stream.say(scripted::end("g"));
    finish(stream, player).await;
    assert_eq!(heard.iter().collect::<Vec<_>>(), ["act 1", "end Finished"]);
}

/// A bot that thinks delays neither pongs nor another game, and one that panics gives up its own game alone.
#[tokio::test]
async fn games_do_not_disturb_each_other() {
    let mut arena = Arena::start();
    let (player, _heard) = play(&arena, "secret");
    let mut stream = arena.stream().await;
    stream.welcome(&[]).await;
    stream.say(scripted::start("slow"));
    stream.say(scripted::start("quick"));
    stream.say(scripted::ask("slow", 2));
    stream.say(scripted::ask("quick", 13));
    assert!(matches!(chosen(stream.hear().await), (13, Choice::Text(text)) if text.starts_with("failed")));
    stream.quiet().await;
    tokio::task::spawn_blocking(|| GATE.wait()).await.unwrap();
    assert_eq!(chosen(stream.hear().await), (2, Choice::ActionId(10)));
    stream.say(scripted::end("slow"));
    stream.say(scripted::end("quick"));
    finish(stream, player).await;
}

/// Refusals end the process with the exit code of their kind, in one line.
#[tokio::test]
async fn refusals() {
    let codes = [
        (Code::Unauthenticated, 3),
        (Code::PermissionDenied, 3),
        (Code::FailedPrecondition, 4),
        (Code::NotFound, 2),
        (Code::InvalidArgument, 2),
    ];
    let mut arena = Arena::start();
    for (code, exit_code) in codes {
        let (player, _heard) = play(&arena, "secret");
        let mut stream = arena.stream().await;
        stream.hear().await;
        stream.end(code, "says\nwhy.");
        let error = tokio::task::spawn_blocking(|| player.join().unwrap().unwrap_err()).await.unwrap();
        assert_eq!(error.exit_code(), exit_code, "{error}");
        assert!(!error.to_string().contains('\n') && error.to_string().contains("says why; "));
    }
}

/// A bot that was replaced stops; a server that goes away is waited for.
#[tokio::test]
async fn sent_away() {
    let mut arena = Arena::start();
    let (player, _heard) = play(&arena, "secret");
    let mut stream = arena.stream().await;
    stream.welcome(&[]).await;
    stream.say(scripted::draining(pb::draining::Reason::Server));
    stream.end(Code::Ok, "");
    let mut stream = arena.stream().await;
    stream.welcome(&[]).await;
    stream.say(scripted::draining(pb::draining::Reason::Replaced));
    let error = tokio::task::spawn_blocking(|| player.join().unwrap().unwrap_err()).await.unwrap();
    assert_eq!(error.exit_code(), 5);
}
