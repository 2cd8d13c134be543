#include "validate/data/coco_results.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "support/temp_folder.hpp"

namespace saccade {
namespace {

using nlohmann::json;

class CocoResultsTest : public testing::Test {
 protected:
  json write(const FoundObject& object, bool has_mask) {
    CocoResults results(folder_ / "out.json");
    results.add(4, 8, 4, std::vector<CocoResults::Prediction>{{7, &object, has_mask}});
    results.close();
    return json::parse(test::bytes_of_file(folder_ / "out.json")).at(0);
  }

  test::TempFolder folder_;
};

TEST_F(CocoResultsTest, HoldBoxesMasksAndKeypoints) {
  const FoundObject object = {
      .box = {1, 0, 4, 3.25}, .score = 0.5, .mask = {{0, 1, 3}, {1, 1, 4}, {2, 1, 3}}, .keypoints = {{1.5, 1}, {4, 2}}};
  const json written = write(object, true);
  EXPECT_EQ(written.at("image_id"), 4);
  EXPECT_EQ(written.at("category_id"), 7);
  EXPECT_EQ(written.at("bbox"), json({1, 0, 4, 3.25}));
  EXPECT_EQ(written.at("score"), 0.5);
  EXPECT_EQ(written.at("segmentation"), json({{"size", {4, 8}}, {"counts", "43101N`0"}}));
  EXPECT_EQ(written.at("keypoints"), json({1.5, 1, 1, 4, 2, 1}));
}

TEST_F(CocoResultsTest, NanIsNull) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  constexpr double kEndless = std::numeric_limits<double>::infinity();
  const json written = write({.box = {kNone, 0, kEndless, 3}, .score = 0.5, .keypoints = {{-kEndless, kNone}}}, false);
  EXPECT_EQ(written.at("bbox"), json({nullptr, 0, nullptr, 3}));
  EXPECT_EQ(written.at("keypoints"), json({nullptr, nullptr, 1}));
  EXPECT_FALSE(written.contains("segmentation"));
}

}  // namespace
}  // namespace saccade
