#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/temp_folder.hpp"
#include "validate/agreement.hpp"
#include "validate/data/data_image.hpp"
#include "validate/resample.hpp"

namespace saccade {
namespace {

Result boxes(std::vector<Detection> detections) {
  Result result;
  result.width = 100;
  result.height = 100;
  result.detections = std::move(detections);
  return result;
}

TEST(Agreement, CountsBoxesThatAreFoundAgainOnce) {
  const Result reference = boxes({{{0, 0, 10, 10}, 0, "car", 0.9F},
                                  {{0, 0, 10, 10}, 0, "car", 0.8F},
                                  {{50, 50, 60, 60}, 1, "bus", 0.7F},
                                  {{80, 80, 90, 90}, 1, "bus", 0.24F}});  // below the confidence threshold
  const Result result =
      boxes({{{0, 0, 10, 10}, 5, "car", 0.21F},  // another ID of the same class; just above the threshold
             {{50, 50, 60, 58}, 6, "bus", 0.9F},
             {{50, 50, 60, 60}, 5, "car", 0.9F}});
  Agreement agreement;
  agreement.add(result, reference);
  EXPECT_EQ(agreement.matched50.whole, 3);
  EXPECT_EQ(agreement.matched50.part, 2);
  EXPECT_EQ(agreement.matched90.part, 1);
  EXPECT_EQ(agreement.confirmed50.whole, 2);
  EXPECT_EQ(agreement.confirmed50.part, 1);
  EXPECT_EQ(agreement.same_class.whole, 0);
}

TEST(Agreement, ABoxThatIsNoNumberMatchesNone) {
  const float none = std::numeric_limits<float>::quiet_NaN();
  const Result reference = boxes({{{0, 0, 10, 10}, 0, "car", 0.9F}, {{none, none, none, none}, 0, "car", 0.8F}});
  const Result result = boxes({{{none, 0, 10, 10}, 0, "car", 0.9F}, {{0, 0, none, 10}, 0, "car", 0.8F}});
  Agreement agreement;
  agreement.add(result, reference);
  EXPECT_EQ(agreement.matched50.whole, 2);
  EXPECT_EQ(agreement.matched50.part, 0);
  EXPECT_EQ(agreement.confirmed50.part, 0);
}

TEST(Agreement, ComparesFirstClassesMapsAndDepths) {
  const std::vector<std::int32_t> map = {0, 0, 1, 1};
  const std::vector<std::int32_t> other_map = {0, 1, 1, 1};
  const std::vector<float> depth = {0, 10, 5, 5};
  const std::vector<float> other_depth = {0.4F, 10, 6, 5};
  Result reference;
  reference.width = 2;
  reference.height = 2;
  reference.class_map.place = {.columns = 2, .rows = 2, .seen = {0, 0, 2, 2}};
  reference.class_map.cells = map;
  reference.depth.place = reference.class_map.place;
  reference.depth.cells = depth;
  reference.depth.max = 10;
  reference.classes = {{3, "cat", 0.9F}};
  Result result = reference;
  result.class_map.cells = other_map;
  result.depth.cells = other_depth;
  KeptResult kept;
  kept.keep(result);
  result.class_map.cells = {};
  Agreement agreement;
  agreement.add(kept.get(), reference);
  EXPECT_EQ(agreement.same_class.value(), 1);
  EXPECT_EQ(agreement.same_pixels.value(), 0.75);
  EXPECT_EQ(agreement.near_pixels.value(), 0.75);
  EXPECT_EQ(agreement.matched90.value(), -1);
}

TEST(Agreement, ComparesWhatSecondModelsPredictForMatchedObjects) {
  const std::vector<Classification> pug = {{1, "pug", 0.8F}, {0, "beagle", 0.1F}};
  const std::vector<Classification> beagle = {{0, "beagle", 0.9F}, {1, "pug", 0.1F}};
  Result reference = boxes({{{0, 0, 10, 10}, 0, "dog", 0.9F},
                            {{30, 30, 40, 40}, 0, "dog", 0.8F},
                            {{50, 50, 60, 60}, 1, "plate", 0.7F},
                            {{80, 80, 90, 90}, 1, "plate", 0.6F},
                            {{20, 80, 30, 90}, 1, "plate", 0.5F}});
  reference.detections[0].classes = pug;
  reference.detections[1].classes = pug;
  reference.detections[2].text = "AB 123";
  reference.detections[3].text = "CD";
  reference.detections[4].text = "no match";
  Result result = reference;
  result.detections.pop_back();
  result.detections[1].classes = beagle;
  std::string text = "A8 1234";
  result.detections[2].text = text;
  KeptResult kept;
  kept.keep(result);
  text = "overwritten by the next crop";
  Agreement agreement;
  agreement.add(kept.get(), reference);
  EXPECT_EQ(agreement.same_second_class.part, 1);
  EXPECT_EQ(agreement.same_second_class.whole, 2);
  EXPECT_EQ(agreement.same_texts.part, 1);
  EXPECT_EQ(agreement.same_texts.whole, 2) << "an object without a match has no text to compare";
  EXPECT_EQ(agreement.character_errors.part, 2);
  EXPECT_EQ(agreement.character_errors.whole, 8);
}

TEST(Agreement, ComparesTheTextsOfImages) {
  Result reference = boxes({});
  Result result = reference;
  Agreement agreement;
  agreement.add(result, reference);
  EXPECT_EQ(agreement.same_texts.whole, 0);
  reference.text = "\u4f60\u597d";
  result.text = "\u4f60";
  agreement.add(result, reference);
  EXPECT_EQ(agreement.character_errors.value(), 0.5);
  reference.text = {};
  agreement.add(result, reference);
  EXPECT_EQ(agreement.same_texts.whole, 2);
  EXPECT_EQ(agreement.character_errors.value(), 1) << "two insertions and deletions in two characters";
}

/// The mean of VALUES, as a headline.
Headline mean_of(std::vector<double> values) {
  return [values = std::move(values)](std::span<const int> times) {
    double sum = 0;
    double count = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      sum += times[i] * values[i];
      count += times[i];
    }
    return sum / count;
  };
}

Interval interval_of(const std::vector<double>& a, const std::vector<double>& b, const ResampleOptions& options = {}) {
  const Resampled resampled = paired_difference(mean_of(a), mean_of(b), a.size(), options);
  EXPECT_EQ(resampled.resamples, options.resamples);
  return resampled.interval.value();
}

TEST(PairedDifference, KnowsThatImagesAreTheSame) {
  std::vector<double> a;
  std::vector<double> b;
  for (int i = 0; i < 100; ++i) {
    b.push_back(i % 10 / 10.0);
    a.push_back(b.back() + 0.05);
  }
  // Images vary, the difference does not.
  const Interval interval = interval_of(a, b);
  EXPECT_NEAR(interval.low, 0.05, 1e-9);
  EXPECT_NEAR(interval.high, 0.05, 1e-9);
}

TEST(PairedDifference, HasTheWidthOfTheMeansDeviation) {
  std::vector<double> a;
  for (int i = 0; i < 400; ++i) a.push_back(i % 2 == 0 ? 1 : 0);
  const std::vector<double> nothing(a.size());
  const Interval interval = interval_of(a, nothing);
  const double expected = 1.96 * 0.5 / std::sqrt(400.0);
  EXPECT_NEAR(interval.low, 0.5 - expected, 0.01);
  EXPECT_NEAR(interval.high, 0.5 + expected, 0.01);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] += std::sqrt(static_cast<double>(i));  // all resamples differ
  const Interval first = interval_of(a, nothing);
  const Interval again = interval_of(a, nothing);
  EXPECT_EQ(first.low, again.low);
  const Interval other = interval_of(a, nothing, {.resamples = 1000, .seed = 2});
  EXPECT_NE(first.low, other.low);
}

