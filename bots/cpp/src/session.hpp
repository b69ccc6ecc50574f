#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "botarena/botarena.hpp"
#include "worker.hpp"

namespace botarena {

// Starts a game's bot, and says where its jobs go.
using Seat = std::function<std::shared_ptr<Mailbox<Job>>(std::shared_ptr<const Match>)>;

// What the process knows of its games, across streams: a state machine without I/O or threads that the connection
// drives. What it wants to say gathers in `outbox`.
class Session {
 public:
  Session(Profile profile, std::string instance, int credit, Seat seat);

  // Says Hello, and forgets what the old stream was waiting for: the arena asks again on the new one.
  void stream_opened();
  // Asks the arena for no new games; it closes the stream when none runs any more.
  void drain();
  // Takes in one event. Throws Error where the arena says not to come back.
  void handle(const v1::ArenaEvent& event, SteadyTime now);
  // Takes in what a bot decided, and sends it if this stream waits for it.
  void decided(v1::Act act);
  // A bot is through with the end of its game.
  void ended() { --ending_; }
  // Ends games that were in doubt for too long; to be called about once a second.
  void settle(SteadyTime now);

  // Whether there is nothing left to connect for.
  bool over() const { return done_ || (draining_ && !welcome_ && games_.empty()); }
  bool draining() const { return draining_; }
  bool connected_before() const { return !id_.empty(); }
  std::size_t running() const { return games_.size(); }
  // Bots that have been told of their game's end but are not through with it.
  int ending() const { return ending_; }
  const std::optional<v1::Welcome>& welcome() const { return welcome_; }
  // Set by Draining: how far to spread the next connect.
  std::optional<std::chrono::milliseconds> reconnect_within() const { return reconnect_within_; }

  std::deque<v1::BotEvent> outbox;

 private:
  struct Game {
    std::shared_ptr<const Match> start;
    std::shared_ptr<Mailbox<Job>> jobs;
    // The decision that the arena waits for on this stream, and that which the bot thinks about.
    std::optional<std::uint32_t> asked, thinking;
    // The latest that the bot gave, kept because a stream may break before the arena has it.
    std::optional<v1::Act> answer;
    std::optional<std::uint32_t> last_seq;
    // When a gateway that does not know the game took over; nothing once it does.
    std::optional<SteadyTime> doubted_since;
  };

  void on_welcome(const v1::Welcome& message, SteadyTime now);
  void on_offer(const v1::SetOffered& message);
  void on_match_started(const Match& message);
  void on_events(const v1::EventsObserved& message);
  void on_decision(const v1::DecisionRequested& message, SteadyTime now);
  void on_match_ended(const v1::MatchEnded& message);
  void on_draining(const v1::Draining& message);
  // Ends the games, of those whose end this process has missed.
  void drop_games(const std::function<bool(const std::string& id, const Game& game)>& missed);
  void answer(Game& game);
  void end(const Game& game, Outcome outcome);

  Profile profile_;
  std::string instance_;
  int credit_;
  Seat seat_;
  std::string id_;
  std::optional<v1::Welcome> welcome_;
  bool draining_ = false;
  bool done_ = false;
  std::optional<std::chrono::milliseconds> reconnect_within_;
  std::map<std::string, Game> games_;
  int ending_ = 0;
};

}  // namespace botarena
