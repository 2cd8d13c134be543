#include "cpu/onednn/onednn.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <map>
#include <new>

#include "cpu/loops/element_program.hpp"
#include "cpu/team/foreign_openmp.hpp"
#include "cpu/team/nan_watch.hpp"
#include "cpu/team/parallel.hpp"

namespace saccade::cpu {
namespace {

using dnnl::algorithm;
using dnnl::memory;

class BoundPrimitive : public BoundLaunch {
 public:
  explicit BoundPrimitive(const dnnl::primitive& primitive) : primitive_(primitive), stream_(onednn_engine()) {}

  void add(int argument, memory tensor) {
    memories_.push_back(std::move(tensor));
    arguments_.push_back({argument, memories_.back().get()});
  }

  void run() override {
    const dnnl_status_t status =
        dnnl_primitive_execute(primitive_.get(), stream_.get(), static_cast<int>(arguments_.size()), arguments_.data());
    if (status == dnnl_out_of_memory) throw std::bad_alloc();
    if (status != dnnl_success)
      fail(ErrorCode::kInternal, "oneDNN could not run it: status {}", static_cast<int>(status));
  }

 private:
  const dnnl::primitive& primitive_;
  dnnl::stream stream_;
  std::vector<memory> memories_;
  std::vector<dnnl_exec_arg_t> arguments_;
};

/// A watched launch that may lose NaN, with its replacement that keeps it.
class BoundWatched : public BoundLaunch {
 public:
  BoundWatched(std::unique_ptr<BoundLaunch> fast, std::unique_ptr<BoundLaunch> exact)
      : fast_(std::move(fast)), exact_(std::move(exact)) {}

  void run() override {
    begin_watch();
    fast_->run();
    end_watch();
  }
  bool may_lose_nan() const override { return true; }
  void run_keeping_nan() override { exact_->run(); }

 private:
  std::unique_ptr<BoundLaunch> fast_;
  std::unique_ptr<BoundLaunch> exact_;
};

class WatchedLaunch : public Launch {
 public:
  WatchedLaunch(std::unique_ptr<Launch> fast, std::unique_ptr<Launch> exact)
      : fast_(std::move(fast)), exact_(std::move(exact)) {}

  std::size_t scratch_bytes() const override { return std::max(fast_->scratch_bytes(), exact_->scratch_bytes()); }
  std::string detail() const override { return fast_->detail(); }
  std::unique_ptr<BoundLaunch> bind(const Bindings& bindings) const override {
    return std::make_unique<BoundWatched>(fast_->bind(bindings), exact_->bind(bindings));
  }

