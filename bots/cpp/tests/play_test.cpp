// A whole bot process, short of its main(), against an arena that does what a test tells it to.

#include <future>

#include "botarena/botarena.hpp"
#include "scripted.hpp"

namespace botarena {
namespace {

// Chooses the first legal action; thinks about decision 2 until the gate opens, throws at decision 13. Tells what it
// hears.
class Tester : public Bot {
 public:
  Tester(std::shared_ptr<Mailbox<std::string>> heard, std::shared_future<void> gate)
      : heard_(std::move(heard)), gate_(std::move(gate)) {}

  Answer act(const Decision& decision) override {
    const auto id = decision.request().decision_id();
    heard_->push("act " + std::to_string(id));
    if (id == 2) gate_.wait();
    if (id == 13) throw std::runtime_error("thirteen");
    return decision.legal()[0];
  }
  void on_event(const Event& event) override { heard_->push(event.text()); }
  void on_end(const Outcome&) override { heard_->push("end"); }

 private:
  std::shared_ptr<Mailbox<std::string>> heard_;
  std::shared_future<void> gate_;
};

class PlayTest : public testing::Test {
 protected:
  // Starts the bot; its exit code comes at its end.
  std::future<int> play(bool strict = false) {
    return std::async(std::launch::async, [address = arena.address, strict, heard = heard, opens = opens] {
      Settings settings;
      settings.address = address;
      settings.token = "secret";
      settings.strict = strict;
      Profile profile;
      profile.games = {"echo"};
      profile.history = History::kDelta;
      try {
        botarena::play(settings, profile,
                       [heard, opens](const Match&) { return std::make_unique<Tester>(heard, opens); });
      } catch (const Error& error) {
        EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
        return error.exit_code();
      }
      return 0;
    });
  }

  std::vector<std::string> all_heard() const {
    std::deque<std::string> texts;
    heard->drain_to(texts);
    return {texts.begin(), texts.end()};
  }

  ScriptedArena arena;
  std::promise<void> gate;
  std::shared_future<void> opens = gate.get_future().share();
  std::shared_ptr<Mailbox<std::string>> heard = std::make_shared<Mailbox<std::string>>();
};

// A game from Hello to its end: what the arena gets, and what the bot hears.
TEST_F(PlayTest, AGame) {
  auto bot = play();
  auto& stream = arena.stream();
  EXPECT_EQ(stream.authorization, "Bearer secret");
  EXPECT_EQ(stream.welcome().games(0).game(), "echo");
  v1::ArenaEvent event;
  event.mutable_set_offered()->set_offer_id("o");
  stream.say(event);
  const auto ready = stream.hear().ready();
  EXPECT_EQ(ready.offer_id(), "o");
  EXPECT_EQ(ready.nonce().size(), 16U);
  stream.start("g");
  event.mutable_events_observed()->set_game_id("g");
  event.mutable_events_observed()->add_events()->set_text("deal");
  stream.say(event);
  stream.ask("g", 1);
  EXPECT_EQ(stream.hear().act().action_id(), 10U);
  stream.finish("g");
  stream.quiet();
  stream.drain(v1::Draining::REASON_DONE);
  EXPECT_EQ(bot.get(), 0);
  EXPECT_EQ(all_heard(), (std::vector<std::string>{"deal", "act 1", "end"}));
}

// After a cut the bot comes back to its session, repeats the answer that was missed, and is not asked again.
TEST_F(PlayTest, CutAndResume) {
  auto bot = play();
  auto& first = arena.stream();
  first.welcome();
  first.start("g");
  first.ask("g", 1);
  EXPECT_EQ(first.hear().act().action_id(), 10U);
  first.end(grpc::StatusCode::UNAVAILABLE, "gone");
  auto& second = arena.stream();
  EXPECT_EQ(second.welcome({"g"}).resume_session(), "s1");
  second.start("g");
  second.ask("g", 1);
  EXPECT_EQ(second.hear().act().action_id(), 10U);
  second.finish("g");
  second.drain(v1::Draining::REASON_DONE);
  EXPECT_EQ(bot.get(), 0);
  EXPECT_EQ(all_heard(), (std::vector<std::string>{"act 1", "end"}));
}

// A bot that thinks delays neither pongs nor another game, and one that throws gives up its own game alone.
TEST_F(PlayTest, GamesDoNotDisturbEachOther) {
  auto bot = play();
  auto& stream = arena.stream();
  stream.welcome();
  stream.start("slow");
  stream.start("quick");
  stream.ask("slow", 2);
  stream.ask("quick", 13);
  EXPECT_EQ(stream.hear().act().text().rfind("failed", 0), 0U);
  stream.quiet();
  gate.set_value();
  EXPECT_EQ(stream.hear().act().action_id(), 10U);
  stream.finish("slow");
  stream.finish("quick");
  stream.drain(v1::Draining::REASON_DONE);
  EXPECT_EQ(bot.get(), 0);
}

// With --strict the same ends the process.
TEST_F(PlayTest, Strict) {
  auto bot = play(true);
  auto& stream = arena.stream();
  stream.welcome();
  stream.start("g");
  stream.ask("g", 13);
  EXPECT_EQ(bot.get(), 1);
}

// Refusals end the process with the exit code of their kind, in one line.
TEST_F(PlayTest, Refusals) {
  const std::vector<std::pair<grpc::StatusCode, int>> codes{{grpc::StatusCode::UNAUTHENTICATED, 3},
                                                            {grpc::StatusCode::PERMISSION_DENIED, 3},
                                                            {grpc::StatusCode::FAILED_PRECONDITION, 4},
                                                            {grpc::StatusCode::NOT_FOUND, 2},
                                                            {grpc::StatusCode::INVALID_ARGUMENT, 2}};
  for (const auto& [code, exit_code] : codes) {
    auto bot = play();
    auto& stream = arena.stream();
    stream.hear();
    stream.end(code, "says\nwhy");
    EXPECT_EQ(bot.get(), exit_code);
  }
}

// A server that goes away is waited for; a bot that was replaced stops.
TEST_F(PlayTest, SentAway) {
  auto bot = play();
  auto& first = arena.stream();
  first.welcome();
  first.drain(v1::Draining::REASON_SERVER);
  first.end();
  auto& second = arena.stream();
  second.welcome();
  second.drain(v1::Draining::REASON_REPLACED);
  EXPECT_EQ(bot.get(), 5);
}

}  // namespace
}  // namespace botarena
