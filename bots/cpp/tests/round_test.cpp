// The example's sums and its plans.

#include "round.hpp"

#include <gtest/gtest.h>

namespace balloon_challenge {
namespace {

// The best sum that fits is found for each number of cards that are kept.
TEST(GreatestSum, IsTheBestThatFits) {
  const std::vector<int> values{7, 5, 4, 0};
  EXPECT_EQ(greatest_sum(values, 2, 10), 9);
  EXPECT_EQ(greatest_sum(values, 1, 6), 5);
  EXPECT_EQ(greatest_sum(values, 3, 3), std::nullopt);
  EXPECT_EQ(greatest_sum(values, 0, 3), 0);
  EXPECT_EQ(greatest_sum(values, 5, 99), std::nullopt);
}

// Values of coloured cards repeat, black ones go to nine.
TEST(Cards, HaveValues) {
  EXPECT_EQ(value_of(7), 7);
  EXPECT_EQ(value_of(8), 0);
  EXPECT_EQ(value_of(49), 9);
}

// The last one in drops out with a hand that fits exactly, and plays on with one that would burst.
TEST(Round, AloneDropsWhatFits) {
  View view;
  view.set_seat(0);
  view.set_players(2);
  view.set_round(1);
  view.set_lap(4);
  view.set_size(6);
  view.add_seats();
  view.add_seats()->set_out(true);
  for (const Card card : {2, 4})
    view.add_hand(card);
  const Round fits(view);
  EXPECT_GT(fits.worth_of_dropping(), fits.worth_of(4));
  view.add_hand(7);
  const Round bursts(view);
  EXPECT_LT(bursts.worth_of_dropping(), bursts.worth_of(7));
}

}  // namespace
}  // namespace balloon_challenge
