#include "log.hpp"

#include <atomic>
#include <cstdio>
#include <ctime>

namespace botarena {

namespace {
std::atomic<Level> least{Level::kInfo};
}

void set_log_level(Level level) {
  least = level;
}

void log(Level level, const std::string& text) {
  if (level < least) return;
  char clock[16] = "";
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  if (localtime_r(&now, &local) != nullptr) std::strftime(clock, sizeof clock, "%H:%M:%S", &local);
  std::fprintf(stderr, "%s %c %s\n", clock, "DIWE"[static_cast<int>(level)], text.c_str());
}

}  // namespace botarena
