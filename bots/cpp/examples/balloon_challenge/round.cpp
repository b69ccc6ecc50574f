#include "round.hpp"

#include <algorithm>
#include <numeric>

namespace balloon_challenge {

namespace {

constexpr int kCardsOfAColour = 8;
constexpr int kBlack = 5;
constexpr int kFirstBlack = kBlack * kCardsOfAColour;
constexpr int kHandSize[] = {0, 6, 7, 8, 9, 10};  // by round
constexpr int kChipPoints[] = {0, 2, 2, 2, 2, 3};
constexpr int kEarlyBonus = 4;  // who drops out in row k takes this less k chips, never less than none
constexpr int kBonusCount = 3;  // the card that brings its colour to so many on the table is worth a chip

// With company what counts is to be rid of cards: dropping out is better than any card, or worse than all.
constexpr double kDropNow = 1000;
// A chip comes first.
constexpr double kThirdFirst = 10;
// Of plays worth the same, the one that gets rid of more.
constexpr double kHighFirst = 0.01;

int colour_of(Card card) {
  return card < kFirstBlack ? static_cast<int>(card) / kCardsOfAColour : kBlack;
}

}  // namespace

int value_of(Card card) {
  return card < kFirstBlack ? static_cast<int>(card) % kCardsOfAColour : static_cast<int>(card) - kFirstBlack;
}

std::optional<int> greatest_sum(const std::vector<int>& values, int count, int most) {
  if (count < 0 || count > static_cast<int>(values.size()) || most < 0) return std::nullopt;
  const auto kinds = static_cast<std::size_t>(most) + 1;
  // reached[n][s]: whether n of the values can sum to s.
  std::vector<std::vector<bool>> reached(static_cast<std::size_t>(count) + 1, std::vector<bool>(kinds));
  reached[0][0] = true;
  for (const int value : values) {
    for (std::size_t n = reached.size() - 1; n > 0; --n) {
      for (std::size_t sum = static_cast<std::size_t>(value); sum < kinds; ++sum) {
        if (reached[n - 1][sum - static_cast<std::size_t>(value)]) reached[n][sum] = true;
      }
    }
  }
  for (int sum = most; sum >= 0; --sum) {
    if (reached.back()[static_cast<std::size_t>(sum)]) return sum;
  }
  return std::nullopt;
}

Round::Round(const View& view)
    : view_(view), seat_(static_cast<int>(view.seat())), chip_points_(kChipPoints[view.round()]), company_(company()) {}

int Round::volume() const {
  const auto add = [](int sum, Card card) { return sum + value_of(card); };
  return std::accumulate(view_.hand().begin(), view_.hand().end(), 0, add);
}

double Round::worth_of(Card card) const {
  const bool third = is_third(card);
  if (company_ > 0) return (third ? kThirdFirst : 0) + value_of(card);
  std::vector<int> rest;
  for (const Card other : view_.hand()) {
    if (other != card) rest.push_back(value_of(other));
  }
  double best = 0;
  const int cards = view_.hand_size();
  for (int plays = 1; plays <= cards; ++plays) {
    const int size = static_cast<int>(view_.size()) + plays;
    best = std::max(best, end(plays, greatest_sum(rest, cards - plays, size).value_or(0)));
  }
  return best + (third ? chip_points_ : 0) + kHighFirst * value_of(card);
}

double Round::worth_of_dropping() const {
  const int size = static_cast<int>(view_.size());
  if (company_ > 0) return volume() <= size + company_ ? kDropNow : -kDropNow;
  return end(0, volume() <= size ? volume() : 0);
}

int Round::company() const {
  int count = 0;
  for (int seat = 0; seat < view_.seats_size(); ++seat) {
    if (seat == seat_ || view_.seats(seat).out()) continue;
    if (view_.past().empty()) {
      ++count;
      continue;
    }
    const int kept = view_.past(view_.past_size() - 1).seats(seat).hand_size();
    count += kHandSize[view_.round() - 1] - kept > view_.seats(seat).row_size() ? 1 : 0;
  }
  return count;
}

double Round::end(int plays, int volume) const {
  const auto others_out =
      std::count_if(view_.seats().begin(), view_.seats().end(), [](const auto& seat) { return seat.out(); });
  const bool last_one = others_out == view_.seats_size() - 1;
  const int pot = static_cast<int>(view_.pot());
  const int early = std::min(pot, std::max(0, kEarlyBonus - static_cast<int>(view_.lap()) - plays));
  int chips = early + (view_.aside() ? 1 : 0);
  // An exact volume takes the pot, which counts only where nobody is left to take it by dropping out.
  if (last_one && pot > 0 && volume == static_cast<int>(view_.size()) + plays) chips = pot;
  return volume + chip_points_ * chips;
}

bool Round::is_third(Card card) const {
  const int colour = colour_of(card);
  if (colour == kBlack || view_.pot() == 0) return false;
  const auto same = [&](Card other) { return colour_of(other) == colour; };
  auto on_table = std::count_if(view_.row0().begin(), view_.row0().end(), same);
  for (const auto& seat : view_.seats())
    on_table += std::count_if(seat.row().begin(), seat.row().end(), same);
  return on_table == kBonusCount - 1;
}

}  // namespace balloon_challenge
