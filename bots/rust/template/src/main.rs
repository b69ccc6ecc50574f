//! {{name}}: a bot for {{game}}.

use botarena::{Answer, Bot, BoxError, Decision, Match, Outcome, Profile, Rng};

struct MyBot {
    rng: Rng,
}

impl Bot for MyBot {
    /// Chooses one of the legal actions. So far at random: `decision.position()` is what you know of the game,
    /// `action.text` what an action does, `decision.left()` your time.
    fn act(&mut self, decision: &Decision) -> Result<Answer, BoxError> {
        Ok(self.rng.choose(decision.legal()).into())
    }

    fn on_end(&mut self, outcome: &Outcome) {
        let (place, points) = (outcome.place(), outcome.score());
        println!("{:?}: place {place:?}, {points:?} points", outcome.end);
    }
}

fn main() -> std::process::ExitCode {
    let profile = Profile::new(["{{game}}"]);
    botarena::run(profile, |game: &Match| MyBot {
        rng: Rng::new(game.bot_seed),
    })
}
