#include "vision/map_rows.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace saccade {
namespace {

GridPlace random_place(std::mt19937& random, int width, int height) {
  std::uniform_real_distribution<double> scale(0.05, 1.5);
  std::uniform_real_distribution<double> offset(-4, 4);
  const auto below = [&](int limit) { return static_cast<int>(random() % static_cast<unsigned>(limit)); };
  return {1 + below(9),
          1 + below(9),
          scale(random),
          scale(random),
          offset(random),
          offset(random),
          {below(width), below(height), 1 + below(width), 1 + below(height)}};
}

TEST(MapRows, AreWhatAtGives) {
  std::mt19937 random(3);
  MapRows reader;
  for (int round = 0; round < 300; ++round) {
    const int width = 1 + static_cast<int>(random() % 40);
    const int height = 1 + static_cast<int>(random() % 10);
    const GridPlace place = random_place(random, width, height);
    std::vector<std::int32_t> ids(static_cast<std::size_t>(place.columns * place.rows));
    std::vector<float> depths;
    for (std::int32_t& id : ids) {
      id = static_cast<std::int32_t>(random() % 100);
      depths.push_back(id < 5 ? std::numeric_limits<float>::infinity() : static_cast<float>(id) / 7);
    }
    const ClassMap classes{place, ids};
    const DepthMap depth{place, DepthKind::kRelative, depths};
    std::vector<std::int32_t> class_row(static_cast<std::size_t>(width));
    std::vector<float> depth_row(class_row.size());
    for (int y = 0; y < height; ++y) {
      reader.read(classes, y, class_row);
      reader.read(depth, y, depth_row);
      for (int x = 0; x < width; ++x) {
        const auto i = static_cast<std::size_t>(x);
        ASSERT_EQ(class_row[i], classes.at(x, y)) << round << ": " << x << ',' << y;
        const float expected = depth.at(x, y);
        ASSERT_TRUE(depth_row[i] == expected || (std::isnan(depth_row[i]) && std::isnan(expected)));
      }
    }
  }
}

TEST(MapRows, OfNoMapAreEmpty) {
  MapRows reader;
  std::int32_t id = 7;
  float depth = 7;

  reader.read(ClassMap{}, 0, {&id, 1});
  reader.read(DepthMap{}, 0, {&depth, 1});

  EXPECT_EQ(id, -1);
  EXPECT_TRUE(std::isnan(depth));
}

}  // namespace
}  // namespace saccade
