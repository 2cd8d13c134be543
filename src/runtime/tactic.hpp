#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/memory_budget.hpp"
#include "graph/target.hpp"
#include "ops/core/op.hpp"
#include "runtime/packed_constants.hpp"
#include "runtime/storage_view.hpp"

namespace saccade {

/// The memory of a launch in one execution. The pointers are valid and constant for the lifetime of the execution.
struct Bindings {
  std::span<const TensorView> inputs;   ///< data is null for an omitted optional input
  std::span<const TensorView> outputs;  ///< data is null for an unused output
  std::byte* scratch = nullptr;         ///< Launch::scratch_bytes(), 64-byte aligned; shared with other launches
  void* queue = nullptr;                ///< the device's stream; null on the host
};

/// A launch bound to the memory of one execution.
class BoundLaunch {
 public:
  virtual ~BoundLaunch() = default;
  /// Runs to completion on the host, or enqueues the work on a device. Does not allocate. Throws Error
  /// (kInvalidArgument, kUnsupported) only if the tensors' contents are invalid for the operator, for example an index
  /// that is out of range.
  virtual void run() = 0;
  /// Whether run() may replace a NaN by a number; Backend::met_nan() then reports it.
  virtual bool may_lose_nan() const { return false; }
  /// As run(), slower, and propagates every NaN.
  virtual void run_keeping_nan() { run(); }
};

/// Machine code of launches, keyed by source and device; stored in plan files.
using KernelImages = std::map<std::string, std::string>;

/// A compiled node with its packed weights. Immutable; shared by all executions of a plan.
class Launch {
 public:
  virtual ~Launch() = default;
  virtual std::size_t scratch_bytes() const { return 0; }
  /// The configuration, or the implementation that a library chose ("brgconv:avx512_core"), for reports; may be empty.
  virtual std::string detail() const { return {}; }
  /// Adds the machine code of its kernels. Passed to Backend::add_images(), it replaces compilation.
  virtual void collect_images(KernelImages& images) const { static_cast<void>(images); }
  virtual std::unique_ptr<BoundLaunch> bind(const Bindings& bindings) const = 0;
};

class StorageAliasing;

/// The argument of a tactic: a node in its graph, with the threads and the memory that it may use.
struct NodeContext {
  const Graph& graph;
  const Node& node;
  int threads = 1;
  MemoryBudget* budget = nullptr;            ///< charged for packed constants by compile(); null: no limit
  const StorageAliasing* storage = nullptr;  ///< null: every value is dense, in its own storage
  /// One of Tactic::configurations(); empty or unknown: its first.
  std::string_view configuration = {};
  PackedConstants* packed = nullptr;  ///< of a plan file, or to be written into one; null: every compile() packs

