#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "op_case/random.hpp"
#include "ops/run_op.hpp"
#include "runtime/plan.hpp"
#include "support/printers.hpp"

namespace saccade {

/// How far an output may be from what is wanted: |got - wanted| <= absolute + relative * |wanted|.
struct Tolerance {
  double absolute = 1e-5;
  double relative = 1e-5;
};
inline constexpr Tolerance kExact{.absolute = 0, .relative = 0};

enum class TestedBackend : std::uint8_t { kReference, kCpu, kCuda };
std::string_view to_string(TestedBackend backend);
inline void PrintTo(TestedBackend backend, std::ostream* stream) { *stream << to_string(backend); }

/// A backend and the tactic that must run the case there; no tactic: the one that the backend prefers. The name
/// outlives it.
struct On {
  TestedBackend backend = TestedBackend::kReference;
  std::string_view tactic = {};
};
constexpr On on_reference() { return {}; }
constexpr On on_cpu(std::string_view tactic = {}) { return {TestedBackend::kCpu, tactic}; }
/// Without a tactic, what has no kernel runs on the host.
constexpr On on_cuda(std::string_view tactic = {}) { return {TestedBackend::kCuda, tactic}; }

/// One node and its inputs, to be run by any backend and compared with the operator's reference kernel. Activations and
/// outputs of rank 3 and more lie in the layout that check() is given; constants are row-major.
class OpCase {
 public:
  explicit OpCase(std::string op, std::string domain = "");
  /// The call with its inputs as graph inputs, or those that the shape rule has to see as constants.
  explicit OpCase(const OpCall& call);

  /// A graph input with these elements.
  OpCase& input(Tensor tensor);
  /// Random elements of DTYPE: floats and integers in LOW..HIGH, bools of both values.
  OpCase& input(DType dtype, const Shape& shape, float low = -2, float high = 2);
  OpCase& input(const Shape& shape, float low = -2, float high = 2) { return input(DType::kFloat32, shape, low, high); }
  OpCase& constant(Tensor tensor);
  OpCase& constant(const Shape& shape, float low = -2, float high = 2);
  OpCase& absent();
  OpCase& attribute(std::string name, Attribute value);
  OpCase& outputs(int count);
  /// Only the first elements of this output are specified.
  OpCase& defined(std::size_t output, std::size_t elements);
  /// What an output is, whoever computes it: it is compared with this instead of the reference kernel's output.
  OpCase& expect(Tensor wanted);
  OpCase& post(std::string op, float alpha = 0, float beta = 0);
  /// A binary post-op with a random operand of the output's type and shape.
  OpCase& post_with_operand(std::string op);
  /// The layout of input or output I where it differs from check()'s.
  OpCase& input_layout(int i, Layout layout);
  OpCase& output_layout(Layout layout);
  /// The same case with its float32 inputs, constants and expected outputs rounded to DTYPE.
  OpCase in(DType dtype) const;

  /// Runs the case twice on poisoned memory and expects the wanted outputs. On the CPU also: inputs untouched, nothing
  /// written outside of outputs and scratch. On CUDA: as one graph and call by call.
  void check(const On& on, Tolerance tolerance = {}, Layout layout = Layout::kRowMajor) const;
  /// In both layouts. The reference kernels are row-major.
  void check_layouts(const On& on, Tolerance tolerance = {}) const;
  /// Runs the CPU's tactic once and looks at nothing: for what must throw.
  void run(const On& on) const;
  /// What the tactic says to the case.
  Support supports(const On& on, Layout layout = Layout::kRowMajor) const;
  /// The first tactic of the backend that supports the case; "": none does.
  std::string preferred_tactic(TestedBackend backend, Layout layout = Layout::kRowMajor) const;
  /// Which layout the CPU backend wants for the case.
  LayoutRule layout_rule() const;
  /// Two bound launches of one launch run on two threads at once and agree with the reference.
  void check_two_threads(const On& on, Layout layout, Tolerance tolerance = {}) const;

 private:
  struct Built;
  Built build(Layout layout) const;
  std::vector<Tensor> wanted_of(const Built& built) const;
  void check_reference(Tolerance tolerance) const;
  void check_cpu(std::string_view tactic, Tolerance tolerance, Layout layout) const;
  void check_cuda(std::string_view tactic, Tolerance tolerance, Layout layout) const;

  Node node_;
  std::vector<Tensor> tensors_;
  std::vector<bool> constant_;
  std::vector<Tensor> expected_;
  std::map<std::size_t, std::size_t> defined_;  // elements, by output
  std::vector<std::pair<int, Layout>> input_layouts_;
  std::optional<Layout> output_layout_;
};

/// Runs GRAPH on BACKEND by its preferred tactics, or those of OPTIONS, twice on random inputs and poisoned memory, and
/// expects the reference kernels' outputs. Returns the plan.
std::shared_ptr<const Plan> expect_as_reference(const Backend& backend, const Graph& graph, Tolerance tolerance = {},
                                                const CompileOptions& options = {});
/// On the GPU.
std::shared_ptr<const Plan> expect_as_reference(const Graph& graph, Tolerance tolerance = {},
                                                const CompileOptions& options = {});

}  // namespace saccade
