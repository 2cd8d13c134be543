#include <gtest/gtest.h>

#include "ops/interpreter/interpret.hpp"
#include "support/faulty_heads.hpp"

// What is wrong with a model's numbers is reported in the result, and never silently replaces a prediction.
namespace saccade {
namespace {

/// A model run on a frame by the reference kernels; keeps what the result points to.
struct ReferenceRun {
  std::vector<Tensor> outputs;
  ResultReader reader;
  Result result;

  explicit ReferenceRun(const test::FaultyModel& model) : reader(model.card, model.attached.outputs, {}) {
    const test::BlackFrame frame(model.card);
    outputs = interpret(model.attached.graph, {{"frame", test::frame_tensor(frame.view())}});
    std::vector<TensorView> views;
    for (Tensor& output : outputs) views.push_back(view_of(output));
    reader.prepare(result);
    reader.read(views, frame.width, frame.height, result);
  }
};

TEST(ResultFaults, TellOfEveryDamageOfEveryHead) {
  test::for_faulty_models([](const test::FaultyModel& model, const std::string& what, Faults faults) {
    const ReferenceRun run(model);
    EXPECT_EQ(to_string(run.result.faults), to_string(faults)) << what;
    EXPECT_EQ(run.result.invalid(), faults.any()) << what;
  });
}

/// The prediction of the first head of DECODER, of whose first output ELEMENT is VALUE.
ReferenceRun run_damaged(const char* decoder, std::size_t element, float value) {
  for (const test::FaultyHead& head : test::faulty_heads()) {
    if (std::string_view(head.decoder) != decoder) continue;
    return ReferenceRun(test::FaultyModel(head, test::with_damage(head, 0, element, value)));
  }
  throw std::invalid_argument(decoder);
}

TEST(ResultFaults, AClassifierWithANanHasNoClass) {
  EXPECT_EQ(run_damaged("classify", 2, -1).result.classes.size(), 3U);
  EXPECT_TRUE(run_damaged("classify", 2, kNan).result.classes.empty());
}

TEST(ResultFaults, ACellWithANanHasNoClass) {
  const ReferenceRun run = run_damaged("semantic", 100, kNan);  // the second class of row 4, column 4
  EXPECT_EQ(run.result.class_map.at(8, 8), -1);
  EXPECT_EQ(run.result.class_map.at(9, 9), -1);
  EXPECT_GE(run.result.class_map.at(10, 8), 0);
  std::int64_t pixels = 0;
  for (const Segment& segment : run.result.segments) pixels += segment.pixels;
  EXPECT_EQ(pixels, 256 - 4);
}

TEST(ResultFaults, DepthIsSummedUpOverWhatIsANumber) {
  const ReferenceRun part = run_damaged("depth", 0, kNan);
  EXPECT_EQ(part.result.depth.min, 0);  // there are two of them
  EXPECT_FLOAT_EQ(part.result.depth.max, 31.0F / 80);
  EXPECT_TRUE(std::isfinite(part.result.depth.mean));
  test::FaultyHead head = test::heads_of_images()[4];
  std::ranges::fill(head.outputs[0].second.data<float>(), kNan);
  const ReferenceRun none{test::FaultyModel(head, head.outputs)};
  EXPECT_TRUE(none.result.invalid());
  EXPECT_TRUE(std::isnan(none.result.depth.min));
  EXPECT_TRUE(std::isnan(none.result.depth.max));
  EXPECT_TRUE(std::isnan(none.result.depth.mean));
}

TEST(ResultFaults, AMetricDepthMayBeInfinite) {
  for (const test::FaultyHead& head : test::heads_of_images()) {
    if (std::string_view(head.decoder) != "depth") continue;
    const ReferenceRun run{test::FaultyModel(head, test::with_damage(head, 0, 0, kInfinity))};
    EXPECT_EQ(run.result.invalid(), run.result.depth.kind != DepthKind::kMetric);
  }
}

TEST(ResultFaults, GoWithTheFrameThatHadThem) {
  const test::FaultyHead head = test::heads_of_boxes().front();
  const test::FaultyModel model(head, head.outputs);
  ReferenceRun run(model);
  std::vector<TensorView> views;
  for (Tensor& output : run.outputs) views.push_back(view_of(output));
  run.result.faults.add(Fault::kNanBox);
  run.reader.read(views, 16, 16, run.result);
  EXPECT_FALSE(run.result.invalid());
}

TEST(ResultFaults, AreNamed) {
  for (std::size_t i = 0; i < kFaults; ++i) EXPECT_FALSE(to_string(static_cast<Fault>(i)).empty()) << i;
  Faults faults;
  EXPECT_EQ(to_string(faults), "");
  faults.add(Fault::kNegativeSize);
  faults.add(Fault::kNanConfidence);
  EXPECT_EQ(to_string(faults), "a NaN among the confidences, a box of negative size");
}

}  // namespace
}  // namespace saccade
