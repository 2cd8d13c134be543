#include <algorithm>
#include <optional>

#include "base/error.hpp"
#include "cuda/codegen/element_code.hpp"

// Kernels of element-wise and data-movement operators. In a large tensor a thread computes several consecutive elements
// along one dimension: the output's innermost, or an input's innermost, so that a transpose reads vectors. The kernel
// is generated for each candidate dimension, and the one with the least estimated memory traffic is kept.
namespace saccade::cuda {
namespace {

constexpr unsigned kElementThreads = 256;
/// Fewer threads leave SMs idle; elements are then not grouped.
constexpr std::int64_t kEnoughThreads = 1 << 16;
/// Elements that fill a memory sector with coalesced accesses.
constexpr std::int64_t kSector = 16;

/// COUNT elements per thread along DIM.
struct Unroll {
  int dim = -1;
  int count = 1;
};

struct Candidate {
  ElementCode code;
  std::int64_t threads = 0;
  double traffic = 0;
};

/// The innermost dimension in memory; -1 for a single element.
int innermost(const Value& value) {
  const Shape strides = dense_strides(value.type.shape, value.layout);
  for (int i = 0; i < strides.rank(); ++i)
    if (strides[i] == 1 && value.type.shape[i] > 1) return i;
  return -1;
}

class KernelWriter {
 public:
  KernelWriter(const NodeContext& context, int output, const ElementRule& element)
      : context_(context), output_(output), element_(element), to_(context.output(output)), inner_(innermost(to_)) {}

  Candidate write(const Unroll& unroll) const {
    Candidate made{ElementCode(context_), to_.type.shape.elements() / unroll.count};
    ElementCode& code = made.code;
    Shape shape = to_.type.shape;
    if (unroll.count > 1) shape[unroll.dim] /= unroll.count;
    Index at = declare_index(code, "at", shape, to_.layout);
    // Along a dimension shorter than a sector, consecutive threads wrap into the next one.
    if (inner_ >= 0 && to_.type.shape[inner_] >= kSector) code.set_lane(at[static_cast<std::size_t>(inner_)]);
    const bool along = unroll.dim == inner_;
    if (unroll.count == 1) {
      write_one(code, at);
    } else {
      write_unrolled(code, unroll, at);
    }
    const auto bytes = static_cast<double>(bits_of(to_.type.dtype)) / 8;
    const bool fills = inner_ < 0 || unroll.count == 1 || to_.type.shape[inner_] >= kSector;
    made.traffic = code.traffic() + bytes * (unroll.count > 1 && along ? 1 : fills ? 2 : 8);
    return made;
  }

  /// The variant with the least traffic.
  Candidate write_best() const {
    std::optional<Candidate> best(write({}));
    for (int dim = 0; dim < to_.type.shape.rank(); ++dim) {
      const Unroll unroll{dim, count_along(dim)};
      if (unroll.count == 1) continue;
      Candidate made = write(unroll);
      if (made.traffic < best->traffic) best.emplace(std::move(made));
    }
    return *std::move(best);
  }

 private:
  /// Elements of one 16-byte vector.
  int count_along(int dim) const {
    int count = static_cast<int>(std::min<std::size_t>(8, 128 / bits_of(to_.type.dtype)));
    const std::int64_t elements = to_.type.shape.elements();
    while (count > 1 && (to_.type.shape[dim] % count != 0 || elements / count < kEnoughThreads)) count /= 2;
    return count;
  }

  std::string stored(const std::string& element) const {
    return fmt::format("Narrow<{}>::from({})", storage_name(to_.type.dtype), element);
  }

  void write_one(ElementCode& code, const Index& at) const {
    const std::string element = element_(code, output_, at);
    const bool dense = !context_.has_aliased_operands();
    const std::string value = dense ? code.post_ops(element, "at") : code.post_ops(element, at);
    const std::string place = dense ? "at" : offset_of(at, to_.type.shape, context_.output_storage(output_).strides);
    code.line(fmt::format("out[{}] = {};", place, stored(value)));
  }

  void write_unrolled(ElementCode& code, const Unroll& unroll, Index at) const {
    std::string& index = at[static_cast<std::size_t>(unroll.dim)];
    index = code.let("int32", fmt::format("{} * {}", wrapped(index), unroll.count));
    const std::string start = offset_of(at, to_.type.shape, to_.layout);
    const bool along = unroll.dim == inner_;
    if (along) code.line(fmt::format("AlignedVector<{}, {}> made;", storage_name(to_.type.dtype), unroll.count));
    code.open_unrolled("index", index, unroll.count);
    index = "index";
    const std::string element = stored(code.post_ops(element_(code, output_, at), at));
    const std::string place =
        along ? "made.data[item]" : fmt::format("out[{}]", offset_of(at, to_.type.shape, to_.layout));
    code.line(fmt::format("{} = {};", place, element));
    code.close();
    if (along) code.line(fmt::format("store_vector(out + ({}), made);", start));
  }

  const NodeContext& context_;
  int output_;
  const ElementRule& element_;
  const Value& to_;
  int inner_;
};

}  // namespace

KernelCall element_kernel(const NodeContext& context, int output, const ElementRule& element, NodeProgram& program,
                          bool many) {
  const Value& to = context.output(output);
  if (to.type.shape.elements() >= kMaxElements)
    fail(ErrorCode::kUnsupported, "an output of {} elements; a kernel makes up to {}", to.type.shape.elements(),
         kMaxElements - 1);
  const KernelWriter writer(context, output, element);
  // With strided memory no alignment is guaranteed.
  Candidate written = many && !context.has_aliased_operands() ? writer.write_best() : writer.write({});
  std::string parameters = written.code.parameters();
  if (!parameters.empty()) parameters += ", ";
  KernelCall call{.name = "elements"};
  call.source = fmt::format(R"(#include "elements.cuh"
extern "C" __global__ void __launch_bounds__({}) elements({}{}* __restrict__ out) {{
  pdl_wait_and_trigger();
  const int32 at = blockIdx.x * {} + threadIdx.x;
  if (at >= {}) return;
{}}}
)",
                            kElementThreads, parameters, storage_name(to.type.dtype), kElementThreads, written.threads,
                            written.code.body());
  call.grid = {.blocks = {static_cast<unsigned>((written.threads + kElementThreads - 1) / kElementThreads), 1, 1},
               .threads = {kElementThreads, 1, 1}};
  written.code.bind_arguments(call, output, program);
  return call;
}

}  // namespace saccade::cuda
