// The session's rules, without a stream or a thread.

#include "session.hpp"

#include <gtest/gtest.h>

namespace botarena {
namespace {

using std::chrono::seconds;

class SessionTest : public testing::Test {
 protected:
  SessionTest() { session.stream_opened(); }

  // What a game's bot was given to do since the last time.
  std::deque<Job> jobs(const std::string& game) {
    std::deque<Job> found;
    seats[game]->drain_to(found);
    return found;
  }

  void handle(const v1::ArenaEvent& event) { session.handle(event, now); }

  void welcome(const std::string& id, const std::vector<std::string>& running) {
    v1::ArenaEvent event;
    event.mutable_welcome()->set_session(id);
    event.mutable_welcome()->set_arena_key("key");
    for (const auto& game : running)
      event.mutable_welcome()->add_running_games(game);
    handle(event);
    session.outbox.clear();
  }

  void start(const std::string& game) {
    v1::ArenaEvent event;
    event.mutable_match_started()->set_game_id(game);
    event.mutable_match_started()->set_commitment("commitment");
    event.mutable_match_started()->set_receipt("opening");
    handle(event);
  }

  void ask(const std::string& game, std::uint32_t decision) {
    v1::ArenaEvent event;
    event.mutable_decision_requested()->set_game_id(game);
    event.mutable_decision_requested()->set_decision_id(decision);
    handle(event);
  }

  void offer() {
    v1::ArenaEvent event;
    event.mutable_set_offered()->set_offer_id("o");
    handle(event);
  }

  int draining(v1::Draining::Reason reason) {
    v1::ArenaEvent event;
    event.mutable_draining()->set_reason(reason);
    event.mutable_draining()->set_reconnect_within_ms(900);
    try {
      handle(event);
    } catch (const Error& error) {
      return error.exit_code();
    }
    return 0;
  }

  static v1::Act act(const std::string& game, std::uint32_t decision) {
    v1::Act message;
    message.set_game_id(game);
    message.set_decision_id(decision);
    message.set_action_id(7);
    return message;
  }

