#pragma once

#include <dnnl.hpp>
#include <functional>
#include <optional>
#include <vector>

#include "runtime/tactic.hpp"

// Shared by all oneDNN tactics: descriptors of values, post-ops, and launches that do not allocate at run time.
// oneDNN 2.6 itself builds one hash map per call inside dnnl_primitive_execute.
namespace saccade::cpu {

/// The process's one oneDNN engine.
const dnnl::engine& onednn_engine();

/// Sets the calling thread's team size while a primitive is created, because oneDNN partitions the work by it. A
/// program's own OpenMP gets its number of threads back, too.
class TeamSize {
 public:
  explicit TeamSize(int threads);
  ~TeamSize();
  TeamSize(const TeamSize&) = delete;
  TeamSize& operator=(const TeamSize&) = delete;

 private:
  int before_;
  int foreign_before_;
};

/// float32, int8, uint8 or int32; nullopt for other types.
std::optional<dnnl::memory::data_type> onednn_type(DType dtype);
dnnl::memory::dims onednn_dims(const Shape& shape);
/// The descriptor of a dense tensor in its layout. oneDNN must have the type.
dnnl::memory::desc describe(DType dtype, const Shape& shape, Layout layout);
dnnl::memory::desc describe(const Value& value);

/// A run-time argument of a primitive: an input or output of the node.
struct TensorArgument {
  int argument = 0;  ///< DNNL_ARG_*
  bool output = false;
  int index = 0;
  dnnl::memory::desc desc;
};

/// A tensor that was packed at compile time. KEEP owns its bytes if oneDNN does not.
struct PackedArgument {
  int argument = 0;
  dnnl::memory memory;
  Tensor keep;
};

/// TENSOR (row-major, described by PLAIN) in the form WANTED: reordered into new memory, or shared if it has that form
/// already. New memory is charged to CONTEXT's budget, because padding channels to full blocks may multiply the size.
PackedArgument pack(const NodeContext& context, int argument, const Tensor& tensor, const dnnl::memory::desc& plain,
                    const dnnl::memory::desc& wanted);

/// A node's post-ops as a primitive's attributes, with their run-time arguments.
struct FusedPostOps {
  dnnl::primitive_attr attributes;  ///< with user scratchpad mode set
  std::vector<TensorArgument> operands;
  bool apart = false;  ///< none is fused: they run after the primitive
  bool may_lose_nan = false;
};
/// Not fused if oneDNN lacks one of them. SHAPE: the primitive's (row-major) output shape if it differs from the
/// node's.
FusedPostOps fuse_post_ops(const NodeContext& context, const Shape* shape = nullptr);
FusedPostOps post_ops_apart();
/// Whether the post-ops that are not FUSED have kernels.
Support supports_rest(const NodeContext& context, const FusedPostOps& fused);
/// LAUNCH, followed by the post-ops that are not FUSED.
std::unique_ptr<Launch> with_rest(const NodeContext& context, const FusedPostOps& fused,
                                  std::unique_ptr<Launch> launch);

using LaunchMaker = std::function<std::unique_ptr<Launch>(const FusedPostOps& fused)>;
/// MAKE's launch with FUSED post-ops. If these may lose NaN, it is watched, with a second launch without them for runs
/// that meet one.
std::unique_ptr<Launch> keeping_nan(const FusedPostOps& fused, const LaunchMaker& make);

/// A tensor packed for several primitives, once if they use the same form.
class PackedOnce {
 public:
  PackedOnce(const NodeContext& context, int argument, Tensor tensor, dnnl::memory::desc plain)
      : context_(context), argument_(argument), tensor_(std::move(tensor)), plain_(std::move(plain)) {}
  const PackedArgument& as(const dnnl::memory::desc& wanted) {
    if (!packed_ || packed_->memory.get_desc() != wanted) packed_ = pack(context_, argument_, tensor_, plain_, wanted);
    return *packed_;
  }

 private:
  const NodeContext& context_;
  int argument_;
  Tensor tensor_;
  dnnl::memory::desc plain_;
  std::optional<PackedArgument> packed_;
};

/// A oneDNN primitive with its packed weights.
class OnednnLaunch : public Launch {
 public:
  OnednnLaunch(dnnl::primitive primitive, const dnnl::memory::desc& scratchpad, std::vector<TensorArgument> tensors,
               std::vector<PackedArgument> packed, std::string detail);

  std::size_t scratch_bytes() const override { return scratchpad_.get_size(); }
  std::string detail() const override { return detail_; }
  std::unique_ptr<BoundLaunch> bind(const Bindings& bindings) const override;

 private:
  dnnl::primitive primitive_;
  dnnl::memory::desc scratchpad_;
  std::vector<TensorArgument> tensors_;
  std::vector<PackedArgument> packed_;
  std::string detail_;
};

/// Throws std::bad_alloc if the remaining memory may not suffice for creating a primitive: oneDNN 2.6 writes code to a
/// failed allocation.
void check_room_for_primitive();

/// Runs MAKE and converts oneDNN's exceptions to Errors that name the node.
template <typename Make>
auto onednn_compile(const NodeContext& context, const Make& make) {
  try {
    const TeamSize team(context.threads);
    check_room_for_primitive();
    return make();
  } catch (const dnnl::error& error) {
    if (error.status == dnnl_out_of_memory) throw std::bad_alloc();
    fail(ErrorCode::kInternal, "oneDNN refuses node '{}' ({}): {}", context.node.name, context.node.op, error.what());
  }
}

/// A launch of CHOSEN, a primitive descriptor of Primitive, with its arguments.
template <typename Primitive, typename Descriptor>
std::unique_ptr<Launch> onednn_launch(const Descriptor& chosen, std::vector<TensorArgument> tensors,
                                      std::vector<PackedArgument> packed = {}) {
  check_room_for_primitive();
  return std::make_unique<OnednnLaunch>(Primitive(chosen), chosen.scratchpad_desc(), std::move(tensors),
                                        std::move(packed), chosen.impl_info_str());
}

/// Whether MAKE, which builds a primitive descriptor, succeeds; else oneDNN's message as the reason.
template <typename Make>
Support onednn_supports(const NodeContext& context, const Make& make) {
  try {
    const TeamSize team(context.threads);
    check_room_for_primitive();
    make();
    return {};
  } catch (const dnnl::error& error) {
    if (error.status == dnnl_out_of_memory) throw std::bad_alloc();
    return Support::no(std::string("oneDNN: ") + error.what());
  }
}

/// No if oneDNN's int8 sums saturate: without VNNI it adds pairs of products in 16 bits.
Support adds_bytes_exactly();

/// No if one of the requested tensors is empty or not float32; common limits of oneDNN's tactics.
Support all_float32(const NodeContext& context);

}  // namespace saccade::cpu
