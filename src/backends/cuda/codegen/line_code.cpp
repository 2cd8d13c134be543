#include "cuda/codegen/line_code.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>

#include "cuda/codegen/element_tactic.hpp"
#include "ops/core/op.hpp"
#include "runtime/placement.hpp"

namespace saccade::cuda {
namespace {

// A block has so many threads unless its lines are long; with so many blocks every multiprocessor is busy.
constexpr std::int64_t kThreads = 256;
constexpr std::int64_t kManyThreads = 1024;
constexpr std::int64_t kBusyBlocks = 264;
constexpr std::int64_t kWarp = 32;
constexpr std::int64_t kFewLines = 8;
constexpr std::int64_t kHeld = 32;  // elements of a line that a thread keeps: kHeld of kernels/lines.cuh

std::int64_t power_of_two(std::int64_t at_least) {
  return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(std::max<std::int64_t>(at_least, 1))));
}

}  // namespace

Support supports_lines(const NodeContext& context) {
  const Value& from = context.input(0);
  const Value& to = context.output();
  if (!is_computed_in_float(from.type.dtype) || !is_computed_in_float(to.type.dtype))
    return Support::no("kernels over lines compute in float");
  if (!lies_alike(from.type.shape, from.layout, to.type.shape, to.layout))
    return Support::no("its input and output lie in different layouts");
  return {};
}

bool strides_input_alone(const NodeContext& context) {
  const auto moved = [&](ValueId id) { return id != ValueId::kNone && context.places->has_moved(id); };
  const std::vector<ValueId>& inputs = context.node.inputs;
  return std::none_of(inputs.begin() + 1, inputs.end(), moved) && std::ranges::none_of(context.node.outputs, moved);
}

std::vector<bool> marked(const std::vector<std::int64_t>& axes, int rank) {
  std::vector<bool> marks(static_cast<std::size_t>(rank), false);
  for (const std::int64_t axis : axes)
    if (rank > 0) marks[static_cast<std::size_t>(InferContext::axis(axis, rank))] = true;
  return marks;
}

LinePlan::LinePlan(const Shape& shape, Layout layout, const std::vector<bool>& reduced)
    : shape_(shape), reduced_(reduced) {
  const Shape strides = dense_strides(shape, layout);
  for (int i = 0; i < shape.rank(); ++i)
    if (shape[i] != 1) order_.push_back(i);
  std::ranges::stable_sort(order_, std::greater{}, [&](int i) { return strides[i]; });
  for (const int i : order_) (reduced[static_cast<std::size_t>(i)] ? count_ : lines_) *= shape[i];
  runs_ = sources_ = runs_of(strides);
  neighbours_ = !runs_.empty() && runs_.back().reduced;
  choose_threads();
}

std::vector<LinePlan::Run> LinePlan::runs_of(const Shape& strides) const {
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

void LinePlan::choose_threads() {
  if (neighbours_) {
    along_ = std::min(power_of_two(count_), kWarp);
    // A line that a warp can't hold in its registers.
    if (count_ > kHeld * kWarp) along_ = kThreads;
    if (count_ > 16 * kThreads && lines_ < kBusyBlocks) along_ = kManyThreads;
    across_ = std::max(kThreads / along_, std::int64_t{1});
    // Few lines go to as many multiprocessors as there are.
    while (across_ * along_ > kWarp && across_ > 1 && lines_ < across_ * kBusyBlocks) across_ /= 2;
    return;
  }
  across_ = kWarp;
  along_ = kThreads / kWarp;
  const std::int64_t blocks = (lines_ + across_ - 1) / across_;
  // Few long lines: as many multiprocessors as there are get some, though each reads but parts of what lies together.
  if (count_ > 64 && blocks < kBusyBlocks) {
    across_ = kFewLines;
    along_ = kManyThreads / kFewLines;
  }
  if (count_ <= 64 && blocks >= kBusyBlocks) {
    across_ = kThreads;
    along_ = 1;
  }
  along_ = std::min(along_, power_of_two(count_));
}

void LinePlan::do_alone() {
  along_ = 1;
  across_ = kWarp;
  neighbours_ = false;
}

std::string LinePlan::sum_of(const std::vector<Run>& runs, bool reduced, const std::string& number) {
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

std::string LinePlan::constants(std::string_view name) const {
  return fmt::format(R"(struct {} {{
  static constexpr int32 kLines = {};
  static constexpr int32 kCount = {};
  static constexpr int kAcross = {};
  static constexpr int kAlong = {};
  static constexpr bool kNeighbours = {};
  static __device__ __forceinline__ int32 place(int32 line, int32 i) {{ return {} + {}; }}
  static __device__ __forceinline__ int32 source(int32 line, int32 i) {{ return {} + {}; }}
}};
)",
                     name, lines_, count_, across_, along_, neighbours_, sum_of(runs_, false, "line"),
                     sum_of(runs_, true, "i"), sum_of(sources_, false, "line"), sum_of(sources_, true, "i"));
}

Index LinePlan::index_of(ElementCode& code, const std::string& line) const {
  Index at(static_cast<std::size_t>(shape_.rank()), "0");
  std::int64_t inner = 1;
  for (auto axis = order_.rbegin(); axis != order_.rend(); ++axis) {
    const auto i = static_cast<std::size_t>(*axis);
    if (reduced_[i]) continue;
    at[i] = code.let("int32", fmt::format("{} / {} % {}", line, inner, shape_[*axis]));
    inner *= shape_[*axis];
  }
  return at;
}

KernelCall line_kernel(ElementCode& code, const LinePlan& plan, const LineKernel& kernel, int output,
                       NodeProgram& program) {
  const std::string_view stored = storage_name(code.context().output(output).type.dtype);
  KernelCall call{.name = "lines"};
  const std::string parameters = code.parameters();
  call.source =
      fmt::format(R"(#include "{}"
{}extern "C" __global__ void __launch_bounds__({}) lines({}, {}* __restrict__ out) {{
  pdl_wait_and_trigger();
  __shared__ double shared[{}];
  const auto load = [&](int32 from) {{ return {}; }};
  const auto store = [&](int32 at, const auto x) {{
{}    out[{}] = Narrow<{}>::from({});
  }};
  {};
}}
)",
                  kernel.header, plan.constants("Lines"), plan.threads(), parameters, stored, 2 * plan.threads(),
                  kernel.load, kernel.before, kernel.place, stored, kernel.stored, kernel.body);
  call.grid = {.blocks = {plan.blocks(), 1, 1}, .threads = {plan.threads(), 1, 1}};
  code.hand_over(call, output, program);
  return call;
}

}  // namespace saccade::cuda
