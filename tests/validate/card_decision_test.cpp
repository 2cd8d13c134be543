#include "validate/card_decision.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cmath>

#include "vision/cards/card_variants.hpp"

namespace saccade {
namespace {

constexpr std::size_t kImages = 20;

Card classifier_card() {
  Card card;
  card.heads.front().decoder = find_decoder("classify");
  card.interpolation = usual_interpolation(card);
  card.width = card.height = 224;
  return card;
}

/// A trial with evidence EVIDENCE on average, which varies by SPREAD from image to image.
CardTrial trial_of(const Card& card, double evidence, double spread = 0) {
  CardTrial trial{.card = card, .summary = summary_of(card)};
  for (std::size_t i = 0; i < kImages; ++i) trial.images.push_back(evidence + (i % 2 == 0 ? spread : -spread));
  trial.counted = kImages;
  return trial;
}

Recognition decided(std::vector<CardTrial> trials) {
  Recognition found{
      .data = "imagenet:x", .metric = "top1", .evidence = {}, .least = 0.02, .images = kImages, .trials = {}};
  found.trials = std::move(trials);
  decide(found, {});
  return found;
}

CardTrial with_interpolation(Interpolation interpolation, double evidence, double spread) {
  Card card = classifier_card();
  card.interpolation = interpolation;
  return trial_of(card, evidence, spread);
}

TEST(CardDecision, KeepsTheUsualInterpolationWhereImagesDoNotTell) {
  const Recognition found =
      decided({trial_of(classifier_card(), 0.5), with_interpolation(Interpolation::kArea, 0.51, 0.2)});
  EXPECT_EQ(found.trials.front().card.interpolation, Interpolation::kArea);
  EXPECT_EQ(found.verdict, CardVerdict::kBest);
  ASSERT_NE(found.card(), nullptr) << to_text(found);
  EXPECT_EQ(found.card()->interpolation, Interpolation::kBilinearAntialias);
  EXPECT_THAT(found.undecided, testing::ElementsAre(CardAxis::kInterpolation));
  EXPECT_THAT(to_text(found), testing::HasSubstr("better than all others; its"));
}

TEST(CardDecision, TakesAnInterpolationThatIsBetter) {
  const Recognition found =
      decided({trial_of(classifier_card(), 0.5), with_interpolation(Interpolation::kBilinear, 0.6, 0.05)});
  EXPECT_EQ(found.verdict, CardVerdict::kBest);
  EXPECT_EQ(found.card()->interpolation, Interpolation::kBilinear);
  EXPECT_TRUE(found.undecided.empty());
  EXPECT_THAT(found.trials.front().summary, testing::HasSubstr(", bilinear"));
}

TEST(CardDecision, CountsNothingForAnImageThatOnlyOthersSay) {
  CardTrial rare = with_interpolation(Interpolation::kArea, 0.8, 0);
  std::fill(rare.images.begin(), rare.images.begin() + 10, NAN);
  rare.counted = 10;
  const Recognition found = decided({rare, trial_of(classifier_card(), 0.5)});
  EXPECT_DOUBLE_EQ(found.trials[0].evidence, 0.5);
  EXPECT_DOUBLE_EQ(found.trials[1].evidence, 0.4);
  EXPECT_EQ(found.card()->interpolation, Interpolation::kBilinearAntialias);
}

/// The default, and OTHER, which is better by 0.05 on average: the 95 % interval holds 0, that of 80 % does not.
Recognition beside_default(const Card& other) {
  CardTrial usual = trial_of(classifier_card(), 0.5);
  usual.is_default = true;
  return decided({usual, trial_of(other, 0.55, 0.15)});
}

TEST(CardDecision, AProbablyWrongOrderOfChannelsIsNoCard) {
  Card bgr = classifier_card();
  bgr.color = ChannelOrder::kBgr;
  const Recognition found = beside_default(bgr);
  EXPECT_EQ(found.close, 2U);
  EXPECT_EQ(found.verdict, CardVerdict::kTie);
  EXPECT_EQ(found.card(), nullptr);
  EXPECT_THAT(found.undecided, testing::ElementsAre(CardAxis::kColor));
  EXPECT_THAT(to_text(found), testing::HasSubstr("too close to tell in color"));
}

TEST(CardDecision, KeepsTheDefaultResize) {
  Card stretched = classifier_card();
  stretched.resize = ResizeMode::kStretch;
  const Recognition found = beside_default(stretched);
  EXPECT_EQ(found.verdict, CardVerdict::kDefault);
  EXPECT_TRUE(found.trials[found.chosen].is_default);
  EXPECT_THAT(found.undecided, testing::ElementsAre(CardAxis::kResize));
}

TEST(CardDecision, TakesTheDefaultsValuesWhereCardsAreClose) {
  CardTrial usual = trial_of(classifier_card(), 0.1);
  usual.is_default = true;
  Card bgr = classifier_card();
  bgr.color = ChannelOrder::kBgr;
  Card other = bgr;
  other.mean = {1, 1, 1};
  other.resize = ResizeMode::kStretch;
  const Recognition found = decided({usual, trial_of(bgr, 0.5), trial_of(other, 0.51, 0.2)});
  ASSERT_EQ(found.verdict, CardVerdict::kDefault) << to_text(found);
  EXPECT_EQ(to_toml(*found.card()), to_toml(bgr));
  EXPECT_THAT(found.undecided, testing::ElementsAre(CardAxis::kNormalization, CardAxis::kResize));
  EXPECT_THAT(to_text(found), testing::HasSubstr("has the default's values"));
}

/// BGR is better by as much as beside_default()'s, but by little with the default's own interpolation.
TEST(CardDecision, AnInterpolationIsNoEvidenceForAnOrderOfChannels) {
  CardTrial usual = trial_of(classifier_card(), 0.5);
  usual.is_default = true;
  Card bgr = classifier_card();
  bgr.color = ChannelOrder::kBgr;
  Card resampled = bgr;
  resampled.interpolation = Interpolation::kArea;
  const Recognition found = decided({usual, trial_of(bgr, 0.51, 0.2), trial_of(resampled, 0.55, 0.15)});
  EXPECT_EQ(found.verdict, CardVerdict::kDefault) << to_text(found);
  EXPECT_TRUE(found.trials[found.chosen].is_default);
  EXPECT_THAT(found.undecided, testing::ElementsAre(CardAxis::kColor, CardAxis::kInterpolation));
}

TEST(CardDecision, ACardIsKnownWorseByOneResize) {
  Card bgr = classifier_card();
  bgr.color = ChannelOrder::kBgr;
  Card stretched = bgr;
  stretched.resize = ResizeMode::kStretch;
  const CardTrial usual = trial_of(classifier_card(), 0.5);
  EXPECT_TRUE(is_known_worse(stretched, std::vector{usual, trial_of(bgr, 0.3)}, {}));
  EXPECT_FALSE(is_known_worse(classifier_card(), std::vector{usual, trial_of(bgr, 0.3)}, {}));
  EXPECT_FALSE(is_known_worse(stretched, std::vector{usual, trial_of(bgr, 0.49, 0.2)}, {}));
  // What a resize costs is not the channel order's.
  EXPECT_FALSE(is_known_worse(bgr, std::vector{usual, trial_of(stretched, 0.3)}, {}));
}

TEST(CardDecision, OtherNumbersOfClassesAreATie) {
  Card numbered = classifier_card();
  numbered.heads.front().remap = {-1, 0, 1};
  const Recognition found = decided({trial_of(classifier_card(), 0.5), trial_of(numbered, 0.51, 0.2)});
  EXPECT_EQ(found.verdict, CardVerdict::kTie);
  EXPECT_THAT(found.undecided, testing::ElementsAre(CardAxis::kLabels));
}

TEST(CardDecision, TooLittleEvidenceIsNoCard) {
  Recognition found{.data = "coco:x", .metric = "ap", .evidence = {}, .least = 0.1, .images = kImages, .trials = {}};
  found.trials = {trial_of(classifier_card(), 0.09)};
  decide(found, {});
  EXPECT_EQ(found.verdict, CardVerdict::kNone);
  EXPECT_EQ(found.card(), nullptr);
  EXPECT_THAT(to_text(found), testing::ContainsRegex("an\\s+evidence\\s+of\\s+0.1"));
}

TEST(CardDecision, WithoutADefaultOtherPixelsAreATie) {
  Card bgr = classifier_card();
  bgr.color = ChannelOrder::kBgr;
  EXPECT_EQ(decided({trial_of(classifier_card(), 0.5), trial_of(bgr, 0.51, 0.2)}).verdict, CardVerdict::kTie);
}

TEST(CardDecision, OneNormalizationInAnotherOrderIsTheSame) {
  Card rgb = classifier_card();
  rgb.mean = {123, 117, 104};
  Card bgr = rgb;
  bgr.color = ChannelOrder::kBgr;
  bgr.mean = {104, 117, 123};
  EXPECT_TRUE(has_same_normalization(rgb, bgr));
  bgr.mean = rgb.mean;
  EXPECT_FALSE(has_same_normalization(rgb, bgr));
}

TEST(CardDecision, FailuresAreShortNotes) {
  std::vector<CardTrial> trials{trial_of(classifier_card(), 0.5)};
  for (int i = 0; i < 5; ++i) {
    trials.push_back({.card = classifier_card(), .summary = "classify"});
    for (int word = 0; word < 50; ++word) trials.back().failure += fmt::format("reason {} ", i);
  }
  const std::string text = to_text(decided(trials));
  EXPECT_THAT(text, testing::HasSubstr("not tried: classify: reason 0"));
  EXPECT_THAT(text, testing::HasSubstr("reason 2"));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("reason 3")));
  EXPECT_THAT(text, testing::HasSubstr("not tried: 2 others"));
  EXPECT_LT(text.size(), 1200U);
}

}  // namespace
}  // namespace saccade
