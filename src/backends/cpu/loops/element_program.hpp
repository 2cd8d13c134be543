#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cpu/kernels/elementwise_kernels.hpp"
#include "cpu/loops/loops.hpp"
#include "runtime/tactic.hpp"

namespace saccade::cpu {

/// The quantisation of an 8-bit tensor: scalar inputs of the node by index; -1: no zero point.
struct ByteScale {
  int scale = -1;
  int zero_point = -1;
};

/// A chain of float32 element-wise operations, run tile by tile so that intermediate results stay in the cache. Tensor
/// 0 is the output, the others are operands broadcast to its shape, each with its own layout. They are float32, or
/// bfloat16 or 8-bit integers with a scale, which are converted per tile.
class ElementProgram {
 public:
  static constexpr int kOutput = 0;  ///< as an operand: the result of the previous steps

  /// OUTPUT determines the loops. Data pointers of views are not read here.
  explicit ElementProgram(const TensorView& output) : output_(output) {}

  /// Adds input INDEX of the node as an operand. Returns its number, or -1 if there are too many.
  int operand(const TensorView& view, int index, ByteScale scale = {});
  /// The quantisation of an 8-bit output.
  void quantizes(ByteScale scale) { scales_[0] = scale; }
  void unary(const ElementKernels& kernels, int a, float alpha = 0, float beta = 0);
  void binary(const ElementKernels& kernels, int a, int b);
  /// Computes the loops; called after the last step.
  void finish();

  /// Runs on the tensors at OUTPUT and INPUTS (by the node's input index).
  void run(void* output, const TensorView* inputs) const;

 private:
  struct Step {
    ElementKernels kernels;
    int a = 0;
    int b = -1;  // -1: unary
    float alpha = 0;
    float beta = 0;
  };
  static std::int64_t element_bytes(DType dtype) {
    if (dtype == DType::kFloat32) return 4;
    return dtype == DType::kBFloat16 ? 2 : 1;
  }
  /// A tensor of one run, with its quantisation.
  struct Place {
    std::byte* data = nullptr;
    DType dtype = DType::kFloat32;
    float scale = 1;
    float zero_point = 0;

    std::byte* at(std::int64_t element) const { return data + element * element_bytes(dtype); }
    void read(std::int64_t first, float* real, std::size_t count) const;
    void write(std::int64_t first, const float* real, std::size_t count) const;
  };
  using Places = std::array<Place, Loop::kMaxTensors>;
  class Tile;

  void merge_short_rows();
  Place place(std::size_t tensor, const TensorView& view, void* data, const TensorView* inputs) const;
  void run_tiles(const Places& tensors, std::int64_t begin, std::int64_t end) const;
  void run_tile(const Places& row, std::int64_t start, std::int64_t count) const;

  TensorView output_;
  std::array<ByteScale, Loop::kMaxTensors> scales_{};
  std::vector<TensorView> operands_;
  std::vector<int> indices_;  // node inputs by operand
  std::vector<Step> steps_;
  std::vector<Loop> loops_;
  /// By tensor, the offset of each element of a row that has no single stride; else empty.
  std::array<std::vector<std::int32_t>, Loop::kMaxTensors> row_offsets_;
  bool reads_output_ = false;  // the first step continues what the output holds
  std::int64_t rows_ = 1;
  std::int64_t tiles_a_row_ = 1;
};

/// Whether a tensor of DTYPE can be an operand or the output without a scale.
inline bool is_element_type(DType dtype) { return dtype == DType::kFloat32 || dtype == DType::kBFloat16; }

/// The view of a value without its data.
TensorView view_of(const Value& value);

/// The kernels of a unary operator with their parameters alpha and beta.
struct UnaryOperation {
  ElementKernels kernels;
  float alpha = 0;
  float beta = 0;
};
/// Of a post-op; nullopt if there is no kernel.
std::optional<UnaryOperation> unary_operation(const PostOp& post);
/// Of a node; Clip's bounds must be constant.
std::optional<UnaryOperation> unary_operation(const NodeContext& context);

/// Appends the node's post-ops to PROGRAM; false, with the reason in WHY, if one has no kernel.
bool append_post_ops(const NodeContext& context, ElementProgram& program, std::string& why);

/// LAUNCH followed by the node's post-ops in place on its float32 or bfloat16 output; LAUNCH itself if there are none.
/// For tactics that can't fuse; they call supports_post_ops() first.
std::unique_ptr<Launch> with_post_ops(const NodeContext& context, std::unique_ptr<Launch> launch);
Support supports_post_ops(const NodeContext& context);

}  // namespace saccade::cpu
