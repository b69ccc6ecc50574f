//! One stream to the arena after another, until there is nothing left to play.
//!
//! Everything but the bots runs on one task. A stream is read by a task of its own, which ends with its handle.

use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use tokio::sync::mpsc::{Receiver, UnboundedReceiver, channel, unbounded_channel};
use tokio::task::JoinSet;
use tokio::time::{interval, sleep_until, timeout};
use tonic::{Code, Request, Status};

use crate::address::Target;
use crate::error::{Error, causes};
use crate::frames::{Frames, frames};
use crate::model::{Match, Profile};
use crate::proto::v1::{PlayResponse, play_service_client::PlayServiceClient};
use crate::session::Session;
use crate::signals::Signals;
use crate::worker::{Job, NewBot, Report, spawn};

const FIRST_DELAY: Duration = Duration::from_millis(500);
const MAX_DELAY: Duration = Duration::from_secs(30);
/// A stream that lived so long was a good one: the next failure starts again from [`FIRST_DELAY`].
const STEADY: Duration = Duration::from_secs(5);
/// How long the arena may take to answer Hello.
const WELCOME: Duration = Duration::from_secs(10);
/// So many missing pings mean that the connection is dead, whatever TCP believes.
const SILENT_PINGS: u32 = 3;
const TICK: Duration = Duration::from_secs(1);
/// How long the last `on_end` may take after the arena has closed the stream.
const GOODBYE: Duration = Duration::from_secs(30);
const MAX_FRAME_BYTES: usize = 16 << 20;
/// Frames that were read and wait to be handled.
const READ_AHEAD: usize = 16;

type Seat = Box<dyn FnMut(Arc<Match>) -> Sender<Job>>;

/// How a process connects, ready to use; see [`Settings`](crate::Settings).
pub(crate) struct Plan {
    pub target: Target,
    pub token: String,
    pub instance: String,
    pub credit: u32,
    pub strict: bool,
    pub patience: Option<Duration>,
}

/// Plays until drained.
pub(crate) struct Connection {
    plan: Plan,
    session: Session<Seat>,
    reports: UnboundedReceiver<Report>,
    signals: Signals,
}

impl Connection {
    /// To be called on the runtime that [`Connection::run`] runs on.
    pub fn new(plan: Plan, profile: Profile, new_bot: NewBot) -> Result<Self, Error> {
        let (report, reports) = unbounded_channel();
        let seat: Seat = Box::new(move |game| spawn(Arc::clone(&new_bot), game, report.clone()));
        let session = Session::new(profile, plan.instance.clone(), plan.credit, seat);
        let signals = Signals::new()?;
        Ok(Self { plan, session, reports, signals })
    }

    /// Connects, plays, reconnects. Returns when the arena has nothing left for a drained bot.
    pub async fn run(mut self) -> Result<(), Error> {
        let mut failures = 0;
        let mut silent_since = Instant::now();
        while !self.session.over() {
            let started = Instant::now();
            let problem = self.stream().await?;
            if self.session.over() {
                break;
            }
            if self.session.welcome.is_some() {
                silent_since = Instant::now();
                if silent_since - started >= STEADY {
                    failures = 0;
                }
            }
            self.complain(&problem, failures, silent_since)?;
            let spread = self.session.reconnect_within.unwrap_or_else(|| retry_spread(failures));
            failures += 1;
            self.pause(spread.mul_f64(random_fraction())).await?;
        }
        self.goodbye().await
    }

    /// Plays over one stream until it ends; returns what ended it. Fails where coming back is of no use.
    async fn stream(&mut self) -> Result<String, Error> {
        let (outbox, outgoing) = frames();
        self.session.stream_opened();
        let mut call = Call::open(&self.plan, outgoing)?;
        let mut ticks = interval(TICK);
        let mut heard = Instant::now();
        loop {
            for event in self.session.outbox.drain(..) {
                let _ = outbox.send(event); // a broken stream is noticed by its reader
            }
            tokio::select! {
                frame = call.incoming.recv() => match frame {
                    Some(Ok(frame)) => {
                        heard = Instant::now();
                        for event in frame.events {
                            self.session.handle(event, heard)?;
                        }
                    }
                    Some(Err(status)) => return self.judge(&status),
                    None => return Ok(String::new()),
                },
                report = self.reports.recv() => self.take(report)?,
                () = self.signals.next() => self.interrupt()?,
                _ = ticks.tick() => {
                    self.session.settle(Instant::now());
                    if self.silence().is_some_and(|most| heard.elapsed() > most) {
                        return Ok("the arena went silent".into());
                    }
                }
            }
            if self.session.over() {
                return Ok(String::new());
            }
        }
    }

    /// Waits until the next attempt; bots think on meanwhile.
    async fn pause(&mut self, delay: Duration) -> Result<(), Error> {
        let until = tokio::time::Instant::now() + delay;
        while !self.session.over() {
            tokio::select! {
                () = sleep_until(until) => break,
                report = self.reports.recv() => self.take(report)?,
                () = self.signals.next() => self.interrupt()?,
            }
        }
        Ok(())
    }

    /// Lets bots finish what they do at the end of their games.
    async fn goodbye(&mut self) -> Result<(), Error> {
        let until = tokio::time::Instant::now() + GOODBYE;
        while self.session.ending > 0 {
            tokio::select! {
                () = sleep_until(until) => break,
                report = self.reports.recv() => self.take(report)?,
                () = self.signals.next() => self.interrupt()?,
            }
        }
        Ok(())
    }

    fn take(&mut self, report: Option<Report>) -> Result<(), Error> {
        match report {
            Some(Report::Decided(_, Some(failure))) if self.plan.strict => return Err(Error::Bot(failure)),
            Some(Report::Decided(act, _)) => self.session.decided(act),
            Some(Report::Ended) => self.session.ending -= 1,
            None => {} // cannot be: the session's seat holds a sender
        }
        Ok(())
    }

