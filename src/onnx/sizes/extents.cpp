#include "onnx/sizes/extents.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

#include "base/error.hpp"
#include "onnx/sizes/slicewise.hpp"

namespace saccade {
namespace {

bool is_same(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && a.shape() == b.shape() &&
         (a.bytes() == 0 || std::memcmp(a.raw(), b.raw(), a.bytes()) == 0);
}

/// The output of a Shape or Size on an input of TYPE.
Tensor run_on_type(const Node& node, const TensorType& type, const TensorType& output) {
  std::byte unread{};
  const TensorView input{.data = &unread, .dtype = type.dtype, .shape = type.shape};
  Tensor result(output.dtype, output.shape);
  const TensorView view = view_of(result);
  find_op(node.domain, node.op)->reference(KernelContext(node, {&input, 1}, {&view, 1}));
  return result;
}

bool is_finite(const ClosedInterval& interval) { return std::isfinite(interval.least) && std::isfinite(interval.most); }

Tensor filled(const Shape& shape, double whole) {
  Tensor tensor(DType::kInt64, shape);
  std::ranges::fill(tensor.data<std::int64_t>(), static_cast<std::int64_t>(whole));
  return tensor;
}

/// 0 x 1 x 2 x ...: a shape whose sizes identify its dimensions.
Shape numbered(int rank) {
  Shape shape;
  for (int i = 0; i < rank; ++i) shape.push_back(i);
  return shape;
}

}  // namespace

const Extents::Counts& Extents::counts_of(ValueId id) const {
  static const Counts kNone;
  const auto found = counts_.find(id);
  return found == counts_.end() ? kNone : found->second;
}

std::vector<bool> Extents::open_inputs(const Node& node) const {
  std::vector<bool> open;
  for (ValueId input : node.inputs) open.push_back(is_open(input));
  return open;
}

bool Extents::has_open_sizes(const Node& node) const {
  return std::ranges::any_of(node.inputs, [this](ValueId input) { return is_open(input); }) ||
         node.is("Choose", "saccade") || is_sized_by_contents(known_, ranges_, node);
}

void Extents::set_types(const Node& node, const std::vector<TensorType>& types) {
  for (std::size_t i = 0; i < types.size(); ++i)
    if (node.outputs[i] != ValueId::kNone) graph_.value(node.outputs[i]).type = types[i];
}

void Extents::add(Node node) {
  try {
    if (find_op(node.domain, node.op) == nullptr) fail(ErrorCode::kUnsupported, "the operator is not supported");
    if (!add_whole(node) && !add_shape(node)) add_sized(node);
    learn(node);
  } catch (const Error& error) {
    throw error.in(fmt::format("node '{}' ({})", node.name, node.op));
  }
}

Extents::Counts Extents::passed_counts(const Node& node, bool& all) const {
  Counts passed;
  std::set<int> mixed;
  const std::vector<bool> open = open_inputs(node);
  const Shape& to = graph_.value(node.outputs[0]).type.shape;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    for (const auto& [axis, count] : counts_of(node.inputs[i])) {
      const std::optional<int> behind = axis_behind({graph_, known_, node, i, axis});
      if (!behind || *behind >= to.rank() || to[*behind] != graph_.value(node.inputs[i]).type.shape[axis] ||
          !others_allow(graph_, node, *behind, open)) {
        all = false;
        if (behind) mixed.insert(*behind);
        continue;
      }
      const auto [place, is_new] = passed.emplace(*behind, count);
      if (!is_new && place->second != count) mixed.insert(*behind);
      all = all && works_on_all(node, i);
    }
  }
  for (int axis : mixed) passed.erase(axis);
  all = all && mixed.empty();
  return passed;
}