  std::map<std::string, std::shared_ptr<Mailbox<Job>>> seats;
  Session session{Profile{{"echo"}}, "0", 1, [this](const std::shared_ptr<const Match>& match) {
                    return seats[match->game_id()] = std::make_shared<Mailbox<Job>>();
                  }};
  SteadyTime now = std::chrono::steady_clock::now();
};

// The Hello says what the bot plays and wants, and which session it goes on with.
TEST_F(SessionTest, Hello) {
  welcome("s", {});
  session.stream_opened();
  ASSERT_EQ(session.outbox.size(), 1U);
  const auto& hello = session.outbox.front().hello();
  EXPECT_EQ(hello.games(0).game(), "echo");
  EXPECT_EQ(hello.protocol(), 1000U);
  EXPECT_EQ(hello.wants().history(), v1::Wants::HISTORY_NONE);
  EXPECT_EQ(hello.resume_session(), "s");
}

// An answer that a broken stream may have swallowed is sent again, and the bot is not asked again.
TEST_F(SessionTest, MissedAnswerIsRepeated) {
  welcome("s", {});
  for (int stream = 0; stream < 2; ++stream) {
    start("g");
    ask("g", 1);
    if (stream == 0) session.decided(act("g", 1));
    ASSERT_EQ(session.outbox.size(), 1U);
    EXPECT_EQ(session.outbox.front().act().action_id(), 7U);
    session.stream_opened();
    welcome("s", {"g"});
  }
  EXPECT_EQ(jobs("g").size(), 1U);
}

// What a bot decides while there is no stream waits until the arena asks again; then it is sent once.
TEST_F(SessionTest, DecidedWhileAway) {
  welcome("s", {});
  start("g");
  ask("g", 1);
  session.stream_opened();
  session.outbox.clear();
  session.decided(act("g", 1));
  EXPECT_TRUE(session.outbox.empty());
  welcome("s", {"g"});
  ask("g", 1);
  EXPECT_EQ(session.outbox.size(), 1U);
}

// Games that the arena no longer names are over.
TEST_F(SessionTest, RunningGamesAreAuthoritative) {
  welcome("s", {});
  start("g");
  start("h");
  session.stream_opened();
  welcome("s", {"h"});
  EXPECT_EQ(session.running(), 1U);
  const auto told = jobs("g");
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(std::get<Outcome>(told.front()).end, Outcome::End::kUnknown);
}

// A new gateway gets a minute to learn of a game.
TEST_F(SessionTest, NewGatewayIsWaitedFor) {
  welcome("s", {});
  start("g");
  start("h");
  session.stream_opened();
  welcome("new", {});
  start("h");
  session.settle(now + seconds{50});
  EXPECT_EQ(session.running(), 2U);
  session.settle(now + seconds{70});
  EXPECT_EQ(session.running(), 1U);
  EXPECT_EQ(session.ending(), 1);
  session.ended();
  EXPECT_EQ(session.ending(), 0);
}

// A draining bot takes no offer, says so again on a new stream, and is over when the arena is done with it.
TEST_F(SessionTest, Draining) {
  welcome("s", {});
  offer();
  ASSERT_EQ(session.outbox.size(), 1U);
  EXPECT_EQ(session.outbox.front().ready().nonce().size(), 16U);
  session.outbox.clear();
  session.drain();
  ASSERT_EQ(session.outbox.size(), 1U);
  EXPECT_TRUE(session.outbox.front().set_credit().drain());
  session.outbox.clear();
  offer();
  EXPECT_TRUE(session.outbox.empty());
  EXPECT_FALSE(session.over());
  EXPECT_EQ(draining(v1::Draining::REASON_DONE), 0);
  EXPECT_TRUE(session.over());
}

// Where the arena says not to come back each reason has its exit code; else it says how far to spread.
TEST_F(SessionTest, SentAway) {
  EXPECT_EQ(draining(v1::Draining::REASON_REPLACED), 5);
  EXPECT_EQ(draining(v1::Draining::REASON_REVOKED), 3);
  EXPECT_EQ(draining(v1::Draining::REASON_SERVER), 0);
  EXPECT_EQ(session.reconnect_within(), std::chrono::milliseconds{900});
}

// Events told again after a reconnect reach the bot once.
TEST_F(SessionTest, EventsOnce) {
  start("g");
  for (const std::uint32_t last : {1U, 2U}) {
    v1::ArenaEvent event;
    event.mutable_events_observed()->set_game_id("g");
    for (std::uint32_t seq = 0; seq <= last; ++seq)
      event.mutable_events_observed()->add_events()->set_seq(seq);
    handle(event);
  }
  std::vector<std::uint32_t> heard;
  for (const auto& job : jobs("g")) {
    for (const auto& event : std::get<Observe>(job).events)
      heard.push_back(event.seq());
  }
  EXPECT_EQ(heard, (std::vector<std::uint32_t>{0, 1, 2}));
}

// Both receipts of a game are handed over at its end, with the key that they are checked with.
TEST_F(SessionTest, Receipts) {
  welcome("s", {});
  start("g");
  v1::ArenaEvent event;
  auto& ended = *event.mutable_match_ended();
  ended.set_game_id("g");
  ended.set_end(v1::MatchEnded::END_FINISHED);
  ended.set_record_head("head");
  ended.set_secret("secret");
  ended.set_receipt("closing");
  handle(event);
  const auto told = jobs("g");
  ASSERT_EQ(told.size(), 1U);
  const auto& receipts = std::get<Outcome>(told.front()).receipts;
  ASSERT_TRUE(receipts);
  EXPECT_EQ(receipts->arena_key, "key");
  EXPECT_EQ(receipts->commitment + receipts->opening, "commitmentopening");
  EXPECT_EQ(receipts->head + receipts->secret + receipts->closing, "headsecretclosing");
}

// Kinds of events and values of enums that this SDK does not know change nothing.
TEST_F(SessionTest, NewerThanThisSdk) {
  handle({});
  v1::ArenaEvent event;
  event.mutable_notice()->set_kind(static_cast<v1::Notice::Kind>(99));
  handle(event);
  event.mutable_act_result()->set_code(static_cast<v1::ActResult::Code>(99));
  handle(event);
  start("g");
  event.mutable_match_ended()->set_game_id("g");
  event.mutable_match_ended()->set_end(static_cast<v1::MatchEnded::End>(99));
  event.mutable_match_ended()->add_places(1);
  event.mutable_match_ended()->add_scores(1);
  event.mutable_match_ended()->add_reasons(static_cast<v1::SeatReason>(99));
  handle(event);
  EXPECT_EQ(session.running(), 0U);
}

}  // namespace
}  // namespace botarena
