#pragma once

#include <atomic>
#include <csignal>
#include <functional>
#include <thread>

namespace botarena {

// While it lives, SIGINT and SIGTERM call `interrupted`, on a thread of its own, and do nothing else. Both are blocked
// on the thread that makes it, and on those that are started from it.
class Signals {
 public:
  explicit Signals(std::function<void()> interrupted);
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

 private:
  sigset_t before_{};
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace botarena
