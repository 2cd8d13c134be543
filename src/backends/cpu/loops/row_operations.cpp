#include "cpu/loops/row_operations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "cpu/kernels/half_kernels.hpp"
#include "cpu/loops/element_program.hpp"
#include "runtime/storage_alias.hpp"

namespace saccade::cpu {
namespace {

// Elements that one step leaves in L1d for the next.
constexpr std::int64_t kPiece = 2048;

/// Whether the operand has one element per index of dimension CHANNELS of OUTPUT.
bool is_per_channel(const Shape& operand, const Shape& output, int channels) {
  const int missing = output.rank() - operand.rank();
  if (missing < 0) return false;
  for (int i = 0; i < operand.rank(); ++i)
    if (operand[i] != (i + missing == channels ? output[channels] : 1)) return false;
  return missing <= channels;
}

/// Elements from a row of input I, which has the output's shape, to the next.
std::int64_t row_pitch(const NodeContext& context, int i, int channels) {
  const Shape& shape = context.input(i).type.shape;
  if (!context.has_aliased_operands()) return shape[channels];
  return pixel_pitch(shape, context.input_storage(i)).value_or(shape[channels]);
}

}  // namespace

std::optional<RowOperations> RowOperations::of(const NodeContext& context, int channels, std::string& why) {
  RowOperations operations;
  const Shape& shape = context.output().type.shape;
  for (const PostOp& post : context.node.post_ops) {
    const auto refuse = [&](std::string_view reason) {
      why = fmt::format("the post-op {} {}", post.op, reason);
      return std::nullopt;
    };
    if (post.operand < 0) {
      const auto operation = unary_operation(post);
      if (!operation) return refuse("has no vector kernel");
      operations.steps_.push_back({.kernels = operation->kernels, .alpha = operation->alpha, .beta = operation->beta});
      continue;
    }
    const auto kernels = binary_kernels(post.op);
    const Value& operand = context.input(post.operand);
    if (!kernels || operand.type.dtype != context.output().type.dtype) return refuse("has no vector kernel");
    Step step{.kernels = *kernels, .input = post.operand};
    if (operand.type.shape.elements() == 1)
      step.kind = Operand::kScalar;
    else if (operand.type.shape == shape && operand.layout == context.output().layout)
      step.kind = Operand::kElement;
    else if (is_per_channel(operand.type.shape, shape, channels))
      step.kind = Operand::kChannel;
    else
      return refuse("broadcasts its operand");
    if (step.kind == Operand::kElement) step.pitch = row_pitch(context, post.operand, channels);
    operations.steps_.push_back(step);
  }
  if (context.output().type.dtype == DType::kBFloat16) operations.choose_epilogue(context.node);
  return operations;
}

/// The steps as an epilogue: an activation, a sum of two tensors, or both; nullopt: they are none.
std::optional<HalfEpilogue> RowOperations::as_epilogue(const Node& node) const {
  HalfEpilogue epilogue;
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const PostOp& post = node.post_ops[i];
    if (post.operand >= 0) {
      if (epilogue.adds || post.op != "Add" || steps_[i].kind != Operand::kElement) return std::nullopt;
      epilogue.adds = true;
      epilogue.adds_first = i == 0;
      continue;
    }
    const auto activation = half_activation(post.op);
    const bool is_second = epilogue.activation != HalfActivation::kNone || (epilogue.adds && !epilogue.adds_first);
    if (!activation || is_second) return std::nullopt;
    epilogue.activation = *activation;
    epilogue.low = post.alpha;
    epilogue.high = post.beta;
  }
  return epilogue;
}

void RowOperations::choose_epilogue(const Node& node) {
  const auto epilogue = as_epilogue(node);
  is_fused_ = epilogue.has_value();
  if (is_fused_) epilogue_ = *epilogue;
  finish_ = half_epilogue_kernel(epilogue_);
  for (const Step& step : steps_) {
    if (!epilogue_.adds || step.input < 0) continue;
    addend_ = step.input;
    addend_pitch_ = step.pitch;
  }
}

void RowOperations::apply(const Step& step, float* elements, const float* operand, std::int64_t count) {
  const ElementKernel kernel = step.kind == Operand::kScalar ? step.kernels.scalar_b : step.kernels.both;
  kernel(elements, operand, elements, static_cast<std::size_t>(count), step.alpha, step.beta);
}