TEST(PairedDifference, IgnoresResamplesWithoutData) {
  const Headline nothing = [](std::span<const int>) { return -1.0; };
  const Resampled resampled = paired_difference(nothing, mean_of({1, 2}), 2, {});
  EXPECT_EQ(resampled.resamples, 0);
  EXPECT_FALSE(resampled.interval);
}

TEST(PairedDifference, AFewDrawsMakeNoInterval) {
  for (const int most : {5, 30}) {
    int calls = 0;
    const Resampled resampled =
        paired_difference(mean_of({1, 2}), mean_of({0, 1}), 2, {}, [&](double) { return ++calls <= most; });
    EXPECT_EQ(resampled.resamples, most);
    EXPECT_EQ(resampled.interval.has_value(), most == 30);
  }
}

TEST(ImagesIn, AreTheFilesThatAFolderOfImagesHas) {
  const test::TempFolder folder;
  for (const char* name : {"c.PPM", "b.webp", "a.jpg", "synset.txt"}) folder.write(name, "");
  std::filesystem::create_directory(folder / "folder.png");
  const std::filesystem::path root = folder.string();
  EXPECT_EQ(images_in(root), (std::vector{root / "a.jpg", root / "b.webp", root / "c.PPM"}));
}

TEST(Spread, TakesImagesFromTheWholeSet) {
  EXPECT_EQ(spread(10, 3), (std::vector<std::size_t>{0, 3, 6}));
  EXPECT_EQ(spread(3, 0), (std::vector<std::size_t>{0, 1, 2}));
  EXPECT_EQ(spread(2, 9), (std::vector<std::size_t>{0, 1}));
}

}  // namespace
}  // namespace saccade
