#include <gmock/gmock.h>

#include <memory>
#include <string>

#include "base/error.hpp"
#include "saccade/tensor.hpp"

namespace saccade {
namespace {

TEST(TensorSharing, KeepsTheElementsAlive) {
  auto owner = std::make_shared<Tensor>(Tensor::of<float>({4}, {1, 2, 3, 4}));
  const std::weak_ptr<Tensor> watched = owner;
  Tensor view = Tensor::sharing(DType::kFloat32, {2}, {owner, owner->raw()});
  EXPECT_EQ(view.raw(), owner->raw());
  owner.reset();
  EXPECT_THAT(view.data<float>(), testing::ElementsAre(1, 2));
  EXPECT_FALSE(watched.expired());
  view = {};
  EXPECT_TRUE(watched.expired());
}

TEST(TensorSharing, RefusesWhatKernelsCannotRead) {
  const auto owner = std::make_shared<Tensor>(Tensor(DType::kFloat32, {64}));
  EXPECT_THROW(Tensor::sharing(DType::kFloat32, {1}, {owner, owner->raw() + 4}), Error);
  EXPECT_THROW(Tensor::sharing(DType::kFloat32, {1}, nullptr), Error);
  EXPECT_THROW(Tensor::sharing(DType::kString, {1}, {owner, owner->raw()}), Error);
  EXPECT_THROW(Tensor::sharing(DType::kFloat32, {-1}, {owner, owner->raw()}), Error);
}

}  // namespace
}  // namespace saccade
