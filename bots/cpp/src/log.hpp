#pragma once

#include <string>

namespace botarena {

enum class Level { kDebug, kInfo, kWarning, kError };

// What is less is not shown.
void set_log_level(Level level);
// A line on standard error.
void log(Level level, const std::string& text);

}  // namespace botarena