    /// What SIGINT and SIGTERM do: the first finishes what runs, the second ends at once.
    fn interrupt(&mut self) -> Result<(), Error> {
        if self.session.draining {
            return Err(Error::Interrupted);
        }
        match self.session.running() {
            0 => {}
            games => log::info!("finishing running games ({games}); once more to stop at once"),
        }
        self.session.drain();
        Ok(())
    }

    /// Says once what is wrong. Fails when patience is over.
    fn complain(&self, problem: &str, failures: u32, silent_since: Instant) -> Result<(), Error> {
        let address = &self.plan.target.text;
        let patience = self.plan.patience.or_else(|| self.plan.target.patience(self.session.connected_before()));
        if patience.is_some_and(|most| silent_since.elapsed() > most) {
            return Err(Error::Unreachable(format!(
                "no arena answers at {address} ({problem}): is it up, and is ARENA_ADDRESS right?"
            )));
        }
        if self.session.reconnect_within.is_none() {
            let level = if failures == 0 { log::Level::Warn } else { log::Level::Debug };
            let problem = if problem.is_empty() { "closed" } else { problem };
            log::log!(level, "{address}: {problem}; trying again");
        }
        Ok(())
    }

    /// How long nothing may be heard.
    fn silence(&self) -> Option<Duration> {
        let Some(welcome) = &self.session.welcome else { return Some(WELCOME) };
        match welcome.limits.unwrap_or_default().ping_interval_ms {
            0 => None,
            ping_ms => Some(WELCOME.max(SILENT_PINGS * Duration::from_millis(ping_ms.into()))),
        }
    }

    /// What to call this end of a stream. Fails with what stops the process, if it should.
    fn judge(&self, status: &Status) -> Result<String, Error> {
        match refusal(status) {
            Some(error @ Error::Refused(_)) => Err(error),
            // A session that was good may be interrupted by anything else.
            Some(error) if self.session.welcome.is_none() => Err(error),
            _ => Ok(status.message().lines().next().unwrap_or(status.code().description()).into()),
        }
    }
}

/// The error of statuses with which trying again would change nothing, and what the author can do.
fn refusal(status: &Status) -> Option<Error> {
    let (error, advice): (fn(String) -> Error, _) = match status.code() {
        Code::Unauthenticated => {
            (Error::Refused, "check ARENA_TOKEN: all of what `arena register` or `arena token create` printed")
        }
        Code::PermissionDenied => (Error::Refused, "the token must be of the account that owns the bot"),
        Code::FailedPrecondition => (Error::VersionSkew, "update the SDK: cargo update -p botarena"),
        Code::NotFound => (Error::Misconfigured, "check the names of the bot and its games; `arena games` lists them"),
        Code::InvalidArgument => (Error::Misconfigured, "check the bot's name, version and games"),
        Code::Unimplemented => (Error::Misconfigured, "what answers at this address is no arena"),
        _ => return None,
    };
    let said = status.message().trim_end_matches('.').replace('\n', " ");
    Some(error(format!("the arena refused the bot: {said}; {advice}")))
}

/// One stream; dropped, it is cut.
struct Call {
    incoming: Receiver<Result<PlayResponse, Status>>,
    _reader: JoinSet<()>,
}

impl Call {
    /// Starts to connect. Fails only for what is wrong on our side.
    fn open(plan: &Plan, outgoing: Frames) -> Result<Self, Error> {
        let endpoint = plan.target.endpoint()?;
        let mut request = Request::new(outgoing);
        if !plan.token.is_empty() {
            let bearer = format!("Bearer {}", plan.token).parse();
            let bearer = bearer.map_err(|_| Error::Misconfigured("the token holds odd characters".into()))?;
            request.metadata_mut().insert("authorization", bearer);
        }
        let (send, incoming) = channel(READ_AHEAD);
        let mut reader = JoinSet::new();
        reader.spawn(async move {
            let read = async {
                let connecting = timeout(WELCOME, endpoint.connect()).await;
                let channel = connecting
                    .map_err(|_| Status::unavailable("connecting took too long"))?
                    .map_err(|error| Status::unavailable(causes(&error)))?;
                let client = PlayServiceClient::new(channel);
                let mut client = client.max_decoding_message_size(MAX_FRAME_BYTES);
                let mut frames = client.play(request).await?.into_inner();
                while let Some(frame) = frames.message().await? {
                    if send.send(Ok(frame)).await.is_err() {
                        break;
                    }
                }
                Ok(())
            };
            if let Err(status) = read.await {
                let _ = send.send(Err(status)).await;
            }
        });
        Ok(Self { incoming, _reader: reader })
    }
}

/// 0.5 s, doubling with each failure in a row up to 30 s; the wait is a random part of it, so that a herd of bots
/// comes back spread out.
fn retry_spread(failures: u32) -> Duration {
    MAX_DELAY.min(FIRST_DELAY * 2_u32.pow(failures.min(10)))
}

/// A number from 0 to 1.
fn random_fraction() -> f64 {
    let bits = getrandom::u32().unwrap_or(u32::MAX / 2);
    f64::from(bits) / f64::from(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The wait doubles from half a second and stays at thirty.
    #[test]
    fn doubling() {
        let spreads: Vec<f64> = (0..8).map(|failures| retry_spread(failures).as_secs_f64()).collect();
        assert_eq!(spreads, [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0]);
        assert_eq!(retry_spread(u32::MAX), MAX_DELAY);
        assert!((0..100).map(|_| random_fraction()).all(|part| (0.0..=1.0).contains(&part)));
    }
}
