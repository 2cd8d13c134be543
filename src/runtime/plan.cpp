#include "runtime/plan.hpp"

#include <algorithm>
#include <thread>

#include "base/memory_budget.hpp"
#include "ops/transpose.hpp"
#include "runtime/memory_planner.hpp"

namespace saccade {
namespace {

std::string describe(const Node& node) {
  return fmt::format("node '{}' ({}{}{})", node.name, node.domain, node.domain.empty() ? "" : ".", node.op);
}

/// Whether a Transpose leaves every element where it was, as one between NHWC and a channels-last NCHW does.
bool moves_nothing(const Node& transpose, const Value& from, const Value& to) {
  const Shape order = transpose_order(transpose.attributes, from.type.shape.rank());
  const Shape src = dense_strides(from.type.shape, from.layout);
  const Shape dst = dense_strides(to.type.shape, to.layout);
  for (int i = 0; i < order.rank(); ++i)
    if (to.type.shape[i] > 1 && dst[i] != src[static_cast<int>(order[i])]) return false;
  return true;
}

}  // namespace

bool is_free_view(const Graph& graph, const Node& node) {
  const Op* op = find_op(node.domain, node.op);
  const bool transposes = node.is("Transpose");
  if (op == nullptr || !(op->is_view || transposes) || !node.post_ops.empty()) return false;
  const Value& from = graph.value(node.inputs[0]);
  const Value& to = graph.value(node.outputs[0]);
  return transposes ? moves_nothing(node, from, to)
                    : lies_alike(from.type.shape, from.layout, to.type.shape, to.layout);
}

/// Builds one plan: tactics first, then who shares whose memory, then where everything lies.
class PlanBuilder {
 public:
  PlanBuilder(Graph graph, const Backend& backend, const CompileOptions& options)
      : options_(options), budget_(options.max_memory) {
    plan_->graph_ = std::move(graph);
    plan_->backend_ = &backend;
    const int cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
    plan_->threads_ = options.threads > 0 ? options.threads : cores;
    plan_->slots_.resize(plan_->graph_.value_count());
  }

  std::shared_ptr<const Plan> build() {
    take_constants();
    place_inputs();
    const std::vector<NodeId> order = plan_->graph_.order();
    for (std::size_t i = 0; i < order.size(); ++i) add_step(order[i], i);
    for (ValueId output : plan_->graph_.outputs()) read(output, kForEver);
    place();
    return plan_;
  }

 private:
  static constexpr int kForEver = 1 << 30;
  static constexpr std::size_t kMostNamed = 8;  ///< of nodes that can't be run

  Slot& slot(ValueId id) { return plan_->slots_[static_cast<std::size_t>(id)]; }

  void take_constants() {
    const Graph& graph = plan_->graph_;
    for (std::size_t i = 0; i < graph.value_count(); ++i)
      if (const Tensor* constant = graph.constant(static_cast<ValueId>(i))) budget_.take(constant->bytes());
  }

  void place_inputs() {
    for (ValueId id : plan_->graph_.inputs()) {
      if (plan_->graph_.value(id).type.dtype == DType::kFrame) {
        slot(id) = {.root = id, .kind = Slot::Kind::kFrame};
        continue;
      }
      // An input keeps its memory to the end, so that a run can be repeated without filling it again.
      request(id, 0, kForEver);
    }
  }

  void request(ValueId id, int first, int last) {
    const Value& value = plan_->graph_.value(id);
    if (value.type.dtype == DType::kString)
      fail(ErrorCode::kUnsupported, "value '{}' holds strings, which plans can't run", value.name);
    slot(id) = {.root = id, .kind = Slot::Kind::kArena, .bytes = bytes_of(value.type.dtype, value.type.shape)};
    try {
      budget_.check(slot(id).bytes);
    } catch (const Error& error) {
      throw error.in(describe_maker(id));
    }
    plan_->tensor_bytes_ += slot(id).bytes;
    requests_.push_back({.bytes = slot(id).bytes, .first = first, .last = last});
    request_values_.push_back(id);
    request_of_.emplace(id, requests_.size() - 1);
  }

  /// Keeps the value's memory to step AT.
  void read(ValueId id, int at) {
    if (id == ValueId::kNone) return;
    if (plan_->graph_.constant(id) != nullptr) slot(id) = {.root = id, .kind = Slot::Kind::kConstant};
    const auto found = request_of_.find(slot(id).root);
    if (found != request_of_.end()) requests_[found->second].last = std::max(requests_[found->second].last, at);
  }

