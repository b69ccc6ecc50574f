//! How a bot's program is set up: flags and environment.

use std::env;
use std::path::PathBuf;
use std::time::Duration;

use crate::address::Target;
use crate::connection::Plan;
use crate::error::Error;

/// How to connect; see [`play`](crate::play).
#[derive(Clone, Debug)]
pub struct Settings {
    /// `host:port` or `unix:path`.
    pub address: String,
    /// The bot's token; not needed for a socket file.
    pub token: String,
    /// Tells several processes of one bot apart.
    pub instance: String,
    /// How many games at once.
    pub credit: u32,
    /// A bot's failure ends the process, instead of only that game.
    pub strict: bool,
    /// No TLS to another machine.
    pub insecure: bool,
    /// The file of a private CA's certificate in PEM: TLS is spoken, to this machine too, and it alone is trusted.
    pub ca: Option<PathBuf>,
    /// Give up when no arena answers for so long; without it a time that fits the address.
    pub patience: Option<Duration>,
    /// The bot's name, instead of the profile's.
    pub name: Option<String>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            address: String::new(),
            token: String::new(),
            instance: "0".into(),
            credit: 1,
            strict: false,
            insecure: false,
            ca: None,
            patience: None,
            name: None,
        }
    }
}

impl Settings {
    pub(crate) fn plan(&self) -> Result<Plan, Error> {
        if self.address.is_empty() {
            return wrong("no address: set ARENA_ADDRESS or --address, e.g. localhost:7700");
        }
        let target = Target::parse(&self.address, self.insecure, self.ca.as_deref())?;
        if target.needs_token() && self.token.is_empty() {
            return wrong("no token: set ARENA_TOKEN or --token; `arena register` or `arena token create` makes one");
        }
        if self.credit == 0 {
            return wrong("credit is the number of games at once, at least 1, not 0");
        }
        Ok(Plan {
            target,
            token: self.token.clone(),
            instance: self.instance.clone(),
            credit: self.credit,
            strict: self.strict,
            patience: self.patience,
        })
    }
}

fn wrong<T>(what: &str) -> Result<T, Error> {
    Err(Error::Misconfigured(what.into()))
}

const HELP: &str = "\
A bot for a Bot Arena.

  --address ADDRESS   host:port or unix:path (default: ARENA_ADDRESS)
  --token TOKEN       the bot's token (default: ARENA_TOKEN, which nobody sees in ps)
  --name NAME         the bot's name, instead of the one in the program
  --instance NAME     tells several processes of one bot apart (default: ARENA_INSTANCE or 0)
  --credit N          how many games at once (default: 1)
  --strict            a failure of the bot ends the process, not only the game
  --insecure          no TLS to an arena on another machine
  --ca FILE           TLS with this private CA, in PEM (default: ARENA_CA)
  --patience SECONDS  give up when no arena answers for so long
  --log-level LEVEL   debug, info, warning or error (default: ARENA_LOG_LEVEL or info)
  --help, --version";

/// What a command line asks for.
#[derive(Debug)]
pub(crate) enum Command {
    Play(Settings, log::LevelFilter),
    Print(String),
}

/// Reads flags, and the environment for what they do not say.
pub(crate) fn parse(args: impl IntoIterator<Item = String>) -> Result<Command, Error> {
    let variable = |name: &str| env::var(name).ok();
    let mut settings = Settings {
        address: variable("ARENA_ADDRESS").unwrap_or_default(),
        token: variable("ARENA_TOKEN").unwrap_or_default(),
        instance: variable("ARENA_INSTANCE").unwrap_or("0".into()),
        ca: variable("ARENA_CA").filter(|path| !path.is_empty()).map(PathBuf::from),
        ..Settings::default()
    };
    let mut level = variable("ARENA_LOG_LEVEL").unwrap_or("info".into());
    let mut args = args.into_iter();
    while let Some(arg) = args.next() {
        let (flag, inline) = match arg.split_once('=') {
            Some((flag, value)) => (flag, Some(value.to_owned())),
            None => (arg.as_str(), None),
        };
        let mut value = || {
            let missing = || Error::Misconfigured(format!("{flag} needs a value"));
            inline.clone().or_else(|| args.next()).ok_or_else(missing)
        };
        match flag {
            "--address" => settings.address = value()?,
            "--token" => settings.token = value()?,
            "--name" => settings.name = Some(value()?),
            "--instance" => settings.instance = value()?,
            "--credit" => settings.credit = number(flag, &value()?)?,
            "--strict" => settings.strict = true,
            "--insecure" => settings.insecure = true,
            "--ca" => settings.ca = Some(value()?.into()),
            "--patience" => settings.patience = Some(seconds(flag, &value()?)?),
            "--log-level" => level = value()?,
            "--help" | "-h" => return Ok(Command::Print(HELP.into())),
            "--version" => return Ok(Command::Print(concat!("botarena ", env!("CARGO_PKG_VERSION")).into())),
            _ => return Err(Error::Misconfigured(format!("there is no flag {arg}; --help lists them"))),
        }
    }
    Ok(Command::Play(settings, log_level(&level)?))
}

fn number(flag: &str, text: &str) -> Result<u32, Error> {
    text.parse().map_err(|_| Error::Misconfigured(format!("{flag} takes a number, not {text:?}")))
}

fn seconds(flag: &str, text: &str) -> Result<Duration, Error> {
    let seconds = text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    seconds.ok_or_else(|| Error::Misconfigured(format!("{flag} takes seconds, not {text:?}")))
}

fn log_level(text: &str) -> Result<log::LevelFilter, Error> {
    match text.to_lowercase().as_str() {
        "debug" => Ok(log::LevelFilter::Debug),
        "info" => Ok(log::LevelFilter::Info),
        "warning" | "warn" => Ok(log::LevelFilter::Warn),
        "error" => Ok(log::LevelFilter::Error),
        _ => Err(Error::Misconfigured(format!("log levels are debug, info, warning and error, not {text:?}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(args: &[&str]) -> Result<Settings, Error> {
        match parse(args.iter().map(|arg| (*arg).to_owned()))? {
            Command::Play(settings, _) => Ok(settings),
            Command::Print(text) => panic!("printed {text}"),
        }
    }

    /// Flags take their values after a blank or an equals sign.
    #[test]
    fn flags() {
        let got = settings(&["--address", "localhost:1", "--credit=3", "--patience", "0.5", "--strict", "--ca=ca.pem"])
            .unwrap();
        assert_eq!((got.address.as_str(), got.credit, got.strict), ("localhost:1", 3, true));
        assert_eq!(got.patience, Some(Duration::from_millis(500)));
        assert_eq!(got.ca, Some("ca.pem".into()));
    }

    /// What is wrong on the command line is refused with status 2.
    #[test]
    fn mistakes() {
        for bad in [&["--credit", "x"][..], &["--credit"], &["--patience=-1"], &["--log-level", "loud"], &["--who"]] {
            assert_eq!(settings(bad).unwrap_err().exit_code(), 2, "{bad:?}");
        }
    }

    /// A plan needs an address, a credit, and a token unless the address is a socket file.
    #[test]
    fn plans() {
        let with = |address: &str, token: &str, credit| {
            let settings = Settings { address: address.into(), token: token.into(), credit, ..Settings::default() };
            settings.plan().is_ok()
        };
        assert!(with("localhost:1", "t", 1) && with("unix:a.sock", "", 1));
        assert!(!with("", "t", 1) && !with("localhost:1", "", 1) && !with("localhost:1", "t", 0));
    }
}
