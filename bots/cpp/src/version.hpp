#pragma once

namespace botarena {

inline constexpr const char* kVersion = BOTARENA_VERSION;

}  // namespace botarena