  void add_step(NodeId id, std::size_t place) {
    const Node& node = plan_->graph_.node(id);
    const int at = static_cast<int>(place) + 1;
    Step step{.node = id, .stage = node.stage};
    for (ValueId input : node.inputs) read(input, at);
    if (is_free_view(plan_->graph_, node)) {
      slot(node.outputs[0]) = slot(node.inputs[0]);
      slot(node.outputs[0]).bytes = 0;
    } else {
      // First what it takes, then what makes it: a tactic may have tables of its output's size.
      for (ValueId output : node.outputs)
        if (output != ValueId::kNone) request(output, at, at);
      choose(step, node, place);
      if (step.launch->scratch_bytes() > 0) {
        requests_.push_back({.bytes = step.launch->scratch_bytes(), .first = at, .last = at});
        request_values_.push_back(ValueId::kNone);
        scratch_.emplace_back(plan_->steps_.size(), requests_.size() - 1);
      }
    }
    plan_->steps_.push_back(std::move(step));
  }

  void choose(Step& step, const Node& node, std::size_t place) {
    const NodeContext context{plan_->graph_, node, plan_->threads_, &budget_};
    const std::string wanted = place < options_.tactics.size() ? options_.tactics[place] : "";
    for (const Tactic* tactic : plan_->backend_->tactics()) {
      if (!wanted.empty() && tactic->name() != wanted) continue;
      if (const Support support = tactic->supports(context); !support) {
        if (support.concerned) step.refusals.push_back(fmt::format("{}: {}", tactic->name(), support.reason));
        continue;
      }
      step.tactic = tactic;
      try {
        step.launch = tactic->compile(context);
      } catch (const Error& error) {
        throw error.in(fmt::format("{}: tactic {}", describe(node), tactic->name()));
      }
      return;
    }
    refuse(place);
  }

  /// Why the nodes from place FIRST on that no tactic can run, one of which is there, can't be run.
  [[noreturn]] void refuse(std::size_t first) const {
    const std::vector<NodeId> order = plan_->graph_.order();
    std::vector<std::string> nodes;
    std::size_t count = 0;
    for (std::size_t i = first; i < order.size(); ++i) {
      const Node& node = plan_->graph_.node(order[i]);
      std::vector<std::string> reasons;
      if (is_free_view(plan_->graph_, node) || is_supported(node, reasons)) continue;
      if (++count <= kMostNamed)
        nodes.push_back(describe(node) + (reasons.empty() ? "" : fmt::format(": {}", fmt::join(reasons, "; "))));
    }
    fail(ErrorCode::kUnsupported, "no tactic of the {} backend can run {}{}", plan_->backend_->name(),
         fmt::join(nodes, ", "), count > nodes.size() ? fmt::format(", and {} more", count - nodes.size()) : "");
  }

  bool is_supported(const Node& node, std::vector<std::string>& reasons) const {
    for (const Tactic* tactic : plan_->backend_->tactics()) {
      const Support support = tactic->supports({plan_->graph_, node, plan_->threads_});
      if (support) return true;
      if (support.concerned) reasons.push_back(fmt::format("{}: {}", tactic->name(), support.reason));
    }
    return false;
  }

  std::string describe_maker(ValueId id) const {
    const Node* maker = plan_->graph_.producer(id);
    return maker != nullptr ? describe(*maker) : fmt::format("input '{}'", plan_->graph_.value(id).name);
  }

  /// The arena as a whole; where there is no room for it, its largest tensor is named.
  void take_arena() {
    try {
      budget_.take(plan_->arena_bytes_);
    } catch (const Error& error) {
      const auto largest = std::ranges::max_element(requests_, {}, &MemoryRequest::bytes);
      const ValueId id = request_values_[static_cast<std::size_t>(largest - requests_.begin())];
      throw error.in(fmt::format("the memory for all tensors{}",
                                 id == ValueId::kNone ? "" : ", the largest by " + describe_maker(id)));
    }
  }

  void place() {
    plan_->arena_bytes_ = plan_memory(requests_);
    take_arena();
    for (std::size_t i = 0; i < requests_.size(); ++i)
      if (request_values_[i] != ValueId::kNone) slot(request_values_[i]).offset = requests_[i].offset;
    for (Slot& each : plan_->slots_)
      if (each.kind == Slot::Kind::kArena) each.offset = slot(each.root).offset;
    for (const auto& [step, index] : scratch_) plan_->steps_[step].scratch_offset = requests_[index].offset;
  }

  const CompileOptions& options_;
  MemoryBudget budget_;
  std::shared_ptr<Plan> plan_{new Plan};
  std::vector<MemoryRequest> requests_;
  std::vector<ValueId> request_values_;  // kNone: scratch
  std::map<ValueId, std::size_t> request_of_;
  std::vector<std::pair<std::size_t, std::size_t>> scratch_;  // step, request
};

std::shared_ptr<const Plan> Plan::compile(Graph graph, const Backend& backend, const CompileOptions& options) {
  return PlanBuilder(std::move(graph), backend, options).build();
}

}  // namespace saccade
