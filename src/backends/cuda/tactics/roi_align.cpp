#include "cuda/codegen/element_tactic.hpp"
#include "cuda/tactics/tactics.hpp"
#include "ops/sampling/regions.hpp"

// RoiAlign in average and max mode, one thread per output (kernels/sampling.cuh).
namespace saccade::cuda {
namespace {

Support supports_roi_align(const NodeContext& context) {
  if (!context.node.is("RoiAlign")) return Support::other_operator("not a RoiAlign");
  if (!is_computed_in_float(context.input(0).type.dtype)) return Support::no("it computes in float64");
  if (context.input(0).type.shape[0] == 0) return Support::no("it has no maps");
  return {};
}

std::string aligned(ElementCode& code, int /*output*/, const Index& at) {
  const NodeContext& context = code.context();
  const RoiAlignment how(context.node.attributes);
  const Shape& maps = context.input(0).type.shape;
  const Shape& to = context.output().type.shape;
  const std::string image = index_into(code, 2, {at[0]}, maps[0]);
  const std::string channel = code.let("int32", at[1]);
  const auto side = [&](int from, int until, std::int64_t bins) {
    return code.let(
        "auto", fmt::format("region_side<{}, {}, {}>({}, {}, {}, {})", how.half_pixel, how.samples, kMaxRegionSamples,
                            code.input(1, {at[0], std::to_string(from)}), code.input(1, {at[0], std::to_string(until)}),
                            literal(static_cast<float>(how.scale)), bins));
  };
  const std::string rows = side(1, 3, to[2]);
  const std::string columns = side(0, 2, to[3]);
  const std::string element = code.let("auto", fmt::format("[&](int32 row, int32 column) {{ return {}; }}",
                                                           code.input(0, {image, channel, "row", "column"})));
  return fmt::format("align_bin<{}, {}, {}>({}, {}, {}, {}, {})", how.largest, maps[2], maps[3], rows, columns,
                     wrapped(at[2]), wrapped(at[3]), element);
}

}  // namespace

std::unique_ptr<Tactic> roi_align(Device& device) {
  return element_tactic(device, {"roi_align", supports_roi_align, aligned, "sampling.cuh"});
}

}  // namespace saccade::cuda
