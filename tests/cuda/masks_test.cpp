#include <cmath>
#include <cstring>
#include <limits>

#include "op_case/op_case.hpp"
#include "runtime/cuda_backend.hpp"
#include "support/graph_builder.hpp"
#include "support/mask_case.hpp"
#include "support/specials.hpp"

// Mask runs on the device equal those of the reference kernel exactly.
namespace saccade {
namespace {

using test::mask_attributes;
using test::mask_boxes;
using test::mask_grids;
using test::MaskCase;

void check(const MaskCase& made, bool layouts = false) {
  const std::vector<Tensor> wanted = made.run();
  const bool is_traced = wanted[3].data<std::int32_t>()[0] == 0;
  OpCase on_device("TraceMasks", "saccade");
  for (Tensor& input : made.inputs()) {
    if (input.empty())
      on_device.absent();
    else
      on_device.input(std::move(input));
  }
  for (const auto& [name, value] : made.attributes) on_device.attribute(name, value);
  const auto objects = static_cast<std::size_t>(std::clamp<std::int64_t>(made.count, 0, made.grids.shape()[0]));
  on_device.outputs(5)
      .defined(0, static_cast<std::size_t>(3 * wanted[2].data<std::int32_t>()[0]))
      .defined(1, is_traced ? 2 * objects : 0);
  layouts ? on_device.check_layouts(on_cuda("masks"), kExact) : on_device.check(on_cuda("masks"), kExact);
}

TEST(CudaMasks, AreThoseOfTheReferenceInEveryFraming) {
  struct Framing {
    int width;
    int height;
    const char* resize;
    std::vector<std::int64_t> region;
  };
  const std::vector<Framing> framings = {{41, 30, "stretch", {}},
                                         {64, 33, "letterbox", {}},
                                         {33, 70, "letterbox-topleft", {}},
                                         {50, 31, "resize-crop", {}},
                                         {31, 50, "resize-crop", {5, 7, 20, 99}},
                                         {80, 1, "letterbox", {3, 0, 40, 1}},
                                         {1, 40, "letterbox", {}},
                                         {70, 129, "stretch", {6, 11, 57, 101}}};
  for (const std::string within : {"image", "boxes", "regions"})
    for (const Framing& framing : framings) {
      SCOPED_TRACE(within + " " + framing.resize + " " + std::to_string(framing.width));
      MaskCase made{.grids = mask_grids({4, 7, 9}, 3),
                    .count = 3,
                    .width = framing.width,
                    .height = framing.height,
                    .attributes = mask_attributes(36, 28, within, framing.resize, framing.region)};
      if (within != "image") made.boxes = mask_boxes(4, made.width, made.height, 4);
      check(made);
    }
}

TEST(CudaMasks, AreOfTheObjectsThatAreThere) {
  MaskCase made{.grids = mask_grids({5, 6, 8}, 9), .width = 67, .height = 45, .attributes = mask_attributes(32, 24)};
  for (std::int32_t count : {0, 1, 5, -2, 77}) {
    made.count = count;
    check(made, count == 5);
  }
}

TEST(CudaMasks, AreEmptyFullOrStripes) {
  for (const int width : {1, 31, 32, 33, 63, 64, 1030})
    for (const float rest : {1.0F, -1.0F}) {
      std::vector<float> cells(3 * 2 * 16, rest);
      for (std::size_t i = 32; i < 64; i += 2) cells[i] = -rest;  // columns of the second object
      check({.grids = Tensor::of<float>({3, 2, 16}, std::span<const float>(cells)),
             .count = 3,
             .width = width,
             .height = 37,
             .attributes = mask_attributes(64, 8)});
    }
}

TEST(CudaMasks, KeepTheSignOfWhatIsTinyHugeOrNoNumber) {
  constexpr float kTiny = std::numeric_limits<float>::denorm_min();
  constexpr float kHuge = std::numeric_limits<float>::max();
  std::vector<float> cells;
  for (const float a : {kInfinity, kTiny, kHuge, NAN, 0.0F, -kInfinity, -kHuge, 1.0F})
    for (const float b : {kTiny, kInfinity, kHuge, -0.0F, -1.0F, NAN, -kTiny, 1e-40F})
      cells.push_back(a), cells.push_back(b);
  check({.grids = Tensor::of<float>({2, 8, 8}, std::span<const float>(cells)),
         .count = 2,
         .width = 50,
         .height = 41,
         .attributes = mask_attributes(8, 8)});
}

TEST(CudaMasks, EndInBoxesThatAreAny) {
  for (const std::string within : {"boxes", "regions"})
    check({.grids = mask_grids({5, 6, 8}, 2),
           .count = 5,
           .width = 67,
           .height = 45,
           .attributes = mask_attributes(32, 24, within),
           .boxes = Tensor::of<float>(
               {5, 6}, {-kInfinity, -1e30F, kInfinity, 1e30F, 1,  0,  NAN, 0, 60, 40,    1, 0,     0,  0, 60,
                        NAN,        1,      0,         40,    30, 20, 10,  1, 0,  12.5F, 7, 12.5F, 40, 1, 0})});
}

TEST(CudaMasks, AreLeftToTheGridsWhereThereIsNoRoom) {
  std::vector<float> stripes(2 * 256, -1.0F);
  for (std::size_t i = 0; i < stripes.size(); i += 2) stripes[i] = 1;
  MaskCase made{.grids = Tensor::of<float>({2, 1, 256}, std::span<const float>(stripes)),
                .count = 2,
                .width = 512,
                .height = 2048,
                .attributes = mask_attributes(256, 1)};
  ASSERT_EQ(made.run()[2].data<std::int32_t>()[0], 524288);
  check(made);
  made.height = 2049;
  ASSERT_EQ(made.run()[3].data<std::int32_t>()[0], 2);
  check(made);
}

/// The reference supports rows of any length.
TEST(CudaMasks, AreLeftToTheGridsWhereARowIsTooLong) {
  const MaskCase made{.grids = mask_grids({2, 3, 5}, 6),
                      .count = 2,
                      .width = 70000,
                      .height = 2,
                      .attributes = mask_attributes(20, 12)};
  const std::vector<Tensor> inputs = made.inputs();
  test::GraphBuilder b;
  const std::vector<ValueId> ids = {b.input("grids", inputs[0].shape()), b.input("count", {1}, DType::kInt32),
                                    ValueId::kNone, b.input("geometry", {6})};
  const auto outputs = b.multi("saccade.TraceMasks", ids, 5, made.attributes);
  Execution execution(Plan::compile(b.build(outputs), cuda_backend({}), {}));
  std::size_t next = 0;
  for (const std::size_t i : {0, 1, 3}) std::memcpy(execution.input(next++).data, inputs[i].raw(), inputs[i].bytes());
  execution.run();
  EXPECT_EQ(execution.output(2).as<std::int32_t>()[0], 0);
  EXPECT_EQ(execution.output(3).as<std::int32_t>()[0], 2) << "objects that were not traced";
}

TEST(CudaMasks, AreHeldInFewRowsWhereTheseAreLong) {
  check({.grids = mask_grids({2, 3, 5}, 6),
         .count = 2,
         .width = 3000,
         .height = 150,
         .attributes = mask_attributes(20, 12)});
}

}  // namespace
}  // namespace saccade
