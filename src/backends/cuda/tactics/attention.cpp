#include "cuda/tactics/attention.hpp"

#include <algorithm>

#include "cuda/codegen/element_code.hpp"
#include "cuda/driver/kernel_launch.hpp"
#include "cuda/plans/attention_plan.hpp"
#include "cuda/plans/neighbor_tiles.hpp"
#include "cuda/tactics/convolution.hpp"
#include "ops/core/tf32.hpp"

namespace saccade::cuda {
namespace {

constexpr std::int64_t kMaxChannels = 256;

bool is_attention(const Node& node) { return node.is("StridedAttention", "saccade"); }

std::optional<AttentionShape> attention_shape(const NodeContext& context) {
  auto patterns = patterns_in_memory(context.graph, context.node);
  if (!patterns) return std::nullopt;
  const DType dtype = context.output().type.dtype;
  AttentionShape shape{.dtype = dtype,
                       .tf32 = dtype == DType::kFloat32 && takes_tf32(context.node),
                       .scale = context.node.attributes.real("scale", 1),
                       .patterns = std::move(*patterns)};
  if (context.has(3)) shape.mask = context.input(3).type.dtype;
  return shape;
}

NodeProgram attention_program(const AttentionShape& shape, const AttentionTile& tile) {
  using Kind = Argument::Kind;
  KernelCall call;
  call.source = attention_source(shape, tile);
  call.name = "attention";
  call.arguments = {{Kind::kInput, 0},
                    {Kind::kInput, 1},
                    {Kind::kInput, 2},
                    {Kind::kInput, shape.patterns.mask ? 3U : 0U},
                    {Kind::kOutput, 0}};
  call.grid = {.blocks = {static_cast<unsigned>(attention_blocks(shape, tile)),
                          static_cast<unsigned>(shape.patterns.batches()), 1},
               .threads = {static_cast<unsigned>(tile.threads()), 1, 1},
               .shared_bytes = static_cast<unsigned>(attention_shared_bytes(shape, tile))};
  NodeProgram program;
  program.detail = tile.to_string();
  program.calls.push_back(std::move(call));
  return program;
}

/// Requirements of all attention kernels.
Support supports_attention(const NodeContext& context) {
  if (!is_attention(context.node)) return Support::other_operator("not a StridedAttention");
  if (!context.node.post_ops.empty()) return Support::no("it has post-ops");
  const DType type = context.output().type.dtype;
  if (type != DType::kFloat32 && type != DType::kFloat16 && type != DType::kBFloat16)
    return Support::no("its type is not float32, float16 or bfloat16");
  for (int i = 0; i < context.input_count(); ++i)
    if (context.has(i) && context.input(i).type.shape.elements() >= kMaxElements)
      return Support::no("its tensors are too large");
  if (context.output().type.shape.elements() >= kMaxElements) return Support::no("its tensors are too large");
  const auto shape = attention_shape(context);
  if (!shape) return Support::no("its channels-last access patterns are not affine");
  if (shape->patterns.batches() > 65535) return Support::no("it has too many batches");
  if (shape->patterns.channels() > kMaxChannels || shape->patterns.value_channels() > kMaxChannels)
    return Support::no("it has more than 256 channels");
  return {};
}

/// A tactic that chooses among the tiles of a shape.
class Attention : public Tactic {
 public:
  explicit Attention(Device& device) : device_(device) {}

  std::vector<std::string> configurations(const NodeContext& context, std::size_t count) const override {
    const std::vector<AttentionTile> all = tiles(*attention_shape(context));
    if (!context.configuration.empty()) return neighbor_tiles(all, context.configuration, count);
    std::vector<std::string> texts;
    for (const AttentionTile& tile : distinct_tiles(all, count)) texts.push_back(tile.to_string());
    return texts;
  }

  std::unique_ptr<Launch> compile(const NodeContext& context) const override {
    const AttentionShape shape = *attention_shape(context);
    const std::vector<AttentionTile> all = tiles(shape);
    const auto requested = std::ranges::find(all, context.configuration, &AttentionTile::to_string);
    return make_launch(device_, context, attention_program(shape, requested == all.end() ? all.front() : *requested));
  }

 protected:
  /// Ordered by expected speed.
  virtual std::vector<AttentionTile> tiles(const AttentionShape& shape) const = 0;

  Device& device_;
};

class FusedAttention : public Attention {
 public:
  using Attention::Attention;
  std::string_view name() const override { return "fused.attention"; }
  Support supports(const NodeContext& context) const override { return supports_attention(context); }

 private:
  std::vector<AttentionTile> tiles(const AttentionShape& shape) const override {
    return attention_tiles(shape, limits_of(device_));
  }
};

class WarpgroupAttention : public Attention {
 public:
  using Attention::Attention;
  std::string_view name() const override { return "warpgroup.attention"; }

  Support supports(const NodeContext& context) const override {
    if (Support known = supports_attention(context); !known) return known;
    if (device_.capability() != 90) return Support::no("the device lacks Hopper's warpgroup instructions");
    const AttentionShape shape = *attention_shape(context);
    if (is_short(shape)) return Support::no("it is too short");
    if (tiles(shape).empty())
      return Support::no("it is not half precision with 16-byte vectors and up to 128 channels");
    return {};
  }

 private:
  /// Short sequences are as fast with fewer queries per block and more splits of the keys.
  static bool is_short(const AttentionShape& shape) {
    return shape.patterns.queries() < 64 || shape.patterns.keys() < 256;
  }
  std::vector<AttentionTile> tiles(const AttentionShape& shape) const override {
    return warpgroup_attention_tiles(shape, limits_of(device_));
  }
};

}  // namespace

std::unique_ptr<Tactic> fused_attention(Device& device) { return std::make_unique<FusedAttention>(device); }
std::unique_ptr<Tactic> warpgroup_attention(Device& device) { return std::make_unique<WarpgroupAttention>(device); }

}  // namespace saccade::cuda
