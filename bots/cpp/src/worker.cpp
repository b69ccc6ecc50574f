#include "worker.hpp"

#include <algorithm>
#include <thread>

#include "log.hpp"

namespace botarena {

namespace {

// One game's bot. After the author's code has failed, every decision is answered as failed.
class Worker {
 public:
  Worker(const MakeBot& make_bot, std::shared_ptr<const Match> match, std::function<void(Report)> report)
      : match_(std::move(match)), report_(std::move(report)) {
    guarded("making the bot", [&] { bot_ = make_bot(*match_); });
  }

  void run(Mailbox<Job>& inbox) {
    std::deque<Job> jobs;
    while (true) {
      if (jobs.empty()) jobs.push_back(inbox.pop());
      inbox.drain_to(jobs);
      const Job job = std::move(jobs.front());
      jobs.pop_front();
      if (const auto* seen = std::get_if<Observe>(&job)) {
        observe(*seen);
      } else if (const auto* asked = std::get_if<Decide>(&job)) {
        if (!superseded(jobs)) decide(*asked);
      } else {
        return end(std::get<Outcome>(job));
      }
    }
  }

 private:
  // Whether a decision is no longer wanted, since the arena asked again or the game is over.
  static bool superseded(const std::deque<Job>& later) {
    return std::any_of(later.begin(), later.end(),
                       [](const Job& job) { return !std::holds_alternative<Observe>(job); });
  }

  void observe(const Observe& seen) {
    if (failure_) return;
    guarded("on_event", [&] {
      for (const auto& event : seen.events)
        bot_->on_event(event);
    });
  }

  void decide(const Decide& asked) {
    const Decision decision(match_, asked.request, asked.arrived);
    v1::Act act = decision.give_up();
    if (!failure_) guarded("act", [&] { act = decision.reply(bot_->act(decision)); });
    report_(Decided{std::move(act), failure_});
  }

  void end(const Outcome& outcome) {
    if (bot_) guarded("on_end", [&] { bot_->on_end(outcome); });
    bot_.reset();
    report_(Ended{});
  }

  // Runs the author's code.
  template <typename Code>
  void guarded(const char* place, Code code) {
    try {
      code();
    } catch (const std::exception& error) {
      failed(place, error.what());
    } catch (...) {
      failed(place, "something that is no std::exception");
    }
  }

  void failed(const char* place, const std::string& what) {
    failure_ = what;
    log(Level::kError,
        std::string(place) + " failed in a game of " + match_->game() + ", which is given up; others go on: " + what);
  }

  std::shared_ptr<const Match> match_;
  std::function<void(Report)> report_;
  std::unique_ptr<Bot> bot_;
  std::optional<std::string> failure_;
};

}  // namespace

std::shared_ptr<Mailbox<Job>> start_worker(MakeBot make_bot, std::shared_ptr<const Match> match,
                                           std::function<void(Report)> report) {
  auto inbox = std::make_shared<Mailbox<Job>>();
  std::thread([make_bot = std::move(make_bot), match = std::move(match), report = std::move(report), inbox] {
    Worker(make_bot, match, report).run(*inbox);
  }).detach();
  return inbox;
}

}  // namespace botarena
