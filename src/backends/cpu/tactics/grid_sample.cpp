#include <cmath>

#include "cpu/loops/lines.hpp"
#include "cpu/loops/pixel_sum.hpp"
#include "cpu/tactics/tactics.hpp"
#include "cpu/team/parallel.hpp"

// GridSample of images, bilinear with zero padding: each output pixel is a weighted sum of up to four pixels,
// vectorised over channels if channels-last.
namespace saccade::cpu {
namespace {

struct Job {
  bool align = false;
  Channels channels;
  Shape src;  // N, C, H, W
  Shape dst;
  Shape grid_strides;
};

/// The position of a coordinate of -1..1 along LENGTH inputs, clamped to three outside. NaN is outside, too.
float place(float coordinate, std::int64_t length, bool align) {
  const auto size = static_cast<float>(length);
  const float x = align ? (coordinate + 1) / 2 * (size - 1) : ((coordinate + 1) * size - 1) / 2;
  return x > -3 ? std::min(x, size + 2) : -3.0F;
}

/// Adds the up to four pixels around COORDINATES.
void add_corners(const Job& job, const float* coordinates, PixelSum& sum) {
  const float x = place(coordinates[0], job.src[3], job.align);
  const float y = place(coordinates[job.grid_strides[3]], job.src[2], job.align);
  const float left = std::floor(x);
  const float top = std::floor(y);
  for (int i = 0; i < 4; ++i) {
    const int down = i / 2;
    const int right = i % 2;
    const auto column = static_cast<std::int64_t>(left) + right;
    const auto row = static_cast<std::int64_t>(top) + down;
    if (column < 0 || column >= job.src[3] || row < 0 || row >= job.src[2]) continue;
    sum.add(row * job.src[3] + column,
            (right == 1 ? x - left : 1 - (x - left)) * (down == 1 ? y - top : 1 - (y - top)));
  }
}

void sample(const Job& job, std::span<const TensorView> inputs, std::span<const TensorView> outputs) {
  const auto* src = static_cast<const float*>(inputs[0].data);
  const auto* grid = static_cast<const float*>(inputs[1].data);
  auto* dst = static_cast<float*>(outputs[0].data);
  const Channels& channels = job.channels;
  parallel_for(job.dst[0] * channels.dst_plane, kParallelGrain / (4 * channels.count + 1) + 1,
               [&](auto begin, auto end) {
                 for (std::int64_t unit = begin; unit < end; ++unit) {
                   const std::int64_t n = unit / channels.dst_plane;
                   const std::int64_t pixel = unit % channels.dst_plane;
                   PixelSum sum(channels, src + channels.src_offset(n), dst + channels.dst_offset(n, pixel));
                   add_corners(job,
                               grid + n * job.grid_strides[0] + pixel / job.dst[3] * job.grid_strides[1] +
                                   pixel % job.dst[3] * job.grid_strides[2],
                               sum);
                   sum.finish();
                 }
               });
}

class GridSample : public Tactic {
 public:
  std::string_view name() const override { return "vector.grid_sample"; }

  Support supports(const NodeContext& context) const override {
    const Node& node = context.node;
    if (!node.is("GridSample")) return Support::other_operator("not a GridSample");
    if (context.input(0).type.dtype != DType::kFloat32 || context.input(1).type.dtype != DType::kFloat32)
      return Support::no("only float32 has a vector kernel");
    if (context.input(0).type.shape.rank() != 4) return Support::no("only images (N, C, H, W) have a vector kernel");
    const std::string mode = node.attributes.text("mode", "linear");
    if (mode != "linear" && mode != "bilinear") return Support::no("only the linear mode has a vector kernel");
    if (node.attributes.text("padding_mode", "zeros") != "zeros") return Support::no("it pads with other than zeros");
    if (context.input(0).layout != context.output().layout)
      return Support::no("its input and output have different layouts");
    return supports_post_ops(context);
  }

  std::unique_ptr<Launch> compile(const NodeContext& context) const override {
    const Job job{.align = context.node.attributes.integer("align_corners", 0) != 0,
                  .channels = {context.input(0), context.output()},
                  .src = context.input(0).type.shape,
                  .dst = context.output().type.shape,
                  .grid_strides = view_of(context.input(1)).strides()};
    return with_post_ops(context, launch_of([job](auto inputs, auto outputs) { sample(job, inputs, outputs); }));
  }
};

}  // namespace

const Tactic& vector_grid_sample() {
  static const GridSample tactic;
  return tactic;
}

}  // namespace saccade::cpu
