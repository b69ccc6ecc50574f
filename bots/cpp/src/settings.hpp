#pragma once

#include <string>
#include <variant>
#include <vector>

#include "botarena/botarena.hpp"
#include "log.hpp"

namespace botarena {

// What a command line asks for: to play, or to print something.
struct Play {
  Settings settings;
  std::string name;  // instead of the profile's, unless empty
  Level log_level;
};
struct Print {
  std::string text;
};

// Reads flags (without the program's name), and the environment for what they do not say. Throws Error.
std::variant<Play, Print> parse(const std::vector<std::string>& arguments);

}  // namespace botarena
