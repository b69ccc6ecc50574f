#include "frame.hpp"

#include "log.hpp"

namespace botarena {

namespace {

// Bytes that an event takes of a frame, its tag and length generously included.
std::size_t size_of(const v1::BotEvent& event) {
  constexpr std::size_t kOverhead = 8;
  return event.ByteSizeLong() + kOverhead;
}

}  // namespace

v1::PlayRequest next_frame(std::deque<v1::BotEvent>& outbox) {
  v1::PlayRequest frame;
  std::size_t bytes = 0;
  while (!outbox.empty()) {
    auto& event = outbox.front();
    if (size_of(event) > kFrameBytes && event.has_act()) {
      log(Level::kWarning, "an annotation is too long and was left out");
      event.mutable_act()->clear_annotation();
    }
    bytes += size_of(event);
    if (frame.events_size() > 0 && bytes > kFrameBytes) break;
    *frame.add_events() = std::move(event);
    outbox.pop_front();
  }
  return frame;
}

}  // namespace botarena
