#include "signals.hpp"

#include <ctime>

namespace botarena {

Signals::Signals(std::function<void()> interrupted) {
  sigset_t both;
  sigemptyset(&both);
  sigaddset(&both, SIGINT);
  sigaddset(&both, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &both, &before_);
  thread_ = std::thread([this, both, interrupted = std::move(interrupted)] {
    constexpr timespec kLookUp{0, 100'000'000};
    while (!stop_) {
      if (sigtimedwait(&both, nullptr, &kLookUp) > 0) interrupted();
    }
  });
}

Signals::~Signals() {
  stop_ = true;
  thread_.join();
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

}  // namespace botarena
