#pragma once

#include <vector>

#include "cuda/codegen/element_code.hpp"

namespace saccade::cuda {

/// The lines of a tensor along some of its dimensions, as they lie in memory, and how blocks share them out.
class LinePlan {
 public:
  /// REDUCED: for each dimension, whether it runs along the lines.
  LinePlan(const Shape& shape, Layout layout, const std::vector<bool>& reduced);

  std::int64_t lines() const { return lines_; }
  std::int64_t count() const { return count_; }
  /// The input's elements lie STRIDES apart, not as the output's.
  void read_by(const Shape& strides) { sources_ = runs_of(strides); }
  /// One thread a line, for what must be done one element after the other.
  void do_alone();

  unsigned threads() const { return static_cast<unsigned>(across_ * along_); }
  unsigned blocks() const { return static_cast<unsigned>((lines_ + across_ - 1) / across_); }
  /// The struct NAME of kernels/lines.cuh.
  std::string constants(std::string_view name) const;
  /// Where line LINE stands among those dimensions that no line runs along: an index of the tensor's, 0 along others.
  Index index_of(ElementCode& code, const std::string& line) const;

 private:
  /// Dimensions that follow each other in memory without a gap.
  struct Run {
    std::int64_t size;
    std::int64_t step;
    bool reduced;
  };
  std::vector<Run> runs_of(const Shape& strides) const;
  static std::string sum_of(const std::vector<Run>& runs, bool reduced, const std::string& number);
  void choose_threads();

  Shape shape_;
  std::vector<int> order_;  // dimensions of more than one element, outermost in memory first
  std::vector<bool> reduced_;
  std::vector<Run> runs_;
  std::vector<Run> sources_;
  std::int64_t lines_ = 1;
  std::int64_t count_ = 1;
  bool neighbours_ = false;
  std::int64_t across_ = 1;
  std::int64_t along_ = 1;
};

/// Why no line kernel computes a node whose output 0 lies as its input 0 does; nothing where one does.
Support supports_lines(const NodeContext& context);

/// Whether, of the node's tensors, none but input 0 lies in another's memory: what read_by() then takes.
bool strides_input_alone(const NodeContext& context);

/// Whether each of RANK dimensions is one of AXES, which may be negative.
std::vector<bool> marked(const std::vector<std::int64_t>& axes, int rank);

/// A kernel over lines: BODY calls a function of HEADER with the names Lines, shared, load and store; STORED is what
/// leaves for what it hands to store(at, x).
struct LineKernel {
  std::string_view header;
  std::string body = {};
  std::string place = "at";  ///< where x goes in the output's memory
  std::string load = {};     ///< the element at FROM
  std::string stored = {};   ///< an expression of x
  std::string before = {};   ///< lines that declare what STORED needs
};
/// CODE has the parameters that the kernel names.
KernelCall line_kernel(ElementCode& code, const LinePlan& plan, const LineKernel& kernel, int output,
                       NodeProgram& program);

}  // namespace saccade::cuda
