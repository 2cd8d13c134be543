#include "cuda/codegen/row_code.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>

#include "cuda/codegen/element_tactic.hpp"
#include "cuda/kernels/launch_sizes.hpp"
#include "ops/core/op.hpp"
#include "runtime/storage_aliasing.hpp"

namespace saccade::cuda {
namespace {

// Threads per block, for short and for long rows; with kBusyBlocks blocks every SM is busy.
constexpr std::int64_t kThreads = 256;
constexpr std::int64_t kManyThreads = 1024;
constexpr std::int64_t kBusyBlocks = 264;
constexpr std::int64_t kWarp = 32;
constexpr std::int64_t kFewRows = 8;

std::int64_t next_power_of_two(std::int64_t at_least) {
  return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(std::max<std::int64_t>(at_least, 1))));
}

}  // namespace

Support supports_rows(const NodeContext& context) {
  const Value& from = context.input(0);
  const Value& to = context.output();
  if (!is_computed_in_float(from.type.dtype) || !is_computed_in_float(to.type.dtype))
    return Support::no("row kernels compute in float");
  if (!lies_alike(from.type.shape, from.layout, to.type.shape, to.layout))
    return Support::no("its input and output have different layouts");
  return {};
}

bool only_input_is_strided(const NodeContext& context) {
  const auto moved = [&](ValueId id) { return id != ValueId::kNone && context.storage->is_aliased(id); };
  const std::vector<ValueId>& inputs = context.node.inputs;
  return std::none_of(inputs.begin() + 1, inputs.end(), moved) && std::ranges::none_of(context.node.outputs, moved);
}

std::vector<bool> axis_mask(const std::vector<std::int64_t>& axes, int rank) {
  std::vector<bool> marks(static_cast<std::size_t>(rank), false);
  for (const std::int64_t axis : axes)
    if (rank > 0) marks[static_cast<std::size_t>(InferContext::axis(axis, rank))] = true;
  return marks;
}

RowPlan::RowPlan(const Shape& shape, Layout layout, const std::vector<bool>& reduced)
    : shape_(shape), reduced_(reduced) {
  const Shape strides = dense_strides(shape, layout);
  for (int i = 0; i < shape.rank(); ++i)
    if (shape[i] != 1) order_.push_back(i);
  std::ranges::stable_sort(order_, std::greater{}, [&](int i) { return strides[i]; });
  for (const int i : order_) (reduced[static_cast<std::size_t>(i)] ? length_ : rows_) *= shape[i];
  runs_ = sources_ = runs_of(strides);
  contiguous_ = !runs_.empty() && runs_.back().reduced;
  choose_threads();
}

std::vector<RowPlan::Run> RowPlan::runs_of(const Shape& strides) const {
  std::vector<Run> runs;
  for (const int i : order_) {
    const bool along = reduced_[static_cast<std::size_t>(i)];
    if (!runs.empty() && runs.back().reduced == along && runs.back().step == shape_[i] * strides[i])
      runs.back() = {runs.back().size * shape_[i], strides[i], along};
    else
      runs.push_back({shape_[i], strides[i], along});
  }
  return runs;
}

void RowPlan::choose_threads() {
  if (contiguous_) {
    threads_per_row_ = std::min(next_power_of_two(length_), kWarp);
    // Too long for the registers of a warp.
    if (length_ > kMaxRowRegisters * kWarp) threads_per_row_ = kThreads;
    if (length_ > 16 * kThreads && rows_ < kBusyBlocks) threads_per_row_ = kManyThreads;
    rows_per_block_ = std::max(kThreads / threads_per_row_, std::int64_t{1});
    // Few rows are spread over more SMs.
    while (rows_per_block_ * threads_per_row_ > kWarp && rows_per_block_ > 1 && rows_ < rows_per_block_ * kBusyBlocks)
      rows_per_block_ /= 2;
    return;
  }
  rows_per_block_ = kWarp;
  threads_per_row_ = kThreads / kWarp;
  const std::int64_t blocks = (rows_ + rows_per_block_ - 1) / rows_per_block_;
  // Few long rows: more SMs get some, at the cost of partial sectors.
  if (length_ > 64 && blocks < kBusyBlocks) {
    rows_per_block_ = kFewRows;
    threads_per_row_ = kManyThreads / kFewRows;
  }
  if (length_ <= 64 && blocks >= kBusyBlocks) {
    rows_per_block_ = kThreads;
    threads_per_row_ = 1;
  }
  threads_per_row_ = std::min(threads_per_row_, next_power_of_two(length_));
}

