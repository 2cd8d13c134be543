#include "runtime/packed_constants.hpp"

#include <gmock/gmock.h>

namespace saccade {
namespace {

using testing::ElementsAre;

/// A tensor of three floats from PACKED, which counts in CALLS that it had to be made.
Tensor get(PackedConstants& packed, const std::string& key, int& calls) {
  return packed.get(key, DType::kFloat32, 3, [&](Tensor& tensor) {
    ++calls;
    std::ranges::fill(tensor.data<float>(), 5.0F);
  });
}

TEST(PackedConstants, AreKeptOnlyIfRecorded) {
  PackedConstants packed;
  int calls = 0;
  EXPECT_THAT(get(packed, "a", calls).data<float>(), ElementsAre(5, 5, 5));
  get(packed, "a", calls);
  EXPECT_EQ(calls, 2);
  EXPECT_TRUE(packed.tensors().empty());
  packed.record();
  get(packed, "a", calls);
  get(packed, "a", calls);
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(packed.tensors().size(), 1U);
}

TEST(PackedConstants, OfAFileAreTakenIfTheyFit) {
  PackedConstants packed;
  packed.store({{"fits", Tensor::of<float>({3}, {1, 2, 3})},
                {"short", Tensor::of<float>({2}, {1, 2})},
                {"matrix", Tensor::of<float>({3, 1}, {1, 2, 3})},
                {"integers", Tensor::of<std::int32_t>({3}, {1, 2, 3})}});
  int calls = 0;
  EXPECT_THAT(get(packed, "fits", calls).data<float>(), ElementsAre(1, 2, 3));
  EXPECT_EQ(calls, 0);
  for (const char* other : {"short", "matrix", "integers", "absent"})
    EXPECT_THAT(get(packed, other, calls).data<float>(), ElementsAre(5, 5, 5)) << other;
  EXPECT_EQ(calls, 4);
}

TEST(PackedConstants, HaveKeysOfElementsTypeShapeAndLayout) {
  const Tensor source = Tensor::of<float>({2, 2}, {1, 2, 3, 4});
  const std::string key = packed_key(source, "panels of 16");
  EXPECT_EQ(packed_key(source.clone(), "panels of 16"), key);
  EXPECT_NE(packed_key(source, "panels of 8"), key);
  EXPECT_NE(packed_key(source.reshaped({4, 1}), "panels of 16"), key);
  EXPECT_NE(packed_key(Tensor::of<float>({2, 2}, {1, 2, 3, 5}), "panels of 16"), key);
  EXPECT_NE(packed_key(Tensor::of<std::int32_t>({2, 2}, {1, 2, 3, 4}), "panels of 16"), key);
}

}  // namespace
}  // namespace saccade
