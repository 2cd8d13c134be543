#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "base/error.hpp"
#include "cuda/element_code.hpp"
#include "cuda/queue.hpp"
#include "cuda/tactics.hpp"
#include "ops/pixels.hpp"

// saccade.Preprocess on the device, bit for bit the reference (kernels/pixels.cuh).
//
// A captured graph has the kernel alone: what changes from frame to frame, the samples and a block that says where and
// how they lie, is copied before each run by calls of their own. So a frame may have any size, format and address, and
// no graph is ever captured anew. Pinned frames are copied from where they are; others pass through pinned memory a
// piece at a time, so that the device fetches one piece while the host copies the next.
namespace saccade::cuda {
namespace {

constexpr std::size_t kPiece = std::size_t{256} << 10;
constexpr unsigned kTileWidth = 32;
constexpr unsigned kTileHeight = 8;

// As kernels/pixels.cuh has them.
struct JobAxis {
  double scale, first, offset;
  std::int32_t begin, end;
};
struct JobComponent {
  CUdeviceptr data;
  std::int32_t pitch, step;
};
struct FrameJob {
  std::array<JobComponent, 3> parts;
  std::array<JobAxis, 2> across;
  std::array<JobAxis, 2> down;
  std::array<float, 6> geometry;
  std::int32_t black, luma, red_v, green_u, green_v, blue_u;
  std::int32_t first_column, end_column, first_row, end_row;
  std::int32_t model;
};
static_assert(sizeof(FrameJob) == 3 * 16 + 4 * 32 + 6 * 4 + 11 * 4 + 4);
static_assert(static_cast<int>(ColorModel::kRgb) == 0 && static_cast<int>(ColorModel::kYuv) == 1);

JobAxis axis_of(int origin, int extent, int per, std::int64_t target, std::int64_t at) {
  const TapAxis axis = TapAxis::of(origin, extent, per, target, at);
  return {axis.scale, axis.first, axis.offset, axis.begin, axis.end};
}

std::size_t padded(std::size_t bytes, std::size_t to) { return (bytes + to - 1) / to * to; }

/// A frame's samples on the device.
class FrameUpload {
 public:
  explicit FrameUpload(CUstream stream) : stream_(stream) {}

  /// Copies FRAME's planes in the stream; gives the frame as it lies there.
  FrameView copy(const FrameView& frame) {
    const auto sizes = plane_sizes(frame.format, frame.width, frame.height);
    const bool pinned = frame.memory == MemoryKind::kPinned;
    if (!pinned && frame.memory != MemoryKind::kPlain)
      fail(ErrorCode::kUnsupported, "a frame that the host can't read can't be copied to the GPU");
    FrameView placed = frame;
    std::array<std::size_t, 3> offsets{};
    std::array<bool, 3> direct{};
    bool staged = false;
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      if (sizes[i].rows == 0) continue;
      // Rows far apart or upside down are brought together.
      direct[i] = pinned && frame.pitch_bytes[i] >= sizes[i].row_bytes &&
                  frame.pitch_bytes[i] <= 2 * static_cast<std::int64_t>(sizes[i].row_bytes);
      staged = staged || !direct[i];
      if (!direct[i])
        placed.pitch_bytes[i] = static_cast<int>(padded(static_cast<std::size_t>(sizes[i].row_bytes), 16));
      offsets[i] = bytes;
      bytes += padded(static_cast<std::size_t>(placed.pitch_bytes[i]) * static_cast<std::size_t>(sizes[i].rows), 256);
    }
    grow(bytes, staged);
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      if (sizes[i].rows == 0) continue;
      placed.planes[i] = reinterpret_cast<const std::uint8_t*>(pixels_.pointer() + offsets[i]);
      if (direct[i])
        send(pixels_.address() + offsets[i], frame.planes[i],
             static_cast<std::size_t>(frame.pitch_bytes[i]) * static_cast<std::size_t>(sizes[i].rows - 1) +
                 static_cast<std::size_t>(sizes[i].row_bytes));
      else
        stage(frame.planes[i], frame.pitch_bytes[i], sizes[i], offsets[i],
              static_cast<std::size_t>(placed.pitch_bytes[i]));
    }
    return placed;
  }

 private:
  /// Nothing of the run before is under way any more.
  void grow(std::size_t bytes, bool staged) {
    if (pixels_.bytes() < bytes) pixels_ = DeviceMemory(bytes);
    if (!staged || staged_bytes_ >= bytes) return;
    staging_ = make_pinned(bytes);
    staged_bytes_ = bytes;
  }