/// Adds a node that may process its inputs at full capacity.
bool Extents::add_whole(const Node& node) {
  if (is_sized_by_contents(known_, ranges_, node) || node.outputs[0] == ValueId::kNone) return false;
  std::vector<TensorType> types;
  try {
    types = infer_node(graph_, node, known_);
  } catch (const Error&) {  // incompatible capacities, or unknown contents
    return false;
  }
  set_types(node, types);
  bool all = true;
  const Counts passed = passed_counts(node, all);
  if (!all) return false;
  for (ValueId output : node.outputs)
    if (output != ValueId::kNone) counts_[output] = passed;
  graph_.add_node(node);
  return true;
}

/// By element of a Shape's output: the count that it equals.
Tensor Extents::counts_in_shape(const Node& node, int rank, const TensorType& output) const {
  const Tensor places = run_on_type(node, {DType::kInt64, numbered(rank)}, output);
  Tensor counts(DType::kInt64, output.shape);
  const Counts& open = counts_of(node.inputs[0]);
  std::ranges::transform(places.data<std::int64_t>(), counts.data<std::int64_t>().begin(), [&](std::int64_t place) {
    const auto count = open.find(static_cast<int>(place));
    return static_cast<std::int64_t>(count == open.end() ? ValueId::kNone : count->second);
  });
  return counts;
}

/// Adds a Shape or a Size, whose elements have a known range.
bool Extents::add_shape(const Node& node) {
  if (!node.is("Shape") && !node.is("Size")) return false;
  const TensorType output = infer_node(graph_, node, known_).at(0);
  TensorType type = graph_.value(node.inputs[0]).type;
  Range range;
  range.most = run_on_type(node, type, output);
  for (const auto& [axis, count] : counts_of(node.inputs[0])) type.shape[axis] = 0;
  range.least = run_on_type(node, type, output);
  if (node.is("Shape")) range.counts = counts_in_shape(node, type.shape.rank(), output);
  graph_.value(node.outputs[0]).type = output;
  if (is_same(range.least, range.most)) {
    graph_.value(node.outputs[0]).constant = std::move(range.most);
    return true;
  }
  ranges_.set(node.outputs[0], std::move(range));
  add_sized(node);
  return true;
}

ValueId Extents::add_count(const std::string& name, std::int64_t most) {
  const ValueId count = graph_.add_value(name, {DType::kInt64, {}});
  ranges_.set(count, {Tensor::scalar(std::int64_t{0}), Tensor::scalar(most), {}});
  return count;
}

/// Gives output I of NODE a count for each of its open axes.
void Extents::bound_output(const Node& node, std::size_t i, const Capacity& capacity, const Counts& passed,
                           SizedForm& form) {
  const ValueId output = node.outputs[i];
  if (output == ValueId::kNone) return;
  // TopK's indices are as many as its values.
  const Counts twin = i == 1 && node.is("TopK") ? counts_of(node.outputs[0]) : Counts{};
  for (int axis = 0; axis < capacity.type.shape.rank(); ++axis) {
    if (!capacity.open[static_cast<std::size_t>(axis)]) continue;
    SizedAxis made{i, axis, ValueId::kNone};
    ValueId& count = counts_[output][axis];
    if (const auto same = passed.find(axis); same != passed.end()) {
      count = same->second;
    } else if (const auto own = capacity.counts.find(axis); own != capacity.counts.end()) {
      count = own->second;
    } else if (const auto twins = twin.find(axis); twins != twin.end()) {
      count = twins->second;
    } else {
      count = made.count =
          add_count(fmt::format("{}/size_{}", graph_.value(output).name, axis), capacity.type.shape[axis]);
    }
    form.made.push_back(made);
  }
}

