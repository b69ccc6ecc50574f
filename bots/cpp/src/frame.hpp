#pragma once

#include <deque>

#include "botarena/botarena.hpp"

namespace botarena {

// Most that goes into one frame, in bytes; the arena refuses 64 KiB.
inline constexpr std::size_t kFrameBytes = 60'000;

// Takes as many events off `outbox`, which must not be empty, as fit into one frame, at least one. An annotation that
// fits into none is left out.
v1::PlayRequest next_frame(std::deque<v1::BotEvent>& outbox);

}  // namespace botarena
