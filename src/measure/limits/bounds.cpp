#include "measure/limits/bounds.hpp"

#include <algorithm>
#include <map>
#include <set>

// Why these bounds hold, and why they are not looser.
//
// Arithmetic. The peak is what loops of nothing but multiply-adds reach; the work counts no product that an
// implementation could leave out. Products and other operations are not added up: a processor may do them side by side
// on different units, and a fused post-operation costs nothing beside the products before it. oneDNN runs direct
// convolutions alone; a tactic with fewer multiplications (Winograd's) would have to count its own.
//
// Memory. The naive bound, all bytes over memory's bandwidth, is violated at once: a 1x1 convolution after another one
// finds its input in L2. Bytes over L1's bandwidth would hold, and say nothing. What is certain is capacity. When a
// launch starts, the caches up to a level hold at most what fits into them, whatever policy filled them and however the
// data is spread over the cores' own caches; so of what it reads, all beyond that has to cross from the next level, at
// that level's bandwidth at most. When it ends, of what it wrote no more than fits is still there. The levels work side
// by side, so the slowest crossing counts, not their sum; so do reads and writes, of which each has its own limit and
// both together that of the best mix.
//
// Weights are read once a frame, and between two frames the whole working set passes through the caches. With least
// recently used lines thrown out, none of a working set that doesn't fit would be left; the best policy there is
// (Belady's) keeps capacity / working set of a cyclic pattern. Real caches lie between the two, so that share is
// granted to each launch's weights. Without this, only a launch whose own weights exceed the caches would be bound by
// memory.
//
// Sums. Launches run one after the other, with all threads joined between them, so a plan takes at least the sum.
namespace saccade {
namespace {

double seconds_at(double amount, double rate) { return amount > 0 && rate > 0 ? amount / rate : 0; }

Nanoseconds as_time(double seconds) { return std::chrono::duration<double>(seconds); }

/// Bytes that must pass between a level of memory and what is closer to the cores.
struct Crossing {
  double read = 0;
  double written = 0;
};

/// CLOSER: bytes that fit into all levels before this one.
Crossing crossing_of(double closer, const Work& work, double working_set) {
  const auto weights = static_cast<double>(work.weight_bytes);
  const auto read = static_cast<double>(work.read_bytes);
  const double kept = working_set > closer ? closer / working_set : 1;
  return {.read = read + weights - std::min(closer, read + weights * kept),
          .written = std::max(0.0, static_cast<double>(work.write_bytes) - closer)};
}

Nanoseconds time_of(const Crossing& bytes, const Bandwidth& bandwidth) {
  return as_time(std::max({seconds_at(bytes.read, bandwidth.read), seconds_at(bytes.written, bandwidth.write),
                           seconds_at(bytes.read + bytes.written, bandwidth.most())}));
}

/// Bytes that a plan touches in a frame: its arena, and every constant that a launch reads.
std::int64_t working_set_of(const Plan& plan, const BoundOptions& options) {
  const WorkOptions counted{.precision = options.precision};
  std::set<ValueId> seen;
  double bytes = static_cast<double>(plan.arena_bytes());
  if (options.precision) bytes *= static_cast<double>(bits_of(*options.precision)) / 32;
  for (const Step& step : plan.steps())
    bytes += static_cast<double>(work_of(plan.graph(), plan.graph().node(step.node), counted).weight_bytes);
  return static_cast<std::int64_t>(bytes);
}

/// One after the other.
void add(Bound& sum, const Bound& next, std::map<std::string, double>& shares) {
  sum.time += next.time;
  sum.compute += next.compute;
  sum.memory += next.memory;
  sum.work += next.work;
  shares[next.limiter] += next.time.count();
  sum.limiter = std::ranges::max_element(shares, {}, [](const auto& share) { return share.second; })->first;
}

/// All operations and weights of a model, and of its activations those that come from outside or go there.
Work work_at_the_edges(const Plan& plan, const PlanBounds& bounds, const BoundOptions& options) {
  Work work = bounds.whole.work;
  work.read_bytes = 0;
  work.write_bytes = 0;
  for (const Bound& step : bounds.steps) work.precision = std::max(work.precision, step.work.precision);
  const auto bytes = [&](ValueId id) -> std::int64_t {
    const TensorType& type = plan.graph().value(id).type;
    if (type.dtype == DType::kFrame || plan.graph().constant(id) != nullptr) return 0;
    const auto bits = static_cast<std::int64_t>(bits_of(type.dtype));
    const bool narrowed = options.precision && type.dtype == DType::kFloat32;
    return type.shape.elements() * (narrowed ? bits_of(*options.precision) : bits) / 8;
  };
  for (const ValueId id : plan.graph().inputs())
    if (!plan.graph().users(id).empty()) work.read_bytes += bytes(id);
  for (const ValueId id : plan.graph().outputs()) work.write_bytes += bytes(id);
  return work;
}

}  // namespace

Bound bound_of(const Work& work, std::int64_t working_set, const Ceilings& ceilings) {
  Bound bound{.work = work};
  const double peak = ceilings.peak(work.precision);
  bound.compute = as_time(std::max(seconds_at(work.products, peak), seconds_at(work.operations - work.products, peak)));
  std::string slowest;
  double closer = 0;
  for (const MemoryCeiling& level : ceilings.memory) {
    const Nanoseconds time = time_of(crossing_of(closer, work, static_cast<double>(working_set)), level.all);
    if (time > bound.memory) {
      bound.memory = time;
      slowest = level.level;
    }
    if (level.capacity == 0) break;
    closer += static_cast<double>(level.capacity);
  }
  bound.time = std::max({bound.compute, bound.memory, ceilings.floor()});
  if (bound.time.count() <= 0) return bound;
  bound.limiter = bound.time == bound.compute ? "compute" : bound.time == bound.memory ? slowest : "launch";
  return bound;
}

std::vector<Bound> bound_steps(const Plan& plan, const Ceilings& ceilings, const BoundOptions& options) {
  const WorkOptions counted{options.frame, options.precision};
  const std::int64_t working_set = working_set_of(plan, options);
  std::vector<Bound> bounds;
  for (const Step& step : plan.steps()) {
    if (!step.launch) {
      bounds.emplace_back();
      continue;
    }
    bounds.push_back(bound_of(work_of(plan.graph(), plan.graph().node(step.node), counted), working_set, ceilings));
  }
  return bounds;
}

PlanBounds bound_plan(const Plan& plan, const Ceilings& ceilings, const BoundOptions& options) {
  PlanBounds bounds{.steps = bound_steps(plan, ceilings, options)};
  std::array<std::map<std::string, double>, 3> stage_shares;
  std::map<std::string, double> shares;
  for (std::size_t i = 0; i < bounds.steps.size(); ++i) {
    const auto stage = static_cast<std::size_t>(plan.steps()[i].stage);
    add(bounds.stages[stage], bounds.steps[i], stage_shares[stage]);
    add(bounds.whole, bounds.steps[i], shares);
  }
  bounds.fused = bound_of(work_at_the_edges(plan, bounds, options), working_set_of(plan, options), ceilings);
  return bounds;
}

double headroom(Nanoseconds bound, Nanoseconds measured) { return measured.count() > 0 ? 1 - bound / measured : 0; }

}  // namespace saccade
