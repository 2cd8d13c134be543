#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ops/interpreter/infer.hpp"
#include "ops/interpreter/interpret.hpp"
#include "runtime/tactic.hpp"

namespace saccade {

/// How far a tactic's answer may be from the reference's: |got - wanted| <= absolute + relative * |wanted|.
struct Tolerance {
  double absolute = 1e-5;
  double relative = 1e-5;
};

/// One node with random inputs, to be run by a tactic and compared with the operator's reference kernel. Activations
/// lie in the layout that check() is given; constants are row-major.
class OpCase {
 public:
  explicit OpCase(std::string op, std::string domain = "");

  /// A float32 activation, uniform in LOW..HIGH.
  OpCase& input(const Shape& shape, float low = -2, float high = 2);
  /// An activation with these contents.
  OpCase& activation(Tensor tensor);
  OpCase& constant(Tensor tensor);
  /// A constant of random float32 elements.
  OpCase& weights(const Shape& shape, float low = -1, float high = 1);
  OpCase& absent();
  OpCase& attribute(std::string name, Attribute value);
  OpCase& outputs(int count);
  OpCase& post(std::string op, float alpha = 0, float beta = 0);
  /// A binary post-op with a random operand of the output's shape.
  OpCase& post_with_operand(std::string op);
  /// The layout of input or output I where it differs from check()'s.
  OpCase& input_layout(int i, Layout layout);
  OpCase& output_layout(Layout layout);

  /// Runs TACTIC of the CPU backend on tensors in LAYOUT, twice, and expects the reference's answer, inputs untouched,
  /// no read of stale output or scratch and no write outside the outputs.
  void check(std::string_view tactic, Layout layout = Layout::kRowMajor, Tolerance tolerance = {}) const;
  /// The same in both layouts.
  void check_layouts(std::string_view tactic, Tolerance tolerance = {}) const;
  /// Runs TACTIC once and looks at nothing: for what must throw.
  void run(std::string_view tactic) const;
  /// What the tactic says to the case.
  Support supports(std::string_view tactic, Layout layout = Layout::kRowMajor) const;
  /// Which layout the CPU backend wants for the case.
  LayoutRule layout_rule() const;
  /// Two bound launches of one launch run on two threads at once and agree with the reference.
  void check_two_threads(std::string_view tactic, Layout layout, Tolerance tolerance = {}) const;

 private:
  struct Built;
  Built build(Layout layout) const;

  Node node_;
  std::vector<Tensor> tensors_;
  std::vector<bool> constant_;
  std::vector<std::pair<int, Layout>> input_layouts_;
  std::optional<Layout> output_layout_;
  std::uint32_t seed_ = 1;
};

/// Uniform float32 elements from a fixed seed.
Tensor random_tensor(const Shape& shape, float low, float high, std::uint32_t seed);
/// Uniform integers LOW..HIGH of any integer type.
Tensor random_integers(DType dtype, const Shape& shape, int low, int high, std::uint32_t seed);
/// Of all bytes, DTYPE being uint8 or int8.
Tensor random_bytes(DType dtype, const Shape& shape, std::uint32_t seed);
int lowest_byte(DType dtype);
int highest_byte(DType dtype);
/// A scalar.
Tensor zero_point(DType dtype, int value);

}  // namespace saccade
