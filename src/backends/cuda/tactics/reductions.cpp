#include <algorithm>

#include "cuda/codegen/element_tactic.hpp"
#include "cuda/codegen/row_code.hpp"
#include "cuda/tactics/tactics.hpp"
#include "ops/core/dispatch.hpp"
#include "ops/core/values.hpp"

// Reductions, global pooling, ArgMax and ArgMin, CumSum and CumProd over any axes in any layout
// (kernels/reductions.cuh).
namespace saccade::cuda {
namespace {

/// A reduction rule: {T} is the compute type, {S} the accumulator type.
struct ReductionRule {
  std::string_view op;
  std::string_view floats;
  std::string_view integers;
  bool real = false;  ///< integers are computed in float64
};

constexpr ReductionRule kRules[] = {
    {"ReduceSum", "Sum<{T}, {S}>", "Sum<{T}, {S}>"},
    {"ReduceMean", "Mean<{T}, {S}>", "IntegerMean<{T}, {S}>"},
    {"ReduceProd", "Product<{T}, {S}>", "Product<{T}, {S}>"},
    {"ReduceMax", "Extremum<{T}, true>", "Extremum<{T}, true>"},
    {"ReduceMin", "Extremum<{T}, false>", "Extremum<{T}, false>"},
    {"ReduceL1", "AbsoluteSum<{T}, {S}>", "AbsoluteSum<{T}, {S}>"},
    {"ReduceL2", "L2Norm<{T}, {S}>", "L2Norm<{T}, {S}>", true},
    {"ReduceSumSquare", "SquareSum<{T}, {S}>", "SquareSum<{T}, {S}>"},
    {"ReduceLogSum", "LogSum<{T}, {S}>", "LogSum<{T}, {S}>", true},
    {"ReduceLogSumExp", "LogSumExp<{T}, {S}>", "LogSumExp<{T}, {S}>", true},
    {"GlobalAveragePool", "Mean<{T}, {S}>", ""},
    {"GlobalMaxPool", "Extremum<{T}, true>", ""},
    {"GlobalLpPool", "L2Norm<{T}, {S}>", ""},
};

const ReductionRule* find_reduction(const Node& node) {
  const auto found = std::ranges::find(kRules, node.op, &ReductionRule::op);
  return node.domain.empty() && found != std::end(kRules) ? found : nullptr;
}

bool is_arg_reduction(const Node& node) { return node.is("ArgMax") || node.is("ArgMin"); }
bool is_scan(const Node& node) { return node.is("CumSum") || node.is("CumProd"); }

Support supports_reduction(const NodeContext& context) {
  const Node& node = context.node;
  if (find_reduction(node) == nullptr && !is_arg_reduction(node) && !is_scan(node))
    return Support::other_operator("not a reduction");
  if (context.has(1) && context.constant(1) == nullptr) return Support::no("its axes are not constant");
  if (node.is("GlobalLpPool") && node.attributes.integer("p", 2) > 2) return Support::no("its p is above 2");
  const Value& input = context.input(0);
  if (is_scan(node) && !lies_alike(input.type.shape, input.layout, input.type.shape, context.output().layout))
    return Support::no("its input and output have different layouts");
  return {};
}

std::vector<bool> reduced_axes(const NodeContext& context) {
  const Node& node = context.node;
  const int rank = context.input(0).type.shape.rank();
  if (is_arg_reduction(node)) return axis_mask({node.attributes.integer("axis", 0)}, rank);
  std::vector<bool> all(static_cast<std::size_t>(rank), true);
  if (node.op.starts_with("Global")) {
    std::fill_n(all.begin(), 2, false);
    return all;
  }
  const std::vector<std::int64_t> axes =
      context.has(1) ? integers_of(view_of(*context.constant(1))) : std::vector<std::int64_t>{};
  if (!axes.empty()) return axis_mask(axes, rank);
  if (node.attributes.integer("noop_with_empty_axes", 0) != 0) all.assign(all.size(), false);
  return all;
}

/// The rule's type in kernels/reductions.cuh.
std::string rule_type(const NodeContext& context) {
  const Node& node = context.node;
  const DType dtype = context.input(0).type.dtype;
  const std::string type(dtype == DType::kBool ? "uint8" : compute_name(dtype));
  if (is_arg_reduction(node))
    return fmt::format("ArgExtremum<{}, {}, {}>", type, node.is("ArgMax"),
                       node.attributes.integer("select_last_index", 0) != 0);
  std::string sum = is_float(dtype) ? type : "uint64";
  if (is_scan(node)) return fmt::format("{}<{}, {}>", node.is("CumSum") ? "Sum" : "Product", type, sum);
  const ReductionRule& rule = *find_reduction(node);
  if (!is_float(dtype) && rule.real) sum = "double";
  std::string_view text = is_float(dtype) ? rule.floats : rule.integers;
  if (node.is("GlobalLpPool") && node.attributes.integer("p", 2) == 1) text = "AbsoluteSum<{T}, {S}>";
  return fmt::format(fmt::runtime(text), fmt::arg("T", type), fmt::arg("S", sum));
}

/// A real number saturated to the integer type DTYPE.
std::string saturated(DType dtype) {
  const std::size_t bits = bits_of(dtype);
  const bool is_signed =
      dtype == DType::kInt8 || dtype == DType::kInt16 || dtype == DType::kInt32 || dtype == DType::kInt64;
  const std::size_t digits = is_signed ? bits - 1 : bits;
  const std::string_view type = storage_name(dtype);
  const std::string most = fmt::format("{}(~uint64(0) >> {})", type, 64 - digits);
  const std::string least = is_signed ? fmt::format("{}(-{} - 1)", type, most) : fmt::format("{}(0)", type);
  // NaN becomes the lowest value.
  return fmt::format("(x >= 0x1p{} ? {} : x > {} ? {}(x) : {})", digits, most,
                     is_signed ? fmt::format("-0x1p{}", digits) : "0.0", type, least);
}

/// Output offset of the result of row AT.
std::string place_in_output(ElementCode& code, const RowPlan& plan, const std::vector<bool>& reduced) {
  const Value& to = code.context().output();
  const Index kept = plan.index_of(code, "at");
  Index index;
  for (std::size_t i = 0; i < reduced.size(); ++i)
    if (!reduced[i] || to.type.shape.rank() == static_cast<int>(reduced.size())) index.push_back(kept[i]);
  return code.let("int32", offset_of(index, to.type.shape, to.layout));
}

NodeProgram scan_program(const NodeContext& context) {
  const Value& input = context.input(0);
  const int rank = input.type.shape.rank();
  RowPlan plan(input.type.shape, input.layout, axis_mask(integers_of(view_of(*context.constant(1))), rank));
  plan.use_one_thread_per_row();
  ElementCode code(context);
  RowKernel kernel{.header = "reductions.cuh"};
  kernel.load = code.input_at_offset(0, "from");
  kernel.stored = code.post_ops("x", "at");
  kernel.before = code.body();
  kernel.body = fmt::format("scan<Rows, {}, {}, {}>(load, store)", rule_type(context),
                            context.node.attributes.integer("exclusive", 0) != 0,
                            context.node.attributes.integer("reverse", 0) != 0);
  NodeProgram program;
  program.calls.push_back(row_kernel(code, plan, kernel, 0, program));
  return program;
}

NodeProgram reduction(const NodeContext& context) {
  if (is_scan(context.node)) return scan_program(context);
  const Value& input = context.input(0);
  const std::vector<bool> reduced = reduced_axes(context);
  const RowPlan plan(input.type.shape, input.layout, reduced);
  ElementCode code(context);
  RowKernel kernel{.header = "reductions.cuh"};
  kernel.load = code.input_at_offset(0, "from");
  kernel.place = place_in_output(code, plan, reduced);
  const ReductionRule* rule = find_reduction(context.node);
  const bool cut = rule != nullptr && rule->real && is_integer(input.type.dtype);
  kernel.stored = code.post_ops(cut ? saturated(input.type.dtype) : "x", kernel.place);
  kernel.before = code.body();
  kernel.body = fmt::format("reduce<Rows, {}>(shared, load, store)", rule_type(context));
  NodeProgram program;
  program.calls.push_back(row_kernel(code, plan, kernel, 0, program));
  return program;
}

}  // namespace

std::unique_ptr<Tactic> row_reductions(Device& device) {
  return program_tactic(device, {"lines.reduction", supports_reduction, reduction});
}

}  // namespace saccade::cuda
