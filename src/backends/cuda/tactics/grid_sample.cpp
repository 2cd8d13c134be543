#include "cuda/codegen/element_tactic.hpp"
#include "cuda/tactics/tactics.hpp"
#include "ops/core/dispatch.hpp"

// GridSample in every mode, with two or three spatial dimensions, one thread per output (kernels/sampling.cuh).
namespace saccade::cuda {
namespace {

Support supports_grid_sample(const NodeContext& context) {
  if (!context.node.is("GridSample")) return Support::other_operator("not a GridSample");
  return {};
}

std::string grid_mode(const Attributes& attributes) {
  const std::string mode = attributes.text("mode", "linear");
  return mode == "nearest" ? "GridMode::kNearest" : mode.ends_with("cubic") ? "GridMode::kCubic" : "GridMode::kLinear";
}

std::string grid_padding(const Attributes& attributes) {
  const std::string mode = attributes.text("padding_mode", "zeros");
  if (mode == "border") return "GridPadding::kBorder";
  return mode == "reflection" ? "GridPadding::kReflection" : "GridPadding::kZeros";
}

std::string sampled(ElementCode& code, int /*output*/, const Index& at) {
  const NodeContext& context = code.context();
  const Attributes& attributes = context.node.attributes;
  const Shape& shape = context.input(0).type.shape;
  const DType dtype = context.input(0).type.dtype;
  const std::string number = is_computed_in_float(dtype) ? "float" : "double";
  const bool nearest = grid_mode(attributes) == "GridMode::kNearest";
  const int axes = shape.rank() - 2;
  Index point{at[0]};
  point.insert(point.end(), at.begin() + 2, at.end());
  point.emplace_back();
  Index place{at[0], at[1]};
  std::vector<std::string> taps;
  for (int i = 0; i < axes; ++i) {
    point.back() = std::to_string(axes - 1 - i);
    taps.push_back(code.let(
        "auto", fmt::format("grid_taps<{}, {}, {}, {}>({}({}))", grid_mode(attributes), grid_padding(attributes),
                            attributes.integer("align_corners", 0) != 0, shape[2 + i], number, code.input(1, point))));
    place.emplace_back();
  }
  // Nearest copies elements of any type.
  const std::string type(nearest ? compute_name(dtype) : number);
  const std::string sum = declare(code, type, "0");
  {
    Braces braces(code);
    std::string weight;
    for (std::size_t i = 0; i < taps.size(); ++i) {
      const std::string tap = code.fresh("t");
      code.line("#pragma unroll");
      braces.open(fmt::format("for (int {0} = 0; {0} < {1}.kCount; ++{0})", tap, taps[i]));
      code.line(fmt::format("if ({}.index[{}] < 0) continue;", taps[i], tap));
      place[2 + i] = fmt::format("{}.index[{}]", taps[i], tap);
      weight += fmt::format("{}{}.weight[{}]", i == 0 ? "" : " * ", taps[i], tap);
    }
    code.line(nearest ? fmt::format("{} = {};", sum, code.input(0, place))
                      : fmt::format("{} += {} * {}({});", sum, weight, number, code.input(0, place)));
  }
  return nearest ? sum : element_of(dtype, sum);
}

}  // namespace

std::unique_ptr<Tactic> grid_sample(Device& device) {
  return element_tactic(device, {"grid_sample", supports_grid_sample, sampled, "sampling.cuh"});
}

}  // namespace saccade::cuda
