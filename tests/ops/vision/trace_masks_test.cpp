#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/mask_case.hpp"
#include "support/specials.hpp"

namespace saccade {
namespace {

using test::elements;
using test::mask_attributes;
using test::mask_boxes;
using test::mask_grids;
using test::MaskCase;
using testing::HasSubstr;
using Words = std::vector<std::int32_t>;

/// The runs in use.
Words runs_of(const std::vector<Tensor>& outputs) {
  Words runs = elements<std::int32_t>(outputs[0]);
  runs.resize(static_cast<std::size_t>(3 * outputs[2].data<std::int32_t>()[0]));
  return runs;
}

/// Two objects on 2x2 cells of 4x4 pixels: the left half, and the upper left corner.
MaskCase two_objects() {
  return {.grids = Tensor::of<float>({2, 2, 2}, {1, -1, 1, -1, 1, -1, -1, -1}),
          .count = 2,
          .width = 4,
          .height = 4,
          .attributes = mask_attributes(4, 4)};
}

TEST(TraceMasks, RunsComeByObjectsAndRows) {
  const auto out = two_objects().run();
  EXPECT_EQ(runs_of(out), (Words{0, 0, 2, 1, 0, 2, 2, 0, 2, 3, 0, 2, 0, 0, 2, 1, 0, 2}));
  EXPECT_EQ(elements<std::int32_t>(out[1]), (Words{4, 8, 2, 4}));
  EXPECT_EQ(elements<std::int32_t>(out[3]), Words{0});
}

TEST(TraceMasks, TracesAsManyAsThereAre) {
  MaskCase made = two_objects();
  for (const auto& [count, runs] : {std::pair(1, 4), {0, 0}, {-3, 0}, {9, 6}}) {
    made.count = count;
    EXPECT_EQ(made.run()[2].data<std::int32_t>()[0], runs) << count;
  }
}

TEST(TraceMasks, BoxesAreWhereMasksEnd) {
  MaskCase made = two_objects();
  made.attributes = mask_attributes(4, 4, "boxes");
  made.boxes = Tensor::of<float>({2, 6}, {1, 2, 9, 9, 1, 0, 0, 0, 4, kNan, 1, 0});
  const auto out = made.run();
  EXPECT_EQ(runs_of(out), (Words{2, 1, 2, 3, 1, 2}));
  EXPECT_EQ(elements<std::int32_t>(out[1]), (Words{2, 2, 0, 0}));
}

TEST(TraceMasks, ReportsNanInSampledCells) {
  const auto is_reported = [](MaskCase made, std::size_t cell, float value) {
    made.grids.data<float>()[cell] = value;
    return test::faults_in(made.run()[4]) != 0;
  };
  const MaskCase made = two_objects();
  EXPECT_FALSE(is_reported(made, 0, 5));
  for (std::size_t cell : {0, 7}) {
    EXPECT_TRUE(is_reported(made, cell, kNan)) << cell;
    EXPECT_TRUE(is_reported(made, cell, kInfinity)) << cell;
    EXPECT_FALSE(is_reported(made, cell, -kInfinity)) << "certainly outside";
  }
  MaskCase first = made;
  first.count = 1;
  EXPECT_FALSE(is_reported(first, 7, kNan)) << "of an object that is not there";
  MaskCase boxed = made;
  boxed.attributes = mask_attributes(4, 4, "boxes");
  boxed.boxes = Tensor::of<float>({2, 6}, {0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1, 0});
  EXPECT_FALSE(is_reported(boxed, 3, kNan)) << "outside of the box";
}

TEST(TraceMasks, RegionsLieOnTheirBoxes) {
  MaskCase made = two_objects();
  made.count = 1;
  made.width = made.height = 8;
  made.grids = Tensor::of<float>({2, 2, 2}, {0.9F, 0.4F, 0.9F, 0.4F, 0, 0, 0, 0});
  made.attributes = mask_attributes(4, 4, "regions");
  made.boxes = Tensor::of<float>({2, 6}, {2, 2, 6, 4, 1, 0, 0, 0, 0, 0, 0, 0});
  // 0.9, 0.775, 0.525 and 0.4 across the box.
  EXPECT_EQ(runs_of(made.run()), (Words{2, 2, 5, 3, 2, 5}));
}

/// A frame's size and its position in the model's image.
struct Framing {
  int width;
  int height;
  const char* resize;
  std::vector<std::int64_t> region;
};
const std::vector<Framing> kFramings = {{41, 30, "stretch", {}},
                                        {64, 33, "letterbox", {}},
                                        {33, 70, "letterbox-topleft", {}},
                                        {50, 31, "resize-crop", {}},
                                        {31, 50, "resize-crop", {5, 7, 20, 99}},
                                        {80, 2, "letterbox", {3, 0, 40, 2}}};

TEST(TraceMasks, AgreesWithTheTracer) {
  for (const std::string within : {"image", "boxes", "regions"})
    for (const Framing& framing : kFramings) {
      SCOPED_TRACE(within + " " + framing.resize);
      MaskCase made{.grids = mask_grids({5, 7, 9}, 3),
                    .count = 5,
                    .width = framing.width,
                    .height = framing.height,
                    .attributes = mask_attributes(36, 28, within, framing.resize, framing.region)};
      if (within != "image") made.boxes = mask_boxes(5, made.width, made.height, 4);
      const auto kind = static_cast<MaskWithin>(std::ranges::find(kMaskWithinNames, within) - kMaskWithinNames.begin());
      const GridPlace whole = grid_place(made.spec(), place(made.spec(), made.width, made.height), 9, 7);
      MaskTracer tracer;
      std::vector<MaskRun> wanted;
      Words numbers;
      for (std::size_t i = 0; i < 5; ++i) {
        std::array<float, 4> box{};
        if (within != "image") std::copy_n(&made.boxes.data<float>()[6 * i], 4, box.begin());
        const MaskLook look = mask_look(kind, whole, box);
        const std::size_t before = wanted.size();
        const auto area =
            tracer.trace(look.place, made.grids.data<float>().subspan(63 * i, 63), look.within, look.threshold, wanted);
        numbers.push_back(static_cast<std::int32_t>(wanted.size() - before));
        numbers.push_back(static_cast<std::int32_t>(area));
      }
      ASSERT_FALSE(wanted.empty());
      const auto out = made.run();
      Words flat;
      for (const MaskRun& run : wanted) flat.insert(flat.end(), {run.y, run.x1, run.x2});
      EXPECT_EQ(runs_of(out), flat);
      EXPECT_EQ(elements<std::int32_t>(out[1]), numbers);
    }
}

TEST(TraceMasks, LeavesTheGridsToTheReaderIfRunsExceedTheCapacity) {
  std::vector<float> stripes(256, -1.0F);
  for (std::size_t i = 0; i < stripes.size(); i += 2) stripes[i] = 1;
  MaskCase made{.grids = Tensor::of<float>({1, 1, 256}, std::span<const float>(stripes)),
                .count = 1,
                .width = 512,
                .height = 4096,
                .attributes = mask_attributes(256, 1)};
  EXPECT_EQ(made.run()[2].data<std::int32_t>()[0], 128 * 4096) << "all that there is room for";
  EXPECT_EQ(made.run()[3].data<std::int32_t>()[0], 0);
  made.height = 4097;
  EXPECT_EQ(made.run()[2].data<std::int32_t>()[0], 0);
  EXPECT_EQ(made.run()[3].data<std::int32_t>()[0], 1);
}

/// The shape rule's error.
std::string refusal(const MaskCase& made, std::size_t place, const Tensor& wrong) {
  std::vector<Tensor> inputs = made.inputs();
  inputs[place] = wrong;
  try {
    test::run_saccade_op("TraceMasks", inputs, 5, made.attributes);
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing";
}

TEST(TraceMasks, RefusesWhatDoesNotBelongTogether) {
  MaskCase made = two_objects();
  made.attributes = mask_attributes(4, 4, "boxes");
  made.boxes = mask_boxes(2, 4, 4, 1);
  EXPECT_EQ(refusal(made, 2, mask_boxes(3, 4, 4, 1)), "nothing");
  EXPECT_THAT(refusal(made, 0, mask_boxes(2, 4, 4, 1)), HasSubstr("the grids are"));
  EXPECT_THAT(refusal(made, 1, mask_boxes(1, 4, 4, 1)), HasSubstr("count and geometry are"));
  EXPECT_THAT(refusal(made, 2, mask_boxes(1, 4, 4, 1)), HasSubstr("the detections are"));
  EXPECT_THAT(refusal(made, 3, mask_boxes(1, 4, 4, 1)), HasSubstr("count and geometry are"));
  made.attributes = mask_attributes(4, 4, "somewhere");
  EXPECT_THAT(refusal(made, 2, made.boxes), HasSubstr("not 'somewhere'"));
  const MaskCase whole = two_objects();
  test::expect_all_outputs_required("TraceMasks", whole.inputs(), 5, whole.attributes);
}

}  // namespace
}  // namespace saccade
