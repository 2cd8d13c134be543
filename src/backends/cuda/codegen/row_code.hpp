#pragma once

#include <vector>

#include "cuda/codegen/element_code.hpp"

namespace saccade::cuda {

/// Decomposition of a tensor into rows along its reduced dimensions, and of rows into blocks and threads.
class RowPlan {
 public:
  /// REDUCED: for each dimension, whether rows run along it.
  RowPlan(const Shape& shape, Layout layout, const std::vector<bool>& reduced);

  std::int64_t rows() const { return rows_; }
  std::int64_t count() const { return length_; }
  /// The input is strided, unlike the output.
  void set_input_strides(const Shape& strides) { sources_ = runs_of(strides); }
  /// One thread per row, for sequential scans.
  void use_one_thread_per_row();

  unsigned threads() const { return static_cast<unsigned>(rows_per_block_ * threads_per_row_); }
  unsigned blocks() const { return static_cast<unsigned>((rows_ + rows_per_block_ - 1) / rows_per_block_); }
  /// The struct NAME that kernels/rows.cuh expects.
  std::string constants(std::string_view name) const;
  /// Index of row ROW in the tensor, with 0 along reduced dimensions.
  Index index_of(ElementCode& code, const std::string& row) const;

 private:
  /// Dimensions that are contiguous with each other.
  struct Run {
    std::int64_t size;
    std::int64_t step;
    bool reduced;
  };
  std::vector<Run> runs_of(const Shape& strides) const;
  static std::string offset_text(const std::vector<Run>& runs, bool reduced, const std::string& number);
  void choose_threads();

  Shape shape_;
  std::vector<int> order_;  // dimensions of more than one element, outermost in memory first
  std::vector<bool> reduced_;
  std::vector<Run> runs_;
  std::vector<Run> sources_;
  std::int64_t rows_ = 1;
  std::int64_t length_ = 1;
  bool contiguous_ = false;
  std::int64_t rows_per_block_ = 1;
  std::int64_t threads_per_row_ = 1;
};

/// Whether a row kernel computes the node: float compute types, and output 0 in the layout of input 0.
Support supports_rows(const NodeContext& context);

/// Whether input 0 is the only strided tensor of the node, as set_input_strides() handles it.
bool only_input_is_strided(const NodeContext& context);

/// For each of RANK dimensions, whether it is one of AXES, which may be negative.
std::vector<bool> axis_mask(const std::vector<std::int64_t>& axes, int rank);

/// A row kernel: BODY calls a function of HEADER with the names Rows, shared, load and store. STORED converts the x
/// that it passes to store(at, x).
struct RowKernel {
  std::string_view header;
  std::string body = {};
  std::string place = "at";  ///< output offset of x
  std::string load = {};     ///< element at offset FROM
  std::string stored = {};   ///< an expression of x
  std::string before = {};   ///< statements that STORED needs
};
/// CODE declares the parameters that the kernel uses.
KernelCall row_kernel(ElementCode& code, const RowPlan& plan, const RowKernel& kernel, int output,
                      NodeProgram& program);

}  // namespace saccade::cuda
