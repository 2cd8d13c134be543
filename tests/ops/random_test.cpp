#include "ops/op_values.hpp"

namespace saccade {
namespace {

TEST(Random, IsRefusedWithTheReason) {
  for (const char* op :
       {"Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"}) {
    OpCall call{.op = op};
    if (traits_of(Node{.op = op}).arity.most > 0) call.inputs = {Tensor::scalar(0.5F)};
    const auto error = call.error();
    EXPECT_EQ(error.first, ErrorCode::kUnsupported) << op;
    EXPECT_NE(error.second.find("generates random numbers"), std::string::npos) << error.second;
  }
}

}  // namespace
}  // namespace saccade
