#include <algorithm>
#include <array>
#include <limits>

#include "base/error.hpp"
#include "onnx/upgrade/builder.hpp"
#include "onnx/upgrade/upgrade_rule.hpp"

// If and Loop in a graph whose shapes are static.
//
// A condition or trip count that follows from constants and shapes alone is known when the graph is built: an If is
// replaced with the branch taken, a Loop is unrolled, each iteration with shapes of its own.
//
// If a condition is known only at run time, both branches are inlined and one result is selected: by Where if their
// shapes are equal, else by saccade.Choose. A Loop is unrolled to its maximum trip count; once its condition is false,
// or its trip count reached, its values stay unchanged and it appends no more rows. Nodes with data-dependent sizes are
// skipped in a branch that is not taken. All other nodes run in any case: an out-of-range index is an error even in a
// branch that is not taken. Exporters write such conditions around little: the empty case of an image without
// detections.
namespace saccade {
namespace {

// Far beyond what exporters unroll; a small file can request any number. A node comes with its output and a constant or
// two.
constexpr std::size_t kMaxCopied = 200'000;
// Iterations that may turn out not to run: each takes its time in every run.
constexpr std::int64_t kMaxConditionalIterations = 1024;
constexpr std::int64_t kOnnxInt64 = 7;  // ONNX's number of the type

bool truth_of(const Tensor& condition) {
  if (condition.dtype() != DType::kBool || condition.elements() != 1)
    fail(ErrorCode::kInvalidFile, "its condition is {} {}, not one bool", to_string(condition.dtype()),
         condition.shape().to_string());
  return condition.data<bool>()[0];
}

std::int64_t count_of(const Tensor& count) {
  if (count.dtype() != DType::kInt64 || count.elements() != 1)
    fail(ErrorCode::kInvalidFile, "its number of iterations is {} {}, not one int64", to_string(count.dtype()),
         count.shape().to_string());
  return count.data<std::int64_t>()[0];
}

/// What a copy of BODY adds: nodes, values, and for each output a selection or a row.
std::size_t size_of(const Graph& body) {
  return body.node_count() + body.value_count() + 2 * body.outputs().size() + 1;
}

bool wants(const Node& node, std::size_t output) {
  return output < node.outputs.size() && node.outputs[output] != ValueId::kNone;
}

}  // namespace

void Builder::add_control_flow(const RawGraph& raw, NodeId id, Node node, const std::vector<ValueId>& places) {
  ControlFlow flow{std::move(node), raw.bodies.at(id), {}};
  std::size_t captured = 0;
  for (const RawGraph& body : flow.bodies) {
    Values& values = flow.captures.emplace_back();
    for (ValueId around : body.captures) values.push_back(places[static_cast<std::size_t>(around)]);
    captured += values.size();
  }
  flow.node.inputs.resize(flow.node.inputs.size() - captured);
  try {
    flow.node.is("If") ? add_if(flow) : add_loop(flow);
  } catch (const Error& error) {
    // The error names an inner node already, whose name contains this one's.
    if (std::string_view(error.what()).starts_with("node ")) throw;
    throw error.in(fmt::format("node '{}' ({})", flow.node.name, flow.node.op));
  }
}

void Builder::add_if(const ControlFlow& flow) {
  const Node& node = flow.node;
  if (node.inputs.size() != 1 || node.inputs[0] == ValueId::kNone) fail(ErrorCode::kInvalidFile, "it has no condition");
  if (const Tensor* condition = known_.get(node.inputs[0]))
    return copy_to_outputs(node, add_body(flow, truth_of(*condition) ? 0 : 1, {}, {}));
  const ValueId condition = add_scalar_condition(node.name + "/condition", node.inputs[0]);
  std::array<Values, 2> ways;
  for (const std::size_t way : {0U, 1U}) {
    extents_.begin_branch(fmt::format("{}/runs_{}", node.name, way), condition, way == 0);
    ways[way] = add_body(flow, way, {}, {});
    extents_.end_branch();
  }
  Values chosen;
  for (std::size_t i = 0; i < std::min(ways[0].size(), ways[1].size()); ++i)
    chosen.push_back(choose(fmt::format("{}/chosen_{}", node.name, i), condition, ways[0][i], ways[1][i]));
  copy_to_outputs(node, chosen);
}

/// The state of a Loop during unrolling.
struct Builder::Iterations {
  std::int64_t limit = std::numeric_limits<std::int64_t>::max();
  bool is_over = false;
  ValueId count = ValueId::kNone;  ///< the number of iterations, if known only at run time; LIMIT is its maximum
  ValueId runs = ValueId::kNone;   ///< whether the next iteration runs, if known only at run time
  Values carried;
  std::vector<Values> rows;  ///< of each scan output: one row per iteration
};

void Builder::add_loop(const ControlFlow& flow) {
  Iterations loop = begin_loop(flow);
  for (std::int64_t i = 0; i < loop.limit && !loop.is_over; ++i) add_iteration(flow, loop, i);
  end_loop(flow, loop);
}

Builder::Iterations Builder::begin_loop(const ControlFlow& flow) {
  const Values& inputs = flow.node.inputs;
  const Graph& body = flow.bodies[0].graph;
  if (inputs.size() < 2 || body.inputs().size() != inputs.size() + flow.captures[0].size() ||
      body.outputs().size() + 1 < inputs.size())
    fail(ErrorCode::kInvalidFile, "its body does not fit its {} inputs", inputs.size());
  Iterations loop;
  loop.carried.assign(inputs.begin() + 2, inputs.end());
  loop.rows.resize(body.outputs().size() - 1 - loop.carried.size());
  if (std::ranges::find(loop.carried, ValueId::kNone) != loop.carried.end())
    fail(ErrorCode::kInvalidFile, "one of its initial values is omitted");
  if (inputs[0] != ValueId::kNone) {
    const Tensor* limit = known_.get(inputs[0]);
    const Range* range = extents_.range(inputs[0]);
    if (limit == nullptr && (range == nullptr || range->of_data))
      fail(ErrorCode::kUnsupported,
           "its number of iterations depends on the model's inputs; export the model with static shapes");
    loop.limit = count_of(limit == nullptr ? range->most : *limit);
    if (limit == nullptr) loop.count = add_scalar(flow.node.name + "/count", inputs[0]);
  }
  if (inputs[1] == ValueId::kNone) return loop;
  if (const Tensor* condition = known_.get(inputs[1]))
    loop.is_over = !truth_of(*condition);
  else
    loop.runs = add_scalar_condition(flow.node.name + "/condition", inputs[1]);
  return loop;
}

void Builder::add_iteration(const ControlFlow& flow, Iterations& loop, std::int64_t number) {
  const std::string suffix = fmt::format("#{}", number);
  const std::string name = flow.node.name + suffix;
  if ((loop.runs != ValueId::kNone || loop.count != ValueId::kNone) && loop.limit > kMaxConditionalIterations)
    fail(
        ErrorCode::kUnsupported,
        "its condition depends on the model's inputs, and it may run more than {} times; export the model with a limit",
        kMaxConditionalIterations);
  const ValueId number_value = graph_.add_constant(name + "/number", Tensor::scalar(number));
  if (loop.count != ValueId::kNone) {
    const ValueId more = add(name + "/more", {.op = "Less", .inputs = {number_value, loop.count}});
    loop.runs = loop.runs == ValueId::kNone ? more : add(name + "/runs", {.op = "And", .inputs = {loop.runs, more}});
  }
  Values inputs = {number_value, graph_.add_constant(name + "/true", Tensor::scalar(true))};
  inputs.insert(inputs.end(), loop.carried.begin(), loop.carried.end());
  if (loop.runs != ValueId::kNone) extents_.begin_branch(name, loop.runs, true);
  const Values outputs = add_body(flow, 0, std::move(inputs), suffix);
  if (loop.runs != ValueId::kNone) extents_.end_branch();
  for (std::size_t i = 0; i < loop.carried.size(); ++i)
    loop.carried[i] = loop.runs == ValueId::kNone
                          ? outputs[1 + i]
                          : choose(fmt::format("{}/kept_{}", name, i), loop.runs, outputs[1 + i], loop.carried[i]);
  for (std::size_t i = 0; i < loop.rows.size(); ++i) {
    if (!wants(flow.node, loop.carried.size() + i)) continue;
    loop.rows[i].push_back(add_row(fmt::format("{}/row_{}", name, i), outputs[1 + loop.carried.size() + i], loop.runs));
  }
  if (const Tensor* condition = known_.get(outputs[0])) {
    loop.is_over = !truth_of(*condition);
    // Only the limit will end it: whether that is too far is known at once.
    if (!loop.is_over && graph_.constant(outputs[0]) != nullptr) check_size(flow.bodies[0], loop.limit);
    return;
  }
  const ValueId goes_on = add_scalar_condition(name + "/condition", outputs[0]);
  loop.runs =
      loop.runs == ValueId::kNone ? goes_on : add(name + "/goes_on", {.op = "And", .inputs = {loop.runs, goes_on}});
}

/// ROW as a slice of a stack; empty if RUNS is false.
ValueId Builder::add_row(const std::string& name, ValueId row, ValueId runs) {
  const ValueId front = graph_.add_constant(name + "_axis", Tensor::of<std::int64_t>({1}, {0}));
  const ValueId stacked = add(name, {.op = "Unsqueeze", .inputs = {row, front}});
  if (runs == ValueId::kNone) return stacked;
  Node cast{.op = "Cast", .inputs = {runs}};
  cast.attributes.set("to", kOnnxInt64);
  const ValueId count =
      add(name + "_count", {.op = "Unsqueeze", .inputs = {add(name + "_runs", std::move(cast)), front}});
  return add(name + "_if_any", {.op = "Slice", .inputs = {stacked, front, count, front}});
}

/// Every scan output is the stack of its iterations' rows.
void Builder::end_loop(const ControlFlow& flow, const Iterations& loop) {
  Values values = loop.carried;
  for (const Values& rows : loop.rows) {
    if (!wants(flow.node, values.size())) {
      values.push_back(ValueId::kNone);
      continue;
    }
    if (rows.empty()) fail(ErrorCode::kUnsupported, "it collects rows, but never runs: their shape is unknown");
    Node stacked{.op = "Concat", .inputs = rows};
    stacked.attributes.set("axis", std::int64_t{0});
    const std::string name = fmt::format("{}/collected_{}", flow.node.name, values.size());
    values.push_back(add(name, std::move(stacked)));
  }
  copy_to_outputs(flow.node, values);
}

void Builder::check_size(const RawGraph& body, std::int64_t copies) const {
  if (static_cast<std::uint64_t>(copies) > (kMaxCopied - std::min(kMaxCopied, copied_)) / size_of(body.graph))
    fail(ErrorCode::kUnsupported,
         "its sub-graph would be copied to more than {} nodes and values, which is not supported", kMaxCopied);
}

Builder::Values Builder::add_body(const ControlFlow& flow, std::size_t which, Values inputs,
                                  const std::string& suffix) {
  const RawGraph& body = flow.bodies[which];
  check_size(body, 1);
  copied_ += size_of(body.graph);
  inputs.insert(inputs.end(), flow.captures[which].begin(), flow.captures[which].end());
  const auto formal = body.graph.inputs();
  if (formal.size() != inputs.size())
    fail(ErrorCode::kInvalidFile, "its sub-graph has {} inputs too {}",
         formal.size() > inputs.size() ? formal.size() - inputs.size() : inputs.size() - formal.size(),
         formal.size() > inputs.size() ? "many" : "few");
  Values places(body.graph.value_count(), ValueId::kNone);
  for (std::size_t i = 0; i < formal.size(); ++i) places[static_cast<std::size_t>(formal[i])] = inputs[i];
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto id = static_cast<ValueId>(i);
    if (places[i] != ValueId::kNone || body.graph.is_input(id)) continue;
    const Value& value = body.graph.value(id);
    budget_.take(2 * (value.name.size() + suffix.size()) + sizeof(Value));
    places[i] = value.constant ? graph_.add_constant(value.name + suffix, *value.constant)
                               : graph_.add_value(value.name + suffix);
  }
  add_nodes(body, places, suffix);
  Values outputs;
  for (ValueId output : body.graph.outputs()) {
    if (output == ValueId::kNone) fail(ErrorCode::kInvalidFile, "an output of its sub-graph is omitted");
    outputs.push_back(places[static_cast<std::size_t>(output)]);
  }
  return outputs;
}

