//! What goes out: events gather while the last frame is written, and then leave together.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use prost::Message;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio_stream::Stream;

use crate::proto::v1::{BotEvent, PlayRequest, bot_event::Event};

/// Most that goes into one frame; the arena refuses 64 KiB.
const FRAME_BYTES: usize = 60_000;
/// Tag and length of an event in a frame, generously, in bytes.
const OVERHEAD: usize = 8;

/// The frames of one stream.
pub(crate) struct Frames {
    events: UnboundedReceiver<Event>,
    /// What did not fit into the last frame.
    held: Option<BotEvent>,
}

/// A stream of frames, and where their events go in.
pub(crate) fn frames() -> (UnboundedSender<Event>, Frames) {
    let (outbox, events) = unbounded_channel();
    (outbox, Frames { events, held: None })
}

impl Stream for Frames {
    type Item = PlayRequest;

    /// At least one event, and as many of those that are ready as fit.
    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<PlayRequest>> {
        let first = match self.held.take() {
            Some(event) => event,
            None => match ready!(self.events.poll_recv(context)) {
                Some(event) => fitting(event),
                None => return Poll::Ready(None),
            },
        };
        let mut bytes = first.encoded_len() + OVERHEAD;
        let mut frame = PlayRequest { events: vec![first] };
        while let Ok(event) = self.events.try_recv() {
            let event = fitting(event);
            bytes += event.encoded_len() + OVERHEAD;
            if bytes > FRAME_BYTES {
                self.held = Some(event);
                break;
            }
            frame.events.push(event);
        }
        Poll::Ready(Some(frame))
    }
}

/// The event; an annotation that fits into no frame is left out.
fn fitting(event: Event) -> BotEvent {
    let mut event = BotEvent { event: Some(event) };
    if event.encoded_len() + OVERHEAD > FRAME_BYTES {
        if let Some(Event::Act(act)) = &mut event.event {
            log::warn!("an annotation is too long and was left out");
            act.annotation = None;
        }
    }
    event
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::v1::{Act, Annotation, Pong};
    use tokio_stream::StreamExt;

    fn act(comment_bytes: usize) -> Event {
        let comment = "x".repeat(comment_bytes);
        Event::Act(Act { annotation: Some(Annotation { comment, ..Annotation::default() }), ..Act::default() })
    }

    async fn sizes(events: Vec<Event>) -> Vec<usize> {
        let (outbox, frames) = frames();
        for event in events {
            outbox.send(event).unwrap();
        }
        drop(outbox);
        frames.map(|frame| frame.events.len()).collect().await
    }

    /// What is ready goes out together, in order, but never more than a frame holds.
    #[tokio::test]
    async fn together_but_not_too_much() {
        let pongs = (0..3).map(|nonce| Event::Pong(Pong { nonce })).collect();
        assert_eq!(sizes(pongs).await, [3]);
        assert_eq!(sizes(vec![act(40_000), act(40_000), act(5), act(7)]).await, [1, 3]);
    }

    /// A comment that no frame could carry does not cost the move.
    #[tokio::test]
    async fn endless_comment() {
        let (outbox, mut frames) = frames();
        outbox.send(act(70_000)).unwrap();
        let frame = frames.next().await.unwrap();
        assert!(matches!(&frame.events[0].event, Some(Event::Act(act)) if act.annotation.is_none()));
    }
}
