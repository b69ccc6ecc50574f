#include "stream.hpp"

#include "frame.hpp"

namespace botarena {

Stream::Stream(const std::shared_ptr<grpc::Channel>& channel, const std::string& token, OnFrame on_frame, OnEnd on_end)
    : stub_(v1::PlayService::NewStub(channel)), on_frame_(std::move(on_frame)), on_end_(std::move(on_end)) {
  if (!token.empty()) context_.AddMetadata("authorization", "Bearer " + token);
  stub_->async()->Play(&context_, this);
  AddHold();  // for writes, which are started from outside
  StartRead(&incoming_);
  StartCall();
}

Stream::~Stream() {
  context_.TryCancel();
  std::unique_lock lock(mutex_);
  done_changed_.wait(lock, [&] { return done_; });
}

void Stream::send(std::deque<v1::BotEvent>& events) {
  const std::lock_guard lock(mutex_);
  for (auto& event : events)
    outbox_.push_back(std::move(event));
  events.clear();
  write_next();
}

void Stream::OnReadDone(bool ok) {
  if (ok) {
    on_frame_(std::move(incoming_));
    incoming_.Clear();
    StartRead(&incoming_);
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    broken_ = true;
  }
  RemoveHold();
}

void Stream::OnWriteDone(bool ok) {
  const std::lock_guard lock(mutex_);
  writing_ = false;
  if (ok) write_next();  // else the reader learns of it as of any other end
}

void Stream::OnDone(const grpc::Status& status) {
  on_end_(status);
  const std::lock_guard lock(mutex_);
  done_ = true;
  done_changed_.notify_all();
}

void Stream::write_next() {
  if (writing_ || broken_ || outbox_.empty()) return;
  outgoing_ = next_frame(outbox_);
  writing_ = true;
  StartWrite(&outgoing_);
}

}  // namespace botarena
