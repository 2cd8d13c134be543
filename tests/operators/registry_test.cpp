#include <algorithm>
#include <random>

#include "op_case/every_backend.hpp"
#include "op_case/op_samples.hpp"
#include "support/specials.hpp"

// Every element-wise operator of the table on every backend, with random shapes, NaN, infinities and numbers beyond
// exponentials' ranges. A new operator is covered by its row.
namespace saccade {
namespace {

struct OpOnBackend {
  const Op* op;
  TestedBackend backend;
};

void PrintTo(const OpOnBackend& param, std::ostream* stream) {
  *stream << samples::key_of(*param.op) << " on " << to_string(param.backend);
}

std::vector<OpOnBackend> elementwise_ops() {
  std::vector<OpOnBackend> params;
  for (const Op* op : all_ops())
    for (const TestedBackend backend : {TestedBackend::kReference, TestedBackend::kCpu, TestedBackend::kCuda})
      if (op->traits.is_elementwise()) params.push_back({op, backend});
  return params;
}

std::string param_name(const testing::TestParamInfo<OpOnBackend>& info) {
  std::string name = samples::key_of(*info.param.op) + "_" + std::string(to_string(info.param.backend));
  std::ranges::replace(name, '.', '_');
  return name;
}

class ElementwiseOps : public testing::TestWithParam<OpOnBackend> {
 protected:
  void SetUp() override {
    if (is_on(TestedBackend::kCuda)) skip_without_cuda();
  }
  static bool is_on(TestedBackend backend) { return GetParam().backend == backend; }
  static const Op& op() { return *GetParam().op; }
  static On on() { return {GetParam().backend}; }

  /// The operator on operands of SHAPE.
  static OpCase made(const Shape& shape, unsigned seed, bool special = false) {
    std::optional<OpCall> call = samples::sample_of(op(), shape, seed);
    if (!call) throw Error(ErrorCode::kInternal, "nothing that the operator takes");
    for (std::size_t i = 0; special && i < call->inputs.size(); ++i)
      if (call->inputs[i].dtype() == DType::kFloat32) call->inputs[i] = with_specials(call->inputs[i], 2 + i, i);
    return OpCase(*call);
  }
  /// Has no kernel on CUDA. An expression would see a half widened to float, without the bits of its NaN.
  static bool runs_on_the_host() { return op().name == "BitCast"; }
  static Shape random_shape(int rank) {
    std::mt19937 random(static_cast<unsigned>(rank) + static_cast<unsigned>(op().name.size()));
    Shape shape;
    for (int i = 0; i < rank; ++i) shape.push_back(2 + static_cast<std::int64_t>(random() % (rank == 1 ? 200 : 6)));
    return shape;
  }
};

TEST_P(ElementwiseOps, AgreeWithTheReference) {
  made(random_shape(4), 1).check_layouts(on());
  made(random_shape(1), 2, true).check(on(), {1e-5, 2e-5});
  if (is_on(TestedBackend::kCuda)) {
    EXPECT_EQ(made({5}, 4).preferred_tactic(TestedBackend::kCuda) == "host", runs_on_the_host());
  }
  if (op().traits.float_inputs == 0 || is_on(TestedBackend::kCpu)) return;
  for (const DType dtype : {DType::kFloat16, DType::kBFloat16})
    made({37}, 3).in(dtype).check(on(), tolerance_in(dtype));
}

INSTANTIATE_TEST_SUITE_P(Table, ElementwiseOps, testing::ValuesIn(elementwise_ops()), param_name);

}  // namespace
}  // namespace saccade
