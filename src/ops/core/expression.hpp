#pragma once

#include <cstdint>
#include <string_view>

namespace saccade {

class Attributes;

/// A number that an element-wise function takes from one of its node's attributes.
struct Parameter {
  enum class Kind : std::uint8_t {
    kReal,    ///< the value of a float attribute
    kFlag,    ///< 1 if an integer attribute is not 0, else 0
    kChoice,  ///< 1 if a text attribute is CHOICE, else 0
  };
  std::string_view attribute = {};  ///< empty: there is no such parameter
  float default_value = 0;          ///< without the attribute
  Kind kind = Kind::kReal;
  std::string_view choice = {};

  static constexpr Parameter flag(std::string_view attribute, bool default_value) {
    return {attribute, default_value ? 1.0F : 0.0F, Kind::kFlag};
  }
  static constexpr Parameter chosen(std::string_view attribute, std::string_view choice) {
    return {attribute, 0, Kind::kChoice, choice};
  }

  constexpr bool exists() const { return !attribute.empty(); }
  /// For a node's attributes; without a parameter the default. Throws Error (kInvalidFile) if the attribute has another
  /// type.
  float value(const Attributes& attributes) const;
};

/// The function of an element-wise operator for backends that compile kernels: an expression of CUDA C++, which may
/// call the functions of cuda/kernels/elements.cuh. It has these placeholders:
///
///   {x}       the element of the first input; it is a name, which may occur many times
///   {y}       the element of the second input, likewise
///   {a}, {b}  the parameters
///   {n}       the number of inputs
///
/// All have the type of the computation: float for half precision, else the input's own type. Integers must wrap
/// around: convert an operand to uint64. An operator of more than two inputs folds them from the left, with the result
/// so far as {x}. Without an expression for a type, CUDA runs the reference kernel on the host.
struct Expression {
  std::string_view of_floats = {};
  std::string_view of_integers = {};  ///< and of bool, if the operator takes it
  Parameter a = {};
  Parameter b = {};
  /// Makes the output's element of the fold, {x}; empty: the fold is the output's element.
  std::string_view finish = {};

  static constexpr Expression floats(std::string_view text, Parameter a = {}, Parameter b = {}) {
    return {.of_floats = text, .a = a, .b = b};
  }
  static constexpr Expression integers(std::string_view text, Parameter a = {}, Parameter b = {}) {
    return {.of_integers = text, .a = a, .b = b};
  }
  static constexpr Expression numbers(std::string_view floats, std::string_view integers) {
    return {.of_floats = floats, .of_integers = integers};
  }
  /// The same for both.
  static constexpr Expression numbers(std::string_view text) { return numbers(text, text); }
  constexpr Expression finished(std::string_view text) const {
    Expression copy = *this;
    copy.finish = text;
    return copy;
  }
};

}  // namespace saccade
