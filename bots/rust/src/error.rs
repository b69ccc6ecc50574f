//! Why a bot process stops.

use std::error::Error as StdError;
use std::fmt;

/// Whatever went wrong in a bot's own code.
pub type BoxError = Box<dyn StdError + Send + Sync>;

/// The process cannot go on playing. Displays as one line that says what to do.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// An address, a token or an option is missing or wrong, or the arena does not know the bot or a game.
    Misconfigured(String),
    /// The arena does not accept the token, or has revoked it.
    Refused(String),
    /// This SDK and the arena speak different versions of the protocol.
    VersionSkew(String),
    /// A newer process connected as the same instance of the same bot.
    Replaced,
    /// Nothing answers at the address for longer than the process is willing to wait.
    Unreachable(String),
    /// The bot's own code failed, and [`Settings::strict`](crate::Settings::strict) is set.
    Bot(String),
    /// Told twice to stop.
    Interrupted,
}

impl Error {
    /// The exit code of a process that ends with this error.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Bot(_) => 1,
            Self::Misconfigured(_) => 2,
            Self::Refused(_) => 3,
            Self::VersionSkew(_) => 4,
            Self::Replaced => 5,
            Self::Unreachable(_) => 6,
            Self::Interrupted => 130,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Misconfigured(text) | Self::Refused(text) | Self::VersionSkew(text) | Self::Unreachable(text) => {
                f.write_str(text)
            }
            Self::Bot(text) => write!(f, "the bot failed: {text}"),
            Self::Replaced => f.write_str(
                "a newer process of this bot took over, so this one stops; \
                 to run several at once give each its own --instance",
            ),
            Self::Interrupted => f.write_str("interrupted"),
        }
    }
}

impl StdError for Error {}

/// What lies at the bottom of an error: transport errors wrap the one line that helps several times.
pub(crate) fn causes(error: &(dyn StdError + 'static)) -> String {
    let mut deepest = error;
    while let Some(source) = deepest.source() {
        deepest = source;
    }
    deepest.to_string()
}
