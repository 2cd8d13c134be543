#include "runtime/plan.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <thread>

#include "base/memory_budget.hpp"
#include "base/parallel.hpp"
#include "graph/print.hpp"
#include "runtime/memory_planner.hpp"
#include "runtime/placement.hpp"

namespace saccade {

/// Builds one plan: who shares whose memory first, then a tactic for every node, then their launches, side by side,
/// then where everything lies.
class PlanBuilder {
 public:
  PlanBuilder(Graph graph, const Backend& backend, const CompileOptions& options)
      : options_(options), budget_(options.max_memory) {
    plan_->graph_ = std::move(graph);
    plan_->backend_ = &backend;
    const int cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
    plan_->threads_ = options.threads > 0 ? options.threads : cores;
    plan_->slots_.resize(plan_->graph_.value_count());
    order_ = plan_->graph_.order();
    for (std::size_t i = 0; i < order_.size(); ++i) step_of_[order_[i]] = i;
  }

  std::shared_ptr<const Plan> build() {
    take_constants();
    share_memory();
    place_inputs();
    for (std::size_t i = 0; i < order_.size(); ++i) add_step(order_[i], i);
    for (ValueId output : plan_->graph_.outputs()) use(output, kForEver);
    compile_launches();
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

  /// Slices and concatenations in place, where the tactics that a node gets take its operands so.
  void share_memory() {
    places_ = std::make_shared<Places>(plan_->graph_);
    plan_->places_ = places_;
    std::map<NodeId, const Tactic*> tactics;
    places_->share([&](NodeId id, const Places& places) {
      const Node& node = plan_->graph_.node(id);
      const auto [found, fresh] = tactics.try_emplace(id, nullptr);
      if (fresh) found->second = preferred(id);
      return found->second != nullptr && found->second->takes_strides(context_of(node, &places));
    });
  }

  /// The tactic that the node gets if its operands are dense; null: none.
  const Tactic* preferred(NodeId id) {
    const std::size_t place = step_of_.at(id);
    const NodeContext context = context_of(plan_->graph_.node(id), nullptr);
    const auto fits = [&](const Tactic* tactic) { return is_wanted(*tactic, place) && tactic->supports(context); };
    const auto tactics = plan_->backend_->tactics();
    const auto found = std::ranges::find_if(tactics, fits);
    return found != tactics.end() ? *found : nullptr;
  }

  NodeContext context_of(const Node& node, const Places* places) {
    return {plan_->graph_, node, plan_->threads_, &budget_, places};
  }

  void place_inputs() {
    for (ValueId id : plan_->graph_.inputs()) {
      if (plan_->graph_.value(id).type.dtype == DType::kFrame) {
        slot(id) = {.root = id, .kind = Slot::Kind::kFrame};
        continue;
      }
      // An input keeps its memory to the end, so that a run can be repeated without filling it again.
      use(id, 0);
      use(id, kForEver);
    }
  }

  void request(ValueId id, int first) {
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
    requests_.push_back({.bytes = slot(id).bytes, .first = first, .last = first});
    request_values_.push_back(id);
    request_of_.emplace(id, requests_.size() - 1);
  }

  /// Step AT reads or writes the value: its memory is there until then.
  void use(ValueId id, int at) {
    if (id == ValueId::kNone) return;
    const ValueId root = places_->of(id).root;
    if (plan_->graph_.constant(root) != nullptr) {
      slot(root) = {.root = root, .kind = Slot::Kind::kConstant};
    } else if (slot(root).kind != Slot::Kind::kFrame) {
      if (!request_of_.contains(root)) request(root, at);
      MemoryRequest& memory = requests_[request_of_.at(root)];
      memory.last = std::max(memory.last, at);
    }
    if (id != root) slot(id) = {.root = root, .kind = slot(root).kind};
  }

  void add_step(NodeId id, std::size_t place) {
    const Node& node = plan_->graph_.node(id);
    const int at = static_cast<int>(place) + 1;
    Step step{.node = id, .stage = node.stage};
    for (ValueId input : node.inputs) use(input, at);
    // First what all take, then what makes them: a tactic may have tables of its output's size.
    for (ValueId output : node.outputs) use(output, at);
    if (!places_->is_free(node)) {
      choose(step, node, place);
    }
    plan_->steps_.push_back(std::move(step));
  }

  bool is_bound(std::size_t place) const { return place < options_.tactics.size() && !options_.tactics[place].empty(); }
  /// Whether the tactic of step PLACE may be TACTIC: it is the one that was asked for, or any is.
  bool is_wanted(const Tactic& tactic, std::size_t place) const {
    return !is_bound(place) || options_.tactics[place] == tactic.name();
  }

  void choose(Step& step, const Node& node, std::size_t place) {
    const NodeContext context = context_of(node, places_.get());
    if (choose_measured(step, context)) return;
    for (const Tactic* tactic : plan_->backend_->tactics()) {
      if (!is_wanted(*tactic, place)) continue;
      if (const Support support = supports(*tactic, context); !support) {
        if (support.concerned) step.refusals.push_back(fmt::format("{}: {}", tactic->name(), support.reason));
        continue;
      }
      step.tactic = tactic;
      return;
    }
    if (is_bound(place)) refuse_wanted(step, place);
    refuse(place);
  }

  static Support supports(const Tactic& tactic, const NodeContext& context) {
    Support support = tactic.supports(context);
    if (support && context.shares_memory() && !tactic.takes_strides(context))
      return Support::no("it does not support strided operands");
    return support;
  }

  /// Takes what was measured to be fastest for such nodes; false where nothing was, or it is not to be had.
  bool choose_measured(Step& step, const NodeContext& context) const {
    if (options_.choices == nullptr || options_.choices->empty()) return false;
    const auto found = options_.choices->find(node_fingerprint(context.graph, context.node, context.places));
    if (found == options_.choices->end()) return false;
    const auto tactics = plan_->backend_->tactics();
    const auto tactic = std::ranges::find(tactics, found->second.tactic, &Tactic::name);
    if (tactic == tactics.end() || !supports(**tactic, context)) return false;
    step.tactic = *tactic;
    step.configuration = found->second.configuration;
    return true;
  }

  void compile_launches() {
    const auto compile = [&](std::size_t i) {
      Step& step = plan_->steps_[i];
      if (step.tactic == nullptr) return;
      const Node& node = plan_->graph_.node(step.node);
      try {
        NodeContext context = context_of(node, places_.get());
        context.configuration = step.configuration;
        step.launch = step.tactic->compile(context);
      } catch (const Error& error) {
        throw error.in(fmt::format("{}: tactic {}", describe(node), step.tactic->name()));
      }
    };
    in_parallel(plan_->steps_.size(), plan_->backend_->compile_threads(), compile);
    for (std::size_t i = 0; i < plan_->steps_.size(); ++i) {
      const Step& step = plan_->steps_[i];
      if (step.launch == nullptr || step.launch->scratch_bytes() == 0) continue;
      const int at = static_cast<int>(i) + 1;
      requests_.push_back({.bytes = step.launch->scratch_bytes(), .first = at, .last = at});
      request_values_.push_back(ValueId::kNone);
      scratch_.emplace_back(i, requests_.size() - 1);
    }
  }

  [[noreturn]] void refuse_wanted(const Step& step, std::size_t place) {
    const std::string& wanted = options_.tactics[place];
    const auto tactics = plan_->backend_->tactics();
    const auto found = std::ranges::find(tactics, wanted, &Tactic::name);
    if (found == tactics.end())
      fail(ErrorCode::kInvalidArgument, "{}: the {} backend has no tactic {}: remove the choice",
           describe(plan_->graph_.node(step.node)), plan_->backend_->name(), wanted);
    const Support support = supports(**found, context_of(plan_->graph_.node(step.node), places_.get()));
    fail(ErrorCode::kUnsupported, "{}: the requested tactic {} does not support it: {}",
         describe(plan_->graph_.node(step.node)), wanted, support.reason);
  }

  /// Why the nodes from place FIRST on that no tactic can run, one of which is there, can't be run.
  [[noreturn]] void refuse(std::size_t first) const {
    std::vector<std::string> nodes;
    std::size_t count = 0;
    for (std::size_t i = first; i < order_.size(); ++i) {
      const Node& node = plan_->graph_.node(order_[i]);
      std::vector<std::string> reasons;
      if (places_->is_free(node) || is_supported(node, reasons)) continue;
      if (++count <= kMostNamed)
        nodes.push_back(describe(node) + (reasons.empty() ? "" : fmt::format(": {}", fmt::join(reasons, "; "))));
    }
    fail(ErrorCode::kUnsupported, "no tactic of the {} backend supports {}{}", plan_->backend_->name(),
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

  /// Whoever runs the plan holds the tensors that go in and come out, beside the arena.
  void take_edges() {
    const Graph& graph = plan_->graph_;
    const auto take = [&](const char* what, std::span<const ValueId> ids) {
      for (const ValueId id : ids) {
        const Value& value = graph.value(id);
        try {
          if (value.type.dtype != DType::kFrame) budget_.take(bytes_of(value.type.dtype, value.type.shape));
        } catch (const Error& error) {
          throw error.in(fmt::format("the {} '{}' ({})", what, value.name, value.type.shape.to_string()));
        }
      }
    };
    take("input", graph.inputs());
    take("output", graph.data_outputs());
  }

  void place() {
    plan_->arena_bytes_ = plan_memory(requests_);
    take_arena();
    take_edges();
    for (std::size_t i = 0; i < requests_.size(); ++i)
      if (request_values_[i] != ValueId::kNone) slot(request_values_[i]).offset = requests_[i].offset;
    for (std::size_t i = 0; i < plan_->slots_.size(); ++i) {
      Slot& each = plan_->slots_[i];
      const Place& place = places_->of(static_cast<ValueId>(i));
      if (each.kind != Slot::Kind::kArena || each.root == static_cast<ValueId>(i)) continue;
      const std::size_t bits = bits_of(plan_->graph_.value(each.root).type.dtype);
      each.offset = slot(each.root).offset + static_cast<std::size_t>(place.offset) * bits / 8;
    }
    for (const auto& [step, index] : scratch_) plan_->steps_[step].scratch_offset = requests_[index].offset;
  }

  const CompileOptions& options_;
  MemoryBudget budget_;
  std::shared_ptr<Plan> plan_{new Plan};
  std::vector<NodeId> order_;
  std::map<NodeId, std::size_t> step_of_;
  std::shared_ptr<Places> places_;
  std::vector<MemoryRequest> requests_;
  std::vector<ValueId> request_values_;  // kNone: scratch
  std::map<ValueId, std::size_t> request_of_;
  std::vector<std::pair<std::size_t, std::size_t>> scratch_;  // step, request
};

std::shared_ptr<const Plan> Plan::compile(Graph graph, const Backend& backend, const CompileOptions& options) {
  return PlanBuilder(std::move(graph), backend, options).build();
}

}  // namespace saccade
