#include <array>

#include "cpu/kernels/half_kernels.hpp"
#include "cpu/kernels/row_kernels.hpp"
#include "cpu/kernels/transpose_kernels.hpp"
#include "cpu/loops/half_rows.hpp"
#include "cpu/loops/lines.hpp"
#include "cpu/tactics/tactics.hpp"
#include "cpu/team/parallel.hpp"

// Softmax, LogSoftmax, LayerNormalization and RMSNormalization: one reduction row at a time if it is contiguous, else
// one row per vector lane. Short rows of Softmax are transposed for that.
namespace saccade::cpu {
namespace {

// An exponential costs about as much as eight memory-bound elements.
constexpr std::int64_t kExponentials = 8;

using ShortRows = std::array<float, kShortRow * kColumns>;

/// ROWS rows of COUNT elements, at most kColumns and kShortRow. DST may be SRC.
void short_softmax(std::int64_t rows, std::int64_t count, bool log, const float* src, float* dst) {
  ShortRows turned;  // NOLINT(cppcoreguidelines-pro-type-member-init): written first
  auto* const bits = reinterpret_cast<std::uint32_t*>(turned.data());
  transpose_block(reinterpret_cast<const std::uint32_t*>(src), count, bits, kColumns, rows, count);
  row_kernels().softmax_columns(turned.data(), turned.data(), static_cast<std::size_t>(count),
                                static_cast<std::size_t>(kColumns), static_cast<std::size_t>(rows), log);
  transpose_block(bits, kColumns, reinterpret_cast<std::uint32_t*>(dst), count, count, rows);
}

void softmax(const Lines& lines, bool log, const float* src, float* dst) {
  if (has_short_rows(lines))
    return for_short_rows(lines, kExponentials, [&](std::int64_t first, std::int64_t rows) {
      short_softmax(rows, lines.count, log, src + first * lines.count, dst + first * lines.count);
    });
  const RowKernels& kernels = row_kernels();
  const auto count = static_cast<std::size_t>(lines.count);
  const auto stride = static_cast<std::size_t>(lines.inner);
  for_lines(
      lines, kExponentials,
      [&](std::int64_t from, std::int64_t) { kernels.softmax_row(src + from, dst + from, count, log); },
      [&](std::int64_t from, std::int64_t, std::size_t width) {
        kernels.softmax_columns(src + from, dst + from, count, stride, width, log);
      });
}

/// Contiguous rows of bfloat16.
void half_softmax(const Lines& lines, bool log, const std::uint16_t* src, std::uint16_t* dst) {
  if (has_short_rows(lines))
    return for_short_rows(lines, kExponentials, [&](std::int64_t first, std::int64_t rows) {
      ShortRows wide;  // NOLINT(cppcoreguidelines-pro-type-member-init): written first
      const std::int64_t at = first * lines.count;
      const auto elements = static_cast<std::size_t>(rows * lines.count);
      half_kernels().widen({src + at, 0}, {wide.data(), 0}, 1, elements);
      short_softmax(rows, lines.count, log, wide.data(), wide.data());
      half_kernels().narrow({wide.data(), 0}, {dst + at, 0}, 1, elements);
    });
  const auto count = static_cast<std::size_t>(lines.count);
  parallel_for(lines.outer, kParallelGrain / (2 * lines.count) + 1, [&](std::int64_t begin, std::int64_t end) {
    const std::int64_t first = begin * lines.count;
    if (!log) return half_row_kernels().softmax(src + first, dst + first, static_cast<std::size_t>(end - begin), count);
    for (std::int64_t i = first; i < end * lines.count; i += lines.count)
      for_half_row(src + i, dst + i, count, [&](float* row) { row_kernels().softmax_row(row, row, count, true); });
  });
}

bool is_half(const NodeContext& context) { return context.output().type.dtype == DType::kBFloat16; }

/// No unless input and output are of one type with kernels, with the same layout; common limits of tactics on reduction
/// rows.
Support same_lines(const NodeContext& context) {
  const DType dtype = context.output().type.dtype;
  if (context.input(0).type.dtype != dtype || !is_element_type(dtype))
    return Support::no("only float32 and bfloat16 have vector kernels");
  if (context.input(0).layout != context.output().layout && context.output().type.shape.rank() >= 3)
    return Support::no("its input and output have different layouts");
  return supports_post_ops(context);
}

Lines lines_of_softmax(const NodeContext& context) {
  const TensorView view = view_of(context.input(0));
  const int rank = view.shape.rank();
  std::vector<bool> axes(static_cast<std::size_t>(rank), false);
  if (rank > 0)
    axes[static_cast<std::size_t>(InferContext::axis(context.node.attributes.integer("axis", -1), rank))] = true;
  return lines_along(view, axes).value();
}

class Softmax : public Tactic {
 public:
  std::string_view name() const override { return "vector.softmax"; }

  Support supports(const NodeContext& context) const override {
    if (!context.node.is("Softmax") && !context.node.is("LogSoftmax")) return Support::other_operator("not a Softmax");
    if (Support lines = same_lines(context); !lines) return lines;
    const Lines lines = lines_of_softmax(context);
    if (is_half(context) && (lines.inner > 1 || lines.count > static_cast<std::int64_t>(kLongestHalfRow)))
      return Support::no("its rows of bfloat16 are long, or not contiguous");
    return {};
  }