void RowOperations::run(float* elements, std::int64_t row, std::int64_t rows, std::int64_t first, std::int64_t count,
                        std::int64_t pitch, const TensorView* inputs) const {
  if (steps_.empty()) return;
  const bool is_whole = count == pitch;
  const std::int64_t rows_a_piece = std::max<std::int64_t>(1, kPiece / count);
  for (std::int64_t done = 0; done < rows; done += rows_a_piece) {
    const std::int64_t now = std::min(rows_a_piece, rows - done);
    for (const Step& step : steps_) {
      const auto* operand = step.input < 0 ? nullptr : static_cast<const float*>(inputs[step.input].data);
      // Rows that are adjacent are one run of elements, except for an operand of one row.
      const bool is_run =
          is_whole && step.kind != Operand::kChannel && (step.kind != Operand::kElement || step.pitch == pitch);
      for (std::int64_t i = 0; i < (is_run ? 1 : now); ++i) {
        const float* own = operand;
        if (step.kind == Operand::kElement) own += (row + done + i) * step.pitch + first;
        if (step.kind == Operand::kChannel) own += first;
        apply(step, elements + (done + i) * pitch, own, is_run ? now * pitch : count);
      }
    }
  }
}

void RowOperations::finish_tile(float* sums, std::int64_t row, std::int64_t rows, std::int64_t first,
                                std::int64_t count, std::int64_t pitch, const TensorView* inputs,
                                std::uint16_t* output) const {
  HalfEpilogue epilogue = epilogue_;
  if (!is_fused_) return finish_by_steps(sums, row, rows, first, count, pitch, inputs, output);
  if (addend_ >= 0)
    epilogue.addend = {static_cast<const std::uint16_t*>(inputs[addend_].data) + row * addend_pitch_ + first,
                       static_cast<std::size_t>(addend_pitch_)};
  finish_(epilogue, {sums, kTileColumns}, static_cast<std::size_t>(rows), static_cast<std::size_t>(count),
          {output + row * pitch + first, static_cast<std::size_t>(pitch)});
}

void RowOperations::finish_by_steps(float* sums, std::int64_t row, std::int64_t rows, std::int64_t first,
                                    std::int64_t count, std::int64_t pitch, const TensorView* inputs,
                                    std::uint16_t* output) const {
  // Rows of few columns move together, so that the steps take no vectors of unused ones.
  constexpr std::int64_t kFewColumns = 8;
  constexpr std::int64_t kTile = kTileColumns;
  const std::int64_t width = count <= kFewColumns ? count : count <= kTile / 2 ? kTile / 2 : kTile;
  for (std::int64_t i = 1; width < kTile && i < rows; ++i) std::copy_n(sums + i * kTile, width, sums + i * width);
  run_steps(sums, width, row, rows, first, count, inputs);
  output += row * pitch + first;
  if (width != pitch || count != pitch) {
    finish_(epilogue_, {sums, static_cast<std::size_t>(width)}, static_cast<std::size_t>(rows),
            static_cast<std::size_t>(count), {output, static_cast<std::size_t>(pitch)});
    return;
  }
  // All of it is adjacent.
  const auto elements = static_cast<std::size_t>(rows * count);
  const std::size_t whole = elements / kTileColumns;
  finish_(epilogue_, {sums, kTileColumns}, whole, kTileColumns, {output, kTileColumns});
  if (const std::size_t done = whole * kTileColumns; done < elements)
    finish_(epilogue_, {sums + done, kTileColumns}, 1, elements - done, {output + done, kTileColumns});
}

void RowOperations::run_steps(float* sums, std::int64_t width, std::int64_t row, std::int64_t rows, std::int64_t first,
                              std::int64_t count, const TensorView* inputs) const {
  alignas(64) std::array<float, kTileRows * kTileColumns> operand{};
  const auto height = static_cast<std::size_t>(rows);
  for (const Step& step : steps_) {
    const auto widen = [&](std::int64_t offset, std::size_t count_rows, std::int64_t count_columns) {
      const auto* from = static_cast<const std::uint16_t*>(inputs[step.input].data) + offset;
      half_kernels().widen({from, static_cast<std::size_t>(step.pitch)},
                           {operand.data(), static_cast<std::size_t>(width)}, count_rows,
                           static_cast<std::size_t>(count_columns));
    };
    if (step.kind == Operand::kElement) widen(row * step.pitch + first, height, count);
    if (step.kind == Operand::kChannel) widen(first, 1, count);
    if (step.kind == Operand::kScalar) widen(0, 1, 1);
    const bool by_row = step.kind == Operand::kChannel;
    for (std::int64_t i = 0; i < (by_row ? rows : 1); ++i)
      apply(step, sums + i * width, operand.data(), (by_row ? 1 : rows) * width);
  }
}

}  // namespace saccade::cpu
