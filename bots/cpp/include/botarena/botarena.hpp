// The SDK for bots that play on a Bot Arena.
//
//   botarena::Answer act(const botarena::Decision& decision) {
//     auto rng = decision.rng();
//     return botarena::choose(rng, decision.legal());
//   }
//
//   int main(int argc, char** argv) {
//     return botarena::run(argc, argv, {{"balloon-challenge"}}, act);
//   }
//
// The same program plays on an arena and in `arena match` on your own machine: it reads ARENA_ADDRESS and ARENA_TOKEN.

#pragma once

#include <botarena/v1/play.pb.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace botarena {

// The game that a bot plays: its options, who sits where, which seat is ours.
using Match = v1::MatchStarted;
// Something that happened, as far as our seat may see it.
using Event = v1::ObservedEvent;
using Action = v1::Action;
// What a bot thinks of its move; spectators see it once the game is over.
using Annotation = v1::Annotation;
using Rng = std::mt19937_64;
using SteadyTime = std::chrono::steady_clock::time_point;

// One of `items`, which must not be empty.
template <typename Items>
const auto& choose(Rng& rng, const Items& items) {
  return *std::next(items.begin(), static_cast<std::ptrdiff_t>(rng() % static_cast<std::uint64_t>(items.size())));
}

// What act() returns: an action, its id or its text, and perhaps what the bot thinks of it.
class Answer {
 public:
  Answer(const Action& action) : id_(action.id()) {}    // NOLINT(google-explicit-constructor)
  Answer(std::uint32_t id) : id_(id) {}                 // NOLINT(google-explicit-constructor)
  Answer(std::string text) : text_(std::move(text)) {}  // NOLINT(google-explicit-constructor)
  Answer(const char* text) : text_(text) {}             // NOLINT(google-explicit-constructor)

  Answer with(Annotation annotation) && {
    annotation_ = std::move(annotation);
    return std::move(*this);
  }
  Answer comment(const std::string& comment) && {
    Annotation annotation;
    annotation.set_comment(comment);
    return std::move(*this).with(std::move(annotation));
  }

 private:
  friend class Decision;
  std::optional<std::uint32_t> id_;
  std::string text_;
  std::optional<Annotation> annotation_;
};

// A decision that is due.
class Decision {
 public:
  Decision(std::shared_ptr<const Match> match, v1::DecisionRequested request, SteadyTime arrived)
      : match_(std::move(match)), request_(std::move(request)), arrived_(arrived) {}

  const Match& match() const { return *match_; }
  // All that the arena said.
  const v1::DecisionRequested& request() const { return request_; }
  // The position: view().balloon_challenge() and the like are the messages of the games.
  const v1::View& view() const { return request_.view(); }
  // Our seat, from 0.
  int seat() const { return static_cast<int>(match_->seat()); }
  // The legal actions, at least two, since what is forced is played for you.
  const google::protobuf::RepeatedPtrField<Action>& legal() const { return request_.legal(); }
  // The legal action with this canonical text; null if there is none.
  const Action* find(std::string_view text) const;
  // What is left of the time for this decision. The way to the arena and back comes off it as well.
  std::chrono::milliseconds left() const;
  // Random numbers that repeat when a seeded match is played again, even by a new process.
  Rng rng() const;

  // The message for an answer. Throws std::invalid_argument, naming what is legal.
  v1::Act reply(const Answer& answer) const;
  // An answer that no game has, so that the arena ends a failed seat at once instead of waiting for its clock.
  v1::Act give_up() const;

 private:
  v1::Act act() const;

  std::shared_ptr<const Match> match_;
  v1::DecisionRequested request_;
  SteadyTime arrived_;
};

// What proves afterwards that the arena dealt fairly and has not rewritten the game: two signatures by `arena_key`
// (Ed25519), one made before the first event and one at the end. `arena verify` checks them.
struct Receipts {
  std::string arena_key;
  // The arena's promise about the deal, and its signature over (match, commitment).
  std::string commitment, opening;
  // Head of the record's hash chain.
  std::string head;
  // What the commitment was made of; empty for a shared deal until the whole set is over.
  std::string secret;
  // Signature over (match, head, secret).
  std::string closing;
};

