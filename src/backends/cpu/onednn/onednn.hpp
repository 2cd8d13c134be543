#pragma once

#include <dnnl.hpp>
#include <functional>
#include <optional>
#include <vector>

#include "runtime/tactic.hpp"

// What every oneDNN tactic shares: descriptors of values, post-ops, and launches whose executions allocate nothing of
// ours. oneDNN 2.6 itself builds one hash map a call inside dnnl_primitive_execute.
namespace saccade::cpu {

/// The process's one oneDNN engine.
const dnnl::engine& onednn_engine();

/// Sets the calling thread's OpenMP team while a primitive is made: oneDNN cuts the work by it. Ends the team's other
/// threads afterwards.
class TeamSize {
 public:
  explicit TeamSize(int threads);
  ~TeamSize();
  TeamSize(const TeamSize&) = delete;
  TeamSize& operator=(const TeamSize&) = delete;

 private:
  int before_;
};

/// float32, int8, uint8 or int32; empty where oneDNN has no such type.
std::optional<dnnl::memory::data_type> onednn_type(DType dtype);
dnnl::memory::dims onednn_dims(const Shape& shape);
/// A dense tensor as it lies in memory. The type must be one of oneDNN's.
dnnl::memory::desc describe(DType dtype, const Shape& shape, Layout layout);
dnnl::memory::desc describe(const Value& value);

/// One tensor of a primitive: the node's input or output that it reads or writes at run time.
struct TensorArgument {
  int argument = 0;  ///< DNNL_ARG_*
  bool output = false;
  int index = 0;
  dnnl::memory::desc desc;
};

/// A tensor that was packed when the plan was compiled; KEEP owns its bytes if oneDNN does not.
struct PackedArgument {
  int argument = 0;
  dnnl::memory memory;
  Tensor keep;
};

/// TENSOR (row-major, seen as PLAIN) in the form WANTED: reordered into new memory, or shared where it lies so already.
/// New memory counts against CONTEXT's budget: padding to whole blocks of channels may take many times the tensor's
/// own.
PackedArgument pack(const NodeContext& context, int argument, const Tensor& tensor, const dnnl::memory::desc& plain,
                    const dnnl::memory::desc& wanted);

/// A node's post-ops as a primitive's attribute, and the operands that they read at run time.
struct FusedPostOps {
  dnnl::primitive_attr attributes;  ///< with user scratchpad mode set
  std::vector<TensorArgument> operands;
  bool apart = false;  ///< none is fused: they run behind the primitive
  bool may_lose_nan = false;
};
/// Apart where oneDNN has no counterpart of one. SHAPE: what the primitive takes the output for (row-major), where it
/// is not the node's own.
FusedPostOps fuse_post_ops(const NodeContext& context, const Shape* shape = nullptr);
FusedPostOps post_ops_apart();
/// Whether the post-ops that are not FUSED have kernels.
Support supports_rest(const NodeContext& context, const FusedPostOps& fused);
/// LAUNCH, followed by the post-ops that are not FUSED.
std::unique_ptr<Launch> with_rest(const NodeContext& context, const FusedPostOps& fused,
                                  std::unique_ptr<Launch> launch);

using LaunchMaker = std::function<std::unique_ptr<Launch>(const FusedPostOps& fused)>;
/// MAKE's launch with FUSED post-ops; where these may lose NaN it is watched, with MAKE's launch without them beside
/// it, for runs that meet one.
std::unique_ptr<Launch> keeping_nan(const FusedPostOps& fused, const LaunchMaker& make);

/// A tensor packed for several primitives, once where they want it alike.
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

/// Throws std::bad_alloc where so little memory is left that making a primitive may run out of it: oneDNN 2.6 writes
/// code to where its allocation failed.
void check_room_for_primitive();

/// Runs MAKE and turns oneDNN's exceptions into Errors that name the node.
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

/// A launch of CHOSEN, a primitive descriptor of Primitive, with what it reads.
template <typename Primitive, typename Descriptor>
std::unique_ptr<Launch> onednn_launch(const Descriptor& chosen, std::vector<TensorArgument> tensors,
                                      std::vector<PackedArgument> packed = {}) {
  check_room_for_primitive();
  return std::make_unique<OnednnLaunch>(Primitive(chosen), chosen.scratchpad_desc(), std::move(tensors),
                                        std::move(packed), chosen.impl_info_str());
}

/// Whether MAKE (which builds a primitive descriptor) succeeds; oneDNN's answer as the reason if not.
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

/// No where oneDNN's sums of products of bytes saturate: without VNNI it adds them in pairs of 16 bits.
Support adds_bytes_exactly();

/// No where a tensor of the node is empty or not float32 (of those asked for); oneDNN's tactics share these limits.
Support all_float32(const NodeContext& context);

}  // namespace saccade::cpu
