#include "runtime/tuning/candidate_check.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include "base/error.hpp"
#include "ops/core/dispatch.hpp"
#include "ops/core/strided_copy.hpp"
#include "ops/core/tf32.hpp"
#include "ops/interpreter/cost.hpp"
#include "ops/interpreter/interpret.hpp"
#include "tensor/numbers.hpp"

namespace saccade {
namespace {

// Operations of a reference kernel: about a second of one core.
constexpr double kMostSteps = 4e8;

/// A graph of NODE alone; operands that are not constant become inputs.
Graph graph_of(const Graph& graph, const Node& node) {
  Graph alone;
  Node copy = node;
  std::map<ValueId, ValueId> known;
  const auto add = [&](ValueId id, bool is_input) {
    if (id == ValueId::kNone) return id;
    const auto [found, is_new] = known.emplace(id, ValueId::kNone);
    if (!is_new) return found->second;
    const Value& value = graph.value(id);
    const std::string name = fmt::format("value{}", known.size());
    if (value.constant)
      found->second = alone.add_constant(name, *value.constant);
    else
      found->second = is_input ? alone.add_input(name, value.type) : alone.add_value(name, value.type);
    alone.value(found->second).layout = value.layout;
    alone.value(found->second).quantization = value.quantization;
    return found->second;
  };
  for (ValueId& id : copy.inputs) id = add(id, true);
  for (ValueId& id : copy.outputs) id = add(id, false);
  const std::vector<ValueId> outputs = copy.outputs;
  alone.add_node(std::move(copy));
  for (ValueId id : outputs)
    if (id != ValueId::kNone) alone.add_output(id);
  return alone;
}

/// Floats in -1..1; integers are 0, a valid index everywhere.
Tensor random_tensor(const TensorType& type, std::uint32_t seed) {
  Tensor tensor(type.dtype, type.shape);
  std::fill_n(tensor.raw(), tensor.bytes(), std::byte{});
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> reals(-1, 1);
  if (is_float(type.dtype))
    with_number(type.dtype, [&]<typename T>(std::type_identity<T>) {
      for (T& element : tensor.data<T>()) element = static_cast<T>(reals(random));
    });
  return tensor;
}

/// Tolerance of an output, relative to its largest element.
double tolerance_of(DType type, bool tf32) {
  switch (type) {
    case DType::kFloat64:
    case DType::kFloat32: return tf32 ? 1e-2 : 1e-3;
    case DType::kFloat16: return 1e-2;
    case DType::kBFloat16: return 4e-2;
    default: return 0;
  }
}

/// The difference between GOT and WANTED; empty if there is none.
std::string difference(const Tensor& got, const Tensor& wanted, bool tf32) {
  const auto a = numbers_of(got);
  const auto b = numbers_of(wanted);
  if (!a || !b) return {};
  double largest = 0;
  for (double value : *b)
    if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
  // Integers are rounded: halfway between two, either is correct.
  const double allowed = is_float(got.dtype()) ? tolerance_of(got.dtype(), tf32) * largest : 1;
  for (std::size_t i = 0; i < a->size(); ++i) {
    const double x = (*a)[i];
    const double y = (*b)[i];
    if (x == y || (std::isnan(x) && std::isnan(y)) || std::abs(x - y) <= allowed) continue;
    return fmt::format("element {} of {} is {}, not {}", i, got.shape().to_string(), x, y);
  }
  return {};
}

}  // namespace

CandidateCheck::CandidateCheck(const Graph& graph, const Node& node, const Backend& backend, TacticChoice plainest)
    : backend_(backend), alone_(graph_of(graph, node)), plainest_(std::move(plainest)) {
  std::uint32_t seed = 1;
  for (ValueId id : alone_.inputs()) {
    const Value& value = alone_.value(id);
    inputs_.emplace(value.name, random_tensor(value.type, seed++));
  }
}

std::vector<Tensor> CandidateCheck::run(const TacticChoice& choice, int threads) const {
  const NodeId id = alone_.order().front();
  const TacticChoices choices = {{node_fingerprint(alone_, alone_.node(id)), choice}};
  const auto plan = Plan::compile(alone_, backend_, {.threads = threads, .choices = &choices});
  Execution execution(plan);
  execution.poison();
  for (std::size_t i = 0; i < alone_.inputs().size(); ++i) {
    const Tensor& tensor = inputs_.at(alone_.value(alone_.inputs()[i]).name);
    const TensorView to = execution.input(i);
    if (to.data != nullptr) strided_copy(tensor.dtype(), tensor.shape(), strided(view_of(tensor)), strided(to));
  }
  execution.run();
  return read_data_outputs(execution);
}

const std::vector<Tensor>& CandidateCheck::wanted(int threads) {
  std::call_once(once_, [&] {
    const Node& node = alone_.node(alone_.order().front());
    const Op* op = find_op(node.domain, node.op);
    const bool is_cheap = op != nullptr && op->reference != nullptr && steps_of(alone_, node) <= kMostSteps;
    wanted_ = is_cheap ? interpret(alone_, inputs_) : run(plainest_, threads);
  });
  return wanted_;
}

std::string CandidateCheck::rejection(const TacticChoice& choice, int threads) {
  try {
    const std::vector<Tensor> got = run(choice, threads);
    const std::vector<Tensor>& reference = wanted(threads);
    const bool tf32 = takes_tf32(alone_.node(alone_.order().front()));
    for (std::size_t i = 0; i < got.size(); ++i)
      if (const std::string found = difference(got[i], reference[i], tf32); !found.empty()) return found;
    return {};
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace saccade
