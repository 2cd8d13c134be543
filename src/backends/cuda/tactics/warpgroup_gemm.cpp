#include <algorithm>
#include <numeric>

#include "cuda/plans/neighbor_tiles.hpp"
#include "cuda/tactics/convolution.hpp"

namespace saccade::cuda {
namespace {

bool normalizes(const NodeContext& context) { return context.node.is("NormalizedProduct", "saccade"); }

ConvolutionShape convolution_of(const NodeContext& context) {
  return context.node.is("Conv") ? convolution_shape(context) : constant_gemm_shape(context);
}

WarpgroupShape warpgroup_shape(const NodeContext& context) {
  WarpgroupShape shape = warpgroup_shape(convolution_of(context));
  if (normalizes(context)) shape.epsilon = context.node.attributes.real("epsilon", 1e-5F);
  return shape;
}

ConstantGemm patch_gemm(const NodeContext& context) {
  const ConvolutionShape shape = convolution_shape(context);
  return {shape, warpgroup_weights(shape, floats_of(*context.constant(1))), bias_of(context)};
}

/// Packed weights, then the packed bias and corrections.
std::vector<std::vector<std::byte>> packed_operands(const NodeContext& context, const WarpgroupShape& shape,
                                                    const WarpgroupTile& tile) {
  ConstantGemm product = context.node.is("Conv") ? patch_gemm(context) : constant_gemm(context);
  if (!normalizes(context))
    return {pack_warpgroup_weights(shape, tile, product.weights), pack_warpgroup_bias(shape, tile, product.bias)};
  const std::vector<float> scale = floats_of(*context.constant(3));
  const std::vector<float> shift = context.has(4) ? floats_of(*context.constant(4)) : std::vector<float>{};
  const NormalizedWeights made =
      normalized_weights(std::move(product.weights), std::move(product.bias), scale, shift, shape.dtype);
  return {pack_warpgroup_weights(shape, tile, made.weights), pack_warpgroup_bias(shape, tile, made)};
}

NodeProgram warpgroup_program(const NodeContext& context, const WarpgroupShape& shape, const WarpgroupTile& tile) {
  using Kind = Argument::Kind;
  NodeProgram program;
  program.detail = tile.to_string();
  program.packed = packed_operands(context, shape, tile);
  KernelCall call;
  call.name = "warpgroup_gemm";
  call.arguments = {{Kind::kInput, 0}, {Kind::kPacked, 0}, {Kind::kPacked, 1}};
  call.source = warpgroup_source(shape, tile, post_ops_text(context, call.arguments));
  call.arguments.push_back({Kind::kOutput, 0});
  const ConvolutionGrid grid = warpgroup_grid(shape, tile);
  call.grid = {.blocks = {static_cast<unsigned>(grid.pixels), static_cast<unsigned>(grid.filters),
                          static_cast<unsigned>(grid.split)},
               .threads = {static_cast<unsigned>(tile.threads()), 1, 1},
               .shared_bytes = static_cast<unsigned>(warpgroup_shared_bytes(shape, tile))};
  program.calls.push_back(std::move(call));
  return program;
}

/// Whether scale and shift of the normalisation are constant and not float64.
bool has_constant_norm(const NodeContext& context) {
  const auto is_taken = [&](int i) {
    const Tensor* tensor = context.constant(i);
    return tensor != nullptr && tensor->dtype() != DType::kFloat64;
  };
  return is_taken(3) && (!context.has(4) || is_taken(4));
}

class WarpgroupGemm : public Tactic {
 public:
  explicit WarpgroupGemm(Device& device) : device_(device) {}
  std::string_view name() const override { return "warpgroup.product"; }

  Support supports(const NodeContext& context) const override {
    const bool slides = context.node.is("Conv");
    const Support known = slides ? supports_sliding(context) : supports_constant_gemm(context);
    if (!known) return known;
    if (device_.capability() != 90) return Support::no("the device lacks Hopper's warpgroup instructions");
    if (!is_warpgroup_gemm(convolution_of(context)))
      return Support::no("it is not a half-precision GEMM, or non-overlapping Conv, with 16-byte aligned rows");
    if (normalizes(context) && !has_constant_norm(context))
      return Support::no("the scale or shift of its normalisation is not constant, or is float64");
    if (is_small(warpgroup_shape(context))) return Support::no("it is too small");
    return {};
  }

  std::vector<std::string> configurations(const NodeContext& context, std::size_t count) const override {
    const auto tiles = warpgroup_tiles(warpgroup_shape(context), limits_of(device_));
    if (!context.configuration.empty()) return neighbor_tiles(tiles, context.configuration, count);
    std::vector<std::string> texts;
    for (const WarpgroupTile& tile : distinct_tiles(tiles, count)) texts.push_back(tile.to_string());
    return texts;
  }

  /// Rows are loaded in 16-byte chunks; the epilogue stores vectors of up to 4 elements.
  bool supports_strided_operands(const NodeContext& context) const override {
    if (!context.node.is("Conv")) return false;
    const ConvolutionShape shape = convolution_shape(context);
    return is_warpgroup_gemm(shape) && supports_pitches(context, 8, std::gcd(shape.filters, 4));
  }

  std::unique_ptr<Launch> compile(const NodeContext& context) const override {
    const WarpgroupShape shape = warpgroup_shape(context);
    const auto tiles = warpgroup_tiles(shape, limits_of(device_));
    const auto requested = std::ranges::find(tiles, context.configuration, &WarpgroupTile::to_string);
    return make_launch(device_, context,
                       warpgroup_program(context, shape, requested == tiles.end() ? tiles.front() : *requested));
  }

 private:
  /// Where mma.sync, with its smaller tiles, is as fast.
  static bool is_small(const WarpgroupShape& shape) {
    return shape.filters < 64 || shape.rows < 64 || shape.channels < 64;
  }

  Device& device_;
};

}  // namespace

std::unique_ptr<Tactic> warpgroup_gemm(Device& device) { return std::make_unique<WarpgroupGemm>(device); }

}  // namespace saccade::cuda
