#include "ops/core/index.hpp"
#include "ops/core/values.hpp"
#include "ops/sampling/regions.hpp"

#include "cpu/loops/lines.hpp"
#include "cpu/loops/pixel_sum.hpp"
#include "cpu/tactics/tactics.hpp"
#include "cpu/team/parallel.hpp"

// RoiAlign with averages: each bin is a weighted sum of pixels, with the same weights for all channels.
namespace saccade::cpu {
namespace {

struct Job {
  RoiAlignment how;
  Channels channels;
  Shape src;  // N, C, H, W
  Shape dst;  // regions, C, bins down, bins across
};

void add_bin(const RegionSide<float>& rows, const RegionSide<float>& columns, std::int64_t y, std::int64_t x,
             PixelSum& sum) {
  const float share = 1 / static_cast<float>(std::max<std::int64_t>(rows.samples * columns.samples, 1));
  for (std::int64_t i = 0; i < rows.samples; ++i) {
    const Between v(rows.sample(y, i), rows.length);
    if (v.outside) continue;
    for (std::int64_t k = 0; k < columns.samples; ++k) {
      const Between h(columns.sample(x, k), columns.length);
      if (h.outside) continue;
      sum.add(v.low * columns.length + h.low, (1 - v.weight) * (1 - h.weight) * share);
      sum.add(v.low * columns.length + h.high, (1 - v.weight) * h.weight * share);
      sum.add(v.high * columns.length + h.low, v.weight * (1 - h.weight) * share);
      sum.add(v.high * columns.length + h.high, v.weight * h.weight * share);
    }
  }
}

void align(const Job& job, std::span<const TensorView> inputs, std::span<const TensorView> outputs) {
  const auto* src = static_cast<const float*>(inputs[0].data);
  const auto* corners = static_cast<const float*>(inputs[1].data);
  const Indices images(inputs[2]);
  auto* dst = static_cast<float*>(outputs[0].data);
  const Channels& channels = job.channels;
  // Before any thread starts: an exception must not leave a parallel region.
  for (std::size_t i = 0; i < images.size(); ++i) checked_index(images[i], job.src[0]);
  const std::int64_t lines = job.dst[0] * job.dst[2];
  parallel_for(lines, kParallelGrain / (16 * job.dst[3] * channels.count + 1) + 1, [&](auto begin, auto end) {
    for (std::int64_t line = begin; line < end; ++line) {
      const std::int64_t region = line / job.dst[2];
      const std::int64_t y = line % job.dst[2];
      const float* corner = corners + 4 * region;
      const RegionSide<float> columns(job.how, corner[0], corner[2], job.dst[3], job.src[3]);
      const RegionSide<float> rows(job.how, corner[1], corner[3], job.dst[2], job.src[2]);
      const std::int64_t image = checked_index(images[static_cast<std::size_t>(region)], job.src[0]);
      for (std::int64_t x = 0; x < job.dst[3]; ++x) {
        PixelSum sum(channels, src + channels.src_offset(image), dst + channels.dst_offset(region, y * job.dst[3] + x));
        add_bin(rows, columns, y, x, sum);
        sum.finish();
      }
    }
  });
}

class RoiAlign : public Tactic {
 public:
  std::string_view name() const override { return "vector.roi_align"; }

  Support supports(const NodeContext& context) const override {
    const Node& node = context.node;
    if (!node.is("RoiAlign")) return Support::other_operator("not a RoiAlign");
    if (context.input(0).type.dtype != DType::kFloat32) return Support::no("only float32 has a vector kernel");
    if (RoiAlignment(node.attributes).largest) return Support::no("only averages have a vector kernel");
    if (context.input(0).layout != context.output().layout)
      return Support::no("its input and output have different layouts");
    return supports_post_ops(context);
  }

  std::unique_ptr<Launch> compile(const NodeContext& context) const override {
    const Job job{.how = RoiAlignment(context.node.attributes),
                  .channels = {context.input(0), context.output()},
                  .src = context.input(0).type.shape,
                  .dst = context.output().type.shape};
    return with_post_ops(context, launch_of([job](auto inputs, auto outputs) { align(job, inputs, outputs); }));
  }
};

}  // namespace

const Tactic& vector_roi_align() {
  static const RoiAlign tactic;
  return tactic;
}

}  // namespace saccade::cpu
