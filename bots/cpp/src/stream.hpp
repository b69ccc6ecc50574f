#pragma once

#include <botarena/v1/play.grpc.pb.h>
#include <grpcpp/client_context.h>
#include <grpcpp/support/client_callback.h>

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>

#include "botarena/botarena.hpp"

namespace botarena {

// One stream to the arena. What comes is handed to `on_frame` and at last `on_end`, on threads of gRPC's. Destroyed, it
// is cut.
class Stream : private grpc::ClientBidiReactor<v1::PlayRequest, v1::PlayResponse> {
 public:
  using OnFrame = std::function<void(v1::PlayResponse)>;
  using OnEnd = std::function<void(const grpc::Status&)>;

  Stream(const std::shared_ptr<grpc::Channel>& channel, const std::string& token, OnFrame on_frame, OnEnd on_end);
  ~Stream() override;
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  // Sends events. What gathers while a frame is written leaves together.
  void send(std::deque<v1::BotEvent>& events);

 private:
  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnDone(const grpc::Status& status) override;
  // Writes the next frame, if there is something to write and nothing is being written. The mutex must be held.
  void write_next();

  std::unique_ptr<v1::PlayService::Stub> stub_;
  grpc::ClientContext context_;
  OnFrame on_frame_;
  OnEnd on_end_;
  v1::PlayResponse incoming_;  // the read's

  std::mutex mutex_;
  std::condition_variable done_changed_;
  std::deque<v1::BotEvent> outbox_;
  v1::PlayRequest outgoing_;  // the write's
  bool writing_ = false;
  bool broken_ = false;  // nothing may be started any more
  bool done_ = false;
};

}  // namespace botarena