void RowPlan::use_one_thread_per_row() {
  threads_per_row_ = 1;
  rows_per_block_ = kWarp;
  contiguous_ = false;
}

std::string RowPlan::offset_text(const std::vector<Run>& runs, bool reduced, const std::string& number) {
  std::string sum;
  std::int64_t inner = 1;
  for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
    if (run->reduced != reduced) continue;
    const bool outermost =
        std::none_of(std::next(run), runs.rend(), [&](const Run& r) { return r.reduced == reduced; });
    std::string part = inner == 1 ? number : fmt::format("{} / {}", number, inner);
    if (!outermost) part = fmt::format("{} % {}", part, run->size);
    sum += fmt::format("{}({}) * {}", sum.empty() ? "" : " + ", part, run->step);
    inner *= run->size;
  }
  return sum.empty() ? "0" : sum;
}

std::string RowPlan::constants(std::string_view name) const {
  return fmt::format(R"(struct {} {{
  static constexpr int32 kRows = {};
  static constexpr int32 kLength = {};
  static constexpr int kRowsPerBlock = {};
  static constexpr int kThreadsPerRow = {};
  static constexpr bool kContiguous = {};
  static __device__ __forceinline__ int32 place(int32 row, int32 i) {{ return {} + {}; }}
  static __device__ __forceinline__ int32 source(int32 row, int32 i) {{ return {} + {}; }}
}};
)",
                     name, rows_, length_, rows_per_block_, threads_per_row_, contiguous_,
                     offset_text(runs_, false, "row"), offset_text(runs_, true, "i"),
                     offset_text(sources_, false, "row"), offset_text(sources_, true, "i"));
}

Index RowPlan::index_of(ElementCode& code, const std::string& row) const {
  Index at(static_cast<std::size_t>(shape_.rank()), "0");
  std::int64_t inner = 1;
  for (auto axis = order_.rbegin(); axis != order_.rend(); ++axis) {
    const auto i = static_cast<std::size_t>(*axis);
    if (reduced_[i]) continue;
    at[i] = code.let("int32", fmt::format("{} / {} % {}", row, inner, shape_[*axis]));
    inner *= shape_[*axis];
  }
  return at;
}

KernelCall row_kernel(ElementCode& code, const RowPlan& plan, const RowKernel& kernel, int output,
                      NodeProgram& program) {
  const std::string_view stored = storage_name(code.context().output(output).type.dtype);
  KernelCall call{.name = "rows"};
  const std::string parameters = code.parameters();
  call.source =
      fmt::format(R"(#include "{}"
{}extern "C" __global__ void __launch_bounds__({}) rows({}, {}* __restrict__ out) {{
  pdl_wait_and_trigger();
  __shared__ double shared[{}];
  const auto load = [&](int32 from) {{ return {}; }};
  const auto store = [&](int32 at, const auto x) {{
{}    out[{}] = Narrow<{}>::from({});
  }};
  {};
}}
)",
                  kernel.header, plan.constants("Rows"), plan.threads(), parameters, stored, 2 * plan.threads(),
                  kernel.load, kernel.before, kernel.place, stored, kernel.stored, kernel.body);
  call.grid = {.blocks = {plan.blocks(), 1, 1}, .threads = {plan.threads(), 1, 1}};
  code.bind_arguments(call, output, program);
  return call;
}

}  // namespace saccade::cuda