// How a game ended.
struct Outcome {
  enum class End {
    kFinished,
    kVoid,     // the arena failed: nobody loses, the game is played again
    kUnknown,  // it ended while this process was not connected; the arena's pages have the result
  };
  End end = End::kUnknown;
  int seat = 0;
  // By seat, empty unless finished. Places are from 1, joint ones are shared.
  std::vector<int> places, scores;
  std::vector<v1::SeatReason> reasons;
  std::string match_id, set_id;
  std::optional<Receipts> receipts;

  // Ours; nothing unless finished.
  std::optional<int> place() const { return ours(places); }
  std::optional<int> score() const { return ours(scores); }

 private:
  std::optional<int> ours(const std::vector<int>& values) const {
    if (static_cast<std::size_t>(seat) >= values.size()) return std::nullopt;
    return values[static_cast<std::size_t>(seat)];
  }
};

// A bot for one game. All of its methods are called on one thread, in order; so is its construction. Several games may
// go on at once, each with a bot and a thread of its own. What act or on_event throws gives up this game; others go on.
class Bot {
 public:
  virtual ~Bot() = default;
  // Chooses one of decision.legal().
  virtual Answer act(const Decision& decision) = 0;
  // Something happened that our seat may see; told before the next act, own actions as well. Needs History::kDelta.
  virtual void on_event(const Event&) {}
  // The game is over.
  virtual void on_end(const Outcome&) {}
};

using MakeBot = std::function<std::unique_ptr<Bot>(const Match&)>;
using Act = std::function<Answer(const Decision&)>;

// How much of what happens a bot is told: nothing, events as they happen, or also all of them with each decision.
enum class History { kNone, kDelta, kFull };

// What a bot tells the arena about itself.
struct Profile {
  // Names of the games it plays; none: every game of the arena.
  std::vector<std::string> games = {};
  // Your name for this version of the program; a new one starts its own rating.
  std::string version = "1";
  // The name as registered; empty: the bot that the token was made for.
  std::string name = {};
  // Numbers of players that it plays its games with; none: all.
  std::vector<std::uint32_t> players = {};
  History history = History::kNone;
  // Wants the position as text, for a language model or to look at: view().text().
  bool text = false;
  // Wants it as JSON instead of the game's message: view().json().
  bool json = false;
  // Wants each action's typed form: action.typed().
  bool typed_actions = false;
};

// How to connect; see play().
struct Settings {
  // host:port or unix:path.
  std::string address = {};
  // Not needed for a socket file.
  std::string token = {};
  // Tells several processes of one bot apart.
  std::string instance = "0";
  // How many games at once.
  int credit = 1;
  // What a bot throws ends the process, instead of only that game.
  bool strict = false;
  // No TLS to another machine.
  bool insecure = false;
  // The path of a private CA's certificate in PEM: TLS is spoken, to this machine too, and it alone is trusted.
  std::string ca = {};
  // Give up when no arena answers for so long; without it a time that fits the address.
  std::optional<std::chrono::duration<double>> patience = {};
};

// Why a process cannot go on: what() is one line that says what to do, and exit_code() what the process ends with.
class Error : public std::runtime_error {
 public:
  enum Code {
    kBotFailed = 1,
    kMisconfigured = 2,
    kRefused = 3,
    kVersionSkew = 4,
    kReplaced = 5,
    kUnreachable = 6,
    kInterrupted = 130,
  };
  Error(Code code, const std::string& what) : std::runtime_error(what), code_(code) {}
  Code code() const { return code_; }
  int exit_code() const { return code_; }

 private:
  Code code_;
};

// Plays until told to stop; the whole main() of a bot's program. Takes its settings from flags (--help lists them) and
// the environment. Returns 0 after a drain (SIGTERM or Ctrl-C); else prints one line and ends the process with
// Error::exit_code(), whatever other threads do.
int run(int argc, char** argv, Profile profile, MakeBot make_bot);
int run(int argc, char** argv, Profile profile, Act act);

// Plays until SIGINT or SIGTERM has drained the bot; for programs that bring their own settings. Throws Error. Blocks
// both signals on the calling thread, so that call it before starting others.
void play(const Settings& settings, const Profile& profile, MakeBot make_bot);

}  // namespace botarena
