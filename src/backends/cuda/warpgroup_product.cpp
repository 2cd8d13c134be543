#include <algorithm>
#include <numeric>

#include "cuda/convolution.hpp"
#include "cuda/warpgroup_plan.hpp"

namespace saccade::cuda {
namespace {

NodeProgram warpgroup_program(const NodeContext& context, const ConstantProduct& product, const WarpgroupTile& tile) {
  using Kind = Argument::Kind;
  const WarpgroupShape shape = warpgroup_shape(product.shape);
  NodeProgram program;
  program.detail = tile.to_string();
  program.packed.push_back(pack_warpgroup_weights(shape, tile, product.weights));
  program.packed.push_back(pack_warpgroup_bias(shape, tile, product.bias));
  KernelCall call;
  call.name = "warpgroup_product";
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

ConstantProduct windows_product(const NodeContext& context) {
  const ConvolutionShape shape = convolution_shape(context);
  return {shape, warpgroup_weights(shape, floats_of(*context.constant(1))), bias_of(context)};
}

class WarpgroupProduct : public Tactic {
 public:
  explicit WarpgroupProduct(Device& device) : device_(device) {}
  std::string_view name() const override { return "warpgroup.product"; }

  Support supports(const NodeContext& context) const override {
    const bool slides = context.node.is("Conv");
    const Support known = slides ? supports_sliding(context) : supports_constant_product(context);
    if (!known) return known;
    if (device_.capability() != 90) return Support::no("the device lacks Hopper's warpgroup instructions");
    const ConvolutionShape shape = slides ? convolution_shape(context) : constant_product_shape(context);
    if (!is_warpgroup_product(shape))
      return Support::no("it is no product of rows, or windows apart, of halves in multiples of 16 bytes");
    if (is_small(warpgroup_shape(shape))) return Support::no("it is too small");
    return {};
  }

  std::vector<std::string> configurations(const NodeContext& context, std::size_t count) const override {
    const ConvolutionShape shape =
        context.node.is("Conv") ? convolution_shape(context) : constant_product_shape(context);
    std::vector<std::string> texts;
    for (const WarpgroupTile& tile : distinct_tiles(warpgroup_tiles(warpgroup_shape(shape), limits_of(device_)), count))
      texts.push_back(tile.to_string());
    return texts;
  }

  /// Rows are copied in 16 bytes, and sums leave in vectors of up to 4.
  bool takes_strides(const NodeContext& context) const override {
    if (!context.node.is("Conv")) return false;
    const ConvolutionShape shape = convolution_shape(context);
    return is_warpgroup_product(shape) && takes_pitches(context, 8, std::gcd(shape.filters, 4));
  }

  std::unique_ptr<Launch> compile(const NodeContext& context) const override {
    const ConstantProduct product = context.node.is("Conv") ? windows_product(context) : constant_product(context);
    const auto tiles = warpgroup_tiles(warpgroup_shape(product.shape), limits_of(device_));
    const auto asked = std::ranges::find(tiles, context.configuration, &WarpgroupTile::to_string);
    return make_launch(device_, context,
                       warpgroup_program(context, product, asked == tiles.end() ? tiles.front() : *asked));
  }

 private:
  /// Where mma.sync, whose tiles begin at 16 filters and pixels, is as fast.
  static bool is_small(const WarpgroupShape& shape) {
    return shape.filters < 64 || shape.rows < 64 || shape.channels < 64;
  }

  Device& device_;
};

}  // namespace

std::unique_ptr<Tactic> warpgroup_product(Device& device) { return std::make_unique<WarpgroupProduct>(device); }

}  // namespace saccade::cuda