  int input_count() const { return static_cast<int>(node.inputs.size()); }
  bool has(int i) const { return i < input_count() && node.inputs[static_cast<std::size_t>(i)] != ValueId::kNone; }
  const Value& input(int i) const { return graph.value(node.inputs[static_cast<std::size_t>(i)]); }
  const Value& output(int i = 0) const { return graph.value(node.outputs[static_cast<std::size_t>(i)]); }
  const Tensor* constant(int i) const {
    return has(i) ? graph.constant(node.inputs[static_cast<std::size_t>(i)]) : nullptr;
  }
  /// Constant input I in LAYOUT (see packed_key()): a tensor of ELEMENTS elements that PACK fills, or one packed
  /// before. Charged to the budget.
  Tensor pack_constant(int i, std::string_view layout, DType dtype, std::int64_t elements,
                       const std::function<void(Tensor&)>& pack) const;
  StorageView input_storage(int i) const { return storage_of(node.inputs[static_cast<std::size_t>(i)]); }
  StorageView output_storage(int i = 0) const { return storage_of(node.outputs[static_cast<std::size_t>(i)]); }
  StorageView storage_of(ValueId id) const;
  /// Whether an operand was moved into another value's storage, so that its offset and strides are arbitrary.
  bool has_aliased_operands() const;
};

/// Yes, or the rejection reason.
struct Support {
  bool yes = true;
  std::string reason;
  bool concerned = true;  ///< false: the tactic is for other operators, so that the reason is not reported
  static Support no(std::string why) { return {false, std::move(why)}; }
  static Support other_operator(std::string why) { return {false, std::move(why), false}; }
  explicit operator bool() const { return yes; }
};

/// One way to run a node, with its post-ops, on a device.
class Tactic {
 public:
  virtual ~Tactic() = default;
  virtual std::string_view name() const = 0;
  virtual Support supports(const NodeContext& context) const = 0;
  /// Whether it supports operands with arbitrary offsets and strides, as CONTEXT's storage has them. Called only for
  /// aliased operands (NodeContext::has_aliased_operands()) and after supports() returned yes.
  virtual bool supports_strided_operands(const NodeContext& /*context*/) const { return false; }
  /// Whether it is faster than the tactics before it in the backend's order, where it supports the node.
  virtual bool leads(const NodeContext& /*context*/) const { return false; }
  /// Whether the tuner may choose it; false for a fallback.
  virtual bool competes() const { return true; }
  /// The configurations that the tuner tries, at most COUNT, the most promising first; empty if there is only one. If
  /// CONTEXT has a configuration, its neighbours instead; without neighbours, the same list. Called only after
  /// supports() returned yes.
  virtual std::vector<std::string> configurations(const NodeContext& context, std::size_t count) const {
    static_cast<void>(context), static_cast<void>(count);
    return {};
  }
  /// Called only after supports() returned yes. Throws Error if the device rejects the kernel.
  virtual std::unique_ptr<Launch> compile(const NodeContext& context) const = 0;
};

class Plan;
class Runner;

/// A device that runs plans.
class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string_view name() const = 0;
  /// All tactics, in order of preference; the last one runs every operator that has a reference kernel.
  virtual std::span<const Tactic* const> tactics() const = 0;
  /// What the passes query about this backend, which outlives the target.
  virtual Target target() const = 0;
  /// Allocates the memory and binds the launches of one execution. PLAN must outlive it. Throws Error (kDevice).
  virtual std::unique_ptr<Runner> make_runner(const Plan& plan) const = 0;
  /// Configures the calling thread, for example its number of workers, before it executes a plan.
  virtual void prepare_thread(int threads) const = 0;
  /// Whether a launch that may lose a NaN has met one since the last call on this thread.
  virtual bool met_nan() const { return false; }
  /// The name of the CPU or accelerator, with the relevant instruction sets.
  virtual std::string device_name() const = 0;
  /// The libraries whose kernels it uses, with their versions: "oneDNN 2.6.3". Empty: none.
  virtual std::string libraries() const { return {}; }

  /// The version of the kernels. Measurements of another version are ignored. Empty if the tactics are not versioned.
  virtual std::string kernel_version() const { return {}; }
  /// Whether launches run on a plan's threads, so that the fastest ones depend on their number.
  virtual bool runs_on_threads() const { return false; }
  /// Whether preprocessing of several frames, and so their postprocessing, may run concurrently: the tensors of a stage
  /// then share no memory.
  virtual bool overlaps_frames() const { return false; }
  /// The share of a run below which a measured gain is noise.
  virtual double timing_noise() const { return 0.0005; }
  /// The number of threads that may compile launches concurrently.
  virtual int compile_threads() const { return 1; }
  /// Adds machine code from Launch::collect_images(), which launches then use instead of compiling. Throws Error
  /// (kInvalidFile) if an image is not machine code of the device.
  virtual void add_images(KernelImages images) const { static_cast<void>(images); }
};

/// Whether a tactic of BACKEND other than a fallback supports the node; for Target::has_kernel.
bool has_kernel(const Backend& backend, const Graph& graph, const Node& node);

/// The CPU backend; opens its module at the first call. Throws Error if it is not installed.
const Backend& cpu_backend();

}  // namespace saccade
