#include "cuda/executor/branches.hpp"

#include <algorithm>
#include <map>
#include <optional>

namespace saccade::cuda {
namespace {

constexpr std::size_t kStreams = 9;  // the model's and eight others

/// Bytes of the arena.
struct Interval {
  std::size_t begin = 0;
  std::size_t end = 0;
};

struct Accesses {
  std::vector<Interval> reads;
  std::vector<Interval> writes;
};

bool overlap(std::span<const Interval> a, std::span<const Interval> b) {
  return std::ranges::any_of(a, [&](const Interval& x) {
    return std::ranges::any_of(b, [&](const Interval& y) { return x.begin < y.end && y.begin < x.end; });
  });
}

void add(std::vector<Interval>& intervals, const Plan& plan, ValueId id) {
  if (id == ValueId::kNone) return;
  const Slot& slot = plan.slots()[static_cast<std::size_t>(id)];
  if (slot.kind != Slot::Kind::kArena) return;
  // A view may be read by strides: it counts as all of its owner's memory.
  const Slot& owner = plan.slots()[static_cast<std::size_t>(slot.root)];
  const TensorType& type = plan.graph().value(id).type;
  const bool is_part = slot.root != id && bytes_of(type.dtype, type.shape) < owner.bytes;
  const std::size_t bytes = is_part ? bytes_of(type.dtype, type.shape) : owner.bytes;
  intervals.push_back({is_part ? slot.offset : owner.offset, (is_part ? slot.offset : owner.offset) + bytes});
}

Accesses accesses_of(const Plan& plan, const Step& step) {
  const Node& node = plan.graph().node(step.node);
  Accesses accesses;
  for (const ValueId id : node.inputs) add(accesses.reads, plan, id);
  for (const ValueId id : node.outputs) add(accesses.writes, plan, id);
  if (const std::size_t bytes = step.launch->scratch_bytes(); bytes > 0)
    accesses.writes.push_back({step.scratch_offset, step.scratch_offset + bytes});
  return accesses;
}

/// Whether the launch may run beside the model's. Functions on the host run one at a time.
bool may_branch(const Step& step) { return step.stage != Stage::kModel && step.tactic->competes(); }

class Distribution {
 public:
  explicit Distribution(const Plan& plan) : plan_(plan), steps_(plan.steps().size()), accesses_(steps_.size()) {}

  std::vector<BranchStep> run() {
    for (std::size_t i = 0; i < steps_.size(); ++i)
      if (plan_.steps()[i].launch) place(i);
    // The end of the run comes after all streams.
    for (const auto& [stream, step] : last_)
      if (stream != 0) steps_[step].is_awaited = true;
    return std::move(steps_);
  }

 private:
  void place(std::size_t i) {
    accesses_[i] = accesses_of(plan_, plan_.steps()[i]);
    std::map<std::size_t, std::size_t> latest;  // step that it depends on, by stream
    for (std::size_t k = 0; k < i; ++k)
      if (plan_.steps()[k].launch && depends(i, k)) latest[steps_[k].stream] = k;
    BranchStep& step = steps_[i];
    step.stream = may_branch(plan_.steps()[i]) ? branch_for(latest) : 0;
    for (const auto& [stream, before] : latest) {
      if (stream == step.stream) continue;
      auto& known = awaited_[{step.stream, stream}];
      if (known && *known >= before) continue;
      known = before;
      step.after.push_back(before);
      steps_[before].is_awaited = true;
    }
    last_[step.stream] = i;
  }

  bool depends(std::size_t i, std::size_t on) const {
    const Accesses& later = accesses_[i];
    const Accesses& earlier = accesses_[on];
    return overlap(later.reads, earlier.writes) || overlap(later.writes, earlier.writes) ||
           overlap(later.writes, earlier.reads);
  }

  /// The branch that it continues, or the next one.
  std::size_t branch_for(const std::map<std::size_t, std::size_t>& latest) {
    for (const auto& [stream, step] : latest)
      if (stream != 0 && last_[stream] == step) return stream;
    next_ = next_ % (kStreams - 1) + 1;
    return next_;
  }

  const Plan& plan_;
  std::vector<BranchStep> steps_;
  std::vector<Accesses> accesses_;
  std::map<std::size_t, std::size_t> last_;  ///< step by stream
  std::map<std::pair<std::size_t, std::size_t>, std::optional<std::size_t>> awaited_;
  std::size_t next_ = 0;
};

}  // namespace

std::vector<BranchStep> plan_branches(const Plan& plan) {
  const auto frames = std::ranges::count(plan.slots(), Slot::Kind::kFrame, &Slot::kind);
  return frames < 2 ? std::vector<BranchStep>{} : Distribution(plan).run();
}

std::size_t streams_of(const std::vector<BranchStep>& branches) {
  std::size_t streams = 1;
  for (const BranchStep& step : branches) streams = std::max(streams, step.stream + 1);
  return streams;
}

}  // namespace saccade::cuda
