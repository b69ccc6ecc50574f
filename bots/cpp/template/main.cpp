// {{name}}: a bot for {{game}}.

#include <botarena/botarena.hpp>
#include <iostream>

class MyBot : public botarena::Bot {
 public:
  explicit MyBot(const botarena::Match& match) : rng_(match.bot_seed()) {}

  // Chooses one of the legal actions. So far at random: decision.view() is what you know of the game, text() of an
  // action what it does, decision.left() your time.
  botarena::Answer act(const botarena::Decision& decision) override { return botarena::choose(rng_, decision.legal()); }

  void on_end(const botarena::Outcome& outcome) override {
    std::cout << "place " << outcome.place().value_or(0) << ", " << outcome.score().value_or(0) << " points\n";
  }

 private:
  botarena::Rng rng_;
};

int main(int argc, char** argv) {
  botarena::Profile profile;
  profile.games = {"{{game}}"};
  return botarena::run(argc, argv, profile,
                       [](const botarena::Match& match) { return std::make_unique<MyBot>(match); });
}
