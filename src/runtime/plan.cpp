#include "runtime/plan.hpp"

#include <algorithm>
#include <map>

#include "base/memory_budget.hpp"
#include "base/parallel.hpp"
#include "base/processors.hpp"
#include "graph/print.hpp"
#include "runtime/arena_builder.hpp"
#include "runtime/storage_aliasing.hpp"
#include "runtime/tactic_selector.hpp"

namespace saccade {

/// Builds a plan: storage aliasing, a tactic for every node, launches (compiled in parallel), arena.
class PlanBuilder {
 public:
  PlanBuilder(Graph graph, const Backend& backend, const CompileOptions& options)
      : budget_(options.max_memory), packed_(options.packed), plan_(new Plan) {
    plan_->graph_ = std::move(graph);
    plan_->backend_ = &backend;
    plan_->threads_ = options.threads > 0 ? options.threads : available_processors();
    selector_.emplace(plan_->graph_, backend, options, plan_->threads_, budget_);
  }

  std::shared_ptr<const Plan> build() {
    ArenaBuilder arena = add_steps();
    compile_launches();
    add_scratch(arena);
    take_over(arena.build());
    return plan_;
  }

  ArenaBuilder add_steps() {
    charge_constants();
    alias_storage();
    ArenaBuilder arena(plan_->graph_, *plan_->storage_, budget_, overlapping_stages());
    arena.add_inputs();
    for (std::size_t i = 0; i < selector_->order().size(); ++i) add_step(i, arena);
    arena.add_outputs();
    return arena;
  }

 private:
  void charge_constants() {
    const Graph& graph = plan_->graph_;
    for (std::size_t i = 0; i < graph.value_count(); ++i)
      if (const Tensor* constant = graph.constant(static_cast<ValueId>(i))) budget_.take(constant->bytes());
  }

  void alias_storage() {
    std::map<NodeId, std::size_t> steps;
    for (NodeId id : selector_->order()) steps.emplace(id, steps.size());
    auto storage = std::make_shared<StorageAliasing>(plan_->graph_);
    storage->share([&](NodeId id, const StorageAliasing& proposed) {
      return selector_->supports_aliasing(steps.at(id), proposed);
    });
    plan_->storage_ = std::move(storage);
  }

  /// The stages of the steps, if those of several frames may run concurrently.
  std::vector<Stage> overlapping_stages() const {
    const Graph& graph = plan_->graph_;
    const auto is_frame = [&](ValueId id) { return graph.value(id).type.dtype == DType::kFrame; };
    if (!plan_->backend_->overlaps_frames() || std::ranges::count_if(graph.inputs(), is_frame) < 2) return {};
    std::vector<Stage> stages;
    for (const NodeId id : selector_->order()) stages.push_back(graph.node(id).stage);
    return stages;
  }

  void add_step(std::size_t at, ArenaBuilder& arena) {
    const NodeId id = selector_->order()[at];
    const Node& node = plan_->graph_.node(id);
    Step step{.node = id, .stage = node.stage};
    // Operands are charged before a tactic is queried, which may build tables of the output's size.
    for (ValueId input : node.inputs) arena.use(input, at);
    for (ValueId output : node.outputs) arena.use(output, at);
    if (!plan_->storage_->is_free(node)) selector_->select(step, at, *plan_->storage_);
    plan_->steps_.push_back(std::move(step));
  }

  void compile_launches() {
    in_parallel(plan_->steps_.size(), plan_->backend_->compile_threads(), [&](std::size_t i) {
      Step& step = plan_->steps_[i];
      if (step.tactic == nullptr) return;
      NodeContext context = selector_->context(step.node, plan_->storage_.get());
      context.configuration = step.configuration;
      try {
        step.launch = step.tactic->compile(context);
      } catch (const Error& error) {
        throw error.in(fmt::format("{}: tactic {}", describe(context.node), step.tactic->name()));
      }
      if (packed_ != nullptr) packed_->release_pages();
    });
  }

  void add_scratch(ArenaBuilder& arena) const {
    for (std::size_t i = 0; i < plan_->steps_.size(); ++i)
      if (const auto& launch = plan_->steps_[i].launch; launch != nullptr)
        arena.add_scratch(i, launch->scratch_bytes());
  }

  void take_over(ArenaLayout layout) {
    plan_->slots_ = std::move(layout.slots);
    plan_->arena_bytes_ = layout.bytes;
    plan_->tensor_bytes_ = layout.tensor_bytes;
    plan_->memory_bytes_ = budget_.taken();
    for (const auto& [step, offset] : layout.scratch) plan_->steps_[step].scratch_offset = offset;
  }

  MemoryBudget budget_;
  const PackedConstants* packed_;
  std::shared_ptr<Plan> plan_;
  std::optional<TacticSelector> selector_;
};

std::shared_ptr<const Plan> Plan::compile(Graph graph, const Backend& backend, const CompileOptions& options) {
  return PlanBuilder(std::move(graph), backend, options).build();
}

void Plan::check(Graph graph, const Backend& backend, const CompileOptions& options) {
  PlanBuilder(std::move(graph), backend, options).add_steps();
}

}  // namespace saccade
