#include <algorithm>
#include <array>
#include <map>

#include "cpu/kernels/half_kernels.hpp"
#include "cpu/kernels/row_kernels.hpp"
#include "cpu/loops/lines.hpp"
#include "cpu/tactics/tactics.hpp"
#include "tensor/half.hpp"

// Reductions over dimensions that are adjacent in memory: the last ones of a row-major tensor, the spatial ones of a
// channels-last tensor. Bound: bytes read / bandwidth.
namespace saccade::cpu {
namespace {

std::optional<Reduce> kind_of(const Node& node) {
  static const std::map<std::string_view, Reduce> kinds = {
      {"ReduceSum", Reduce::kSum},
      {"ReduceMean", Reduce::kMean},
      {"ReduceMax", Reduce::kMax},
      {"ReduceMin", Reduce::kMin},
      {"ReduceL1", Reduce::kL1},
      {"ReduceL2", Reduce::kL2},
      {"ReduceSumSquare", Reduce::kSumSquare},
      {"GlobalAveragePool", Reduce::kMean},
      {"GlobalMaxPool", Reduce::kMax},
  };
  const auto found = kinds.find(node.op);
  return node.domain.empty() && found != kinds.end() ? std::optional(found->second) : std::nullopt;
}

/// The reduced dimensions; nullopt if they are not constant.
std::optional<std::vector<bool>> reduced_axes(const NodeContext& context) {
  const int rank = context.input(0).type.shape.rank();
  std::vector<bool> axes(static_cast<std::size_t>(rank), false);
  if (context.node.op.starts_with("Global")) {
    for (int i = 2; i < rank; ++i) axes[static_cast<std::size_t>(i)] = true;
    return axes;
  }
  std::vector<std::int64_t> listed;
  if (context.has(1)) {
    const Tensor* tensor = context.constant(1);
    if (tensor == nullptr || tensor->dtype() != DType::kInt64) return std::nullopt;
    listed.assign(tensor->data<std::int64_t>().begin(), tensor->data<std::int64_t>().end());
  }
  if (listed.empty()) axes.assign(axes.size(), context.node.attributes.integer("noop_with_empty_axes", 0) == 0);
  for (const std::int64_t axis : listed) axes[static_cast<std::size_t>(InferContext::axis(axis, rank))] = true;
  return axes;
}

/// Whether the output, in its layout, has its elements in the order of the input's kept dimensions.
bool order_kept(const NodeContext& context, const std::vector<bool>& axes) {
  const TensorView src = view_of(context.input(0));
  const TensorView dst = view_of(context.output());
  const bool src_last = src.layout == Layout::kChannelsLast && src.shape.rank() >= 3;
  const bool dst_last = dst.layout == Layout::kChannelsLast && dst.shape.rank() >= 3;
  if (src_last == dst_last && (!src_last || src.shape.rank() == dst.shape.rank())) return true;
  // Layouts have the same order only if no dimension but the batch is kept with the channels.
  if (src.shape.rank() < 3) return !dst_last;
  int others = 0;
  for (int i = 2; i < src.shape.rank(); ++i) others += !axes[static_cast<std::size_t>(i)] && src.shape[i] != 1 ? 1 : 0;
  const bool dst_plain = !dst_last || dst.shape.rank() == src.shape.rank();
  return dst_plain && (others == 0 || axes[1] || src.shape[1] == 1);
}

bool sums_short_rows(Reduce kind, const Lines& lines) {
  return has_short_rows(lines) && (kind == Reduce::kSum || kind == Reduce::kMean);
}

float sum_of(const float* row, std::int64_t count) {
  float sum = row[0];
  for (std::int64_t i = 1; i < count; ++i) sum += row[i];
  return sum;
}

void reduce(Reduce kind, const Lines& lines, const float* src, float* dst) {
  if (sums_short_rows(kind, lines)) {
    const float divisor = kind == Reduce::kMean ? static_cast<float>(lines.count) : 1;
    return for_short_rows(lines, 1, [&](std::int64_t first, std::int64_t rows) {
      for (std::int64_t i = first; i < first + rows; ++i) dst[i] = sum_of(src + i * lines.count, lines.count) / divisor;
    });
  }
  const RowKernels& kernels = row_kernels();
  const auto count = static_cast<std::size_t>(lines.count);
  const auto stride = static_cast<std::size_t>(lines.inner);
  for_lines(
      lines, 1, [&](std::int64_t from, std::int64_t to) { dst[to] = kernels.reduce_row(kind, src + from, count); },
      [&](std::int64_t from, std::int64_t to, std::size_t width) {
        kernels.reduce_columns(kind, src + from, count, stride, width, dst + to);
      });
}

/// Reductions of bfloat16 add up pieces in float32: a piece follows the result of the pieces before it.
class HalfReduction {
 public:
  HalfReduction(Reduce kind, const Lines& lines) : kind_(kind), lines_(lines) {}

  static bool has(Reduce kind) {
    return kind == Reduce::kSum || kind == Reduce::kMean || kind == Reduce::kMax || kind == Reduce::kMin;
  }