/// VALUE, which has one element, as a scalar, so that it broadcasts to any shape.
ValueId Builder::add_scalar(const std::string& name, ValueId value) {
  if (graph_.value(value).type.shape.rank() == 0) return value;
  const ValueId shape = graph_.add_constant(name + "_shape", Tensor::of<std::int64_t>({0}, {}));
  return add(name, {.op = "Reshape", .inputs = {value, shape}});
}

ValueId Builder::add_scalar_condition(const std::string& name, ValueId condition) {
  const TensorType& type = graph_.value(condition).type;
  if (type.dtype != DType::kBool || type.shape.elements() != 1)
    fail(ErrorCode::kInvalidFile, "its condition is {} {}, not one bool", to_string(type.dtype),
         type.shape.to_string());
  return add_scalar(name, condition);
}

ValueId Builder::choose(const std::string& name, ValueId condition, ValueId yes, ValueId no) {
  const TensorType& a = graph_.value(yes).type;
  const TensorType& b = graph_.value(no).type;
  if (a.dtype != b.dtype || a.shape.rank() != b.shape.rank())
    fail(ErrorCode::kUnsupported,
         "its condition depends on the model's inputs and decides between {} {} and {} {}; types and ranks must be "
         "known",
         to_string(a.dtype), a.shape.to_string(), to_string(b.dtype), b.shape.to_string());
  if (a == b && !extents_.is_open(yes) && !extents_.is_open(no))
    return add(name, {.op = "Where", .inputs = {condition, yes, no}});
  return add(name, {.domain = "saccade", .op = "Choose", .inputs = {condition, yes, no}});
}

void Builder::copy_to_outputs(const Node& node, const Values& values) {
  if (values.size() < node.outputs.size())
    fail(ErrorCode::kInvalidFile, "it has {} outputs, but its sub-graph only {}", node.outputs.size(), values.size());
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    if (!wants(node, i)) continue;
    add_inferred(graph_, known_, extents_,
                 {.op = "Identity",
                  .name = fmt::format("{}/output_{}", node.name, i),
                  .inputs = {values[i]},
                  .outputs = {node.outputs[i]}});
  }
}

}  // namespace saccade
