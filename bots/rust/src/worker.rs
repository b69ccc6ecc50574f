//! Runs the author's code: a thread for each game, so that a slow `act` delays neither pings nor other games.

use std::any::Any;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Instant;

use tokio::sync::mpsc::UnboundedSender;

use crate::error::BoxError;
use crate::model::{Bot, Decision, Event, Match, Outcome};
use crate::proto::v1::{Act, DecisionRequested};

/// What a game's bot has to do, in order.
pub(crate) enum Job {
    Observe(Vec<Event>),
    Decide(DecisionRequested, Instant),
    End(Outcome),
}

/// What comes of it.
pub(crate) enum Report {
    /// A decision's answer, and why it is none if the author's code has failed.
    Decided(Act, Option<String>),
    /// A bot is through with its last job.
    Ended,
}

/// Makes the bot of a game, on that game's thread.
pub(crate) type NewBot = Arc<dyn Fn(&Match) -> Box<dyn Bot> + Send + Sync>;

/// Starts a game's bot on a thread of its own.
pub(crate) fn spawn(new_bot: NewBot, game: Arc<Match>, reports: UnboundedSender<Report>) -> Sender<Job> {
    let (jobs, inbox) = channel();
    let name = format!("game-{}", game.game_id.chars().take(8).collect::<String>());
    std::thread::Builder::new()
        .name(name)
        .spawn(move || Worker::new(&new_bot, game, reports).run(&inbox))
        .expect("the system has no thread left for a game");
    jobs
}

/// One game's bot. After the author's code has failed, every decision is answered as failed.
struct Worker {
    game: Arc<Match>,
    reports: UnboundedSender<Report>,
    bot: Result<Box<dyn Bot>, String>,
}

impl Worker {
    fn new(new_bot: &NewBot, game: Arc<Match>, reports: UnboundedSender<Report>) -> Self {
        let bot = guarded(|| Ok(new_bot(&game)));
        let worker = Self { game, reports, bot };
        if let Err(failure) = &worker.bot {
            worker.complain("making the bot", failure);
        }
        worker
    }

    fn run(mut self, inbox: &Receiver<Job>) {
        let mut jobs = VecDeque::new();
        while let Ok(first) = inbox.recv() {
            jobs.push_back(first);
            while let Some(job) = jobs.pop_front() {
                jobs.extend(inbox.try_iter());
                match job {
                    Job::Observe(events) => self.observe(&events),
                    Job::Decide(..) if jobs.iter().any(supersedes) => {}
                    Job::Decide(request, arrived) => self.decide(request, arrived),
                    Job::End(outcome) => return self.end(&outcome),
                }
            }
        }
    }

    fn observe(&mut self, events: &[Event]) {
        let Ok(bot) = &mut self.bot else { return };
        let told = guarded(|| {
            for event in events {
                bot.on_event(event);
            }
            Ok(())
        });
        if let Err(failure) = told {
            self.failed("on_event", failure);
        }
    }

    fn decide(&mut self, request: DecisionRequested, arrived: Instant) {
        let decision = Decision { game: Arc::clone(&self.game), request, arrived };
        if let Ok(bot) = &mut self.bot {
            match guarded(|| decision.reply(bot.act(&decision)?)) {
                Ok(act) => return self.report(Report::Decided(act, None)),
                Err(failure) => self.failed("act", failure),
            }
        }
        let failure = self.bot.as_ref().err().cloned();
        self.report(Report::Decided(decision.give_up(), failure));
    }

    fn end(self, outcome: &Outcome) {
        if let Ok(mut bot) = self.bot {
            let told = guarded(|| {
                bot.on_end(outcome);
                drop(bot);
                Ok(())
            });
            if let Err(failure) = told {
                log::error!("on_end: {failure}; the game is over anyway");
            }
        }
        let _ = self.reports.send(Report::Ended); // nobody listens any more where the process is ending
    }

    fn report(&self, report: Report) {
        let _ = self.reports.send(report);
    }

    fn failed(&mut self, place: &str, failure: String) {
        self.complain(place, &failure);
        self.bot = Err(failure);
    }

    fn complain(&self, place: &str, failure: &str) {
        let game = &self.game.game;
        log::error!("{place} failed in a game of {game}, which is given up; others go on: {failure}");
    }
}

/// Whether a decision that waits before this job is no longer wanted.
fn supersedes(job: &Job) -> bool {
    matches!(job, Job::Decide(..) | Job::End(_))
}

/// Runs the author's code; the error is what it failed with or panicked about.
fn guarded<T>(code: impl FnOnce() -> Result<T, BoxError>) -> Result<T, String> {
    match catch_unwind(AssertUnwindSafe(code)) {
        Ok(result) => result.map_err(|error| error.to_string()),
        Err(panic) => Err(format!("panicked: {}", panic_text(&*panic))),
    }
}

fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("?")
}
