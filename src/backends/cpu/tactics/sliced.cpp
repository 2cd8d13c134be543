#include <algorithm>
#include <array>

#include "cpu/loops/lines.hpp"
#include "cpu/tactics/tactics.hpp"
#include "cpu/team/parallel.hpp"

// Element-wise operators of every type: the reference kernel, whose loops the compiler vectorises, on one slice per
// thread. For operators and types without a vector kernel: comparisons, logic, Where, integers, fp16. Bound: bytes /
// bandwidth.
namespace saccade::cpu {
namespace {

constexpr std::size_t kMaxInputs = 8;

/// A tensor as rows: one per row of the output, or one for all.
struct Rows {
  Shape rest;  ///< dimensions of one row
  std::int64_t row_bytes = 0;
  bool shared = false;
};

/// How many leading dimensions of OUTPUT can be merged: INPUT has all of them, or none (1 or missing).
int leading_dimensions(const Shape& input, const Shape& output) {
  const int missing = output.rank() - input.rank();
  enum { kOpen, kOwn, kShared } side = kOpen;
  for (int i = 0; i < output.rank(); ++i) {
    if (output[i] == 1) continue;
    const auto here = i < missing || input[i - missing] == 1 ? kShared : kOwn;
    if (side != kOpen && side != here) return i;
    side = here;
  }
  return output.rank();
}

/// The dimensions of TENSOR after OUTPUT's first LEADING, and whether it has the leading ones.
Rows rows_of(const TensorType& tensor, const Shape& output, int leading) {
  const int missing = output.rank() - tensor.shape.rank();
  Rows rows{.shared = true};
  for (int i = std::max(0, -missing); i < tensor.shape.rank(); ++i) {
    if (i + missing >= leading)
      rows.rest.push_back(tensor.shape[i]);
    else if (tensor.shape[i] != 1)
      rows.shared = false;
  }
  rows.row_bytes = rows.rest.elements() * static_cast<std::int64_t>(bits_of(tensor.dtype) / 8);
  return rows;
}

TensorView slice(const TensorView& tensor, const Rows& rows, std::int64_t begin, std::int64_t count) {
  Shape shape{rows.shared ? 1 : count};
  for (const std::int64_t dim : rows.rest) shape.push_back(dim);
  return {static_cast<std::byte*>(tensor.data) + (rows.shared ? 0 : begin * rows.row_bytes), tensor.dtype,
          Layout::kRowMajor, shape};
}

/// The slices of a node.
struct Slicing {
  std::array<Rows, kMaxInputs> inputs;
  Rows output;
  std::size_t sliced = 0;  ///< inputs before this one
  std::int64_t rows = 1;
};

/// The parameters of a unary operator are not sliced.
int sliced_inputs(const NodeContext& context) {
  return traits_of(context.node).elementwise == Elementwise::kUnary ? 1 : context.input_count();
}

Slicing slicing_of(const NodeContext& context) {
  const Shape& output = context.output().type.shape;
  int leading = output.rank();
  const int count = sliced_inputs(context);
  for (int i = 0; i < count; ++i)
    if (context.has(i)) leading = std::min(leading, leading_dimensions(context.input(i).type.shape, output));
  Slicing slicing{.output = rows_of(context.output().type, output, leading), .sliced = static_cast<std::size_t>(count)};
  for (int i = 0; i < leading; ++i) slicing.rows *= output[i];
  for (int i = 0; i < count; ++i)
    if (context.has(i)) slicing.inputs[static_cast<std::size_t>(i)] = rows_of(context.input(i).type, output, leading);
  return slicing;
}

bool fits(const Value& value) {
  return (value.type.shape.rank() < 3 || value.layout == Layout::kRowMajor) && value.type.dtype <= DType::kBool;
}

void run(const Op& op, const Node& node, const Slicing& slicing, std::span<const TensorView> inputs,
         const TensorView& output) {
  const std::int64_t grain = kParallelGrain / std::max<std::int64_t>(slicing.output.rest.elements(), 1) + 1;
  parallel_for(slicing.rows, grain, [&](std::int64_t begin, std::int64_t end) {
    std::array<TensorView, kMaxInputs> parts;
    for (std::size_t i = 0; i < inputs.size(); ++i)
      parts[i] = inputs[i].data == nullptr || i >= slicing.sliced
                     ? inputs[i]
                     : slice(inputs[i], slicing.inputs[i], begin, end - begin);
    const TensorView to = slice(output, slicing.output, begin, end - begin);
    op.reference(KernelContext(node, std::span(parts.data(), inputs.size()), {&to, 1}));
  });
}

class Sliced : public Tactic {
 public:
  std::string_view name() const override { return "sliced.elementwise"; }

  Support supports(const NodeContext& context) const override {
    const Node& node = context.node;
    // Pow's reference kernel allocates.
    if (!traits_of(node).is_elementwise() || node.is("Pow"))
      return Support::other_operator("not an element-wise operator that can be sliced");
    if (!node.post_ops.empty()) return Support::no("post-ops have no kernel for its type");
    if (node.inputs.size() > kMaxInputs) return Support::no("it has too many operands");
    if (context.output().type.shape.elements() < 2 * kParallelGrain)
      return Support::no("it is too small to parallelise");
    if (!fits(context.output())) return Support::no("it runs on row-major numbers and bools only");
    for (int i = 0; i < context.input_count(); ++i)
      if (context.has(i) && !fits(context.input(i))) return Support::no("it runs on row-major numbers and bools only");
    return {};
  }

  std::unique_ptr<Launch> compile(const NodeContext& context) const override {
    const Op& op = *find_op(context.node.domain, context.node.op);
    return launch_of([&op, node = context.node, slicing = slicing_of(context)](auto inputs, auto outputs) {
      run(op, node, slicing, inputs, outputs[0]);
    });
  }
};

}  // namespace

const Tactic& sliced_elementwise() {
  static const Sliced tactic;
  return tactic;
}

}  // namespace saccade::cpu
