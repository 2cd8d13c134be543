#include <cmath>
#include <limits>

#include "op_case/every_backend.hpp"
#include "op_case/mask_op.hpp"
#include "support/specials.hpp"

// Masks equal those of the reference kernels exactly.
namespace saccade {
namespace {

using test::mask_attributes;
using test::mask_boxes;
using test::mask_grids;
using test::mask_op;
using test::MaskCase;

SACCADE_EVERY_BACKEND(Masks);
SACCADE_EVERY_BACKEND(BoxMasks);

constexpr Tactics kTrace{.cpu = "vector.trace_masks", .cuda = "masks"};
constexpr Tactics kWeigh{.cpu = "vector.box_masks", .cuda = "predictions"};
const Tensor kGeometry = Tensor::of<float>({6}, {0.517F, 0.263F, 4.25F, 6.5F, 100, 80});

TEST_P(Masks, AreThoseOfTheReferenceInEveryFraming) {
  struct Framing {
    int width;
    int height;
    const char* resize;
    std::vector<std::int64_t> region;
    std::int64_t resize_to = 0;
  };
  const std::vector<Framing> framings = {{41, 30, "stretch", {}},
                                         {64, 33, "letterbox", {}},
                                         {33, 70, "letterbox-topleft", {}},
                                         {50, 31, "resize-crop", {}},
                                         {31, 50, "resize-crop", {5, 7, 20, 99}},
                                         {80, 1, "letterbox", {3, 0, 40, 1}},
                                         {1, 40, "letterbox", {}},
                                         {70, 129, "stretch", {6, 11, 57, 101}},
                                         {50, 31, "resize-crop-floor", {}, 41},
                                         {31, 50, "resize-crop", {}, 41},
                                         {50, 31, "resize-crop-floor", {}, 21},
                                         {31, 50, "resize-crop", {}, 21}};
  for (const std::string within : {"image", "boxes", "regions"})
    for (const Framing& framing : framings) {
      SCOPED_TRACE(within + " " + framing.resize + " " + std::to_string(framing.width));
      MaskCase made{.grids = mask_grids({4, 7, 9}, 3),
                    .count = 3,
                    .width = framing.width,
                    .height = framing.height,
                    .attributes = mask_attributes(36, 28, within, framing.resize, framing.region, framing.resize_to)};
      if (within != "image") made.boxes = mask_boxes(4, made.width, made.height, 4);
      mask_op(made).check(by(kTrace), kExact);
    }
}

TEST_P(Masks, AreOfTheObjectsThatAreThere) {
  MaskCase made{.grids = mask_grids({5, 6, 8}, 9), .width = 67, .height = 45, .attributes = mask_attributes(32, 24)};
  for (std::int32_t count : {0, 1, 5, -2, 77}) {
    made.count = count;
    mask_op(made).check(by(kTrace), kExact);
  }
}

TEST_P(Masks, AreEmptyFullOrStripes) {
  for (const int width : {1, 31, 32, 33, 63, 64, 1030})
    for (const float rest : {1.0F, -1.0F}) {
      std::vector<float> cells(3 * 2 * 16, rest);
      for (std::size_t i = 32; i < 64; i += 2) cells[i] = -rest;  // columns of the second object
      mask_op({.grids = Tensor::of<float>({3, 2, 16}, std::span<const float>(cells)),
               .count = 3,
               .width = width,
               .height = 37,
               .attributes = mask_attributes(64, 8)})
          .check(by(kTrace), kExact);
    }
}

TEST_P(Masks, KeepTheSignOfWhatIsTinyHugeOrNoNumber) {
  constexpr float kTiny = std::numeric_limits<float>::denorm_min();
  constexpr float kHuge = std::numeric_limits<float>::max();
  std::vector<float> cells;
  for (const float a : {kInfinity, kTiny, kHuge, NAN, 0.0F, -kInfinity, -kHuge, 1.0F})
    for (const float b : {kTiny, kInfinity, kHuge, -0.0F, -1.0F, NAN, -kTiny, 1e-40F})
      cells.push_back(a), cells.push_back(b);
  mask_op({.grids = Tensor::of<float>({2, 8, 8}, std::span<const float>(cells)),
           .count = 2,
           .width = 50,
           .height = 41,
           .attributes = mask_attributes(8, 8)})
      .check(by(kTrace), kExact);
}

TEST_P(Masks, EndInBoxesThatAreAny) {
  for (const std::string within : {"boxes", "regions"})
    mask_op({.grids = mask_grids({5, 6, 8}, 2),
             .count = 5,
             .width = 67,
             .height = 45,
             .attributes = mask_attributes(32, 24, within),
             .boxes = Tensor::of<float>(
                 {5, 6}, {-kInfinity, -1e30F, kInfinity, 1e30F, 1,  0,  NAN, 0, 60, 40,    1, 0,     0,  0, 60,
                          NAN,        1,      0,         40,    30, 20, 10,  1, 0,  12.5F, 7, 12.5F, 40, 1, 0})})
        .check(by(kTrace), kExact);
}

TEST_P(Masks, AreLeftToTheGridsWhereThereIsNoRoom) {
  std::vector<float> stripes(2 * 256, -1.0F);
  for (std::size_t i = 0; i < stripes.size(); i += 2) stripes[i] = 1;
  MaskCase made{.grids = Tensor::of<float>({2, 1, 256}, std::span<const float>(stripes)),
                .count = 2,
                .width = 512,
                .height = 2048,
                .attributes = mask_attributes(256, 1)};
  ASSERT_EQ(made.run()[2].data<std::int32_t>()[0], 524288);
  mask_op(made).check(by(kTrace), kExact);
  made.height = 2049;
  ASSERT_EQ(made.run()[3].data<std::int32_t>()[0], 2);
  mask_op(made).check(by(kTrace), kExact);
}

TEST(VectorTraceMasks, RunsTwiceAtOnceWithTwoThreadsEach) {
  mask_op({.grids = mask_grids({5, 60, 80}, 9),
           .count = 5,
           .width = 670,
           .height = 450,
           .attributes = mask_attributes(320, 240)})
      .check_two_threads(on_cpu(kTrace.cpu), Layout::kRowMajor, kExact);
}

TEST_P(Masks, LieInAnyLayout) {
  mask_op(
      {.grids = mask_grids({5, 6, 8}, 9), .count = 5, .width = 67, .height = 45, .attributes = mask_attributes(32, 24)})
      .check_layouts(by("", "masks"), kExact);
}

/// Masks of N objects whose boxes are ROWS of six numbers.
OpCase masks(const std::vector<float>& rows, std::int32_t count) {
  const auto objects = static_cast<std::int64_t>(rows.size() / 6);
  OpCase made("BoxMasks", "saccade");
  made.input({objects, 8}).input({1, 8, 10, 13}).input(Tensor::of<float>({objects, 6}, std::span(rows)));
  made.input(Tensor::of<std::int32_t>({1}, {count})).input(kGeometry);
  made.attribute("width", std::int64_t{52}).attribute("height", std::int64_t{40});
  made.defined(0, static_cast<std::size_t>(std::clamp<std::int64_t>(count, 0, objects)) * 130);
  return made;
}

TEST_P(BoxMasks, SumThePrototypesInTheCellsOfABox) {
  const std::vector<float> rows = {10, 5, 60, 70, 0.9F, 0, 0, 0, 100, 80, 0.8F, 1, 30, 30, 31, 31, 0.7F, 2};
  for (std::int32_t count : {3, 1, 0, 7}) {
    masks(rows, count).check(by(kWeigh), kExact);
    masks(rows, count).check_layouts(by("", kWeigh.cuda), kExact);
  }
}

TEST_P(BoxMasks, SumAnyBox) {
  masks({kNan, kNan, kNan, kNan, 1, 0, kInfinity, 0, -kInfinity, 8, 1, 0, -kInfinity, -1e30F, kInfinity, 1e30F, 1, 0},
        3)
      .check(by(kWeigh), kExact);
}

}  // namespace
}  // namespace saccade
