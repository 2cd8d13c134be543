#include "onnx/opsets.hpp"

#include <algorithm>
#include <array>

#include "base/error.hpp"

namespace saccade {
namespace {

struct Change {
  std::string_view op;
  std::int64_t version;
};

// The operators that changed up to kOldestOpset, and the version in which each last changed. All other operators of
// those versions are unchanged.
// operator list: history of the format.
constexpr std::array kChanges = {
    Change{"Abs", 6},
    Change{"Add", 7},
    Change{"And", 7},
    Change{"AveragePool", 7},
    Change{"BatchNormalization", 7},
    Change{"Cast", 6},
    Change{"Ceil", 6},
    Change{"Clip", 6},
    Change{"Concat", 4},
    Change{"Div", 7},
    Change{"Dropout", 7},
    Change{"Elu", 6},
    Change{"Equal", 7},
    Change{"Exp", 6},
    Change{"Floor", 6},
    Change{"Gemm", 7},
    Change{"GlobalLpPool", 2},
    Change{"Greater", 7},
    Change{"HardSigmoid", 6},
    Change{"InstanceNormalization", 6},
    Change{"LeakyRelu", 6},
    Change{"Less", 7},
    Change{"Log", 6},
    Change{"LpPool", 2},
    Change{"Max", 6},
    Change{"Mean", 6},
    Change{"Min", 6},
    Change{"Mul", 7},
    Change{"Neg", 6},
    Change{"Or", 7},
    Change{"PRelu", 7},
    Change{"Pad", 2},
    Change{"Pow", 7},
    Change{"Reciprocal", 6},
    Change{"Relu", 6},
    Change{"Reshape", 5},
    Change{"Selu", 6},
    Change{"Sigmoid", 6},
    Change{"Split", 2},
    Change{"Sqrt", 6},
    Change{"Sub", 7},
    Change{"Sum", 6},
    Change{"Tanh", 6},
    Change{"Tile", 6},
    Change{"Upsample", 7},
    Change{"Xor", 7},
};
static_assert(std::ranges::is_sorted(kChanges, {}, &Change::op));

}  // namespace

std::string normal_domain(const std::string& domain) { return domain == "ai.onnx" ? "" : domain; }

void check_opset(std::string_view op, std::int64_t version) {
  if (version >= kOldestOpset) return;
  const auto* found = std::ranges::lower_bound(kChanges, op, {}, &Change::op);
  if (found == kChanges.end() || found->op != op || version >= found->version) return;
  fail(ErrorCode::kUnsupported,
       "operator set {} is older than {}, the oldest that is supported; export the model again or convert it: "
       "onnx.version_converter.convert_version(model, 17)",
       version, kOldestOpset);
}

}  // namespace saccade
