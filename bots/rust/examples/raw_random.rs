//! The bare protocol: a whole bot without the SDK, in any language with a gRPC library. Plays at random.

use std::{env, error::Error};

use botarena::proto::v1::play_service_client::PlayServiceClient;
use botarena::proto::v1::{Act, ArenaEvent, BotEvent, DecisionRequested as Asked, Hello, PlayRequest, Pong, Ready};
use botarena::proto::v1::{act::Choice, arena_event::Event as Arena, bot_event::Event as Bot};
use tokio::sync::mpsc::unbounded_channel;
use tokio_stream::wrappers::UnboundedReceiverStream;
use tonic::Request;

/// The answer that an event needs, if any.
fn reply(event: ArenaEvent) -> Option<BotEvent> {
    let event = match event.event? {
        Arena::SetOffered(offer) => Bot::Ready(Ready { offer_id: offer.offer_id, nonce: vec![] }),
        Arena::DecisionRequested(Asked { game_id, decision_id, legal, .. }) => {
            let choice = Some(Choice::ActionId(legal[getrandom::u32().ok()? as usize % legal.len()].id));
            Bot::Act(Act { game_id, decision_id, choice, annotation: None })
        }
        Arena::Ping(ping) => Bot::Pong(Pong { nonce: ping.nonce }),
        _ => return None,
    };
    Some(BotEvent { event: Some(event) })
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let uri = env::var("ARENA_ADDRESS").map(|at| if at.starts_with("unix:") { at } else { format!("http://{at}") })?;
    let (outbox, inbox) = unbounded_channel();
    outbox.send(PlayRequest { events: vec![BotEvent { event: Some(Bot::Hello(Hello::default())) }] })?;
    let mut request = Request::new(UnboundedReceiverStream::new(inbox));
    request.metadata_mut().insert("authorization", format!("Bearer {}", env::var("ARENA_TOKEN")?).parse()?);
    let mut frames = PlayServiceClient::connect(uri).await?.play(request).await?.into_inner();
    while let Some(frame) = frames.message().await? {
        outbox.send(PlayRequest { events: frame.events.into_iter().filter_map(reply).collect() })?;
    }
    Ok(())
}
