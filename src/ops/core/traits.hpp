#pragma once

#include <array>
#include <cstdint>
#include <limits>

namespace saccade {

/// In an arity: no limit. In OpTraits::float_inputs: every input.
inline constexpr int kAnyNumber = std::numeric_limits<int>::max();

/// The number of inputs of an operator, up to the last one that is given; operands of post-ops do not count.
struct Arity {
  int least = 1;
  int most = 1;
  int fused = 0;  ///< further inputs that passes append, such as a bias; model files have none of them
};

enum class Elementwise : std::uint8_t {
  kNo,
  kUnary,      ///< an output element depends on the first input's element at its position; other inputs are parameters
  kBroadcast,  ///< the inputs broadcast to the output's shape; an output element depends on theirs at its position
};

/// Data movement: every output element is an element of an input, of any type.
enum class Movement : std::uint8_t {
  kNone,
  kView,       ///< the first input's elements in row-major order: no copy if both have the same layout
  kRearrange,  ///< elements of the first input (any input of Concat), selected by shapes, attributes and indices
  kSelect,     ///< elements of several inputs, selected by the contents of another one
};

/// The unit by which arithmetic operations are counted.
enum class CostPer : std::uint8_t {
  kOutput,   ///< element of the output
  kInput,    ///< element of the first input: sums, extrema, searches
  kProduct,  ///< multiply-add of a convolution or GEMM
  kNothing,  ///< moves, generates or looks up elements
};

struct Cost {
  CostPer per = CostPer::kOutput;
  double operations = 1;  ///< per unit
  bool slow = false;      ///< recomputing a result costs more than storing and loading it
};

/// The part of its inputs that every implementation has to read.
enum class Reads : std::uint8_t {
  kAll,
  kIndexed,  ///< elements of the first input that the data or other inputs select, perhaps a single one
  kCounted,  ///< the valid rows of every input, perhaps none
  kShape,    ///< the first input's type and shape
};

/// What counts the valid rows of an output. Rows behind them are unspecified.
struct RowCount {
  enum class By : std::uint8_t {
    kNothing,  ///< all rows are valid
    kInput,    ///< an int32 input
    kOutput,   ///< an int32 output
    kData,     ///< the data: the shape itself depends on contents
  };
  By by = By::kNothing;
  int index = 0;  ///< of the counting input or output
};

/// The properties of an operator that passes, layout rules, cost models and backends use, beside its kernels. The
/// default declares nothing but a single input. tests/ops/traits_test.cpp proves each trait on the reference kernel.
struct OpTraits {
  Arity arity = {};
  Elementwise elementwise = Elementwise::kNo;
  Movement movement = Movement::kNone;
  /// Permuting the axes of all operands, and the attributes that name axes, permutes the first output: one kernel
  /// serves any memory layout.
  bool layout_agnostic = false;
  /// An output of the first input's type and shape equals the first input.
  bool identity_when_alike = false;
  /// The output's type is given by an attribute or by an input other than the first.
  bool names_type = false;
  /// Results differ between runs.
  bool random = false;
  /// The number of leading inputs that have the floating-point type of the computation and the output, and may be fp16
  /// or bf16; 0: none. It stays 0 for operators that half precision does not suit, such as the angle of a sine.
  int float_inputs = 0;
  Cost cost = {};
  Reads reads = Reads::kAll;
  std::array<RowCount, 2> rows = {};  ///< of the first outputs

  constexpr bool is_elementwise() const { return elementwise != Elementwise::kNo; }
  constexpr bool is_view() const { return movement == Movement::kView; }
  constexpr bool is_variadic() const { return arity.most == kAnyNumber; }
  /// A convolution, GEMM or attention in floating point.
  constexpr bool is_float_product() const { return cost.per == CostPer::kProduct && float_inputs != 0; }

  /// A function of each element of the first input.
  static constexpr OpTraits unary(Cost cost = {}, int float_inputs = 1) {
    return {.elementwise = Elementwise::kUnary, .layout_agnostic = true, .float_inputs = float_inputs, .cost = cost};
  }
  /// A function of the elements of inputs that broadcast.
  static constexpr OpTraits broadcast(Cost cost = {}, int float_inputs = kAnyNumber, Arity arity = {2, 2}) {
    return {.arity = arity,
            .elementwise = Elementwise::kBroadcast,
            .layout_agnostic = true,
            .float_inputs = float_inputs,
            .cost = cost};
  }
  /// A view of the first input.
  static constexpr OpTraits view(Arity arity = {}) {
    return {.arity = arity,
            .movement = Movement::kView,
            .identity_when_alike = true,
            .float_inputs = 1,
            .cost = {.per = CostPer::kNothing}};
  }
  /// The first input's elements, at other positions.
  static constexpr OpTraits rearrange(Arity arity = {}, Reads reads = Reads::kAll) {
    return {.arity = arity,
            .movement = Movement::kRearrange,
            .float_inputs = 1,
            .cost = {.per = CostPer::kNothing},
            .reads = reads};
  }
};

}  // namespace saccade
