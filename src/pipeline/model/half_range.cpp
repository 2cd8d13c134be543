#include "pipeline/model/half_range.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <random>
#include <span>
#include <tuple>
#include <utility>

#include "base/log.hpp"
#include "media/synthetic.hpp"
#include "ops/elementwise/cast.hpp"
#include "passes/narrow_floats.hpp"
#include "pipeline/model/device.hpp"
#include "pipeline/model/frame_pool.hpp"
#include "pipeline/model/lowering.hpp"
#include "runtime/plan.hpp"

namespace saccade {
namespace {

// A sample does not contain the largest values of all inputs.
constexpr float kMargin = 4;
constexpr float kLimit = 65504 / kMargin;

/// The largest finite magnitude: fp16 has infinities, too.
float largest(const TensorView& view) {
  float most = 0;
  for (float x : view.as<float>())
    if (std::isfinite(x)) most = std::max(most, std::abs(x));
  return most;
}

/// The largest magnitudes of a graph's values over all runs.
class ObservedRange {
 public:
  void add(const std::string& name, const TensorView& view) {
    const float most = largest(view);
    if (most > kLimit) names_.insert(name);
    if (most < most_) return;
    most_ = most;
    largest_ = name;
  }
  /// Logs the result. Returns the values beyond kLimit.
  ValueNames report(const std::string& model, std::chrono::duration<double, std::milli> took) {
    log(LogLevel::kInfo,
        "in the graph '{}', '{}' has the largest value to be computed in half precision, {:.3g} (found in float32 in "
        "{:.0f} ms)",
        model, largest_, most_, took.count());
    if (!names_.empty())
      log(LogLevel::kWarning,
          "values of the graph '{}' are near or beyond the fp16 range ({} of them; the largest is {:.3g}, of '{}'): "
          "the nodes that write and read them stay in float32 (--precision bf16 covers the range)",
          model, names_.size(), most_, largest_);
    return std::move(names_);
  }

 private:
  ValueNames names_;
  std::string largest_;
  float most_ = 0;
};

/// The backend for the float32 run: the CPU, which compiles no kernels, or the device of OPTIONS if the CPU module is
/// not installed.
const Backend& choose_float32_backend(ModelOptions& options) {
  const Device device = std::exchange(options.device, Device::cpu());
  options.precision = Precision::kFp32;
  try {
    return choose_backend(options);
  } catch (const Error&) {
    options.device = device;
    return choose_backend(options);
  }
}

/// A float32 plan whose outputs are the values that OPTIONS would narrow.
class Float32Probe {
 public:
  Float32Probe(Graph graph, ModelOptions options) {
    // The same graph as the pass sees: other passes change names.
    if (!lower_to_narrowing(graph, options)) return;
    const ValueNames narrowed = values_to_narrow(graph, choose_backend(options).target(), DType::kFloat16);
    std::vector<ValueId> outputs;
    for (NodeId id : graph.order())
      for (ValueId output : graph.node(id).outputs)
        if (output != ValueId::kNone && narrowed.contains(graph.value(output).name)) outputs.push_back(output);
    if (outputs.empty()) return;
    // Values may share a name; outputs must not.
    for (const ValueId output : outputs) {
      names_.push_back(graph.value(output).name);
      graph.value(output).name = fmt::format("{}/observed {}", names_.back(), names_.size());
    }
    // Outputs are never fused away, so all of them are found again.
    graph.set_outputs(std::move(outputs));
    graph_ = std::move(graph);
    options_ = std::move(options);
  }

  bool empty() const { return names_.empty(); }
  std::shared_ptr<const Plan> plan() {
    const Backend& backend = choose_float32_backend(options_);
    run_passes(graph_, pass_options(options_, backend));
    return Plan::compile(std::move(graph_), backend, {.threads = options_.threads, .max_memory = options_.max_memory});
  }
  /// In the order of the plan's outputs.
  std::span<const std::string> names() const { return names_; }

