#include <gmock/gmock.h>

#include <numbers>
#include <random>

#include "base/error.hpp"
#include "card_models.hpp"
#include "family_models.hpp"
#include "vision/cards/card_file.hpp"

// The head of a tracker of one object, and the card of its two images.
namespace saccade::test {
namespace {

using testing::HasSubstr;

constexpr std::int64_t kSide = 16;

struct TrackMaps {
  Tensor scores = filled({1, 1, kSide, kSide}, 0);
  Tensor sizes = filled({1, 2, kSide, kSide}, 0);
  Tensor offsets = filled({1, 2, kSide, kSide}, 0);

  void draw(unsigned seed) {
    scores = random_tensor(scores.shape(), seed, 0, 1);
    sizes = random_tensor(sizes.shape(), seed + 1, 0.05F, 0.3F);
    offsets = random_tensor(offsets.shape(), seed + 2, 0, 1);
  }
};

FamilyModel two_images(const Shape& search = {1, 3, 256, 256}, const Shape& target = {1, 3, 128, 128}) {
  FamilyModel model(search, "search");
  model.builder().input("template", target);
  return model;
}

Graph tracker_of(const TrackMaps& maps) {
  return two_images().gives("output1", maps.scores).gives("output2", maps.sizes).gives("output3", maps.offsets).build();
}

/// OSTrack's published decoding, on the image of 256 pixels.
Known decoded(TrackMaps& maps) {
  Known best{.score = -1};
  for (std::int64_t y = 0; y < kSide; ++y)
    for (std::int64_t x = 0; x < kSide; ++x) {
      const auto hann = [](std::int64_t i) {
        return 0.5 * (1 - std::cos(2 * std::numbers::pi * static_cast<double>(i + 1) / (kSide + 1)));
      };
      const double score = at(maps.scores, {0, 0, y, x}) * hann(y) * hann(x);
      if (score <= best.score) continue;
      const float cx = 256 * (static_cast<float>(x) + at(maps.offsets, {0, 0, y, x})) / kSide;
      const float cy = 256 * (static_cast<float>(y) + at(maps.offsets, {0, 1, y, x})) / kSide;
      const float half_width = 128 * at(maps.sizes, {0, 0, y, x});
      const float half_height = 128 * at(maps.sizes, {0, 1, y, x});
      best = {{cx - half_width, cy - half_height, cx + half_width, cy + half_height}, static_cast<float>(score), 0};
    }
  return best;
}

TEST(TrackHead, IsDecodedAsPublished) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    TrackMaps maps;
    maps.draw(seed);
    const Found found = find_in(tracker_of(maps));
    EXPECT_EQ(found.card.task(), Task::kTrack);
    ASSERT_EQ(found.detections().size(), 1U);
    EXPECT_EQ(found.detections()[0].class_name, "object");
    expect_found(found, "ostrack", {decoded(maps)}, 1e-4F);
  }
}

TEST(TrackHead, FindsNothingBelowTheThreshold) {
  TrackMaps maps;
  maps.scores = filled(maps.scores.shape(), 0.19F);
  EXPECT_TRUE(find_in(tracker_of(maps)).detections().empty());
  EXPECT_EQ(find_in(tracker_of(maps), "", {.confidence = 0.1F}).detections().size(), 1U);
  EXPECT_EQ(find_in(tracker_of(maps), "[output]\nconf = 0.1\nlabels = [\"dog\"]\n").detections().size(), 1U);
}

TEST(TrackHead, ANanAmongTheScoresShows) {
  TrackMaps maps;
  maps.draw(1);
  at(maps.scores, {0, 0, 3, 5}) = NAN;
  const Found found = find_in(tracker_of(maps));
  EXPECT_TRUE(found.result.faults.has(Fault::kNanConfidence));
  EXPECT_TRUE(found.detections().empty());
}