  std::unique_ptr<Launch> compile(const NodeContext& context) const override {
    const Lines lines = lines_of_softmax(context);
    const bool log = context.node.is("LogSoftmax");
    const bool half = is_half(context);
    return with_post_ops(context, launch_of([lines, log, half](auto inputs, auto outputs) {
                           if (half)
                             half_softmax(lines, log, static_cast<const std::uint16_t*>(inputs[0].data),
                                          static_cast<std::uint16_t*>(outputs[0].data));
                           else
                             softmax(lines, log, static_cast<const float*>(inputs[0].data),
                                     static_cast<float*>(outputs[0].data));
                         }));
  }
};

int first_normalised_axis(const NodeContext& context) {
  return InferContext::axis(context.node.attributes.integer("axis", -1), context.input(0).type.shape.rank());
}

/// Whether an RMSNormalization's scale, which only needs to broadcast, has one value per element of a row.
bool scales_elements(const NodeContext& context) {
  const Shape& shape = context.input(0).type.shape;
  const Shape& scale = context.input(1).type.shape;
  const int axis = first_normalised_axis(context);
  if (scale.rank() < shape.rank() - axis) return false;
  for (int i = 1; i <= scale.rank(); ++i)
    if (scale[scale.rank() - i] != (shape.rank() - i < axis ? 1 : shape[shape.rank() - i])) return false;
  return true;
}

class LayerNorm : public Tactic {
 public:
  std::string_view name() const override { return "vector.layer_norm"; }

  Support supports(const NodeContext& context) const override {
    const Node& node = context.node;
    if (!node.is("LayerNormalization") && !node.is("RMSNormalization"))
      return Support::other_operator("not a LayerNormalization or RMSNormalization");
    if (node.outputs.size() > 1) return Support::no("its output of moments is used");
    for (int i = 1; i < 3; ++i)
      if (context.has(i) && context.input(i).type.dtype != context.output().type.dtype)
        return Support::no("its parameters have another type than its output");
    if (is_half(context)) {
      if (context.constant(1) == nullptr || (context.has(2) && context.constant(2) == nullptr))
        return Support::no("its parameters are bfloat16 and not constant");
      if (elements_of_row(context) > static_cast<std::int64_t>(kLongestHalfRow))
        return Support::no("its rows of bfloat16 are long");
    }
    if (node.is("RMSNormalization") && !scales_elements(context))
      return Support::no("its scale does not hold one number for each element normalised together");
    if (context.output().layout != Layout::kRowMajor && context.output().type.shape.rank() >= 3)
      return Support::no("its lines are not neighbours in a channels-last tensor");
    return same_lines(context);
  }

  std::unique_ptr<Launch> compile(const NodeContext& context) const override {
    const std::int64_t count = elements_of_row(context);
    Rows rows{.rows = count == 0 ? 0 : context.input(0).type.shape.elements() / count,
              .count = static_cast<std::size_t>(count),
              .epsilon = context.node.attributes.real("epsilon", 1e-5F),
              .is_centred = context.node.is("LayerNormalization")};
    rows.is_biased = rows.is_centred && context.has(2);
    if (!is_half(context))
      return with_post_ops(context, launch_of([rows](auto inputs, auto outputs) {
                             const auto* src = static_cast<const float*>(inputs[0].data);
                             const auto* bias = rows.is_biased ? static_cast<const float*>(inputs[2].data) : nullptr;
                             auto* dst = static_cast<float*>(outputs[0].data);
                             rows.for_each([&](std::int64_t i) {
                               rows.normalise(src + i, dst + i, static_cast<const float*>(inputs[1].data), bias);
                             });
                           }));
    std::vector<float> scale = floats_of(*context.constant(1));
    std::vector<float> bias = rows.is_biased ? floats_of(*context.constant(2)) : std::vector<float>();
    return with_post_ops(context,
                         launch_of([rows, scale = std::move(scale), bias = std::move(bias)](auto inputs, auto outputs) {
                           const auto* src = static_cast<const std::uint16_t*>(inputs[0].data);
                           auto* dst = static_cast<std::uint16_t*>(outputs[0].data);
                           rows.for_each([&](std::int64_t i) {
                             for_half_row(src + i, dst + i, rows.count, [&](float* row) {
                               rows.normalise(row, row, scale.data(), rows.is_biased ? bias.data() : nullptr);
                             });
                           });
                         }));
  }

 private:
  struct Rows {
    std::int64_t rows;
    std::size_t count;  // elements of each
    float epsilon;
    bool is_centred;
    bool is_biased = false;

    /// NORMALISE(first element) of each row.
    template <typename Normalise>
    void for_each(const Normalise& normalise) const {
      const auto size = static_cast<std::int64_t>(count);
      parallel_for(rows, kParallelGrain / (2 * size + 1) + 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin * size; i < end * size; i += size) normalise(i);
      });
    }
    void normalise(const float* src, float* dst, const float* scale, const float* bias) const {
      if (is_centred)
        row_kernels().layer_norm_row(src, dst, count, scale, bias, epsilon);
      else
        row_kernels().rms_norm_row(src, dst, count, scale, epsilon);
    }
  };

  static std::int64_t elements_of_row(const NodeContext& context) {
    const Shape& shape = context.input(0).type.shape;
    std::int64_t count = 1;
    for (int i = first_normalised_axis(context); i < shape.rank(); ++i) count *= shape[i];
    return count;
  }
};

}  // namespace

const Tactic& vector_softmax() {
  static const Softmax tactic;
  return tactic;
}

const Tactic& vector_layer_norm() {
  static const LayerNorm tactic;
  return tactic;
}

}  // namespace saccade::cpu