 private:
  Graph graph_;
  ModelOptions options_;
  std::vector<std::string> names_;
};

/// 0 to 1.
class RandomFloats {
 public:
  float next() { return 0x1p-24F * static_cast<float>(random_() >> 8U); }

 private:
  std::mt19937 random_{1};
};

/// Colour areas cause larger activations than noise: planes of 8 x 8 uniform areas with added noise.
void fill_areas(Tensor& planes, RandomFloats& random, float low, float high) {
  constexpr std::int64_t kAreas = 8;
  const Shape& shape = planes.shape();
  const std::int64_t height = shape[shape.rank() - 2];
  const std::int64_t width = shape[shape.rank() - 1];
  std::array<float, kAreas * kAreas> colours{};
  const std::span<float> elements = planes.data<float>();
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i) % (height * width);
    if (at == 0)
      for (float& colour : colours) colour = random.next();
    const float colour =
        colours[static_cast<std::size_t>(at / width * kAreas / height * kAreas + at % width * kAreas / width)];
    elements[i] = low + (high - low) * (0.9F * colour + 0.1F * random.next());
  }
}

enum class Sample { kNoise, kAreas };

/// Noise of 0 to 1, or colour areas in the range of normalised images; 8-bit integers use their whole range.
void fill_inputs(const Execution& execution, Sample sample) {
  RandomFloats random;
  const Graph& graph = execution.plan().graph();
  for (std::size_t i = 0; i < graph.inputs().size(); ++i) {
    const TensorView to = execution.input(i);
    if (to.dtype == DType::kFrame || to.data == nullptr) continue;
    const bool is_image = sample == Sample::kAreas && to.shape.rank() == 4;
    float low = is_image ? -2.2F : 0;
    float high = is_image ? 2.7F : 1;
    if (to.dtype == DType::kUInt8) std::tie(low, high) = std::pair(0.0F, 256.0F);
    if (to.dtype == DType::kInt8) std::tie(low, high) = std::pair(-128.0F, 128.0F);
    Tensor drawn(DType::kFloat32, to.shape);
    if (is_image)
      fill_areas(drawn, random, low, high);
    else
      for (float& x : drawn.data<float>()) x = low + (high - low) * random.next();
    cast_elements(view_of(drawn), to);
  }
}

void observe(const Execution& execution, const Float32Probe& probe, ObservedRange& range) {
  for (std::size_t i = 0; i < probe.names().size(); ++i) range.add(probe.names()[i], execution.output(i));
}

/// A frame of the built-in scene, and one of noise.
void run_on_frames(Execution& execution, const Float32Probe& probe, ObservedRange& range) {
  FramePool pool(1, plain_frame_memory());
  const Frame frame = read_scene(*open_synthetic("synthetic:"), pool);
  *execution.frame() = frame.view;
  execution.run();
  observe(execution, probe, range);
  std::mt19937 random(1);
  const FrameBuffer& pixels = frame.lease.buffer();
  for (std::byte& each : std::span(pixels.data, pixels.capacity)) each = static_cast<std::byte>(random() >> 24U);
  execution.run();
  observe(execution, probe, range);
}

}  // namespace

ValueNames find_fp32_keep_list(const Graph& graph, const ModelOptions& options) {
  if (options.precision != Precision::kFp16) return {};  // bf16 has the range of float32
  Float32Probe probe(graph, options);
  if (probe.empty()) return {};
  const auto start = std::chrono::steady_clock::now();
  try {
    ObservedRange range;
    Execution execution(probe.plan());
    if (execution.frame() != nullptr) {
      fill_inputs(execution, Sample::kNoise);
      run_on_frames(execution, probe, range);
    } else {
      for (Sample sample : {Sample::kNoise, Sample::kAreas}) {
        fill_inputs(execution, sample);
        execution.run();
        observe(execution, probe, range);
      }
    }
    return range.report(graph.name, std::chrono::steady_clock::now() - start);
  } catch (const Error& error) {
    log(LogLevel::kWarning,
        "it is unknown whether the values of the graph '{}' fit the fp16 range, because it does not run in float32: {}",
        graph.name, error.what());
    return {};
  }
}

}  // namespace saccade
