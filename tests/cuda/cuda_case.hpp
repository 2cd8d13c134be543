#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "graph/graph.hpp"
#include "runtime/plan.hpp"

namespace saccade {

/// Tolerance relative to the reference: |got - wanted| <= absolute + relative * |wanted|.
struct CudaTolerance {
  double absolute = 1e-5;
  double relative = 1e-5;
};
inline constexpr CudaTolerance kExact{.absolute = 0, .relative = 0};

/// A graph of one node, to be run on the emulated or real GPU and compared with the operator's reference kernel.
class CudaCase {
 public:
  explicit CudaCase(std::string op, std::string domain = "");

  /// A graph input with these elements.
  CudaCase& input(Tensor tensor);
  /// Random elements of DTYPE: floats and integers in LOW..HIGH, bools of both values.
  CudaCase& input(DType dtype, const Shape& shape, float low = -2, float high = 2);
  CudaCase& input(const Shape& shape, float low = -2, float high = 2) {
    return input(DType::kFloat32, shape, low, high);
  }
  CudaCase& constant(Tensor tensor);
  CudaCase& constant(const Shape& shape, float low = -2, float high = 2);
  CudaCase& absent();
  CudaCase& attribute(std::string name, Attribute value);
  CudaCase& outputs(int count);
  /// Only the first elements of this output are defined.
  CudaCase& defined(std::size_t output, std::size_t elements);
  CudaCase& post(std::string op, float alpha = 0, float beta = 0);
  /// A binary post-op with a random operand of the output's shape.
  CudaCase& post_with_operand(std::string op);

  /// Runs the node by TACTIC, as one graph and call by call, twice each on poisoned memory, with inputs and outputs of
  /// rank 3 and more in LAYOUT, and expects the reference's output.
  void check(const std::string& tactic, CudaTolerance tolerance = {}, Layout layout = Layout::kRowMajor) const;
  /// In both layouts.
  void check_layouts(const std::string& tactic, CudaTolerance tolerance = {}) const {
    check(tactic, tolerance, Layout::kRowMajor);
    check(tactic, tolerance, Layout::kChannelsLast);
  }

 private:
  Graph build(Layout layout, std::map<std::string, Tensor>& inputs) const;

  Node node_;
  std::vector<Tensor> tensors_;
  std::vector<bool> constant_;
  std::map<std::size_t, std::size_t> defined_;  // elements, by output
};

/// Runs GRAPH on the GPU by its preferred tactics, or those of OPTIONS, on random inputs, like CudaCase, and expects
/// the reference kernels' outputs. Returns the plan.
std::shared_ptr<const Plan> expect_as_reference(const Graph& graph, CudaTolerance tolerance = {},
                                                const CompileOptions& options = {});

/// Random elements of any numeric type or bool.
Tensor random_elements(DType dtype, const Shape& shape, float low, float high, std::uint32_t seed);

}  // namespace saccade
