// Plays Balloon Challenge: among others it gets rid of high cards until the rest will fit, alone it plans exactly what
// to keep.

#include <botarena/botarena.hpp>

#include "round.hpp"

namespace {

botarena::Answer act(const botarena::Decision& decision) {
  if (!decision.view().has_balloon_challenge()) throw std::runtime_error("this bot plays balloon-challenge only");
  const balloon_challenge::Round round(decision.view().balloon_challenge());
  const botarena::Action* best = nullptr;
  double best_worth = 0;
  for (const auto& action : decision.legal()) {
    const auto& typed = action.typed().balloon_challenge();
    const double worth = typed.has_play() ? round.worth_of(typed.play().card()) : round.worth_of_dropping();
    if (best == nullptr || worth > best_worth) {
      best = &action;
      best_worth = worth;
    }
  }
  return botarena::Answer(*best).comment("holds " + std::to_string(round.volume()));
}

}  // namespace

int main(int argc, char** argv) {
  botarena::Profile profile;
  profile.games = {"balloon-challenge"};
  profile.typed_actions = true;
  return botarena::run(argc, argv, profile, act);
}
