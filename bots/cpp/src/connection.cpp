#include "connection.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include "log.hpp"
#include "signals.hpp"
#include "stream.hpp"

namespace botarena {

namespace {

using std::chrono::steady_clock;

constexpr double kFirstDelayS = 0.5;
constexpr double kMaxDelayS = 30;
// A stream that lived so long was a good one: the next failure starts again from the first delay.
constexpr std::chrono::seconds kSteady{5};
// How long the arena may take to answer Hello.
constexpr std::chrono::duration<double> kWelcome{10};
// So many missing pings mean that the connection is dead, whatever TCP believes.
constexpr int kSilentPings = 3;
constexpr std::chrono::milliseconds kTick{500};
// How long the last on_end may take after the arena has closed the stream.
constexpr std::chrono::seconds kGoodbye{30};

double random_fraction() {
  std::random_device device;
  return std::uniform_real_distribution<double>(0, 1)(device);
}

// The first line.
std::string head(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

// The error of statuses with which trying again would change nothing, and what the author can do.
std::optional<Error> refusal(const grpc::Status& status) {
  const auto error = [&](Error::Code code, const std::string& advice) {
    std::string said = status.error_message();
    std::replace(said.begin(), said.end(), '\n', ' ');
    said.erase(said.find_last_not_of('.') + 1);
    return Error(code, "the arena refused the bot: " + said + "; " + advice);
  };
  switch (status.error_code()) {
    case grpc::StatusCode::UNAUTHENTICATED:
      return error(Error::kRefused, "check ARENA_TOKEN: all of what `arena register` or `arena token create` printed");
    case grpc::StatusCode::PERMISSION_DENIED:
      return error(Error::kRefused, "the token must be of the account that owns the bot");
    case grpc::StatusCode::FAILED_PRECONDITION:
      return error(Error::kVersionSkew, "update the SDK");
    case grpc::StatusCode::NOT_FOUND:
      return error(Error::kMisconfigured, "check the names of the bot and its games; `arena games` lists them");
    case grpc::StatusCode::INVALID_ARGUMENT:
      return error(Error::kMisconfigured, "check the bot's name, version and games");
    case grpc::StatusCode::UNIMPLEMENTED:
      return error(Error::kMisconfigured, "what answers at this address is no arena");
    default:
      return std::nullopt;
  }
}

Target checked_target(const Settings& settings) {
  if (settings.address.empty()) {
    throw Error(Error::kMisconfigured, "no address: set ARENA_ADDRESS or --address, e.g. localhost:7700");
  }
  Target target = Target::parse(settings.address, settings.insecure, settings.ca);
  if (target.needs_token() && settings.token.empty()) {
    throw Error(Error::kMisconfigured,
                "no token: set ARENA_TOKEN or --token; `arena register` or `arena token create` makes one");
  }
  if (settings.credit < 1) {
    throw Error(Error::kMisconfigured,
                "credit is the number of games at once, at least 1, not " + std::to_string(settings.credit));
  }
  return target;
}

}  // namespace

std::chrono::duration<double> retry_spread(int failures) {
  return std::chrono::duration<double>{std::min(kMaxDelayS, std::ldexp(kFirstDelayS, std::min(failures, 10)))};
}

Connection::Connection(const Settings& settings, const Profile& profile, MakeBot make_bot)
    : settings_(settings),
      target_(checked_target(settings)),
      session_(profile, settings.instance, settings.credit,
               [make_bot = std::move(make_bot), inbox = inbox_](std::shared_ptr<const Match> match) {
                 return start_worker(make_bot, std::move(match),
                                     [inbox](Report report) { inbox->push(std::move(report)); });
               }) {}

void Connection::run() {
  const Signals signals([inbox = inbox_] { inbox->push(Signalled{}); });
  int failures = 0;
  auto silent_since = steady_clock::now();
  while (!session_.over()) {
    const auto started = steady_clock::now();
    const std::string problem = play_stream();
    if (session_.over()) break;
    if (session_.welcome()) {
      silent_since = steady_clock::now();
      if (silent_since - started >= kSteady) failures = 0;
    }
    complain(problem, failures, silent_since);
    const Seconds spread = session_.reconnect_within() ? Seconds{*session_.reconnect_within()} : retry_spread(failures);
    ++failures;
    const auto delay = std::chrono::duration_cast<steady_clock::duration>(spread * random_fraction());
    const auto until = steady_clock::now() + delay;
    while (!session_.over() && attend(until)) {
    }
  }
  goodbye();
}

std::string Connection::play_stream() {
  session_.stream_opened();
  ended_.reset();
  heard_ = steady_clock::now();
  const int number = ++stream_;
  Stream stream(
      target_.channel(), settings_.token,
      [inbox = inbox_, number](v1::PlayResponse frame) {
        inbox->push(Frame{number, std::move(frame)});
      },
      [inbox = inbox_, number](const grpc::Status& status) {
        inbox->push(StreamEnded{number, status});
      });
  while (!ended_ && !session_.over()) {
    stream.send(session_.outbox);
    attend(steady_clock::now() + kTick);
    session_.settle(steady_clock::now());
    const auto most = silence();
    if (most && steady_clock::now() - heard_ > *most) return "the arena went silent";
  }
  return ended_.value_or("");
}

bool Connection::attend(SteadyTime deadline) {
  const auto input = inbox_->pop_until(deadline);
  if (input) take(*input);
  return input.has_value();
}

void Connection::take(const Input& input) {
  if (const auto* frame = std::get_if<Frame>(&input)) {
    if (frame->stream != stream_ || ended_) return;
    heard_ = steady_clock::now();
    for (const auto& event : frame->frame.events())
      session_.handle(event, heard_);
  } else if (const auto* end = std::get_if<StreamEnded>(&input)) {
    if (end->stream == stream_) ended_ = judge(end->status);
  } else if (const auto* report = std::get_if<Report>(&input)) {
    take(*report);
  } else {
    interrupt();
  }
}

void Connection::take(const Report& report) {
  const auto* decided = std::get_if<Decided>(&report);
  if (decided == nullptr) {
    session_.ended();
    return;
  }
  if (decided->failure && settings_.strict) throw Error(Error::kBotFailed, "the bot failed: " + *decided->failure);
  session_.decided(decided->act);
}

// What SIGINT and SIGTERM do: the first finishes what runs, the second ends at once.
void Connection::interrupt() {
  if (session_.draining()) throw Error(Error::kInterrupted, "interrupted");
  if (session_.running() > 0) {
    log(Level::kInfo,
        "finishing running games (" + std::to_string(session_.running()) + "); once more to stop at once");
  }
  session_.drain();
}

// Says once what is wrong. Throws when patience is over.
void Connection::complain(const std::string& problem, int failures, SteadyTime silent_since) const {
  const auto patience = settings_.patience ? settings_.patience : target_.patience(session_.connected_before());
  if (patience && steady_clock::now() - silent_since > *patience) {
    throw Error(Error::kUnreachable,
                "no arena answers at " + target_.text() + " (" + problem + "): is it up, and is ARENA_ADDRESS right?");
  }
  if (session_.reconnect_within()) return;
  log(failures == 0 ? Level::kWarning : Level::kDebug,
      target_.text() + ": " + (problem.empty() ? "closed" : problem) + "; trying again");
}

std::string Connection::judge(const grpc::Status& status) const {
  if (const auto error = refusal(status)) {
    // A session that was good may be interrupted by anything but a refusal.
    if (!session_.welcome() || error->code() == Error::kRefused) throw *error;
  }
  return head(status.error_message());
}

std::optional<Connection::Seconds> Connection::silence() const {
  if (!session_.welcome()) return kWelcome;
  const auto ping_ms = session_.welcome()->limits().ping_interval_ms();
  if (ping_ms == 0) return std::nullopt;
  return std::max<Seconds>(kWelcome, kSilentPings * std::chrono::milliseconds{ping_ms});
}

// Lets bots finish what they do at the end of their games.
void Connection::goodbye() {
  const auto until = steady_clock::now() + kGoodbye;
  while (session_.ending() > 0 && attend(until)) {
  }
}

void play(const Settings& settings, const Profile& profile, MakeBot make_bot) {
  Connection(settings, profile, std::move(make_bot)).run();
}

}  // namespace botarena
