#include <cmath>

#include "cpu/lines.hpp"
#include "cpu/parallel.hpp"
#include "cpu/sample_kernels.hpp"
#include "cpu/tactics.hpp"

// GridSample of images, bilinear with zeros around: a channels-last pixel is a sum of up to four, a vector of channels
// at a time.
namespace saccade::cpu {
namespace {

struct Job {
  bool align = false;
  bool channels_last = false;
  Shape src;  // N, C, H, W
  Shape dst;
  Shape grid_strides;
};

/// The inputs that one output pixel reads, as positions in a plane, and their weights.
struct Corners {
  std::array<std::int64_t, 4> position{};
  std::array<float, 4> weight{};
  std::size_t count = 0;
};

/// Where a coordinate of -1..1 lies along LENGTH inputs; three outside is as far as any. NaN lies there too.
float place(float coordinate, std::int64_t length, bool align) {
  const auto size = static_cast<float>(length);
  const float x = align ? (coordinate + 1) / 2 * (size - 1) : ((coordinate + 1) * size - 1) / 2;
  return x > -3 ? std::min(x, size + 2) : -3.0F;
}

Corners corners_of(const Job& job, const float* coordinates) {
  const float x = place(coordinates[0], job.src[3], job.align);
  const float y = place(coordinates[job.grid_strides[3]], job.src[2], job.align);
  const float left = std::floor(x);
  const float top = std::floor(y);
  Corners corners;
  for (int i = 0; i < 4; ++i) {
    const int down = i / 2;
    const int right = i % 2;
    const auto column = static_cast<std::int64_t>(left) + right;
    const auto row = static_cast<std::int64_t>(top) + down;
    if (column < 0 || column >= job.src[3] || row < 0 || row >= job.src[2]) continue;
    corners.position[corners.count] = row * job.src[3] + column;
    corners.weight[corners.count++] = (right == 1 ? x - left : 1 - (x - left)) * (down == 1 ? y - top : 1 - (y - top));
  }
  return corners;
}

void sample_channels_last(const Job& job, const Corners& corners, const float* image, float* dst) {
  const std::int64_t channels = job.src[1];
  std::array<std::int64_t, 4> offsets{};
  for (std::size_t i = 0; i < corners.count; ++i) offsets[i] = corners.position[i] * channels;
  if (corners.count == 0) {
    std::fill_n(dst, channels, 0.0F);
  } else {
    sample_kernels().combine(image, offsets.data(), corners.weight.data(), corners.count, dst,
                             static_cast<std::size_t>(channels));
  }
}

void sample_planes(const Job& job, const Corners& corners, const float* image, float* dst) {
  const std::int64_t src_plane = job.src[2] * job.src[3];
  const std::int64_t dst_plane = job.dst[2] * job.dst[3];
  for (std::int64_t c = 0; c < job.src[1]; ++c) {
    float sum = 0;
    for (std::size_t i = 0; i < corners.count; ++i)
      sum += corners.weight[i] * image[c * src_plane + corners.position[i]];
    dst[c * dst_plane] = sum;
  }
}

void sample(const Job& job, std::span<const TensorView> inputs, std::span<const TensorView> outputs) {
  const auto* src = static_cast<const float*>(inputs[0].data);
  const auto* grid = static_cast<const float*>(inputs[1].data);
  auto* dst = static_cast<float*>(outputs[0].data);
  const std::int64_t channels = job.src[1];
  const std::int64_t pixels = job.dst[2] * job.dst[3];
  const std::int64_t image_elements = channels * job.src[2] * job.src[3];
  parallel_for(job.dst[0] * pixels, kParallelGrain / (4 * channels + 1) + 1, [&](auto begin, auto end) {
    for (std::int64_t unit = begin; unit < end; ++unit) {
      const std::int64_t n = unit / pixels;
      const std::int64_t pixel = unit % pixels;
      const Corners corners =
          corners_of(job, grid + n * job.grid_strides[0] + pixel / job.dst[3] * job.grid_strides[1] +
                              pixel % job.dst[3] * job.grid_strides[2]);
      if (job.channels_last) {
        sample_channels_last(job, corners, src + n * image_elements, dst + unit * channels);
      } else {
        sample_planes(job, corners, src + n * image_elements, dst + n * channels * pixels + pixel);
      }
    }
  });
}

class GridSample : public Tactic {
 public:
  std::string_view name() const override { return "vector.grid_sample"; }

  Support supports(const NodeContext& context) const override {
    const Node& node = context.node;
    if (!node.is("GridSample")) return Support::no("not a GridSample");
    if (context.input(0).type.dtype != DType::kFloat32 || context.input(1).type.dtype != DType::kFloat32)
      return Support::no("only float32 has a vector kernel");
    if (context.input(0).type.shape.rank() != 4) return Support::no("only images (N, C, H, W) have a vector kernel");
    const std::string mode = node.attributes.text("mode", "linear");
    if (mode != "linear" && mode != "bilinear") return Support::no("only the linear mode has a vector kernel");
    if (node.attributes.text("padding_mode", "zeros") != "zeros") return Support::no("it pads with other than zeros");
    if (context.input(0).layout != context.output().layout)
      return Support::no("its input and output lie in different layouts");
    return supports_post_ops(context);
  }

  std::unique_ptr<Launch> compile(const NodeContext& context) const override {
    const Job job{.align = context.node.attributes.integer("align_corners", 0) != 0,
                  .channels_last = context.output().layout == Layout::kChannelsLast,
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
