#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "cuda/codegen/element_code.hpp"
#include "cuda/driver/queue.hpp"
#include "cuda/kernels/launch_sizes.hpp"
#include "cuda/kernels/memory_layouts.hpp"
#include "cuda/tactics/tactics.hpp"
#include "ops/vision/pixel_filter.hpp"
#include "ops/vision/pixels.hpp"

// saccade.Preprocess on the device, bit-identical to the reference (kernels/pixels.cuh).
//
// What changes from frame to frame, the samples and a parameter block with their layout, is uploaded at the beginning
// of each run (upload.hpp). Tables of interpolation weights are uploaded when the frame's size or format changes.
namespace saccade::cuda {
namespace {

static_assert(static_cast<int>(ColorModel::kRgb) == kRgbModel && static_cast<int>(ColorModel::kYuv) == kYuvModel &&
              static_cast<int>(ColorModel::kGray) == kGrayModel);

JobAxis axis_of(int origin, int extent, int per, std::int64_t target, std::int64_t at) {
  const TapAxis axis = TapAxis::of(origin, extent, per, target, at);
  return {axis.scale, axis.first, axis.offset, axis.begin, axis.end};
}

/// The tables of a frame size and format on the device.
class DeviceTables {
 public:
  /// Uploads the tables unless they are those of the last frame. Throws Error (kDevice).
  void prepare(const PreprocessSpec& spec, const Placement& placed, const Components& components,
               const FrameView& frame) {
    const std::array key = {frame.width, frame.height, static_cast<int>(frame.format)};
    if (key == made_for_) return;
    made_for_ = {-1, -1, -1};
    for (std::size_t i = 0; i < 2; ++i)
      filters_[i].build(spec, placed, components.parts[components.count() == 3 ? i : 0]);
    values_.clear();
    for (const ComponentFilter& filter : filters_) {
      for (const FilterTable* table : {&filter.across, &filter.down}) {
        values_.insert(values_.end(), table->first().begin(), table->first().end());
        values_.insert(values_.end(), table->weights().begin(), table->weights().end());
      }
    }
    memory_ = upload(std::as_bytes(std::span(values_)));
    made_for_ = key;
  }

  void describe(FrameJob& job) const {
    const int* next = reinterpret_cast<const int*>(memory_.pointer());
    const auto describe_table = [&](const FilterTable& table, int begin) {
      JobTable made{next, next + table.first().size(), table.taps(), begin};
      next = made.weights + table.weights().size();
      return made;
    };
    for (std::size_t i = 0; i < 2; ++i) {
      job.across_table[i] = describe_table(filters_[i].across, filters_[i].begin);
      job.down_table[i] = describe_table(filters_[i].down, filters_[i].top);
    }
  }

 private:
  std::array<ComponentFilter, 2> filters_;
  std::array<int, 3> made_for_{-1, -1, -1};
  std::vector<std::int32_t> values_;
  DeviceMemory memory_;
};

class BoundPreprocess : public BoundLaunch, public FrameReader {
 public:
  BoundPreprocess(const PreprocessSpec& spec, const Launch& kernels, const Bindings& bindings)
      : spec_(spec),
        frame_(static_cast<const FrameView*>(bindings.inputs[0].data)),
        job_(make_pinned(sizeof(FrameJob))),
        device_job_(sizeof(FrameJob)) {
    // The kernel's input is the parameter block instead of the frame.
    TensorView job = bindings.inputs[0];
    job.data = device_job_.pointer();
    kernels_ = kernels.bind(
        {.inputs = {&job, 1}, .outputs = bindings.outputs, .scratch = bindings.scratch, .queue = bindings.queue});
    queue_of(bindings).readers.push_back(this);
  }

  const FrameView* frame() const override { return frame_; }

  Copy description() const override {
    return {.from = address_of(job_.get()), .to = device_job_.address(), .bytes = sizeof(FrameJob)};
  }

  void run() override { kernels_->run(); }