 private:
  std::unique_ptr<Launch> fast_;
  std::unique_ptr<Launch> exact_;
};

/// Whether oneDNN's code for a fused post-op may lose a NaN on some processor: all do that not only multiply and add.
bool may_lose_nan(const PostOp& post) {
  return post.operand < 0 && post.op != "Neg" && post.op != "Abs" && post.op != "Sqrt";
}

/// Appends one unary post-op; false if oneDNN has no equivalent.
bool append_unary(dnnl::post_ops& ops, const PostOp& post) {
  const auto eltwise = [&](algorithm what, float alpha = 0, float beta = 0) {
    ops.append_eltwise(1.0F, what, alpha, beta);
    return true;
  };
  if (post.op == "Relu") return eltwise(algorithm::eltwise_relu);
  if (post.op == "LeakyRelu") return eltwise(algorithm::eltwise_relu, post.alpha);
  if (post.op == "Sigmoid") return eltwise(algorithm::eltwise_logistic);
  if (post.op == "Silu") return eltwise(algorithm::eltwise_swish, 1.0F);
  if (post.op == "Tanh") return eltwise(algorithm::eltwise_tanh);
  if (post.op == "Gelu") return eltwise(algorithm::eltwise_gelu_erf);
  if (post.op == "HardSwish") return eltwise(algorithm::eltwise_hardswish);
  if (post.op == "Clip") return eltwise(algorithm::eltwise_clip_v2, post.alpha, post.beta);
  if (post.op == "Elu") return eltwise(algorithm::eltwise_elu, post.alpha);
  if (post.op == "Exp") return eltwise(algorithm::eltwise_exp);
  if (post.op == "Log") return eltwise(algorithm::eltwise_log);
  if (post.op == "Sqrt") return eltwise(algorithm::eltwise_sqrt);
  if (post.op == "Abs") return eltwise(algorithm::eltwise_abs);
  if (post.op == "Neg") return eltwise(algorithm::eltwise_linear, -1.0F);
  if (post.op == "Mish") return eltwise(algorithm::eltwise_mish);
  if (post.op != "HardSigmoid") return false;
  return eltwise(algorithm::eltwise_linear, post.alpha, post.beta) && eltwise(algorithm::eltwise_clip_v2, 0, 1);
}

/// oneDNN 2.6 compiles two element-wise post-ops of the same algorithm with the constants of the first, for example two
/// LeakyRelus or two Clips.
bool shares_constants(const dnnl::post_ops& ops) {
  std::map<algorithm, std::pair<float, float>> constants;
  for (int i = 0; i < ops.len(); ++i) {
    if (ops.kind(i) != dnnl::primitive::kind::eltwise) continue;
    float scale = 1;
    algorithm what{};
    std::pair<float, float> own;
    ops.get_params_eltwise(i, scale, what, own.first, own.second);
    if (const auto [first, is_new] = constants.emplace(what, own); !is_new && first->second != own) return true;
  }
  return false;
}

/// Add and Mul become binary post-ops, which only read their operand; the sum post-op would overwrite it.
bool append_binary(const NodeContext& context, const PostOp& post, const Shape* shape, FusedPostOps& fused,
                   dnnl::post_ops& ops) {
  if (post.op != "Add" && post.op != "Mul") return false;
  const Value& operand = context.input(post.operand);
  const Value& output = context.output();
  if (operand.type != output.type) return false;
  // oneDNN reads the operand in the layout of the output.
  if (!lies_alike(operand.type.shape, operand.layout, output.type.shape, output.layout)) return false;
  const memory::desc desc =
      shape == nullptr ? describe(operand) : describe(operand.type.dtype, *shape, Layout::kRowMajor);
  const int place = ops.len();
  ops.append_binary(post.op == "Add" ? algorithm::binary_add : algorithm::binary_mul, desc);
  fused.operands.push_back(
      {.argument = DNNL_ARG_ATTR_MULTIPLE_POST_OP(place) | DNNL_ARG_SRC_1, .index = post.operand, .desc = desc});
  return true;
}

}  // namespace

const dnnl::engine& onednn_engine() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

void check_room_for_primitive() {
  // Code, tables and a worker's heap; a primitive needs a hundredth of it.
  constexpr std::size_t kRoom = std::size_t{16} << 20;
  // Writable, so that RLIMIT_DATA counts it.
  void* room = mmap(nullptr, kRoom, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) throw std::bad_alloc();
  munmap(room, kRoom);
}

TeamSize::TeamSize(int threads)
    : before_(team_size()), foreign_before_(foreign_openmp() != nullptr ? foreign_openmp()->get_max_threads() : 0) {
  set_team_size(threads);
}

TeamSize::~TeamSize() {
  set_team_size(before_);
  if (const ForeignOpenMp* foreign = foreign_openmp()) foreign->set_num_threads(foreign_before_);
}

std::optional<memory::data_type> onednn_type(DType dtype) {
  switch (dtype) {
    case DType::kFloat32: return memory::data_type::f32;
    case DType::kInt8: return memory::data_type::s8;
    case DType::kUInt8: return memory::data_type::u8;
    case DType::kInt32: return memory::data_type::s32;
    default: return std::nullopt;
  }
}

memory::dims onednn_dims(const Shape& shape) { return {shape.begin(), shape.end()}; }

memory::desc describe(DType dtype, const Shape& shape, Layout layout) {
  const auto type = onednn_type(dtype);
  SACCADE_ASSERT(type.has_value());
  // oneDNN has no tensors of rank 0.
  if (shape.rank() == 0) return {{1}, *type, memory::dims{1}};
  return {onednn_dims(shape), *type, onednn_dims(dense_strides(shape, layout))};
}

memory::desc describe(const Value& value) { return describe(value.type.dtype, value.type.shape, value.layout); }

PackedArgument pack(const NodeContext& context, int argument, const Tensor& tensor, const memory::desc& plain,
                    const memory::desc& wanted) {
  // oneDNN reads the source only.
  auto* bytes = const_cast<std::byte*>(tensor.raw());
  memory source(plain, onednn_engine(), bytes);
  if (plain == wanted) return {argument, std::move(source), tensor};
  if (context.budget != nullptr) context.budget->take(wanted.get_size());
  memory packed(wanted, onednn_engine());
  check_room_for_primitive();
  dnnl::stream stream(onednn_engine());
  dnnl::reorder(source, packed).execute(stream, source, packed);
  stream.wait();
  return {argument, std::move(packed), {}};
}

FusedPostOps post_ops_apart() {
  FusedPostOps none;
  none.attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  none.apart = true;
  return none;
}

FusedPostOps fuse_post_ops(const NodeContext& context, const Shape* shape) {
  FusedPostOps fused;
  dnnl::post_ops ops;
  for (const PostOp& post : context.node.post_ops)
    if (post.operand < 0 ? !append_unary(ops, post) : !append_binary(context, post, shape, fused, ops))
      return post_ops_apart();
  if (shares_constants(ops)) return post_ops_apart();
  fused.may_lose_nan = std::ranges::any_of(context.node.post_ops, may_lose_nan);
  // The launch that keeps NaN runs them separately.
  if (fused.may_lose_nan && !supports_post_ops(context)) return post_ops_apart();
  fused.attributes.set_post_ops(ops);
  fused.attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return fused;
}

Support supports_rest(const NodeContext& context, const FusedPostOps& fused) {
  return fused.apart ? supports_post_ops(context) : Support{};
}

std::unique_ptr<Launch> with_rest(const NodeContext& context, const FusedPostOps& fused,
                                  std::unique_ptr<Launch> launch) {
  return fused.apart ? with_post_ops(context, std::move(launch)) : std::move(launch);
}

std::unique_ptr<Launch> keeping_nan(const FusedPostOps& fused, const LaunchMaker& make) {
  auto fast = make(fused);
  if (!fused.may_lose_nan) return fast;
  return std::make_unique<WatchedLaunch>(std::move(fast), make(post_ops_apart()));
}

OnednnLaunch::OnednnLaunch(dnnl::primitive primitive, const memory::desc& scratchpad,
                           std::vector<TensorArgument> tensors, std::vector<PackedArgument> packed, std::string detail)
    : primitive_(std::move(primitive)),
      scratchpad_(scratchpad),
      tensors_(std::move(tensors)),
      packed_(std::move(packed)),
      detail_(std::move(detail)) {}

std::unique_ptr<BoundLaunch> OnednnLaunch::bind(const Bindings& bindings) const {
  auto bound = std::make_unique<BoundPrimitive>(primitive_);
  for (const TensorArgument& tensor : tensors_) {
    const auto& views = tensor.output ? bindings.outputs : bindings.inputs;
    bound->add(tensor.argument,
               memory(tensor.desc, onednn_engine(), views[static_cast<std::size_t>(tensor.index)].data));
  }
  for (const PackedArgument& packed : packed_) bound->add(packed.argument, packed.memory);
  if (scratchpad_.get_size() != 0)
    bound->add(DNNL_ARG_SCRATCHPAD, memory(scratchpad_, onednn_engine(), bindings.scratch));
  return bound;
}

Support adds_bytes_exactly() {
  // From oneDNN, because DNNL_MAX_CPU_ISA may restrict it.
  const dnnl::cpu_isa isa = dnnl::get_effective_cpu_isa();
  const bool has_vnni = isa == dnnl::cpu_isa::avx2_vnni || isa == dnnl::cpu_isa::avx512_core_vnni ||
                        isa == dnnl::cpu_isa::avx512_core_bf16 || isa == dnnl::cpu_isa::avx512_core_amx;
  if (has_vnni) return {};
  return Support::no("this processor has no VNNI: oneDNN's 16-bit partial sums would saturate");
}

Support all_float32(const NodeContext& context) {
  const auto check = [&](ValueId id) -> const char* {
    if (id == ValueId::kNone) return nullptr;
    const TensorType& type = context.graph.value(id).type;
    if (type.dtype != DType::kFloat32) return "only float32 tensors are supported";
    return type.shape.elements() == 0 ? "a tensor is empty" : nullptr;
  };
  for (ValueId id : context.node.inputs)
    if (const char* reason = check(id)) return Support::no(reason);
  for (ValueId id : context.node.outputs)
    if (const char* reason = check(id)) return Support::no(reason);
  return {};
}

}  // namespace saccade::cpu
