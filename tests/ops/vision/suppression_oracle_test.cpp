#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "support/run_op.hpp"
#include "support/specials.hpp"

// saccade.SelectBoxes and the multi-label selection of saccade.DecodeBoxes against a direct implementation of the
// definitions: every box against every other, in double precision unless defined otherwise.
namespace saccade {
namespace {

using test::elements;

struct ScoredBox {
  std::vector<float> box;  ///< corners, or oriented
  float score = 0;
  int class_id = 0;
};
using ScoredBoxes = std::vector<ScoredBox>;

struct Ways {
  std::string nms = "greedy";
  float iou = 0.5F;
  float sigma = 0.5F;
  float conf = 0;
  bool agnostic = false;
  std::int64_t max_det = 300;
};

struct Kept {
  int anchor = 0;
  float score = 0;
};

bool measures(const ScoredBox& one) {
  for (float number : one.box)
    if (!std::isfinite(number)) return false;
  return true;
}

/// Intersection over union; 0 for boxes without an area or with a NaN.
float share_of(const ScoredBox& a, const ScoredBox& b) {
  if (!measures(a) || !measures(b)) return 0;
  const auto area = [](double left, double top, double right, double bottom) {
    return right > left && bottom > top ? (right - left) * (bottom - top) : 0.0;
  };
  const double common = area(std::max<double>(a.box[0], b.box[0]), std::max<double>(a.box[1], b.box[1]),
                             std::min<double>(a.box[2], b.box[2]), std::min<double>(a.box[3], b.box[3]));
  const double both = area(a.box[0], a.box[1], a.box[2], a.box[3]) + area(b.box[0], b.box[1], b.box[2], b.box[3]);
  return common > 0 ? static_cast<float>(common / (both - common)) : 0.0F;
}

/// ProbIoU of two oriented boxes as in its paper: the Bhattacharyya distance of two normal distributions by the inverse
/// of their mean covariance.
float likeness_of(const ScoredBox& a, const ScoredBox& b) {
  if (!measures(a) || !measures(b)) return 0;
  struct Matrix {
    double a, b, c;  ///< a c / c b
  };
  const auto covariance = [](const ScoredBox& one) {
    const double along = double(one.box[2]) * one.box[2] / 12;
    const double across = double(one.box[3]) * one.box[3] / 12;
    const double cosine = std::cos(double(one.box[4]));
    const double sine = std::sin(double(one.box[4]));
    return Matrix{along * cosine * cosine + across * sine * sine, along * sine * sine + across * cosine * cosine,
                  (along - across) * cosine * sine};
  };
  const Matrix p = covariance(a);
  const Matrix q = covariance(b);
  const Matrix mean{(p.a + q.a) / 2, (p.b + q.b) / 2, (p.c + q.c) / 2};
  const auto determinant = [](const Matrix& m) { return m.a * m.b - m.c * m.c; };
  const double dx = double(a.box[0]) - b.box[0];
  const double dy = double(a.box[1]) - b.box[1];
  const double mahalanobis = (mean.b * dx * dx - 2 * mean.c * dx * dy + mean.a * dy * dy) / determinant(mean);
  const double distance =
      mahalanobis / 8 + std::log(determinant(mean) / std::sqrt(determinant(p) * determinant(q))) / 2;
  return static_cast<float>(1 - std::sqrt(1 - std::exp(-distance)));
}

float overlap(const ScoredBox& a, const ScoredBox& b) { return a.box.size() == 4 ? share_of(a, b) : likeness_of(a, b); }

/// The textbook algorithm: take the best remaining box, weaken or drop what it overlaps, until none is left.
std::vector<Kept> suppress(ScoredBoxes left, const Ways& ways) {
  std::vector<int> numbers;
  for (int i = 0; i < static_cast<int>(left.size()); ++i)
    if (std::isfinite(left[static_cast<std::size_t>(i)].score)) numbers.push_back(i);
  std::vector<Kept> kept;
  const bool soft = ways.nms == "linear" || ways.nms == "gaussian";
  while (!numbers.empty() && static_cast<std::int64_t>(kept.size()) < ways.max_det) {
    int best = numbers[0];
    for (int i : numbers)
      if (left[static_cast<std::size_t>(i)].score > left[static_cast<std::size_t>(best)].score) best = i;
    const ScoredBox winner = left[static_cast<std::size_t>(best)];
    if (soft && !(winner.score > ways.conf)) break;
    kept.push_back({best, winner.score});
    std::vector<int> staying;
    for (int i : numbers) {
      ScoredBox& other = left[static_cast<std::size_t>(i)];
      if (i == best) continue;
      const bool competes = ways.agnostic || other.class_id == winner.class_id;
      const float share = competes && ways.nms != "none" ? overlap(winner, other) : 0;
      if (competes && ways.nms == "linear" && share > ways.iou) other.score *= 1 - share;
      if (competes && ways.nms == "gaussian") other.score *= std::exp(-share * share / ways.sigma);
      if (ways.nms != "greedy" || !(share > ways.iou)) staying.push_back(i);
    }
    numbers = staying;
  }
  return kept;
}

std::vector<Kept> selected(const ScoredBoxes& candidates, const Ways& ways) {
  const auto size = static_cast<std::int64_t>(candidates.size());
  const auto numbers = static_cast<std::int64_t>(candidates.empty() ? 4 : candidates[0].box.size());
  Tensor boxes(DType::kFloat32, {size, numbers});
  Tensor scores(DType::kFloat32, {size});
  Tensor classes(DType::kInt32, {size});
  Tensor anchors(DType::kInt32, {size});
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    std::ranges::copy(candidates[i].box, boxes.data<float>().begin() + static_cast<std::ptrdiff_t>(i) * numbers);
    scores.data<float>()[i] = candidates[i].score;
    classes.data<std::int32_t>()[i] = candidates[i].class_id;
    anchors.data<std::int32_t>()[i] = static_cast<std::int32_t>(i);
  }
  const auto out = test::run_saccade_op(
      "SelectBoxes",
      {boxes, scores, classes, anchors, Tensor::of<std::int32_t>({1}, {static_cast<std::int32_t>(size)}),
       Tensor::of<float>({6}, {1, 1, 0, 0, 1000, 1000})},
      5,
      {{"nms", ways.nms},
       {"iou", ways.iou},
       {"sigma", ways.sigma},
       {"conf", ways.conf},
       {"agnostic", std::int64_t{ways.agnostic}},
       {"max_det", ways.max_det}});
  const auto rows = elements<float>(out[0]);
  const auto chosen = elements<std::int32_t>(out[2]);
  std::vector<Kept> kept;
  for (std::size_t i = 0; i < static_cast<std::size_t>(elements<std::int32_t>(out[1])[0]); ++i)
    kept.push_back({chosen[i], rows[i * static_cast<std::size_t>(numbers + 2) + static_cast<std::size_t>(numbers)]});
  return kept;
}

void expect_equal(const ScoredBoxes& candidates, const Ways& ways, const std::string& what) {
  const std::vector<Kept> wanted = suppress(candidates, ways);
  const std::vector<Kept> got = selected(candidates, ways);
  ASSERT_EQ(got.size(), wanted.size()) << what << ", " << ways.nms;
  for (std::size_t i = 0; i < got.size(); ++i) {
    ASSERT_EQ(got[i].anchor, wanted[i].anchor) << what << ", " << ways.nms << ", number " << i;
    ASSERT_NEAR(got[i].score, wanted[i].score, 1e-6) << what << ", " << ways.nms << ", number " << i;
  }
}

void expect_equal_in_all_ways(const ScoredBoxes& candidates, const std::string& what) {
  for (const char* nms : {"greedy", "linear", "gaussian", "none"})
    for (const bool agnostic : {false, true})
      for (const std::int64_t max_det : {std::int64_t{3}, std::int64_t{300}})
        for (const float iou : {0.0F, 0.3F, 0.5F, 0.7F, 1.0F}) {
          expect_equal(candidates, {.nms = nms, .iou = iou, .conf = 0.05F, .agnostic = agnostic, .max_det = max_det},
                       what);
          if (::testing::Test::HasFatalFailure()) return;
        }
}

/// Corners in quarters of a pixel, so that areas are exact in either precision.
ScoredBoxes random_boxes(unsigned seed, int count, int extent, int classes, int levels) {
  std::mt19937 draw(seed);
  const auto below = [&](int limit) { return static_cast<int>(draw() % static_cast<unsigned>(limit)); };
  ScoredBoxes candidates;
  for (int i = 0; i < count; ++i) {
    const float x = static_cast<float>(below(4 * extent)) / 4;
    const float y = static_cast<float>(below(4 * extent)) / 4;
    const float width = static_cast<float>(1 + below(120)) / 4;
    const float height = static_cast<float>(1 + below(120)) / 4;
    candidates.push_back({{x, y, x + width, y + height},
                          static_cast<float>(1 + below(levels)) / static_cast<float>(levels + 1),
                          below(classes)});
  }
  return candidates;
}

TEST(SuppressionOracle, AgreesOnRandomBoxes) {
  for (unsigned seed = 0; seed < 12; ++seed)
    expect_equal_in_all_ways(random_boxes(seed, 60, 60, 3, 1000000), fmt::format("seed {}", seed));
}

TEST(SuppressionOracle, AgreesOnTies) {
  for (unsigned seed = 20; seed < 26; ++seed)
    expect_equal_in_all_ways(random_boxes(seed, 50, 30, 2, 3), fmt::format("seed {}", seed));
  expect_equal_in_all_ways(ScoredBoxes(20, {{1, 2, 30, 40}, 0.5F, 1}), "the same box twenty times");
}

TEST(SuppressionOracle, AgreesOnNumbersThatAreNone) {
  ScoredBoxes candidates = random_boxes(40, 20, 20, 2, 1000);
  for (const float number : {kNan, kInfinity, -kInfinity})
    for (std::size_t k = 0; k < 4; ++k) {
      candidates.push_back(candidates[k]);
      candidates.back().box[k] = number;
      candidates.push_back(candidates[k + 4]);
      candidates.back().score = number;
    }
  // Areas that overflow float, and two equal boxes of them.
  candidates.push_back({{-1e30F, -1e30F, 1e30F, 1e30F}, 0.93F, 0});
  candidates.push_back({{-1e30F, -1e30F, 1e30F, 1e30F}, 0.92F, 0});
  const auto boxes = [](const std::vector<Kept>& kept) {
    std::vector<int> numbers;
    for (const Kept& one : kept) numbers.push_back(one.anchor);
    return numbers;
  };
  for (const char* nms : {"greedy", "linear", "gaussian", "none"}) {
    const Ways ways{.nms = nms, .conf = 0.05F, .agnostic = true};
    ScoredBoxes measurable = candidates;
    // Boxes with an overflowing area overlap nothing.
    for (ScoredBox& one : measurable)
      if (std::abs(one.box[0]) > 1e20F) one.box[0] = kNan;
    EXPECT_EQ(boxes(selected(candidates, ways)), boxes(suppress(measurable, ways))) << nms;
  }
}

TEST(SuppressionOracle, AgreesOnBoxesWithoutAnArea) {
  ScoredBoxes candidates = random_boxes(50, 20, 20, 2, 1000);
  for (std::size_t i = 0; i < 10; ++i) {
    ScoredBox line = candidates[i];
    line.box[2] = line.box[0];
    candidates.push_back(line);
    ScoredBox point = line;
    point.box[3] = point.box[1];
    candidates.push_back(point);
    candidates.push_back(point);
    ScoredBox turned_over = candidates[i];
    std::swap(turned_over.box[0], turned_over.box[2]);
    candidates.push_back(turned_over);
    std::swap(turned_over.box[1], turned_over.box[3]);
    candidates.push_back(turned_over);
  }
  expect_equal_in_all_ways(candidates, "no area");
}

TEST(SuppressionOracle, AgreesOnChains) {
  // Each overlaps only its neighbours: every second one is kept.
  ScoredBoxes chain;
  for (int i = 0; i < 200; ++i) {
    const auto x = static_cast<float>(3 * i);
    chain.push_back({{x, 0, x + 10, 10}, 1 - static_cast<float>(i) / 512, 0});
  }
  expect_equal_in_all_ways(chain, "chain");
}

TEST(SuppressionOracle, AgreesOnThousandsOfBoxes) {
  const ScoredBoxes candidates = random_boxes(60, 4000, 250, 5, 1 << 20);
  for (const char* nms : {"greedy", "linear", "gaussian"})
    expect_equal(candidates, {.nms = nms, .conf = 0.05F, .max_det = 1000}, "thousands");
}

TEST(SuppressionOracle, TreatsClassesAsImagesOfTheirOwn) {
  // Batched suppression: class by class gives the same result as all at once.
  const ScoredBoxes candidates = random_boxes(70, 300, 60, 4, 1 << 20);
  std::vector<int> apart;
  for (int class_id = 0; class_id < 4; ++class_id) {
    ScoredBoxes one = candidates;
    for (ScoredBox& candidate : one)
      if (candidate.class_id != class_id) candidate.score = std::numeric_limits<float>::quiet_NaN();
    for (const Kept& kept : selected(one, {.agnostic = true})) apart.push_back(kept.anchor);
  }
  std::vector<int> together;
  for (const Kept& kept : selected(candidates, {})) together.push_back(kept.anchor);
  std::ranges::sort(apart);
  std::ranges::sort(together);
  EXPECT_EQ(together, apart);
}

TEST(SuppressionOracle, AgreesOnOrientedBoxes) {
  std::mt19937 draw(80);
  const auto uniform = [&](float low, float high) { return std::uniform_real_distribution<float>(low, high)(draw); };
  for (int round = 0; round < 20; ++round) {
    ScoredBoxes candidates;
    // Only boxes without an overlap near a threshold: there the two may round differently.
    while (candidates.size() < 60) {
      const ScoredBox one{{uniform(0, 100), uniform(0, 100), uniform(5, 60), uniform(5, 30), uniform(-4, 4)},
                          uniform(0.1F, 1),
                          static_cast<int>(draw() % 2)};
      const bool clear = std::ranges::none_of(candidates, [&](const ScoredBox& other) {
        const float share = overlap(one, other);
        return std::abs(share - 0.3F) < 1e-3F || std::abs(share - 0.5F) < 1e-3F;
      });
      if (clear) candidates.push_back(one);
    }
    for (const float iou : {0.3F, 0.5F})
      for (const bool agnostic : {false, true}) expect_equal(candidates, {.iou = iou, .agnostic = agnostic}, "turned");
  }
}

TEST(SuppressionOracle, AgreesOnOrientedBoxesWithNan) {
  ScoredBoxes candidates;
  for (int i = 0; i < 30; ++i) {
    const auto n = static_cast<float>(i);
    candidates.push_back({{4 * n, 3 * n, 40, 10 + n / 8, n / 5}, 0.9F - n / 64, i % 2});
  }
  for (const float number : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                             -std::numeric_limits<float>::infinity()})
    for (std::size_t k = 0; k < 5; ++k) {
      candidates.push_back(candidates[k]);
      candidates.back().box[k] = number;
      candidates.push_back(candidates[k + 5]);
      candidates.back().score = number;
    }
  const auto anchors = [](const std::vector<Kept>& kept) {
    std::vector<int> numbers;
    for (const Kept& one : kept) numbers.push_back(one.anchor);
    return numbers;
  };
  for (const char* nms : {"greedy", "linear", "gaussian", "none"}) {
    const Ways ways{.nms = nms, .conf = 0.05F, .agnostic = true};
    EXPECT_EQ(anchors(selected(candidates, ways)), anchors(suppress(candidates, ways))) << nms;
  }
}

