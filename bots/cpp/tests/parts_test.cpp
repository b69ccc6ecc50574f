// The SDK's parts that keep no state: addresses, flags, frames, answers, delays.

#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "address.hpp"
#include "connection.hpp"
#include "frame.hpp"
#include "settings.hpp"

namespace botarena {
namespace {

// The exit code of what a piece of code throws; 0 if it does not.
template <typename Code>
int exit_code_of(Code code) {
  try {
    code();
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
    return error.exit_code();
  }
  return 0;
}

// Only this machine is spoken to without TLS, unless the author says otherwise.
TEST(Target, SpeaksTlsOffLoopback) {
  for (const char* local : {"localhost:7700", "127.0.0.1:1", "[::1]:65535", "unix:play.sock"}) {
    EXPECT_FALSE(Target::parse(local, false).tls()) << local;
  }
  for (const char* away : {"arena.example:443", "10.0.0.1:1", "localhost.example:1", "127.0.0.1.example:1"}) {
    EXPECT_TRUE(Target::parse(away, false).tls()) << away;
  }
  EXPECT_FALSE(Target::parse("arena.example:80", true).tls());
}

// With a private CA TLS is spoken on this machine too, but not to a socket file. It is a certificate in PEM, and does
// not go with insecure.
TEST(Target, TakesAPrivateCa) {
  const std::string ca = testing::TempDir() + "botarena-ca.pem";
  const std::string text = testing::TempDir() + "botarena-ca.txt";
  std::ofstream(ca) << "-----BEGIN CERTIFICATE-----\n";
  std::ofstream(text) << "no certificate\n";
  EXPECT_TRUE(Target::parse("localhost:1", false, ca).tls());
  EXPECT_FALSE(Target::parse("unix:play.sock", false, ca).tls());
  for (const auto& wrong : {ca + ".none", testing::TempDir(), text}) {
    EXPECT_EQ(exit_code_of([&] { Target::parse("localhost:1", false, wrong); }), 2) << wrong;
  }
  EXPECT_EQ(exit_code_of([&] { Target::parse("localhost:1", true, ca); }), 2);
}

// What is no address is refused with status 2, in one line.
TEST(Target, RefusesWhatIsNoAddress) {
  for (const char* bad :
       {"", "localhost", ":7700", "localhost:0", "localhost:x", "localhost:65536", "http://a:1", "unix:"}) {
    EXPECT_EQ(exit_code_of([&] { Target::parse(bad, false); }), 2) << bad;
  }
}

// A socket file needs no token, and whoever was connected to one does not wait for ever.
TEST(Target, KnowsSocketFiles) {
  const auto socket = Target::parse("unix:/run/arena.sock", false);
  const auto port = Target::parse("localhost:7700", false);
  EXPECT_FALSE(socket.needs_token());
  EXPECT_TRUE(port.needs_token());
  EXPECT_EQ(socket.patience(true)->count(), 60);
  EXPECT_FALSE(port.patience(true));
  EXPECT_EQ(port.patience(false)->count(), 30);
}

// Flags take their values after a blank or an equals sign.
TEST(Flags, AreRead) {
  const auto play =
      std::get<Play>(parse({"--address", "localhost:1", "--credit=3", "--patience", "0.5", "--strict", "--ca=a.pem"}));
  EXPECT_EQ(play.settings.address, "localhost:1");
  EXPECT_EQ(play.settings.credit, 3);
  EXPECT_EQ(play.settings.patience->count(), 0.5);
  EXPECT_TRUE(play.settings.strict);
  EXPECT_EQ(play.settings.ca, "a.pem");
  EXPECT_TRUE(std::holds_alternative<Print>(parse({"--help"})));
}

// What is wrong on the command line is refused with status 2.
TEST(Flags, AreChecked) {
  const std::vector<std::vector<std::string>> mistakes{
      {"--credit", "x"}, {"--credit"}, {"--patience=-1"}, {"--log-level", "loud"}, {"--who"}};
  for (const auto& mistake : mistakes)
    EXPECT_EQ(exit_code_of([&] { parse(mistake); }), 2) << mistake.front();
}

// Without an address, a token or a credit nothing is connected to.
TEST(Play, ChecksItsSettings) {
  const auto code_of = [](const char* address, const char* token, int credit) {
    Settings settings;
    settings.address = address;
    settings.token = token;
    settings.credit = credit;
    return exit_code_of([&] { Connection(settings, {}, {}); });
  };
  EXPECT_EQ(code_of("localhost:1", "t", 1), 0);
  EXPECT_EQ(code_of("unix:a.sock", "", 1), 0);
  EXPECT_EQ(code_of("", "t", 1), 2);
  EXPECT_EQ(code_of("localhost:1", "", 1), 2);
  EXPECT_EQ(code_of("localhost:1", "t", 0), 2);
}

v1::BotEvent act_with_comment(std::size_t bytes) {
  v1::BotEvent event;
  event.mutable_act()->mutable_annotation()->set_comment(std::string(bytes, 'x'));
  return event;
}

// What is ready goes out together, in order, but never more than a frame holds.
TEST(Frames, HoldWhatFits) {
  std::deque<v1::BotEvent> outbox;
  for (const std::size_t bytes : {40'000, 40'000, 5, 7})
    outbox.push_back(act_with_comment(bytes));
  EXPECT_EQ(next_frame(outbox).events_size(), 1);
  EXPECT_EQ(next_frame(outbox).events_size(), 3);
  EXPECT_TRUE(outbox.empty());
}

// A comment that no frame could carry does not cost the move.
TEST(Frames, LeaveOutEndlessComments) {
  std::deque<v1::BotEvent> outbox{act_with_comment(70'000)};
  const auto frame = next_frame(outbox);
  ASSERT_TRUE(frame.events(0).has_act());
  EXPECT_FALSE(frame.events(0).act().has_annotation());
}

Decision decision() {
  v1::DecisionRequested request;
  request.set_decision_id(3);
  for (const auto& [id, text] : {std::pair{7U, "up"}, std::pair{9U, "down"}}) {
    auto& action = *request.add_legal();
    action.set_id(id);
    action.set_text(text);
  }
  return {std::make_shared<Match>(), request, std::chrono::steady_clock::now()};
}

// An answer is an action, an id or a text, and only what is legal becomes a message.
TEST(Answer, IsHeldAgainstWhatIsLegal) {
  const Decision asked = decision();
  EXPECT_EQ(asked.reply(asked.legal()[1]).action_id(), 9U);
  EXPECT_EQ(asked.reply(9U).action_id(), 9U);
  EXPECT_EQ(asked.reply("down").action_id(), 9U);
  EXPECT_EQ(asked.reply(Answer("up").comment("hm")).annotation().comment(), "hm");
  EXPECT_THROW(asked.reply(8U), std::invalid_argument);
  EXPECT_THROW(asked.reply("left"), std::invalid_argument);
}

// Random numbers of a decision repeat, and every action can come out.
TEST(Rng, RepeatsAndReachesAll) {
  const Decision asked = decision();
  auto one = asked.rng();
  auto other = asked.rng();
  EXPECT_EQ(one(), other());
  std::set<std::uint32_t> seen;
  for (int i = 0; i < 100; ++i)
    seen.insert(choose(one, asked.legal()).id());
  EXPECT_EQ(seen.size(), 2U);
}

// The wait doubles from half a second and stays at thirty.
TEST(Retry, Doubles) {
  for (const auto& [failures, seconds] : {std::pair{0, 0.5}, {1, 1.0}, {5, 16.0}, {6, 30.0}, {1'000'000, 30.0}}) {
    EXPECT_EQ(retry_spread(failures).count(), seconds);
  }
}

}  // namespace
}  // namespace botarena
