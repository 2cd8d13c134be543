#include "measure/limits/bounds.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "runtime/storage_alias.hpp"
#include "runtime/storage_aliasing.hpp"

// Justification of the bounds.
//
// Arithmetic. The peak is what loops of nothing but multiply-adds reach; the work counts the products of the
// definition. Every implementation computes them, except Winograd's algorithm: where a device has kernels of it, its
// multiplications count instead, without the additions of its transforms. Products and other operations are not added:
// a processor may execute them in parallel on different units, and a fused post-op is free beside the preceding
// products.
//
// Memory. The naive bound, all bytes over memory bandwidth, is wrong: a 1x1 convolution after another one finds its
// input in L2. Bytes over L1 bandwidth would be valid, but useless. What is certain is capacity. When a launch starts,
// the caches up to a level hold at most their capacity, whatever policy filled them and however the data is spread over
// the cores' own caches; so everything it reads beyond that has to come from the next level, at that level's bandwidth
// at most. When it ends, at most the capacity of what it wrote is still there. The levels work in parallel, so the
// slowest transfer counts, not their sum; so do reads and writes, each with its own limit and together with that of the
// best mix.
//
// Weights are read once per frame, and between two frames the whole working set passes through the caches. With LRU
// replacement, nothing would remain of a working set that does not fit; the optimal policy (Belady's) keeps capacity /
// working set of a cyclic pattern. Real caches are in between, so that share is granted to each launch's weights.
// Otherwise, only a launch whose own weights exceed the caches would be memory-bound.
//
// Sums. Launches run sequentially, with all threads joined in between, so a plan takes at least the sum.
namespace saccade {
namespace {

double seconds_at(double amount, double rate) { return amount > 0 && rate > 0 ? amount / rate : 0; }

Nanoseconds as_time(double seconds) { return std::chrono::duration<double>(seconds); }

/// Bytes that must be transferred between a level of memory and the levels closer to the cores.
struct Crossing {
  double read = 0;
  double written = 0;
};

/// CLOSER: total capacity of the levels before this one.
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

/// The work of a step of PLAN. Parts of a Concat, a Slice or a Split that lie where they belong are not moved.
Work work_of_step(const Plan& plan, const Step& step, const WorkOptions& counted) {
  const Node& node = plan.graph().node(step.node);
  Work work = work_of(plan.graph(), node, counted);
  for (const StorageAlias& alias : storage_aliases(plan.graph(), node)) {
    if (!plan.storage().holds(alias)) continue;
    const TensorType& part = plan.graph().value(alias.part).type;
    const std::int64_t bytes = part.shape.elements() * counted_bits(part.dtype, counted) / 8;
    work.read_bytes = std::max<std::int64_t>(0, work.read_bytes - bytes);
    work.write_bytes = std::max<std::int64_t>(0, work.write_bytes - bytes);
  }
  return work;
}

/// Bytes that a plan accesses per frame: its arena, and every constant that a launch reads.
std::int64_t working_set_of(const Plan& plan, const BoundOptions& options) {
  const WorkOptions counted{.precision = options.precision};
  std::set<ValueId> seen;
  double bytes = static_cast<double>(plan.arena_bytes());
  if (options.precision) bytes *= static_cast<double>(bits_of(*options.precision)) / 32;
  for (const Step& step : plan.steps())
    bytes += static_cast<double>(work_of(plan.graph(), plan.graph().node(step.node), counted).weight_bytes);
  return static_cast<std::int64_t>(bytes);
}

/// Sequential composition.
void add(Bound& sum, const Bound& next, std::map<std::string, double>& shares) {
  sum.time += next.time;
  sum.compute += next.compute;
  sum.memory += next.memory;
  sum.work += next.work;
  shares[next.limiter] += next.time.count();
  sum.limiter = std::ranges::max_element(shares, {}, [](const auto& share) { return share.second; })->first;
}

/// All operations and weights of a model, and only the activations that enter or leave it.
Work work_at_the_edges(const Plan& plan, const PlanBounds& bounds, const BoundOptions& options) {
  Work work = bounds.whole.work;
  work.read_bytes = 0;
  work.write_bytes = 0;
  for (const Bound& step : bounds.steps) work.precision = std::max(work.precision, step.work.precision);
  const auto bytes = [&](ValueId id) -> std::int64_t {
    const TensorType& type = plan.graph().value(id).type;
    if (type.dtype == DType::kFrame || plan.graph().constant(id) != nullptr) return 0;
    return type.shape.elements() * counted_bits(type.dtype, {.precision = options.precision}) / 8;
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
  const double products = seconds_at(work.products - work.winograd_products, peak) +
                          seconds_at(work.winograd_products, ceilings.winograd_peak(work.precision));
  bound.compute = as_time(std::max(products, seconds_at(work.operations - work.products, peak)));
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
    bounds.push_back(bound_of(work_of_step(plan, step, counted), working_set, ceilings));
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
