#pragma once

#include <grpcpp/support/status.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "address.hpp"
#include "botarena/botarena.hpp"
#include "mailbox.hpp"
#include "session.hpp"
#include "worker.hpp"

namespace botarena {

// One stream to the arena after another, until there is nothing left to play. Everything but the bots happens on the
// thread that calls run(); what other threads have to say goes through the inbox.
class Connection {
 public:
  Connection(const Settings& settings, const Profile& profile, MakeBot make_bot);

  // Connects, plays, reconnects. Returns when the arena has nothing left for a drained bot; throws Error where the
  // process cannot go on.
  void run();

 private:
  using Seconds = std::chrono::duration<double>;
  // A stream that ended, by its number.
  struct StreamEnded {
    int stream;
    grpc::Status status;
  };
  struct Frame {
    int stream;
    v1::PlayResponse frame;
  };
  struct Signalled {};
  using Input = std::variant<Frame, StreamEnded, Report, Signalled>;

  // Plays over one stream until it ends; returns what ended it.
  std::string play_stream();
  // Handles what comes until then, or until the process is over. False once it is time.
  bool attend(SteadyTime deadline);
  void take(const Input& input);
  void take(const Report& report);
  void interrupt();
  void complain(const std::string& problem, int failures, SteadyTime silent_since) const;
  // What to call this end of a stream. Throws what stops the process, if it should.
  std::string judge(const grpc::Status& status) const;
  // How long nothing may be heard.
  std::optional<Seconds> silence() const;
  void goodbye();

  Settings settings_;
  Target target_;
  // Shared with the threads of bots, which may outlive the connection.
  std::shared_ptr<Mailbox<Input>> inbox_ = std::make_shared<Mailbox<Input>>();
  Session session_;
  int stream_ = 0;
  SteadyTime heard_{};
  std::optional<std::string> ended_;  // how the stream ended, if it has
};

// 0.5 s, doubling with each failure in a row up to 30 s; the wait is a random part of it, so that a herd of bots comes
// back spread out.
std::chrono::duration<double> retry_spread(int failures);

}  // namespace botarena
