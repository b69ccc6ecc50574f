//! The SDK for bots that play on a Bot Arena.
//!
//! ```no_run
//! use botarena::{Answer, BoxError, Decision, Profile};
//!
//! fn act(decision: &Decision) -> Result<Answer, BoxError> {
//!     Ok(decision.rng().choose(decision.legal()).into())
//! }
//!
//! fn main() -> std::process::ExitCode {
//!     botarena::run(Profile::new(["balloon-race"]), |_| act)
//! }
//! ```
//!
//! The same program plays on an arena and in `arena match` on your own machine: it reads `ARENA_ADDRESS` and
//! `ARENA_TOKEN`. A bot that keeps state during a game is a type that implements [`Bot`].

mod address;
mod connection;
mod error;
mod frames;
mod logger;
mod model;
mod rng;
mod session;
mod settings;
mod signals;
mod worker;

/// The protocol's messages, as generated from `proto`.
#[allow(clippy::all, clippy::pedantic, missing_docs)]
pub mod proto {
    include!(concat!(env!("OUT_DIR"), "/proto.rs"));

    pub use self::botarena::{games, v1};
}

use std::process::ExitCode;
use std::sync::Arc;

pub use error::{BoxError, Error};
pub use model::{
    Action, Annotation, Answer, Bot, Clock, Decision, End, Event, History, Match, Outcome, Position, Profile, Receipts,
    SeatReason,
};
pub use rng::Rng;
pub use settings::Settings;

use connection::Connection;
use settings::Command;
use worker::NewBot;

/// Plays until told to stop; the whole `main` of a bot's program. `new_bot` makes the bot of each game, on the thread
/// that the game is played on.
///
/// Takes its settings from flags (`--help` lists them) and the environment. Ends with 0 after a drain (SIGTERM or
/// Ctrl-C); else with one line on standard error and [`Error::exit_code`].
pub fn run<B: Bot + 'static>(profile: Profile, new_bot: impl Fn(&Match) -> B + Send + Sync + 'static) -> ExitCode {
    let outcome = match settings::parse(std::env::args().skip(1)) {
        Ok(Command::Print(text)) => {
            println!("{text}");
            return ExitCode::SUCCESS;
        }
        Ok(Command::Play(settings, level)) => {
            logger::install(level);
            play(&settings, profile, new_bot)
        }
        Err(error) => Err(error),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            if !matches!(error, Error::Interrupted) {
                eprintln!("botarena: {error}");
            }
            error.exit_code().into()
        }
    }
}

/// Plays until SIGINT or SIGTERM has drained the bot; for programs that bring their own settings.
pub fn play<B: Bot + 'static>(
    settings: &Settings,
    profile: Profile,
    new_bot: impl Fn(&Match) -> B + Send + Sync + 'static,
) -> Result<(), Error> {
    let plan = settings.plan()?;
    let profile = match &settings.name {
        Some(name) => profile.name(name),
        None => profile,
    };
    let new_bot: NewBot = Arc::new(move |game| Box::new(new_bot(game)));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Error::Misconfigured(format!("the system gives no event loop: {error}")))?;
    let outcome = runtime.block_on(async { Connection::new(plan, profile, new_bot)?.run().await });
    runtime.shutdown_background(); // a name look-up may hang
    outcome
}

/// The README's programs compile.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
