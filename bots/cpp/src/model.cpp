#include <algorithm>

#include "botarena/botarena.hpp"

namespace botarena {

namespace {

// The first few texts of `legal`, for a message.
std::string some(const google::protobuf::RepeatedPtrField<Action>& legal) {
  constexpr int kMost = 12;
  std::string text;
  for (int i = 0; i < std::min(legal.size(), kMost); ++i)
    text += (i > 0 ? ", " : "") + legal[i].text();
  return legal.size() <= kMost ? text : text + ", ... (" + std::to_string(legal.size()) + " in all)";
}

}  // namespace

const Action* Decision::find(std::string_view text) const {
  const auto found =
      std::find_if(legal().begin(), legal().end(), [&](const auto& action) { return action.text() == text; });
  return found == legal().end() ? nullptr : &*found;
}

std::chrono::milliseconds Decision::left() const {
  using std::chrono::milliseconds;
  const auto used = std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - arrived_);
  return std::max(milliseconds{0}, milliseconds{request_.clock().limit_ms()} - used);
}

Rng Decision::rng() const {
  std::seed_seq seed{static_cast<std::uint32_t>(match_->bot_seed()),
                     static_cast<std::uint32_t>(match_->bot_seed() >> 32), request_.decision_id()};
  return Rng(seed);
}

v1::Act Decision::reply(const Answer& answer) const {
  const Action* chosen = nullptr;
  if (answer.id_) {
    const auto is_it = [&](const auto& action) { return action.id() == *answer.id_; };
    const auto found = std::find_if(legal().begin(), legal().end(), is_it);
    if (found != legal().end()) chosen = &*found;
  } else {
    chosen = find(answer.text_);
  }
  if (chosen == nullptr) {
    const std::string what = answer.id_ ? std::to_string(*answer.id_) : "'" + answer.text_ + "'";
    throw std::invalid_argument(what + " is not legal; legal are: " + some(legal()));
  }
  v1::Act message = act();
  message.set_action_id(chosen->id());
  if (answer.annotation_) *message.mutable_annotation() = *answer.annotation_;
  return message;
}

v1::Act Decision::give_up() const {
  v1::Act message = act();
  message.set_text("failed: the bot's code");
  return message;
}

v1::Act Decision::act() const {
  v1::Act message;
  message.set_game_id(request_.game_id());
  message.set_decision_id(request_.decision_id());
  return message;
}

}  // namespace botarena