  void describe(const FrameView& on_device) override {
    const Placement placed = place(spec_, on_device.width, on_device.height);
    const Components components = components_of(on_device);
    FrameJob& job = *static_cast<FrameJob*>(job_.get());
    for (std::size_t i = 0; i < 3; ++i) {
      const Component& part = components.parts[i];
      job.parts[i] = {part.data, part.pitch, part.step};
    }
    for (std::size_t i = 0; i < 2; ++i) {
      const Component& part = components.parts[components.count() == 3 ? i : 0];
      job.across[i] = axis_of(placed.source.x, placed.source.width, part.across, placed.width, placed.x);
      job.down[i] = axis_of(placed.source.y, placed.source.height, part.down, placed.height, placed.y);
    }
    if (uses_tables(spec_.interpolation)) {
      tables_.prepare(spec_, placed, components, on_device);
      tables_.describe(job);
    }
    std::ranges::copy(geometry_of(placed, on_device.width, on_device.height), job.geometry);
    const YuvMatrix yuv = yuv_matrix(on_device.matrix, on_device.range);
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
    job.model = components.mosaic ? kMosaicModel : static_cast<std::int32_t>(components.model);
    const Mosaic mosaic = components.mosaic.value_or(Mosaic{});
    job.mosaic = {mosaic.width, mosaic.height, mosaic.red_x, mosaic.red_y};
  }

 private:
  PreprocessSpec spec_;
  const FrameView* frame_;
  PinnedMemory job_;
  DeviceTables tables_;
  DeviceMemory device_job_;
  std::unique_ptr<BoundLaunch> kernels_;
};

class PreprocessLaunch : public Launch {
 public:
  PreprocessLaunch(const PreprocessSpec& spec, std::unique_ptr<Launch> kernels)
      : spec_(spec), kernels_(std::move(kernels)) {}
  void collect_images(KernelImages& images) const override { kernels_->collect_images(images); }
  std::unique_ptr<BoundLaunch> bind(const Bindings& bindings) const override {
    return std::make_unique<BoundPreprocess>(spec_, *kernels_, bindings);
  }

 private:
  PreprocessSpec spec_;
  std::unique_ptr<Launch> kernels_;
};

bool uses_output(const NodeContext& context, std::size_t output) {
  return context.node.outputs.size() > output && context.node.outputs[output] != ValueId::kNone;
}

/// Statements that store the channels VALUE[C] of a pixel.
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

/// Statements before a pixel's coordinates, the expression of its colour, and the launch bounds.
struct ColorCode {
  std::string taps;
  std::string color;
  std::string bounds;
};
ColorCode color_code(Interpolation interpolation) {
  if (!uses_tables(interpolation))
    return {"  __shared__ TileTaps taps;\n  load_taps(*job, taps);\n", "color_of(*job, taps)",
            fmt::format("{}", kTileWidth * kTileHeight)};
  const FilterArithmetic made = filter_arithmetic(interpolation);
  // A compiler that wants more blocks per multiprocessor spills registers of the loops over a mosaic.
  constexpr int kBlocks = 4;
  return {"",
          fmt::format("filtered_color<Arithmetic<{}, {}, {}, {}>>(*job, x - job->first_column, y - job->first_row)",
                      made.across_shift, made.down_shift, made.low, made.high),
          fmt::format("{}, {}", kTileWidth * kTileHeight, kBlocks)};
}

KernelCall pixel_kernel(const PreprocessSpec& spec, const NodeContext& context) {
  static constexpr std::array kOrders = {"color.red, color.green, color.blue", "color.blue, color.green, color.red",
                                         "luma_of(*job, color)"};
  const Value& tensor = context.output();
  const bool geometry = uses_output(context, 1);
  const ColorCode code = color_code(spec.interpolation);
  KernelCall call{.name = "preprocess"};
  call.source = fmt::format(
      R"(#include "pixels.cuh"
extern "C" __global__ void __launch_bounds__({}) preprocess(const FrameJob* __restrict__ job, {}* __restrict__ out{}) {{
  pdl_wait_and_trigger();
{}  const int32 x = blockIdx.x * kTileWidth + threadIdx.x;
  const int32 y = blockIdx.y * kTileHeight + threadIdx.y;
{}  if (x >= {} || y >= {}) return;
  int32 value[3] = {{{}, {}, {}}};
  if (x >= job->first_column && x < job->end_column && y >= job->first_row && y < job->end_row) {{
    const Rgb color = {};
    const int32 ordered[] = {{{}}};
    for (int32 c = 0; c < {}; ++c) value[c] = ordered[c];
  }}
{}}}
)",
      code.bounds, storage_name(tensor.type.dtype), geometry ? ", float* __restrict__ geometry" : "", code.taps,
      geometry ? "  if (y == 0 && x < 6) geometry[x] = job->geometry[x];\n" : "", spec.width, spec.height, spec.pad[0],
      spec.pad[1], spec.pad[2], code.color, kOrders[static_cast<std::size_t>(spec.color)], spec.channels(),
      stores(spec, tensor));
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
    if (!uses_output(context, 0)) return Support::no("its pixels are not used");
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
