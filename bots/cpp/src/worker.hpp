#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "botarena/botarena.hpp"
#include "mailbox.hpp"

namespace botarena {

// What a game's bot has to do, in order.
struct Observe {
  std::vector<Event> events;
};
struct Decide {
  v1::DecisionRequested request;
  SteadyTime arrived;
};
using Job = std::variant<Observe, Decide, Outcome>;  // an Outcome is the last

// What comes of it: a decision's answer, and why it is none if the author's code has failed.
struct Decided {
  v1::Act act;
  std::optional<std::string> failure;
};
// A bot is through with its last job.
struct Ended {};
using Report = std::variant<Decided, Ended>;

// Starts a game's bot on a thread of its own, so that a slow act delays neither pings nor other games. `report` is
// called on that thread. The thread is detached: the process must be able to end where an act never returns.
std::shared_ptr<Mailbox<Job>> start_worker(MakeBot make_bot, std::shared_ptr<const Match> match,
                                           std::function<void(Report)> report);

}  // namespace botarena