  void send(CUdeviceptr to, const void* from, std::size_t bytes) {
    SACCADE_CUDA(cuMemcpyHtoDAsync_v2(to, from, bytes, stream_));
  }

  void stage(const std::uint8_t* from, int pitch, PlaneSize size, std::size_t offset, std::size_t to_pitch) {
    std::byte* const to = static_cast<std::byte*>(staging_.get()) + offset;
    const auto rows = static_cast<std::size_t>(size.rows);
    const std::size_t at_once = std::max<std::size_t>(1, kPiece / to_pitch);
    for (std::size_t row = 0; row < rows; row += at_once) {
      const std::size_t end = std::min(rows, row + at_once);
      for (std::size_t y = row; y < end; ++y)
        std::memcpy(to + y * to_pitch, from + static_cast<std::ptrdiff_t>(y) * pitch,
                    static_cast<std::size_t>(size.row_bytes));
      send(pixels_.address() + offset + row * to_pitch, to + row * to_pitch, (end - row) * to_pitch);
    }
  }

  CUstream stream_;
  DeviceMemory pixels_;
  PinnedMemory staging_;
  std::size_t staged_bytes_ = 0;
};

class BoundPreprocess : public BoundLaunch, public BeforeRun {
 public:
  BoundPreprocess(const PreprocessSpec& spec, const Launch& kernels, const Bindings& bindings)
      : spec_(spec),
        frame_(*static_cast<const FrameView*>(bindings.inputs[0].data)),
        stream_(queue_of(bindings).stream.get()),
        upload_(stream_),
        job_(make_pinned(sizeof(FrameJob))),
        device_job_(sizeof(FrameJob)) {
    // The kernel reads the job in the frame's place.
    TensorView job = bindings.inputs[0];
    job.data = device_job_.pointer();
    kernels_ = kernels.bind(
        {.inputs = {&job, 1}, .outputs = bindings.outputs, .scratch = bindings.scratch, .queue = bindings.queue});
    queue_of(bindings).before_run.push_back(this);
  }

  void before_run() override {
    const Placement placed = place(spec_, frame_.width, frame_.height);
    describe(placed, upload_.copy(frame_));
    SACCADE_CUDA(cuMemcpyHtoDAsync_v2(device_job_.address(), job_.get(), sizeof(FrameJob), stream_));
  }

  void run() override { kernels_->run(); }

 private:
  void describe(const Placement& placed, const FrameView& on_device) {
    const Components components = components_of(on_device);
    FrameJob& job = *static_cast<FrameJob*>(job_.get());
    for (std::size_t i = 0; i < 3; ++i) {
      const Component& part = components.parts[i];
      job.parts[i] = {address_of(part.data), part.pitch, part.step};
    }
    for (std::size_t i = 0; i < 2; ++i) {
      const Component& part = components.parts[components.count() == 3 ? i : 0];
      job.across[i] = axis_of(placed.source.x, placed.source.width, part.across, placed.width, placed.x);
      job.down[i] = axis_of(placed.source.y, placed.source.height, part.down, placed.height, placed.y);
    }
    job.geometry = geometry_of(placed, frame_.width, frame_.height);
    const YuvMatrix yuv = yuv_matrix(frame_.matrix, frame_.range);
    job.black = yuv.black;
    job.luma = yuv.luma;
    job.red_v = yuv.red_v;
    job.green_u = yuv.green_u;
    job.green_v = yuv.green_v;
    job.blue_u = yuv.blue_u;
    const Span columns = covered(placed.x, placed.width, spec_.width);
    const Span rows = covered(placed.y, placed.height, spec_.height);
    job.first_column = columns.begin;
    job.end_column = columns.end;
    job.first_row = rows.begin;
    job.end_row = rows.end;
    job.model = static_cast<std::int32_t>(components.model);
  }

  PreprocessSpec spec_;
  const FrameView& frame_;
  CUstream stream_;
  FrameUpload upload_;
  PinnedMemory job_;
  DeviceMemory device_job_;
  std::unique_ptr<BoundLaunch> kernels_;
};

