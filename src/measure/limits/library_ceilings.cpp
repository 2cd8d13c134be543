#include "measure/limits/library_ceilings.hpp"

#include <algorithm>
#include <limits>

#include "measure/limits/work.hpp"
#include "ops/interpreter/infer.hpp"
#include "pipeline/model/compile.hpp"
#include "pipeline/model/device.hpp"

namespace saccade {
namespace {

Tensor filled(DType dtype, const Shape& shape) {
  Tensor tensor(dtype, shape);
  if (dtype == DType::kFloat32) std::ranges::fill(tensor.data<float>(), 0.125F);
  if (dtype == DType::kInt8) std::ranges::fill(tensor.data<std::int8_t>(), std::int8_t{1});
  if (dtype == DType::kUInt8) std::ranges::fill(tensor.data<std::uint8_t>(), std::uint8_t{1});
  return tensor;
}

/// A graph of one node: OP on an input INPUT and constants.
Graph one_node(const std::string& op, const TensorType& input, const std::vector<Tensor>& constants,
               const std::vector<std::int64_t>& pads = {}) {
  Graph graph;
  Node node{.op = op, .name = op};
  node.inputs.push_back(graph.add_input("x", input));
  for (const Tensor& constant : constants)
    node.inputs.push_back(graph.add_constant("c" + std::to_string(node.inputs.size()), constant));
  node.outputs.push_back(graph.add_value("y"));
  if (!pads.empty()) node.attributes.set("pads", pads);
  const ValueId output = node.outputs[0];
  graph.add_node(std::move(node));
  graph.add_output(output);
  infer_types(graph);
  return graph;
}

Graph matmul() {
  const Shape square{512, 512};
  return one_node("MatMul", {DType::kFloat32, square}, {filled(DType::kFloat32, square)});
}

/// Not 3x3: Winograd's algorithm has fewer products than are counted.
Graph convolution() {
  return one_node("Conv", {DType::kFloat32, {1, 128, 28, 28}}, {filled(DType::kFloat32, {128, 128, 5, 5})},
                  {2, 2, 2, 2});
}

Graph quantized_convolution() {
  const Tensor scale = Tensor::scalar(0.5F);
  const Tensor zero = Tensor::scalar(std::uint8_t{0});
  const Tensor middle = Tensor::scalar(std::int8_t{0});
  return one_node("QLinearConv", {DType::kUInt8, {1, 256, 28, 28}},
                  {scale, zero, filled(DType::kInt8, {256, 256, 3, 3}), scale, middle, scale, zero}, {1, 1, 1, 1});
}

Graph relu(std::int64_t elements) { return one_node("Relu", {DType::kFloat32, {1, elements}}, {}); }

/// A plan that is run by itself.
class Probe {
 public:
  Probe(Graph graph, int threads) : execution_(compile({.graph = std::move(graph), .options = {.threads = threads}})) {
    for (const Step& step : execution_.plan().steps())
      work_ += work_of(execution_.plan().graph(), execution_.plan().graph().node(step.node));
    const TensorView input = execution_.input(0);
    std::fill_n(static_cast<std::byte*>(input.data), input.bytes(), std::byte{0});
    times_.resize(execution_.plan().steps().size());
    execution_.time_steps(times_);
  }

  /// The time of the slowest launch.
  Nanoseconds run() {
    // The number of workers is per thread: another plan's may be in effect.
    execution_.plan().backend().prepare_thread(execution_.plan().threads());
    execution_.run();
    Nanoseconds longest{};
    for (const StepTime& time : times_) longest = std::max(longest, Nanoseconds(time.duration()));
    return longest;
  }
  /// Operations per second.
  double rate() {
    // The first run reads what other measurements have evicted from the caches.
    const Nanoseconds least = std::min({run(), run(), run()});
    return work_.products / std::chrono::duration<double>(least).count();
  }

  std::string name() const {
    const Plan& plan = execution_.plan();
    for (const Step& step : plan.steps())
      if (step.tactic != nullptr && plan.graph().node(step.node).op != "Reorder")
        return std::string(step.tactic->name());
    return "";
  }

 private:
  Execution execution_;
  Work work_;
  std::vector<StepTime> times_;  // 0 for views
};

struct Product {
  Product(Graph (*graph)(), OperandType wanted, int threads)
      : precision(wanted), alone(graph(), 1), together(graph(), threads) {}
  OperandType precision;
  Probe alone;
  Probe together;
};

// Enough elements for every thread.
constexpr std::int64_t kShareForEach = 32768;

}  // namespace

struct LibraryProbe::State {
  explicit State(int count)
      : threads(count),
        smallest(relu(1), 1),
        loop_alone(relu(kShareForEach * count), 1),
        loop_together(relu(kShareForEach * count), count) {
    products.push_back(std::make_unique<Product>(matmul, OperandType::kFloat32, threads));
    products.push_back(std::make_unique<Product>(convolution, OperandType::kFloat32, threads));
    products.push_back(std::make_unique<Product>(quantized_convolution, OperandType::kInt8, threads));
    device = choose_backend({.device = Device::cpu()}).device_name();
  }

  int threads;
  std::string device;
  std::vector<std::unique_ptr<Product>> products;
  Probe smallest;
  Probe loop_alone;
  Probe loop_together;
  Nanoseconds loop_one{std::numeric_limits<double>::infinity()};
  Nanoseconds loop_all{std::numeric_limits<double>::infinity()};
};

LibraryProbe::LibraryProbe(int threads) : state_(std::make_unique<State>(threads)) {}
LibraryProbe::~LibraryProbe() = default;

const std::string& LibraryProbe::device() const { return state_->device; }

void LibraryProbe::measure(Ceilings& ceilings) {
  Ceilings found;
  for (const auto& product : state_->products) {
    ComputeCeiling ceiling{product->alone.name(), product->precision};
    ceiling.one_core = product->alone.rate();
    ceiling.all = std::max(ceiling.one_core, product->together.rate());
    found.compute.push_back(ceiling);
  }
  found.clock = ceilings.clock;
  found.syscall = ceilings.syscall;
  found.launch = std::min(state_->smallest.run(), state_->smallest.run());
  state_->loop_one = std::min(state_->loop_one, state_->loop_alone.run());
  state_->loop_all = std::min(state_->loop_all, state_->loop_together.run());
  if (ceilings.launch.count() == 0) ceilings.launch = found.launch;
  raise(ceilings, found);
  ceilings.parallel = std::max(Nanoseconds{}, state_->loop_all - state_->loop_one / state_->threads);
}

}  // namespace saccade
