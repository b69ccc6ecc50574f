// A PlayService that hands each stream that a bot opens to the test.

#pragma once

#include <botarena/v1/play.grpc.pb.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <chrono>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "mailbox.hpp"

namespace botarena {

// How long a test waits for what must come.
inline constexpr std::chrono::seconds kPatience{10};

template <typename T>
T within_patience(Mailbox<T>& mailbox) {
  auto item = mailbox.pop_until(std::chrono::steady_clock::now() + kPatience);
  if (!item) throw std::runtime_error("nothing came");
  return std::move(*item);
}

// One stream as the arena sees it.
class ScriptedStream : public grpc::ServerBidiReactor<v1::PlayRequest, v1::PlayResponse> {
 public:
  explicit ScriptedStream(std::string token) : authorization(std::move(token)) { StartRead(&incoming_); }

  // The next thing that the bot says.
  v1::BotEvent hear() { return within_patience(inbox); }

  // Checks that the bot has said nothing more: a ping comes back first.
  void quiet() {
    v1::ArenaEvent event;
    event.mutable_ping()->set_nonce(99);
    say(event);
    EXPECT_EQ(hear().pong().nonce(), 99U);
  }

  void say(const v1::ArenaEvent& event) {
    const std::lock_guard lock(mutex_);
    *outbox_.emplace_back().add_events() = event;
    go_on();
  }

  // Shakes hands.
  v1::Hello welcome(const std::vector<std::string>& running = {}) {
    const auto hello = hear().hello();
    v1::ArenaEvent event;
    event.mutable_welcome()->set_session("s1");
    for (const auto& game : running)
      event.mutable_welcome()->add_running_games(game);
    say(event);
    return hello;
  }

  void start(const std::string& game) {
    v1::ArenaEvent event;
    event.mutable_match_started()->set_game_id(game);
    event.mutable_match_started()->set_game("echo");
    say(event);
  }

  // Asks for one of the ids 10 and 11.
  void ask(const std::string& game, std::uint32_t decision) {
    v1::ArenaEvent event;
    auto& asked = *event.mutable_decision_requested();
    asked.set_game_id(game);
    asked.set_decision_id(decision);
    for (const std::uint32_t id : {10U, 11U})
      asked.add_legal()->set_id(id);
    say(event);
  }

  void finish(const std::string& game) {
    v1::ArenaEvent event;
    event.mutable_match_ended()->set_game_id(game);
    event.mutable_match_ended()->set_end(v1::MatchEnded::END_FINISHED);
    say(event);
  }

  void drain(v1::Draining::Reason reason) {
    v1::ArenaEvent event;
    event.mutable_draining()->set_reason(reason);
    event.mutable_draining()->set_reconnect_within_ms(100);
    say(event);
  }

  // Ends the stream, after what was said.
  void end(grpc::StatusCode code = grpc::StatusCode::OK, const std::string& message = "") {
    const std::lock_guard lock(mutex_);
    end_ = grpc::Status(code, message);
    go_on();
  }

  const std::string authorization;
  Mailbox<v1::BotEvent> inbox;

 private:
  void OnReadDone(bool ok) override {
    if (!ok) return end(grpc::StatusCode::OK);
    for (const auto& event : incoming_.events())
      inbox.push(event);
    StartRead(&incoming_);
  }

  void OnWriteDone(bool) override {
    const std::lock_guard lock(mutex_);
    outbox_.pop_front();
    writing_ = false;
    go_on();
  }

  void OnDone() override {}

  // Starts what is next, with the mutex held.
  void go_on() {
    if (writing_ || finished_) return;
    if (!outbox_.empty()) {
      writing_ = true;
      StartWrite(&outbox_.front());
    } else if (end_) {
      finished_ = true;
      Finish(*end_);
    }
  }

  v1::PlayRequest incoming_;
  std::mutex mutex_;
  std::deque<v1::PlayResponse> outbox_;
  std::optional<grpc::Status> end_;
  bool writing_ = false;
  bool finished_ = false;
};

// A server on a port of its own.
class ScriptedArena : private v1::PlayService::CallbackService {
 public:
  ScriptedArena() {
    grpc::ServerBuilder builder;
    int port = 0;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
    address = "127.0.0.1:" + std::to_string(port);
  }
  ~ScriptedArena() override { server_->Shutdown(std::chrono::system_clock::now()); }

  // The next stream.
  ScriptedStream& stream() { return *within_patience(opened_); }

  std::string address;

 private:
  grpc::ServerBidiReactor<v1::PlayRequest, v1::PlayResponse>* Play(grpc::CallbackServerContext* context) override {
    const auto& metadata = context->client_metadata();
    const auto token = metadata.find("authorization");
    const bool has = token != metadata.end();
    auto stream = std::make_unique<ScriptedStream>(has ? std::string(token->second.begin(), token->second.end()) : "");
    ScriptedStream* reactor = stream.get();
    const std::lock_guard lock(mutex_);
    streams_.push_back(std::move(stream));
    opened_.push(reactor);
    return reactor;
  }

  std::mutex mutex_;
  std::vector<std::unique_ptr<ScriptedStream>> streams_;  // kept until nothing refers to them any more
  Mailbox<ScriptedStream*> opened_;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace botarena