class PreprocessLaunch : public Launch {
 public:
  PreprocessLaunch(const PreprocessSpec& spec, std::unique_ptr<Launch> kernels)
      : spec_(spec), kernels_(std::move(kernels)) {}
  std::unique_ptr<BoundLaunch> bind(const Bindings& bindings) const override {
    return std::make_unique<BoundPreprocess>(spec_, *kernels_, bindings);
  }

 private:
  PreprocessSpec spec_;
  std::unique_ptr<Launch> kernels_;
};

bool wants(const NodeContext& context, std::size_t output) {
  return context.node.outputs.size() > output && context.node.outputs[output] != ValueId::kNone;
}

/// The lines that store a pixel's channels VALUE[C] in the tensor.
std::string stores(const PreprocessSpec& spec, const Value& tensor) {
  const Shape strides = dense_strides(tensor.type.shape, tensor.layout);
  std::string lines;
  for (int c = 0; c < spec.channels(); ++c) {
    const auto i = static_cast<std::size_t>(c);
    lines += fmt::format("  out[y * {} + x * {} + {}] = Narrow<{}>::from(scaled(value[{}], {}, {}));\n", strides[2],
                         strides[3], c * strides[1], storage_name(tensor.type.dtype), c, literal(spec.scale[i]),
                         literal(spec.bias[i]));
  }
  return lines;
}

KernelCall pixel_kernel(const PreprocessSpec& spec, const NodeContext& context) {
  static constexpr std::array kOrders = {"color.red, color.green, color.blue", "color.blue, color.green, color.red",
                                         "luma_of(*job, color)"};
  const Value& tensor = context.output();
  const bool geometry = wants(context, 1);
  KernelCall call{.name = "preprocess"};
  call.source = fmt::format(
      R"(#include "pixels.cuh"
extern "C" __global__ void __launch_bounds__({}) preprocess(const FrameJob* __restrict__ job, {}* __restrict__ out{}) {{
  __shared__ TileTaps taps;
  begin_kernel();
  load_taps(*job, taps);
  const int32 x = blockIdx.x * kTileWidth + threadIdx.x;
  const int32 y = blockIdx.y * kTileHeight + threadIdx.y;
{}  if (x >= {} || y >= {}) return;
  int32 value[3] = {{{}, {}, {}}};
  if (x >= job->first_column && x < job->end_column && y >= job->first_row && y < job->end_row) {{
    const Rgb color = color_of(*job, taps);
    const int32 ordered[] = {{{}}};
    for (int32 c = 0; c < {}; ++c) value[c] = ordered[c];
  }}
{}}}
)",
      kTileWidth * kTileHeight, storage_name(tensor.type.dtype), geometry ? ", float* __restrict__ geometry" : "",
      geometry ? "  if (y == 0 && x < 6) geometry[x] = job->geometry[x];\n" : "", spec.width, spec.height, spec.pad[0],
      spec.pad[1], spec.pad[2], kOrders[static_cast<std::size_t>(spec.color)], spec.channels(), stores(spec, tensor));
  const auto tiles = [](int size, unsigned tile) { return (static_cast<unsigned>(size) + tile - 1) / tile; };
  call.grid = {.blocks = {tiles(spec.width, kTileWidth), tiles(spec.height, kTileHeight), 1},
               .threads = {kTileWidth, kTileHeight, 1}};
  call.arguments = {{Argument::Kind::kInput, 0}, {Argument::Kind::kOutput, 0}};
  if (geometry) call.arguments.push_back({Argument::Kind::kOutput, 1});
  return call;
}

class Preprocess : public Tactic {
 public:
  explicit Preprocess(Device& device) : device_(device) {}
  std::string_view name() const override { return "pixels"; }

  Support supports(const NodeContext& context) const override {
    if (!context.node.is("Preprocess", "saccade")) return Support::other_operator("not saccade.Preprocess");
    if (!wants(context, 0)) return Support::no("nobody asks for its pixels");
    if (!context.node.post_ops.empty()) return Support::no("it has post-ops");
    return {};
  }

  std::unique_ptr<Launch> compile(const NodeContext& context) const override {
    const PreprocessSpec spec = preprocess_spec(context.node.attributes);
    NodeProgram program;
    program.calls.push_back(pixel_kernel(spec, context));
    return std::make_unique<PreprocessLaunch>(spec, make_launch(device_, context, std::move(program)));
  }

 private:
  Device& device_;
};

}  // namespace

std::unique_ptr<Tactic> preprocess(Device& device) { return std::make_unique<Preprocess>(device); }

}  // namespace saccade::cuda
