#pragma once

#include <array>
#include <cstdint>
#include <limits>

namespace saccade {

/// Of an arity: no limit. Of OpTraits::float_inputs: every input.
inline constexpr int kAnyNumber = std::numeric_limits<int>::max();

/// How many inputs an operator takes, counted to the last one that is given; operands of post-ops are not among them.
struct Arity {
  int least = 1;
  int most = 1;
  int fused = 0;  ///< further inputs that passes append, as a bias; a model file has none of them
};

enum class Elementwise : std::uint8_t {
  kNo,
  kUnary,      ///< an output element depends on the first input's element at its place; other inputs are parameters
  kBroadcast,  ///< the inputs broadcast to the output's shape; an output element depends on theirs at its place
};

/// Where an operator only moves elements: every output element is an element of an input, of whatever type.
enum class Movement : std::uint8_t {
  kNone,
  kView,       ///< the first input's elements in the same row-major order: no copy where both have the same layout
  kRearrange,  ///< elements of the first input (any input of Concat); shapes, attributes and indices say which
  kSelect,     ///< elements of several inputs; the contents of another one say which
};

/// What arithmetic operations are counted by.
enum class CostPer : std::uint8_t {
  kOutput,   ///< element of the output
  kInput,    ///< element of the first input: sums, extremes, searches
  kProduct,  ///< multiply-add of a convolution or matrix product
  kNothing,  ///< it moves, makes or looks up elements
};

struct Cost {
  CostPer per = CostPer::kOutput;
  double operations = 1;  ///< for each of them
  bool slow = false;      ///< computing a result again costs more than storing and loading it
};

/// How much of its inputs every implementation has to read.
enum class Reads : std::uint8_t {
  kAll,
  kIndexed,  ///< elements of the first input that the data or other inputs choose, perhaps one alone
  kCounted,  ///< of every input the rows that are counted, perhaps none
  kShape,    ///< the first input's type and shape
};

/// What counts an output's rows that are specified. The rows behind them are not.
struct RowCount {
  enum class By : std::uint8_t {
    kNothing,  ///< all of them are
    kInput,    ///< an int32 input
    kOutput,   ///< an int32 output
    kData,     ///< the data: the shape itself depends on contents
  };
  By by = By::kNothing;
  int index = 0;  ///< of that input or output
};

/// What passes, layout rules, cost models and backends know of an operator beside its kernels. The default claims
/// nothing but a single input. tests/ops/traits_test.cpp proves each claim on the reference kernel.
struct OpTraits {
  Arity arity = {};
  Elementwise elementwise = Elementwise::kNo;
  Movement movement = Movement::kNone;
  /// Permuting the axes of all operands, and with them what names an axis, permutes the first output: one kernel can
  /// serve any memory layout.
  bool layout_agnostic = false;
  /// An output of the first input's type and shape equals the first input.
  bool identity_when_alike = false;
  /// The output's type follows from an attribute or from another input than the first.
  bool names_type = false;
  /// Two runs differ.
  bool random = false;
  /// How many inputs, from the first on, have the floating-point type that the operator computes in and gives, and may
  /// be fp16 or bf16; 0: none. An operator stays at 0 where half precision does not serve, as for the angle of a sine.
  int float_inputs = 0;
  Cost cost = {};
  Reads reads = Reads::kAll;
  std::array<RowCount, 2> rows = {};  ///< of the first outputs

  constexpr bool is_elementwise() const { return elementwise != Elementwise::kNo; }
  constexpr bool is_view() const { return movement == Movement::kView; }
  constexpr bool is_variadic() const { return arity.most == kAnyNumber; }
  /// A convolution, matrix product or attention in floating point.
  constexpr bool is_float_product() const { return cost.per == CostPer::kProduct && float_inputs != 0; }

  /// A function of each element of the first input.
  static constexpr OpTraits unary(Cost cost = {}, int float_inputs = 1) {
    return {.elementwise = Elementwise::kUnary, .layout_agnostic = true, .float_inputs = float_inputs, .cost = cost};
  }
  /// A function of the elements of inputs that broadcast against each other.
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
  /// The first input's elements, in other places.
  static constexpr OpTraits rearrange(Arity arity = {}, Reads reads = Reads::kAll) {
    return {.arity = arity,
            .movement = Movement::kRearrange,
            .float_inputs = 1,
            .cost = {.per = CostPer::kNothing},
            .reads = reads};
  }
};

}  // namespace saccade
