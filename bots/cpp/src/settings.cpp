#include "settings.hpp"

#include <cstdlib>
#include <limits>

#include "version.hpp"

namespace botarena {

namespace {

constexpr const char* kHelp =
    R"(A bot for a Bot Arena.

  --address ADDRESS   host:port or unix:path (default: ARENA_ADDRESS)
  --token TOKEN       the bot's token (default: ARENA_TOKEN, which nobody sees in ps)
  --name NAME         the bot's name, instead of the one in the program
  --instance NAME     tells several processes of one bot apart (default: ARENA_INSTANCE or 0)
  --credit N          how many games at once (default: 1)
  --strict            what the bot throws ends the process, not only the game
  --insecure          no TLS to an arena on another machine
  --ca FILE           TLS with this private CA, in PEM (default: ARENA_CA)
  --patience SECONDS  give up when no arena answers for so long
  --log-level LEVEL   debug, info, warning or error (default: ARENA_LOG_LEVEL or info)
  --help, --version)";

std::string variable(const char* name, const char* otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr ? otherwise : value;
}

double number(const std::string& flag, const std::string& text, double least, double most) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !(value >= least && value <= most)) {
    throw Error(Error::kMisconfigured, flag + " takes a number, not '" + text + "'");
  }
  return value;
}

Level level_of(const std::string& text) {
  if (text == "debug") return Level::kDebug;
  if (text == "info") return Level::kInfo;
  if (text == "warning" || text == "warn") return Level::kWarning;
  if (text == "error") return Level::kError;
  throw Error(Error::kMisconfigured, "log levels are debug, info, warning and error, not '" + text + "'");
}

}  // namespace

std::variant<Play, Print> parse(const std::vector<std::string>& arguments) {
  Settings settings;
  settings.address = variable("ARENA_ADDRESS", "");
  settings.token = variable("ARENA_TOKEN", "");
  settings.ca = variable("ARENA_CA", "");
  settings.instance = variable("ARENA_INSTANCE", "0");
  std::string level = variable("ARENA_LOG_LEVEL", "info");
  std::string name;
  for (auto next = arguments.begin(); next != arguments.end(); ++next) {
    const auto equals = next->find('=');
    const std::string flag = next->substr(0, equals);
    const auto value = [&]() -> std::string {
      if (equals != std::string::npos) return next->substr(equals + 1);
      if (std::next(next) == arguments.end()) throw Error(Error::kMisconfigured, flag + " needs a value");
      return *++next;
    };
    if (flag == "--address") {
      settings.address = value();
    } else if (flag == "--token") {
      settings.token = value();
    } else if (flag == "--name") {
      name = value();
    } else if (flag == "--instance") {
      settings.instance = value();
    } else if (flag == "--credit") {
      settings.credit = static_cast<int>(number(flag, value(), 0, std::numeric_limits<int>::max()));
    } else if (flag == "--strict") {
      settings.strict = true;
    } else if (flag == "--insecure") {
      settings.insecure = true;
    } else if (flag == "--ca") {
      settings.ca = value();
    } else if (flag == "--patience") {
      settings.patience = std::chrono::duration<double>{number(flag, value(), 0, 1e9)};
    } else if (flag == "--log-level") {
      level = value();
    } else if (flag == "--help" || flag == "-h") {
      return Print{kHelp};
    } else if (flag == "--version") {
      return Print{std::string("botarena ") + kVersion};
    } else {
      throw Error(Error::kMisconfigured, "there is no flag " + flag + "; --help lists them");
    }
  }
  return Play{std::move(settings), std::move(name), level_of(level)};
}

}  // namespace botarena