TEST(TrackHead, TheMapsAreToldByTheirNames) {
  TrackMaps maps;
  maps.draw(4);
  const Graph graph = two_images()
                          .gives("offset_map", maps.offsets)
                          .gives("score_map", maps.scores)
                          .gives("size_map", maps.sizes)
                          .build();
  expect_found(find_in(graph), "ostrack", {decoded(maps)}, 1e-4F);
  TrackMaps swapped = maps;
  std::swap(swapped.offsets, swapped.sizes);
  const std::string named = "[output]\ndecoder = \"ostrack\"\nname = [\"score_map\", \"offset_map\", \"size_map\"]\n";
  expect_found(find_in(graph, named), "ostrack", {decoded(swapped)}, 1e-4F);
}

class TrackCard : public CardFiles {
 protected:
  Graph graph_ = tracker_of({});
};

TEST_F(TrackCard, TheSmallerImageIsTheTargets) {
  const Card card = card_for(graph_, {});
  EXPECT_EQ(card.input, "search");
  ASSERT_TRUE(card.track);
  EXPECT_EQ(card.track->input, "template");
  EXPECT_EQ(card.track->width, 128);
  EXPECT_EQ(card.track->target_factor, 2);
  EXPECT_EQ(card.track->search_factor, 4);
  EXPECT_THAT(card.assumptions, testing::Contains(HasSubstr("track.search_factor")));
}

TEST_F(TrackCard, IsWrittenAndReadAgain) {
  const Card card = load(graph_, "[track]\ntarget = \"template\"\nsearch_factor = 5\ntarget_factor = 1.5\n");
  EXPECT_EQ(card.track->search_factor, 5);
  EXPECT_EQ(card.track->target_factor, 1.5F);
  const Card again = card_in("card.toml", to_toml(card), graph_);
  EXPECT_EQ(to_toml(again), to_toml(card));
  EXPECT_THAT(to_toml(card), HasSubstr("[track]\ntarget = \"template\"\ntarget_factor = 1.5\nsearch_factor = 5\n"));
}

TEST_F(TrackCard, ImagesOfOneSizeNeedAName) {
  const TrackMaps maps;
  const Graph graph = two_images({1, 3, 256, 256}, {1, 3, 256, 256})
                          .gives("output1", maps.scores)
                          .gives("output2", maps.sizes)
                          .gives("output3", maps.offsets)
                          .build();
  EXPECT_THAT(message_of([&] { card_for(graph, {}); }), HasSubstr("'track.target'"));
  const Card card = load(graph, "[track]\ntarget = \"search\"\n[output]\ndecoder = \"ostrack\"\n");
  EXPECT_EQ(card.input, "template");
  EXPECT_EQ(card.track->input, "search");
}

TEST_F(TrackCard, BadKeysAreRefused) {
  EXPECT_THAT(rejection(graph_, "[track]\nsearch_factor = 0.5\n"), HasSubstr("'track.search_factor' must be a number"));
  EXPECT_THAT(rejection(graph_, "[track]\nsearch_factor = nan\n"), HasSubstr("'track.search_factor' must be a number"));
  EXPECT_THAT(rejection(graph_, "[track]\ntarget = \"search\"\n"), HasSubstr("is the input 'template', not 'search'"));
  EXPECT_THAT(rejection(graph_, "[track]\ntarget = \"z\"\n[output]\ndecoder = \"ostrack\"\n"),
              HasSubstr("the model has no 'z'"));
  EXPECT_THAT(rejection(model({1, 3, 64, 64}, {1, 1000}), "[track]\nsearch_factor = 5\n"),
              HasSubstr("[track] is for a model with two images as inputs"));
  EXPECT_THAT(rejection(graph_, "[output]\ndecoder = \"yolov8\"\n"), HasSubstr("the decoder yolov8 matches no output"));
}

TEST_F(TrackCard, OtherModelsOfTwoImagesAreNotRecognised) {
  const Graph graph = two_images().gives("scores", filled({1, 1000}, 0)).build();
  EXPECT_THAT(message_of([&] { card_for(graph, {}); }),
              HasSubstr("do not match any known tracker of one object, though it has two images as inputs"));
}

}  // namespace
}  // namespace saccade::test
