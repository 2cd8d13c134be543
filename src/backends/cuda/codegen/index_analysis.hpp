#pragma once

#include <set>
#include <string>
#include <vector>

namespace saccade::cuda {

/// A variable of a generated kernel, and the variables that depend on it other than by being it.
struct InductionVariable {
  std::string name;
  std::set<std::string> dependents;

  /// VARIABLE is declared as EXPRESSION.
  void let(const std::string& variable, const std::string& expression);
};

/// Change of an expression when a variable is incremented.
enum class IndexStep { kInvariant, kUnit, kOther };

/// Step of an index expression as kernels write it ("v1 * 384 + (u - 8)"). With a GRAIN, kUnit also requires every
/// other term to be a provable multiple of it: a constant, or a product with one.
IndexStep index_step_of(const std::string& expression, const InductionVariable& variable, int grain = 1);

}  // namespace saccade::cuda
