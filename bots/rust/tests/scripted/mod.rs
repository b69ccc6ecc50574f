//! A `PlayService` that hands each stream that a bot opens to the test.

use std::time::Duration;

use botarena::proto::v1 as pb;
use pb::arena_event::Event as Says;
use pb::bot_event::Event as Said;
use pb::play_service_server::{PlayService, PlayServiceServer};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::timeout;
use tokio_stream::wrappers::UnboundedReceiverStream;
use tonic::transport::server::{Server, TcpIncoming};
use tonic::{Code, Request, Response, Status, Streaming};

/// How long a test waits for what must come.
const PATIENCE: Duration = Duration::from_secs(10);

type Frame = Result<pb::PlayResponse, Status>;

/// A server on a port of its own.
pub struct Arena {
    pub address: String,
    streams: UnboundedReceiver<Stream>,
}

impl Arena {
    pub fn start() -> Self {
        let incoming = TcpIncoming::bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let address = incoming.local_addr().unwrap().to_string();
        let (opened, streams) = unbounded_channel();
        let service = PlayServiceServer::new(Service(opened));
        tokio::spawn(Server::builder().add_service(service).serve_with_incoming(incoming));
        Self { address, streams }
    }

    /// The next stream.
    pub async fn stream(&mut self) -> Stream {
        timeout(PATIENCE, self.streams.recv()).await.expect("no bot connects").unwrap()
    }
}

struct Service(UnboundedSender<Stream>);

#[tonic::async_trait]
impl PlayService for Service {
    type PlayStream = UnboundedReceiverStream<Frame>;

    async fn play(&self, request: Request<Streaming<pb::PlayRequest>>) -> Result<Response<Self::PlayStream>, Status> {
        let authorization = request.metadata().get("authorization").unwrap().to_str().unwrap().to_owned();
        let (outbox, frames) = unbounded_channel();
        let stream = Stream { authorization, inbox: request.into_inner(), pending: Vec::new(), outbox };
        let _ = self.0.send(stream);
        Ok(Response::new(frames.into()))
    }
}

/// One stream as the arena sees it.
pub struct Stream {
    pub authorization: String,
    inbox: Streaming<pb::PlayRequest>,
    pending: Vec<pb::BotEvent>,
    outbox: UnboundedSender<Frame>,
}

impl Stream {
    /// The next thing that the bot says.
    pub async fn hear(&mut self) -> Said {
        while self.pending.is_empty() {
            let frame = timeout(PATIENCE, self.inbox.message()).await.expect("the bot is silent");
            self.pending = frame.unwrap().expect("the bot hung up").events;
        }
        self.pending.remove(0).event.unwrap()
    }

    /// Checks that the bot has said nothing more: a ping comes back first.
    pub async fn quiet(&mut self) {
        self.say(Says::Ping(pb::Ping { nonce: 99 }));
        assert_eq!(self.hear().await, Said::Pong(pb::Pong { nonce: 99 }));
    }

    pub fn say(&self, event: Says) {
        let _ = self.outbox.send(Ok(pb::PlayResponse { events: vec![pb::ArenaEvent { event: Some(event) }] }));
    }

    /// Shakes hands.
    pub async fn welcome(&mut self, running: &[&str]) -> pb::Hello {
        let Said::Hello(hello) = self.hear().await else { panic!("no Hello first") };
        self.say(Says::Welcome(pb::Welcome {
            session: "s1".into(),
            protocol: 1000,
            running_games: running.iter().map(|&game| game.into()).collect(),
            ..Default::default()
        }));
        hello
    }

    /// Ends the stream after what was said.
    pub fn end(self, code: Code, message: &str) {
        if code != Code::Ok {
            let _ = self.outbox.send(Err(Status::new(code, message)));
        }
    }
}

pub fn offer(id: &str) -> Says {
    Says::SetOffered(pb::SetOffered { offer_id: id.into(), game: "echo".into(), ..Default::default() })
}

pub fn start(game_id: &str) -> Says {
    Says::MatchStarted(pb::MatchStarted {
        game_id: game_id.into(),
        game: "echo".into(),
        players: 2,
        ..Default::default()
    })
}

pub fn observed(game_id: &str, seq: u32, text: &str) -> Says {
    let event = pb::ObservedEvent { seq, text: text.into(), ..Default::default() };
    Says::EventsObserved(pb::EventsObserved { game_id: game_id.into(), events: vec![event] })
}

/// Asks for one of the ids 10 and 11.
pub fn ask(game_id: &str, decision_id: u32) -> Says {
    let action = |id, text: &str| pb::Action { id, text: text.into(), typed: None };
    Says::DecisionRequested(pb::DecisionRequested {
        game_id: game_id.into(),
        decision_id,
        legal: vec![action(10, "a"), action(11, "b")],
        ..Default::default()
    })
}

pub fn end(game_id: &str) -> Says {
    let end = pb::match_ended::End::Finished.into();
    Says::MatchEnded(pb::MatchEnded { game_id: game_id.into(), end, places: vec![1, 2], ..Default::default() })
}

pub fn draining(reason: pb::draining::Reason) -> Says {
    Says::Draining(pb::Draining { reason: reason.into(), reconnect_within_ms: 100 })
}