void Extents::add_sized(Node node) {
  SizeQuery query{graph_, known_, ranges_, node, {}, {}};
  SizedForm form{.given = {}, .made = {}, .capacity = {}, .guard = guard()};
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const bool given = node.inputs[i] != ValueId::kNone;
    const int rank = given ? graph_.value(node.inputs[i]).type.shape.rank() : 0;
    std::vector<bool>& open = query.open.emplace_back(static_cast<std::size_t>(rank), false);
    query.counts.push_back(counts_of(node.inputs[i]));
    for (const auto& [axis, count] : query.counts.back()) {
      open[static_cast<std::size_t>(axis)] = true;
      form.given.push_back({i, axis, count});
    }
  }
  const std::vector<Capacity> capacities = capacities_of(query);
  for (const Capacity& capacity : capacities) {
    bytes_of(capacity.type.dtype, capacity.type.shape);
    form.capacity.push_back(capacity.type);
  }
  set_types(node, form.capacity);
  bool all = true;
  // Under a guard, a node that does not run has empty outputs, whatever its inputs are.
  const Counts passed = guards_.empty() && node.outputs[0] != ValueId::kNone ? passed_counts(node, all) : Counts{};
  for (std::size_t i = 0; i < capacities.size(); ++i) bound_output(node, i, capacities[i], passed, form);
  graph_.add_node(sized_node(std::move(node), form));
}

/// The condition of the innermost branch, created when it is first needed.
ValueId Extents::guard() {
  ValueId outer = ValueId::kNone;
  for (Guard& each : guards_) {
    if (each.made == ValueId::kNone) {
      const auto also = [&](std::string_view op, std::vector<ValueId> inputs) {
        const std::string name = fmt::format("{}/{}", each.name, op);
        const ValueId output = graph_.add_value(name, {DType::kBool, {}});
        graph_.add_node({.op = std::string(op), .name = name, .inputs = std::move(inputs), .outputs = {output}});
        return output;
      };
      each.made = each.wanted ? each.condition : also("Not", {each.condition});
      if (outer != ValueId::kNone) each.made = also("And", {outer, each.made});
    }
    outer = each.made;
  }
  return outer;
}

// Sizes are integers, and few: values for which only an interval is known get it as the range of each element.
void Extents::learn(const Node& node) {
  constexpr std::int64_t kMaxSizes = 64;
  intervals_.learn(node);
  for (ValueId output : node.outputs) {
    if (output == ValueId::kNone || ranges_.get(output) != nullptr) continue;
    const TensorType& type = graph_.value(output).type;
    const auto interval = intervals_.get(output);
    if (interval && is_finite(*interval) && type.dtype == DType::kInt64 && type.shape.elements() <= kMaxSizes &&
        fixed_.get(output) == nullptr)
      ranges_.set(output, {filled(type.shape, interval->least), filled(type.shape, interval->most), {}, true});
  }
}

bool Extents::needs(const Node& node) {
  std::optional<Range> range = ranges_.behind(node);
  if (!range) return true;
  Value& output = graph_.value(node.outputs[0]);
  if (is_same(range->least, range->most) && !range->of_data) {
    output.constant = std::move(range->most);
    return false;
  }
  ranges_.set(node.outputs[0], std::move(*range));
  return true;
}

void Extents::bound_outputs() {
  std::vector<ValueId> outputs(graph_.outputs().begin(), graph_.outputs().end());
  const std::size_t data_outputs = outputs.size();
  const auto taken = [&](const std::string& name) {
    const auto is = [&](ValueId id) { return graph_.value(id).name == name; };
    return std::ranges::any_of(outputs, is) || std::ranges::any_of(graph_.inputs(), is);
  };
  std::vector<Extent> extents;
  for (std::size_t i = 0; i < data_outputs; ++i) {
    for (const auto& [axis, count] : counts_of(outputs[i])) {
      // A count may itself be an output only through another value, so counts are placed behind the outputs.
      auto place = std::ranges::find(outputs.begin() + static_cast<std::ptrdiff_t>(data_outputs), outputs.end(), count);
      if (place == outputs.end()) {
        std::string name = graph_.value(outputs[i]).name + "/count";
        while (taken(name)) name += '_';
        graph_.value(count).name = std::move(name);
        place = outputs.insert(place, count);
      }
      extents.push_back({i, axis, static_cast<std::size_t>(place - outputs.begin())});
    }
  }
  graph_.set_outputs(std::move(outputs));
  graph_.set_extents(std::move(extents));
}

}  // namespace saccade
