#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cpu/kernels/elementwise_kernels.hpp"
#include "cpu/kernels/half_epilogue_kernels.hpp"
#include "runtime/tactic.hpp"

namespace saccade::cpu {

/// A node's post-ops on parts of its output, for tactics that apply them while the part is in the cache. The channels
/// of a pixel, or the columns of a matrix's row, are contiguous. An operand has the output's shape, or one element per
/// channel, or one element.
class RowOperations {
 public:
  /// Of the node's post-ops; nullopt, with the reason in WHY, if one has no kernel. CHANNELS is the dimension of the
  /// output that is contiguous. Operands have the output's type, float32 or bfloat16. One of the output's shape may be
  /// aliased if it has a pixel_pitch().
  static std::optional<RowOperations> of(const NodeContext& context, int channels, std::string& why);

  /// Applies them to COUNT elements of each of ROWS rows, a row being the channels of a pixel. ELEMENTS is element
  /// FIRST of row ROW; rows are PITCH elements apart. INPUTS are the node's.
  void run(float* elements, std::int64_t row, std::int64_t rows, std::int64_t first, std::int64_t count,
           std::int64_t pitch, const TensorView* inputs) const;

  /// The same on float32 SUMS of a bfloat16 OUTPUT (its element 0), to which they are rounded: at most kTileRows rows,
  /// kTileColumns apart, of which COUNT columns are in the output, whose rows are PITCH apart. SUMS are overwritten.
  void finish_tile(float* sums, std::int64_t row, std::int64_t rows, std::int64_t first, std::int64_t count,
                   std::int64_t pitch, const TensorView* inputs, std::uint16_t* output) const;
  static constexpr std::size_t kTileRows = 32;
  static constexpr std::size_t kTileColumns = 32;

 private:
  enum class Operand : std::uint8_t { kNone, kElement, kChannel, kScalar };
  struct Step {
    ElementKernels kernels;
    float alpha = 0;
    float beta = 0;
    Operand kind = Operand::kNone;
    int input = -1;
    std::int64_t pitch = 0;  // kElement: from a row of the operand to the next
  };
  static void apply(const Step& step, float* elements, const float* operand, std::int64_t count);
  void finish_by_steps(float* sums, std::int64_t row, std::int64_t rows, std::int64_t first, std::int64_t count,
                       std::int64_t pitch, const TensorView* inputs, std::uint16_t* output) const;
  void run_steps(float* sums, std::int64_t width, std::int64_t row, std::int64_t rows, std::int64_t first,
                 std::int64_t count, const TensorView* inputs) const;
  std::optional<HalfEpilogue> as_epilogue(const Node& node) const;
  void choose_epilogue(const Node& node);

  std::vector<Step> steps_;
  // Of a bfloat16 output: all steps in registers, or after them the rounding alone.
  HalfEpilogue epilogue_;
  FinishHalfTile finish_ = nullptr;
  bool is_fused_ = false;
  int addend_ = -1;  // input
  std::int64_t addend_pitch_ = 0;
};

}  // namespace saccade::cpu
