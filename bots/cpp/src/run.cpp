#include <cstdio>
#include <cstdlib>

#include "botarena/botarena.hpp"
#include "settings.hpp"

namespace botarena {

namespace {

// Lets a function play.
class FunctionBot : public Bot {
 public:
  explicit FunctionBot(Act act) : act_(std::move(act)) {}
  Answer act(const Decision& decision) override { return act_(decision); }

 private:
  Act act_;
};

}  // namespace

int run(int argc, char** argv, Profile profile, MakeBot make_bot) {
  try {
    auto command = parse(std::vector<std::string>(argv + (argc > 0 ? 1 : 0), argv + argc));
    if (const auto* print = std::get_if<Print>(&command)) {
      std::puts(print->text.c_str());
      return EXIT_SUCCESS;
    }
    const auto& wanted = std::get<Play>(command);
    set_log_level(wanted.log_level);
    if (!wanted.name.empty()) profile.name = wanted.name;
    play(wanted.settings, profile, std::move(make_bot));
    return EXIT_SUCCESS;
  } catch (const Error& error) {
    if (error.code() != Error::kInterrupted) std::fprintf(stderr, "botarena: %s\n", error.what());
    std::fflush(nullptr);
    // Bots may still think on their threads, and must not see static objects destroyed.
    std::_Exit(error.exit_code());
  }
}

int run(int argc, char** argv, Profile profile, Act act) {
  return run(argc, argv, std::move(profile), [act = std::move(act)](const Match&) -> std::unique_ptr<Bot> {
    return std::make_unique<FunctionBot>(act);
  });
}

}  // namespace botarena
