#include "vision/map_rows.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "saccade/error.hpp"
#include "saccade/maps.hpp"

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

TEST(Maps, HaveAValuePerPixel) {
  const GridPlace place = {2, 1, 0.25, 0.25, 0, 0, {0, 0, 8, 3}};  // the last row was not seen by the model
  const std::vector<std::int32_t> ids = {4, 6};
  const std::vector<float> depths = {0.5F, 2};
  const ClassMap classes{place, ids};
  const DepthMap depth{place, DepthKind::kMetric, depths};
  std::vector<std::int32_t> class_pixels(8 * 4, 99);
  std::vector<float> depth_pixels(8 * 4, 99);
  to_pixels(classes, 8, 4, class_pixels);
  to_pixels(depth, 8, 4, depth_pixels);
  for (int y = 0; y < 4; ++y) {
    for (int x = 0; x < 8; ++x) {
      const auto i = static_cast<std::size_t>(8 * y + x);
      EXPECT_EQ(class_pixels[i], classes.at(x, y));
      if (y < 3)
        EXPECT_EQ(depth_pixels[i], depth.at(x, y));
      else
        EXPECT_TRUE(std::isnan(depth_pixels[i]));
    }
  }
  EXPECT_THROW(to_pixels(classes, 8, 5, class_pixels), Error);
  EXPECT_THROW(to_pixels(depth, 0, 4, {}), Error);
}

}  // namespace
}  // namespace saccade
