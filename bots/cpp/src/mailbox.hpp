#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

namespace botarena {

// A queue between threads.
template <typename T>
class Mailbox {
 public:
  void push(T item) {
    {
      const std::lock_guard lock(mutex_);
      items_.push_back(std::move(item));
    }
    filled_.notify_one();
  }

  // The next item, once there is one.
  T pop() {
    std::unique_lock lock(mutex_);
    filled_.wait(lock, [&] { return !items_.empty(); });
    return take();
  }

  // The next item, or nothing if there is none by then.
  std::optional<T> pop_until(std::chrono::steady_clock::time_point deadline) {
    std::unique_lock lock(mutex_);
    if (!filled_.wait_until(lock, deadline, [&] { return !items_.empty(); })) return std::nullopt;
    return take();
  }

  // What is there now, added to `items`.
  void drain_to(std::deque<T>& items) {
    const std::lock_guard lock(mutex_);
    for (auto& item : items_)
      items.push_back(std::move(item));
    items_.clear();
  }

 private:
  T take() {
    T item = std::move(items_.front());
    items_.pop_front();
    return item;
  }

  std::mutex mutex_;
  std::condition_variable filled_;
  std::deque<T> items_;
};

}  // namespace botarena
