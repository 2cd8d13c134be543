#include <array>
#include <cmath>
#include <random>

#include "op_case/op_case.hpp"
#include "support/specials.hpp"

namespace saccade {
namespace {

struct Candidates {
  Tensor boxes;
  Tensor scores;
  Tensor classes;
  Tensor anchors;
};

/// COUNT boxes in an image of SIZE pixels; few distinct scores; one in some dozens is degenerate.
Candidates random_candidates(std::int64_t count, float size, int score_values, int classes) {
  std::mt19937 random(static_cast<std::uint32_t>(count));
  std::uniform_real_distribution<float> share(0, 1);
  Candidates made{Tensor(DType::kFloat32, {count, 4}), Tensor(DType::kFloat32, {count}), Tensor(DType::kInt32, {count}),
                  Tensor(DType::kInt32, {count})};
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    const std::span<float> box = made.boxes.data<float>().subspan(4 * i, 4);
    for (std::size_t k = 0; k < 2; ++k) {
      box[k] = share(random) * size;
      box[2 + k] = box[k] + share(random) * 40;
    }
    made.scores.data<float>()[i] =
        static_cast<float>(random() % static_cast<unsigned>(score_values)) / static_cast<float>(score_values);
    made.classes.data<std::int32_t>()[i] = static_cast<std::int32_t>(random() % static_cast<unsigned>(classes));
    made.anchors.data<std::int32_t>()[i] = static_cast<std::int32_t>(i * 3);
    switch (random() % 40) {
      case 0: box[2] = box[0]; break;                               // no area
      case 1: std::swap(box[1], box[3]); break;                     // inverted
      case 2: box[random() % 4] = kNan; break;                      //
      case 3: box[2] = kInfinity; break;                            //
      case 4: made.scores.data<float>()[i] = kNan; break;           //
      case 5: made.scores.data<float>()[i] = -kInfinity; break;     //
      case 6: box[0] = box[1] = 0, box[2] = box[3] = 3e38F; break;  // the area overflows
      case 7: made.scores.data<float>()[i] = -0.0F; break;
      default: break;
    }
  }
  return made;
}

OpCase selection(const Candidates& candidates, std::int32_t count, std::int64_t most,
                 const std::array<float, 6>& geometry = {0.51F, 0.47F, 3, -7, 300, 200}) {
  OpCase made("SelectBoxes", "saccade");
  made.input(candidates.boxes).input(candidates.scores).input(candidates.classes).input(candidates.anchors);
  made.input(Tensor::of<std::int32_t>({1}, {count}));
  made.input(Tensor::of<float>({6}, std::span<const float>(geometry))).outputs(5);
  made.attribute("iou", 0.4F).attribute("max_det", most);
  return made;
}

TEST(CudaSelectBoxes, DropsWhatABetterOneOfItsClassOverlaps) {
  for (std::int64_t count : {1, 33, 300, 1500}) {
    const Candidates candidates = random_candidates(count, 150, 20, 3);
    for (std::int64_t most : {7, 3000})
      for (std::int64_t agnostic : {0, 1})
        selection(candidates, static_cast<std::int32_t>(count), most)
            .attribute("agnostic", agnostic)
            .check(on_cuda("select.boxes"), kExact);
  }
}

TEST(CudaSelectBoxes, TakesACountOfItsCandidates) {
  const Candidates candidates = random_candidates(200, 100, 1000, 2);
  for (std::int32_t count : {0, -5, 1, 77, 200, 900})
    selection(candidates, count, 50).check(on_cuda("select.boxes"), kExact);
}

TEST(CudaSelectBoxes, GoesOnOverWindows) {
  // Boxes that rarely overlap: kept boxes of one window meet candidates of the next.
  selection(random_candidates(4000, 900, 5000, 2), 4000, 30000).check(on_cuda("select.boxes"), kExact);
  selection(random_candidates(2300, 5, 5000, 1), 2300, 100).check(on_cuda("select.boxes"), kExact);
}

TEST(CudaSelectBoxes, FollowsAChainOfOverlaps) {
  // Each overlaps the next only: the first is kept, the second suppressed, the third kept, ...
  Candidates chain = random_candidates(1100, 1, 2, 1);
  for (std::size_t i = 0; i < 1100; ++i) {
    const auto x = static_cast<float>(i) * 3;
    const std::array box = {x, 0.0F, x + 10, 10.0F};
    std::ranges::copy(box, chain.boxes.data<float>().begin() + static_cast<std::ptrdiff_t>(4 * i));
    chain.scores.data<float>()[i] = 0.5F;  // ties keep their order
    chain.classes.data<std::int32_t>()[i] = 0;
  }
  selection(chain, 1100, 1000, {1, 1, 0, 0, 4000, 20}).check(on_cuda("select.boxes"), kExact);
}

TEST(CudaSelectBoxes, RanksEqualScoresByTheirPlaceAndNoneThatIsNoNumber) {
  Candidates candidates = random_candidates(2500, 400, 2, 2);
  std::ranges::fill(candidates.scores.data<float>(), 0.5F);
  selection(candidates, 2500, 300).check(on_cuda("select.boxes"), kExact);
  selection(candidates, 2049, 2500).check(on_cuda("select.boxes"), kExact);
  std::ranges::fill(candidates.scores.data<float>().subspan(70, 2400), kNan);
  selection(candidates, 2500, 300).check(on_cuda("select.boxes"), kExact);
  std::ranges::fill(candidates.scores.data<float>(), kNan);
  selection(candidates, 2500, 300).check(on_cuda("select.boxes"), kExact);
}

TEST(CudaSelectBoxes, SuppressesNothingOnRequest) {
  const Candidates candidates = random_candidates(1500, 50, 30, 2);
  for (std::int64_t most : {10, 1200, 2000})
    selection(candidates, 1500, most).attribute("nms", std::string("none")).check(on_cuda("select.boxes"), kExact);
}

TEST(CudaSelectBoxes, KeepsDuplicatesWhereNoOverlapIsTooMuch) {
  selection(random_candidates(100, 5, 3, 1), 100, 100).attribute("iou", 1.0F).check(on_cuda("select.boxes"), kExact);
  selection(random_candidates(100, 5, 3, 1), 100, 100).attribute("iou", 0.0F).check(on_cuda("select.boxes"), kExact);
}

OpCase queries(const Tensor& boxes, const Tensor& logits, std::int64_t most, std::int64_t stretch) {
  OpCase made("SelectQueries", "saccade");
  made.input(boxes).constant(Tensor::of<bool>({3}, {true, true, true})).input(logits);
  made.input(Tensor::of<float>({6}, {0.31F, 0.29F, 1.5F, 4, 200, 100})).outputs(4);
  made.attribute("conf", 0.45F).attribute("width", std::int64_t{62}).attribute("height", std::int64_t{37});
  made.attribute("stretch", stretch).attribute("max_det", most);
  return made;
}

/// Boxes and logits of Q queries, some of them NaN.
std::pair<Tensor, Tensor> random_queries(std::int64_t count, std::int64_t classes) {
  Tensor boxes = random_elements(DType::kFloat32, {1, count, 4}, 0, 1, 5);
  Tensor logits = random_elements(DType::kFloat32, {1, count, classes}, -8, 1, 6);
  std::mt19937 random(7);
  for (std::int64_t i = 0; i < count / 8; ++i) {
    boxes.data<float>()[random() % boxes.data<float>().size()] = i % 2 == 0 ? kNan : kInfinity;
    logits.data<float>()[random() % logits.data<float>().size()] =
        std::array{kNan, kInfinity, -kInfinity}[random() % 3];
  }
  for (float& logit : logits.data<float>().first(logits.data<float>().size() / 2)) logit = std::round(logit);  // ties
  return {std::move(boxes), std::move(logits)};
}

TEST(CudaSelectQueries, FindsTheObjectsExactly) {
  const auto [boxes, logits] = random_queries(300, 3);
  for (std::int64_t stretch : {0, 1})
    for (std::int64_t most : {1, 40, 300})
      queries(boxes, logits, most, stretch).check_layouts(on_cuda("select.queries"), kExact);
}

TEST(CudaSelectQueries, RemapsClasses) {
  const auto [boxes, logits] = random_queries(1300, 40);
  std::vector<std::int64_t> remap(40, -1);
  for (std::size_t i = 0; i < 30; ++i) remap[i] = static_cast<std::int64_t>(i % 4);
  queries(boxes, logits, 100, 1)
      .attribute("remap", remap)
      .attribute("threshold", std::vector<float>{0.5F, 0.6F, 0.55F, 0.7F})
      .check(on_cuda("select.queries"), kExact);
}

TEST(CudaSelectQueries, AgreesOnEverySigmoid) {
  // One class each: the score is its sigmoid.
  Tensor logits(DType::kFloat32, {1, 8000, 1});
  for (std::size_t i = 0; i < 8000; ++i) logits.data<float>()[i] = -100 + static_cast<float>(i) * 0.025F;
  queries(random_elements(DType::kFloat32, {1, 8000, 4}, 0, 1, 5), logits, 8000, 1)
      .attribute("conf", -1.0F)
      .check(on_cuda("select.queries"), kExact);
}

OpCase classes(const Tensor& scores, std::int64_t k) {
  OpCase made("TopClasses", "saccade");
  made.input(scores).outputs(2).attribute("k", k);
  return made;
}

TEST(CudaTopClasses, SortsByScoreThenClass) {
  Tensor scores = random_elements(DType::kFloat32, {1, 1500, 1, 1}, -4, 4, 3);
  for (float& score : scores.data<float>().first(700)) score = std::round(score);
  scores.data<float>()[4] = kInfinity;
  scores.data<float>()[5] = -kInfinity;
  for (std::int64_t k : {1, 5, 40}) classes(scores, k).check_layouts(on_cuda("top.classes"), kExact);
  classes(scores, 20).attribute("conf", 3.9F).check(on_cuda("top.classes"), kExact);
}

TEST(CudaTopClasses, MakesProbabilities) {
  // float64 sums in another order: equal after rounding, with rare exceptions.
  const Tensor logits = random_elements(DType::kFloat32, {1, 1000}, -4, 9, 3);
  classes(logits, 5)
      .attribute("softmax", std::int64_t{1})
      .check(on_cuda("top.classes"), {.absolute = 0, .relative = 1e-7});
  classes(logits, 40)
      .attribute("softmax", std::int64_t{1})
      .attribute("conf", 0.005F)
      .check(on_cuda("top.classes"), {.absolute = 0, .relative = 1e-7});
}

TEST(CudaTopClasses, LeavesRowsThatNothingIsLeftFor) {
  const Tensor few = Tensor::of<float>({4}, {kNan, 0.5F, kInfinity, 0.25F});
  classes(few, 9).check(on_cuda("top.classes"), kExact);
  for (float logit : {kNan, -kInfinity})
    classes(Tensor::of<float>({2}, {logit, logit}), 2)
        .attribute("softmax", std::int64_t{1})
        .check(on_cuda("top.classes"), kExact);
}

}  // namespace
}  // namespace saccade
