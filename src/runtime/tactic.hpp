#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/memory_budget.hpp"
#include "graph/layout_rule.hpp"
#include "ops/core/op.hpp"
#include "runtime/place.hpp"

namespace saccade {

/// Where one execution keeps a launch's tensors. The pointers stay the same for the execution's whole life.
struct Bindings {
  std::span<const TensorView> inputs;   ///< data is null where an optional input is left out
  std::span<const TensorView> outputs;  ///< data is null where an output is not asked for
  std::byte* scratch = nullptr;         ///< Launch::scratch_bytes(), 64-byte aligned; shared with other launches
  void* queue = nullptr;                ///< the device's own stream; null on the host
};

/// A launch tied to one execution's memory.
class BoundLaunch {
 public:
  virtual ~BoundLaunch() = default;
  /// Does the work and returns when it is done; on a device, once it is in the queue. Allocates nothing. Throws Error
  /// (kInvalidArgument, kUnsupported) only where the tensors' contents are invalid to the operator: an index out of
  /// range in a user's model.
  virtual void run() = 0;
  /// Whether run() may make a number of a NaN. Where it did, Backend::met_nan() says so afterwards.
  virtual bool may_lose_nan() const { return false; }
  /// As run(), more slowly, and every NaN stays.
  virtual void run_keeping_nan() { run(); }
};

/// Machine code that launches run, by a key of what it was compiled from and for; what a plan file keeps of them.
using KernelImages = std::map<std::string, std::string>;

/// A compiled node: immutable, shared by all executions of a plan; owns its packed weights.
class Launch {
 public:
  virtual ~Launch() = default;
  virtual std::size_t scratch_bytes() const { return 0; }
  /// Which implementation a library chose ("brgconv:avx512_core"), for reports; empty: nothing to add to the tactic.
  virtual std::string detail() const { return {}; }
  /// Adds the machine code that it runs: where Backend::add_images() gets it back, nothing has to be compiled.
  virtual void collect_images(KernelImages& images) const { static_cast<void>(images); }
  virtual std::unique_ptr<BoundLaunch> bind(const Bindings& bindings) const = 0;
};

class Places;

/// What a tactic is asked about: a node in its graph, and the threads and the memory that it may use.
struct NodeContext {
  const Graph& graph;
  const Node& node;
  int threads = 1;
  MemoryBudget* budget = nullptr;  ///< for what compile() keeps of a constant's size; null: no limit
  const Places* places = nullptr;  ///< where values lie; null: each by itself, dense
  /// One of Tactic::configurations(); empty, or none that the tactic knows: its first.
  std::string_view configuration = {};

  int input_count() const { return static_cast<int>(node.inputs.size()); }
  bool has(int i) const { return i < input_count() && node.inputs[static_cast<std::size_t>(i)] != ValueId::kNone; }
  const Value& input(int i) const { return graph.value(node.inputs[static_cast<std::size_t>(i)]); }
  const Value& output(int i = 0) const { return graph.value(node.outputs[static_cast<std::size_t>(i)]); }
  const Tensor* constant(int i) const {
    return has(i) ? graph.constant(node.inputs[static_cast<std::size_t>(i)]) : nullptr;
  }
  Place input_place(int i) const { return place_of(node.inputs[static_cast<std::size_t>(i)]); }
  Place output_place(int i = 0) const { return place_of(node.outputs[static_cast<std::size_t>(i)]); }
  Place place_of(ValueId id) const;
  /// Whether an operand lies in memory that it would not lie in by itself.
  bool shares_memory() const;
};

/// Yes, or the reason why not.
struct Support {
  bool yes = true;
  std::string reason;
  bool concerned = true;  ///< false: the tactic is for other operators, which explains nothing to anybody
  static Support no(std::string why) { return {false, std::move(why)}; }
  static Support other_operator(std::string why) { return {false, std::move(why), false}; }
  explicit operator bool() const { return yes; }
};

/// One way to run one fused node on one device.
class Tactic {
 public:
  virtual ~Tactic() = default;
  virtual std::string_view name() const = 0;
  virtual Support supports(const NodeContext& context) const = 0;
  /// Whether it runs the node with its operands where CONTEXT's places have them: a stride or an offset may be any. It
  /// is asked where one shares another's memory, and supports() said yes.
  virtual bool takes_strides(const NodeContext& /*context*/) const { return false; }
  /// Whether tuning may choose it: false where it stands in for what nothing else can run.
  virtual bool competes() const { return true; }
  /// The ways to cut up the work between which tuning may choose, the most promising first, COUNT at most; none: there
  /// is only one. Where CONTEXT names a configuration, those near it instead; a tactic that has none near lists the
  /// same again. Only after supports() said yes.
  virtual std::vector<std::string> configurations(const NodeContext& context, std::size_t count) const {
    static_cast<void>(context), static_cast<void>(count);
    return {};
  }
  /// Only after supports() said yes. Throws Error where the device refuses.
  virtual std::unique_ptr<Launch> compile(const NodeContext& context) const = 0;
};

class Plan;
class Runner;

/// A device that runs plans.
class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string_view name() const = 0;
  /// All tactics, the preferred ones first; the last can run whatever has a reference kernel.
  virtual std::span<const Tactic* const> tactics() const = 0;
  virtual LayoutRule layout_rule(const NodeContext& context) const = 0;
  /// Whether the node may be part of a saccade.Fused, which is one launch for all that it holds.
  virtual bool fuses(const NodeContext& /*context*/) const { return false; }
  /// Whether it computes in float16 and bfloat16 at the speed of float32, or has to answer as they round; where not,
  /// models of halves are computed in float32.
  virtual bool computes_halves() const = 0;
  /// Whether it has a kernel for saccade.StridedAttention, which is many times as fast as two products and a Softmax.
  virtual bool fuses_attention() const { return false; }
  /// Memory and bound launches for one execution; it keeps a reference to the plan. Throws Error (kDevice).
  virtual std::unique_ptr<Runner> make_runner(const Plan& plan) const = 0;
  /// Runs once on every thread that executes plans, before its first: thread counts and the like.
  virtual void prepare_thread(int threads) const = 0;
  /// Gives back the workers that the calling thread's plans ran on; the next run gets new ones.
  virtual void release_thread() const = 0;
  /// Whether a launch that may lose a NaN has met one since the last call; asked by the thread that ran it.
  virtual bool met_nan() const { return false; }
  /// What the CPU or accelerator calls itself, with the instruction sets that matter.
  virtual std::string device_name() const = 0;

  /// What beside the device decides how fast a tactic is: the version of its kernels. What was measured of another one
  /// is not believed.
  virtual std::string kernel_version() const { return {}; }
  /// How many threads may compile launches at a time.
  virtual int compile_threads() const { return 1; }
  /// Machine code as Launch::collect_images() gave it; from now on launches that need it take it instead of compiling.
  /// Throws Error (kInvalidFile) where some of it is none.
  virtual void add_images(KernelImages images) const { static_cast<void>(images); }
};

/// The CPU backend; opens its module at the first call. Throws Error where it is not installed.
const Backend& cpu_backend();

}  // namespace saccade
