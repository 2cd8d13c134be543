#include <cstring>

#include "op_case/mask_op.hpp"
#include "runtime/cuda_backend.hpp"
#include "support/graph_builder.hpp"

// What the kernels of masks on the device have of their own; tests/operators/masks_test.cpp has the rest.
namespace saccade {
namespace {

using test::mask_attributes;
using test::mask_grids;
using test::MaskCase;

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
  test::mask_op({.grids = mask_grids({2, 3, 5}, 6),
                 .count = 2,
                 .width = 3000,
                 .height = 150,
                 .attributes = mask_attributes(20, 12)})
      .check(on_cuda("masks"), kExact);
}

}  // namespace
}  // namespace saccade
