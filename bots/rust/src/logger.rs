//! Lines on standard error, for programs that bring no logger of their own.

use std::time::{SystemTime, UNIX_EPOCH};

use log::{LevelFilter, Log, Metadata, Record};

struct Stderr;

impl Log for Stderr {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("botarena") || metadata.level() <= log::Level::Warn
    }

    fn log(&self, record: &Record<'_>) {
        if self.enabled(record.metadata()) {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
            let (hours, minutes, seconds) = (now / 3600 % 24, now / 60 % 60, now % 60);
            let level = &record.level().as_str()[..1];
            eprintln!("{hours:02}:{minutes:02}:{seconds:02}Z {level} {}", record.args());
        }
    }

    fn flush(&self) {}
}

/// Shows what is at least of this level, unless the program has a logger already.
pub(crate) fn install(level: LevelFilter) {
    if log::set_logger(&Stderr).is_ok() {
        log::set_max_level(level);
    }
}
