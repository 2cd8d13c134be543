#include <algorithm>

#include "cuda/codegen/element_tactic.hpp"
#include "cuda/tactics/convolution.hpp"
#include "cuda/tactics/resize.hpp"
#include "cuda/tactics/tactics.hpp"
#include "runtime/storage_alias.hpp"

// Resize of channels-last images in vectors of channels (kernels/resize.cuh).
namespace saccade::cuda {
namespace {

// Taps per axis that a thread holds in registers: enough for cubic interpolation.
constexpr std::size_t kMaxTaps = 4;

/// Vector width in channels: up to 16 bytes; 1: no vector divides them.
int vector_of(const Value& value) {
  const int bytes = static_cast<int>(bits_of(value.type.dtype)) / 8;
  for (int vector = 16 / bytes; vector > 1; vector /= 2)
    if (value.type.shape[1] % vector == 0) return vector;
  return 1;
}

Support supports_channels(const NodeContext& context) {
  if (Support constants = supports_resize(context); !constants) return constants;
  const Value& from = context.input(0);
  const Value& to = context.output();
  if (!is_computed_in_float(from.type.dtype) || from.type.dtype != to.type.dtype)
    return Support::no("its elements are not floating point");
  if (from.type.shape.rank() != 4) return Support::no("its tensors are not images");
  if (!is_channels_last(from) || !is_channels_last(to)) return Support::no("its tensors are not channels-last");
  if (from.type.shape.elements() == 0) return Support::no("its images are empty");
  if (vector_of(from) == 1) return Support::no("its channels do not form vectors");
  const std::vector<AxisTaps> taps = taps_of_axes(context);
  if (!taps[0].empty() || !taps[1].empty()) return Support::no("it resizes batch or channels");
  for (const int axis : {2, 3}) {
    const AxisTaps& along = taps[static_cast<std::size_t>(axis)];
    if (max_taps(along) > kMaxTaps) return Support::no("it has too many taps per output");
    if (std::ranges::any_of(along, &ResizeTap::outside)) return Support::no("it extrapolates");
  }
  return {};
}

bool supports_vectors(const NodeContext& context) {
  const int vector = vector_of(context.input(0));
  return supports_pitches(context, vector, vector);
}

template <typename T>
void pack(NodeProgram& program, KernelCall& call, const std::vector<T>& table) {
  call.arguments.push_back({Argument::Kind::kPacked, program.packed.size()});
  const auto bytes = std::as_bytes(std::span(table));
  program.packed.emplace_back(bytes.begin(), bytes.end());
}

/// Packs the first input and the tap weights of each output along AXIS; returns the maximum number of taps.
std::size_t pack_axis(NodeProgram& program, KernelCall& call, AxisTaps taps, std::int64_t length) {
  for (std::int64_t i = 0; taps.size() < static_cast<std::size_t>(length); ++i) taps.push_back({i, {1.0F}});
  std::vector<std::int32_t> first;
  for (const ResizeTap& tap : taps) first.push_back(static_cast<std::int32_t>(tap.first));
  pack(program, call, first);
  pack(program, call, padded_weights(taps));
  return max_taps(taps);
}

NodeProgram resize_program(const NodeContext& context) {
  using Kind = Argument::Kind;
  constexpr int kThreads = 128;
  const Value& input = context.input(0);
  const Shape& from = input.type.shape;
  const Shape& to = context.output().type.shape;
  const std::vector<AxisTaps> taps = taps_of_axes(context);
  NodeProgram program;
  KernelCall call{.name = "resize", .arguments = {{Kind::kInput, 0}}};
  const std::size_t taps_y = pack_axis(program, call, taps[2], to[2]);
  const std::size_t taps_x = pack_axis(program, call, taps[3], to[3]);
  const PostOpsText post_ops = post_ops_text(context, call.arguments);
  call.arguments.push_back({Kind::kOutput, 0});
  const int vector = vector_of(input);
  call.source = fmt::format(R"(#include "resize.cuh"
{}struct Layer {{
  using Element = {};
  static constexpr int kImages = {};
  static constexpr int kChannels = {};
  static constexpr int kInPitch = {};
  static constexpr int kOutPitch = {};
  static constexpr int kHeight = {};
  static constexpr int kWidth = {};
  static constexpr int kOutHeight = {};
  static constexpr int kOutWidth = {};
  static constexpr int kTapsY = {};
  static constexpr int kTapsX = {};
  static constexpr int kVector = {};
  static constexpr int kThreads = {};
}};
extern "C" __global__ void __launch_bounds__({})
    resize(const Layer::Element* __restrict__ input, const int* __restrict__ first_y,
           const float* __restrict__ weights_y, const int* __restrict__ first_x, const float* __restrict__ weights_x{},
           Layer::Element* __restrict__ output) {{
  resize_channels<Layer>(input, first_y, weights_y, first_x, weights_x, output, {});
}}
)",
                            post_ops.definition, storage_name(input.type.dtype), from[0], from[1],
                            pixel_pitch(from, context.input_storage(0)).value(),
                            pixel_pitch(to, context.output_storage()).value(), from[2], from[3], to[2], to[3], taps_y,
                            taps_x, vector, kThreads, kThreads, post_ops.parameters, post_ops.value);
  const std::int64_t vectors = to.elements() / vector;
  call.grid = {.blocks = {static_cast<unsigned>((vectors + kThreads - 1) / kThreads), 1, 1},
               .threads = {kThreads, 1, 1}};
  program.calls.push_back(std::move(call));
  return program;
}

}  // namespace

std::unique_ptr<Tactic> channel_resize(Device& device) {
  return program_tactic(device, {"channels.resize", supports_channels, resize_program, supports_vectors});
}

}  // namespace saccade::cuda
