#include "session.hpp"

#include <algorithm>
#include <random>

#include "log.hpp"
#include "version.hpp"

namespace botarena {

namespace {

// The version of botarena.v1 that this SDK was written for, as major * 1000 + minor.
constexpr int kProtocol = 1000;
constexpr int kNonceBytes = 16;
// So long the arena looks for a new home for games whose gateway has crashed; then they are void.
constexpr std::chrono::seconds kDoubt{60};

std::string random_bytes(int count) {
  std::random_device device;  // the system's own generator
  std::string bytes;
  for (int i = 0; i < count; ++i)
    bytes.push_back(static_cast<char>(device()));
  return bytes;
}

// A value's name; enums grow, so it may be newer than this SDK.
template <typename Text>
std::string name_or_number(const Text& name, int value) {
  return name.empty() ? std::to_string(value) : std::string(name);
}

std::string title(const Match& match) {
  std::string names;
  for (const auto& player : match.seats())
    names += (names.empty() ? "" : ", ") + player.bot();
  return match.game() + ", seat " + std::to_string(match.seat()) + " of " + std::to_string(match.players()) + " (" +
         names + ")";
}

std::string verdict(const Outcome& outcome) {
  if (!outcome.place() || !outcome.score()) return "void, it is going to be played again";
  std::string text = "place " + std::to_string(*outcome.place()) + ", " + std::to_string(*outcome.score()) + " points";
  const auto seat = static_cast<std::size_t>(outcome.seat);
  if (seat < outcome.reasons.size() && outcome.reasons[seat] != v1::SEAT_REASON_NORMAL) {
    text += " (" + name_or_number(v1::SeatReason_Name(outcome.reasons[seat]), outcome.reasons[seat]) + ")";
  }
  return text;
}

v1::Wants::History wire(History history) {
  switch (history) {
    case History::kDelta:
      return v1::Wants::HISTORY_DELTA;
    case History::kFull:
      return v1::Wants::HISTORY_FULL;
    case History::kNone:
      break;
  }
  return v1::Wants::HISTORY_NONE;
}

void on_act_result(const v1::ActResult& message) {
  const bool harmless = message.code() == v1::ActResult::CODE_DUPLICATE || message.code() == v1::ActResult::CODE_STALE;
  log(harmless ? Level::kDebug : Level::kError,
      "the arena says " + name_or_number(v1::ActResult::Code_Name(message.code()), message.code()) + " to decision " +
          std::to_string(message.decision_id()) + ": " + message.detail());
}

void on_notice(const v1::Notice& message) {
  const bool good = message.kind() == v1::Notice::KIND_RATING || message.kind() == v1::Notice::KIND_OFFER_RELEASED;
  log(good ? Level::kInfo : Level::kWarning,
      name_or_number(v1::Notice::Kind_Name(message.kind()), message.kind()) + ": " + message.text());
}

Outcome outcome_of(const Match& start, const v1::MatchEnded& message, const std::string& arena_key) {
  Outcome outcome;
  outcome.end = message.end() == v1::MatchEnded::END_FINISHED ? Outcome::End::kFinished : Outcome::End::kVoid;
  outcome.seat = static_cast<int>(start.seat());
  outcome.places.assign(message.places().begin(), message.places().end());
  outcome.scores.assign(message.scores().begin(), message.scores().end());
  for (const int reason : message.reasons())
    outcome.reasons.push_back(static_cast<v1::SeatReason>(reason));
  outcome.match_id = message.match_id();
  outcome.set_id = message.set_id();
  outcome.receipts = Receipts{arena_key,        start.commitment(), start.receipt(), message.record_head(),
                              message.secret(), message.receipt()};
  return outcome;
}

}  // namespace

Session::Session(Profile profile, std::string instance, int credit, Seat seat)
    : profile_(std::move(profile)), instance_(std::move(instance)), credit_(credit), seat_(std::move(seat)) {}

void Session::stream_opened() {
  welcome_.reset();
  reconnect_within_.reset();
  for (auto& [id, game] : games_)
    game.asked.reset();
  outbox.clear();
  auto& hello = *outbox.emplace_back().mutable_hello();
  hello.set_bot(profile_.name);
  hello.set_version(profile_.version);
  hello.set_instance(instance_);
  hello.set_sdk(std::string("botarena-cpp/") + kVersion);
  for (const auto& name : profile_.games) {
    auto& game = *hello.add_games();
    game.set_game(name);
    game.mutable_players()->Add(profile_.players.begin(), profile_.players.end());
  }
  hello.set_credit(static_cast<std::uint32_t>(credit_));
  hello.mutable_wants()->set_text(profile_.text);
  hello.mutable_wants()->set_json(profile_.json);
  hello.mutable_wants()->set_typed_actions(profile_.typed_actions);
  hello.mutable_wants()->set_history(wire(profile_.history));
  hello.set_protocol(kProtocol);
  hello.set_resume_session(id_);
}

void Session::drain() {
  draining_ = true;
  if (welcome_) outbox.emplace_back().mutable_set_credit()->set_drain(true);
}

void Session::handle(const v1::ArenaEvent& event, SteadyTime now) {
  switch (event.event_case()) {
    case v1::ArenaEvent::kWelcome:
      return on_welcome(event.welcome(), now);
    case v1::ArenaEvent::kSetOffered:
      return on_offer(event.set_offered());
    case v1::ArenaEvent::kMatchStarted:
      return on_match_started(event.match_started());
    case v1::ArenaEvent::kEventsObserved:
      return on_events(event.events_observed());
    case v1::ArenaEvent::kDecisionRequested:
      return on_decision(event.decision_requested(), now);
    case v1::ArenaEvent::kActResult:
      return on_act_result(event.act_result());
    case v1::ArenaEvent::kMatchEnded:
      return on_match_ended(event.match_ended());
    case v1::ArenaEvent::kNotice:
      return on_notice(event.notice());
    case v1::ArenaEvent::kDraining:
      return on_draining(event.draining());
    case v1::ArenaEvent::kPing:
      outbox.emplace_back().mutable_pong()->set_nonce(event.ping().nonce());
      return;
    case v1::ArenaEvent::EVENT_NOT_SET:  // a kind newer than this SDK
      return;
  }
}

void Session::decided(v1::Act act) {
  const auto found = games_.find(act.game_id());
  if (found == games_.end()) return;
  Game& game = found->second;
  if (game.thinking == act.decision_id()) game.thinking.reset();
  game.answer = std::move(act);
  answer(game);
}

void Session::settle(SteadyTime now) {
  drop_games([&](const auto&, const Game& game) { return game.doubted_since && now - *game.doubted_since > kDoubt; });
}

// What the arena says is running, is; the rest is over. Only where it made a new session, because the gateway that had
// the old one is gone, it may still bring our games to it.
void Session::on_welcome(const v1::Welcome& message, SteadyTime now) {
  log(Level::kInfo, "playing as " + message.bot() + " version " + message.version());
  const auto runs = [&](const std::string& id) {
    const auto& running = message.running_games();
    return std::find(running.begin(), running.end(), id) != running.end();
  };
  if (message.session() == id_) {
    drop_games([&](const std::string& id, const Game&) { return !runs(id); });
  } else {
    for (auto& [id, game] : games_) {
      if (!runs(id)) game.doubted_since = now;
    }
  }
  id_ = message.session();
  welcome_ = message;
  if (draining_) drain();
}

void Session::on_offer(const v1::SetOffered& message) {
  if (draining_) return;
  auto& ready = *outbox.emplace_back().mutable_ready();
  ready.set_offer_id(message.offer_id());
  ready.set_nonce(random_bytes(kNonceBytes));
}

void Session::on_match_started(const Match& message) {
  if (const auto found = games_.find(message.game_id()); found != games_.end()) {
    found->second.doubted_since.reset();  // goes on after a reconnect; the bot has never noticed
    return;
  }
  log(Level::kInfo, (message.resumed() ? "goes on: " : "started: ") + title(message));
  Game game;
  game.start = std::make_shared<const Match>(message);
  game.jobs = seat_(game.start);
  games_.emplace(message.game_id(), std::move(game));
}

void Session::on_events(const v1::EventsObserved& message) {
  const auto found = games_.find(message.game_id());
  if (found == games_.end()) return;
  Game& game = found->second;
  Observe seen;
  for (const auto& event : message.events()) {
    // After a reconnect the arena may tell again what we have heard.
    if (!game.last_seq || event.seq() > *game.last_seq) seen.events.push_back(event);
  }
  if (seen.events.empty()) return;
  game.last_seq = seen.events.back().seq();
  game.jobs->push(std::move(seen));
}

void Session::on_decision(const v1::DecisionRequested& message, SteadyTime now) {
  const auto found = games_.find(message.game_id());
  if (found == games_.end()) {
    log(Level::kWarning, "asked for a decision in a game that never started here: " + message.game_id());
    return;
  }
  Game& game = found->second;
  game.asked = message.decision_id();
  if (game.answer && game.answer->decision_id() == message.decision_id()) {
    answer(game);
  } else if (game.thinking != message.decision_id()) {
    game.thinking = message.decision_id();
    game.jobs->push(Decide{message, now});
  }
}

void Session::on_match_ended(const v1::MatchEnded& message) {
  const auto node = games_.extract(message.game_id());
  if (node.empty()) return;
  const Game& game = node.mapped();
  Outcome outcome = outcome_of(*game.start, message, welcome_ ? welcome_->arena_key() : std::string());
  log(Level::kInfo, "ended: " + title(*game.start) + ": " + verdict(outcome));
  end(game, std::move(outcome));
}

void Session::on_draining(const v1::Draining& message) {
  switch (message.reason()) {
    case v1::Draining::REASON_REPLACED:
      throw Error(Error::kReplaced,
                  "a newer process of this bot took over, so this one stops; to run several at once give each its own "
                  "--instance");
    case v1::Draining::REASON_REVOKED:
      throw Error(Error::kRefused, "the token was revoked: make a new one with `arena token create`");
    case v1::Draining::REASON_DONE:
      done_ = true;
      return;
    default:
      log(Level::kInfo, "the arena's server restarts; reconnecting");
      reconnect_within_ = std::chrono::milliseconds{message.reconnect_within_ms()};
  }
}

void Session::drop_games(const std::function<bool(const std::string& id, const Game& game)>& missed) {
  for (auto next = games_.begin(); next != games_.end();) {
    if (!missed(next->first, next->second)) {
      ++next;
      continue;
    }
    const Game game = std::move(next->second);
    next = games_.erase(next);
    log(Level::kWarning, "a game of " + game.start->game() + " ended while this process was not connected");
    Outcome outcome;
    outcome.seat = static_cast<int>(game.start->seat());
    end(game, std::move(outcome));
  }
}

void Session::answer(Game& game) {
  if (!game.answer || game.asked != game.answer->decision_id()) return;
  game.asked.reset();
  *outbox.emplace_back().mutable_act() = *game.answer;
}

void Session::end(const Game& game, Outcome outcome) {
  ++ending_;
  game.jobs->push(std::move(outcome));
}

}  // namespace botarena