TEST(MultiLabelOracle, KeepsTheBestPairs) {
  // 700 rows of 60 classes are more pairs than are kept; scores have few distinct values, so that ties decide.
  constexpr std::int64_t kRows = 700;
  constexpr std::int64_t kClasses = 60;
  std::mt19937 draw(90);
  Tensor boxes(DType::kFloat32, {1, kRows, 4});
  std::ranges::fill(boxes.data<float>(), 1.0F);
  Tensor scores(DType::kFloat32, {1, kRows, kClasses});
  for (float& score : scores.data<float>()) score = static_cast<float>(1 + draw() % 50) / 50;
  struct Pair {
    std::int64_t row, class_id;
    float score;
  };
  std::vector<Pair> pairs;
  for (std::int64_t c = 0; c < kClasses; ++c)
    for (std::int64_t row = 0; row < kRows; ++row) {
      const float score = scores.data<float>()[static_cast<std::size_t>(row * kClasses + c)];
      if (score > 0.1F) pairs.push_back({row, c, score});
    }
  ASSERT_GT(pairs.size(), 30000U);
  std::ranges::stable_sort(pairs, std::greater{}, &Pair::score);
  pairs.resize(30000);
  std::ranges::sort(pairs, {}, [](const Pair& pair) { return std::pair(pair.class_id, pair.row); });
  const auto out =
      test::run_saccade_op("DecodeBoxes", {boxes, {}, scores}, 6, {{"conf", 0.1F}, {"multi_label", std::int64_t{1}}});
  ASSERT_EQ(elements<std::int32_t>(out[4])[0], 30000);
  const auto classes = elements<std::int32_t>(out[2]);
  const auto anchors = elements<std::int32_t>(out[3]);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    ASSERT_EQ(classes[i], pairs[i].class_id) << i;
    ASSERT_EQ(anchors[i], pairs[i].row) << i;
  }
}

}  // namespace
}  // namespace saccade