  void run(const std::uint16_t* src, BFloat16* dst) const {
    if (sums_short_rows(kind_, lines_))
      return for_short_rows(lines_, 1, [&](std::int64_t first, std::int64_t rows) {
        short_rows(src + first * lines_.count, rows, dst + first);
      });
    for_lines(
        lines_, 1, [&](std::int64_t from, std::int64_t to) { *(dst + to) = finished(row(src + from)); },
        [&](std::int64_t from, std::int64_t to, std::size_t width) { columns(src + from, width, dst + to); });
  }

 private:
  static constexpr std::int64_t kPiece = 1024;
  static constexpr std::int64_t kPieceRows = 31;

  Reduce piece_kind() const { return kind_ == Reduce::kMean ? Reduce::kSum : kind_; }
  BFloat16 finished(float reduced) const {
    return BFloat16(kind_ == Reduce::kMean ? reduced / static_cast<float>(lines_.count) : reduced);
  }

  void short_rows(const std::uint16_t* src, std::int64_t rows, BFloat16* dst) const {
    std::array<float, kColumns * kShortRow> piece;  // NOLINT(cppcoreguidelines-pro-type-member-init): written first
    half_kernels().widen({src, 0}, {piece.data(), 0}, 1, static_cast<std::size_t>(rows * lines_.count));
    for (std::int64_t i = 0; i < rows; ++i) dst[i] = finished(sum_of(piece.data() + i * lines_.count, lines_.count));
  }

  float row(const std::uint16_t* src) const {
    std::array<float, kPiece + 1> piece;  // NOLINT(cppcoreguidelines-pro-type-member-init): written first
    float reduced = 0;
    for (std::int64_t done = 0; done < lines_.count; done += kPiece) {
      const auto count = static_cast<std::size_t>(std::min(kPiece, lines_.count - done));
      const std::size_t before = done == 0 ? 0 : 1;
      piece[0] = reduced;
      half_kernels().widen({src + done, 0}, {piece.data() + before, 0}, 1, count);
      reduced = row_kernels().reduce_row(piece_kind(), piece.data(), count + before);
    }
    return reduced;
  }

  void columns(const std::uint16_t* src, std::size_t width, BFloat16* dst) const {
    constexpr auto kStride = static_cast<std::size_t>(kColumns);
    std::array<float, (kPieceRows + 1) * kColumns> piece;  // NOLINT(cppcoreguidelines-pro-type-member-init)
    std::array<float, kColumns> reduced;                   // NOLINT(cppcoreguidelines-pro-type-member-init)
    for (std::int64_t done = 0; done < lines_.count; done += kPieceRows) {
      const auto count = static_cast<std::size_t>(std::min(kPieceRows, lines_.count - done));
      const std::size_t before = done == 0 ? 0 : 1;
      if (before == 1) std::copy_n(reduced.begin(), width, piece.begin());
      half_kernels().widen({src + done * lines_.inner, static_cast<std::size_t>(lines_.inner)},
                           {piece.data() + before * kStride, kStride}, count, width);
      row_kernels().reduce_columns(piece_kind(), piece.data(), count + before, kStride, width, reduced.data());
    }
    for (std::size_t i = 0; i < width; ++i) dst[i] = finished(reduced[i]);
  }

  Reduce kind_;
  Lines lines_;
};

class Reduction : public Tactic {
 public:
  std::string_view name() const override { return "vector.reduce"; }

  Support supports(const NodeContext& context) const override {
    if (!kind_of(context.node)) return Support::other_operator("not a reduction that has a vector kernel");
    const DType dtype = context.input(0).type.dtype;
    if (!is_element_type(dtype)) return Support::no("only float32 and bfloat16 have vector kernels");
    if (dtype == DType::kBFloat16 && !HalfReduction::has(*kind_of(context.node)))
      return Support::no("only sums, means and extrema of bfloat16 have a vector kernel");
    const auto axes = reduced_axes(context);
    if (!axes) return Support::no("its axes are not constant");
    if (context.input(0).type.shape.elements() == 0) return Support::no("its input is empty");
    if (!lines_along(view_of(context.input(0)), *axes)) return Support::no("its axes are not neighbours in memory");
    if (!order_kept(context, *axes)) return Support::no("its output has another layout than its input");
    return supports_post_ops(context);
  }

  std::unique_ptr<Launch> compile(const NodeContext& context) const override {
    const Reduce kind = kind_of(context.node).value();
    const Lines lines = lines_along(view_of(context.input(0)), reduced_axes(context).value()).value();
    if (context.input(0).type.dtype == DType::kBFloat16)
      return with_post_ops(context, launch_of([half = HalfReduction(kind, lines)](auto inputs, auto outputs) {
                             half.run(static_cast<const std::uint16_t*>(inputs[0].data),
                                      static_cast<BFloat16*>(outputs[0].data));
                           }));
    return with_post_ops(context, launch_of([kind, lines](auto inputs, auto outputs) {
                           reduce(kind, lines, static_cast<const float*>(inputs[0].data),
                                  static_cast<float*>(outputs[0].data));
                         }));
  }
};

}  // namespace

const Tactic& vector_reduce() {
  static const Reduction tactic;
  return tactic;
}

}  // namespace saccade::cpu
