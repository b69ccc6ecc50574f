#pragma once

#include <botarena/games/balloon_challenge/v1/balloon_challenge.pb.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace balloon_challenge {

using View = botarena::games::balloon_challenge::v1::View;
using Card = std::uint32_t;

int value_of(Card card);

// The greatest sum that is no more than `most` of exactly so many of `values`; nothing if there is none.
std::optional<int> greatest_sum(const std::vector<int>& values, int count, int most);

// A round as one seat sees it, and what its ways to go on are worth in points.
class Round {
 public:
  explicit Round(const View& view);

  // The sum of the hand.
  int volume() const;
  double worth_of(Card card) const;
  double worth_of_dropping() const;

 private:
  // Opponents still in who are likely to play another card: they have played fewer than in the round before.
  int company() const;
  // Points of dropping out after so many more cards with a volume that fits, if nobody else plays one.
  double end(int plays, int volume) const;
  // Whether playing this card brings a chip.
  bool is_third(Card card) const;

  const View& view_;
  int seat_;
  int chip_points_;
  int company_;
};

}  // namespace balloon_challenge
