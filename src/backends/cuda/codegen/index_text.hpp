#pragma once

#include <set>
#include <string>
#include <vector>

namespace saccade::cuda {

/// A variable of a kernel that is followed: which others were worked out from it, each in another way than it is.
struct Followed {
  std::string name;
  std::set<std::string> dependents;

  /// A new VARIABLE is EXPRESSION.
  void let(const std::string& variable, const std::string& expression);
};

/// How an expression changes where a variable grows by one.
enum class Advance { kNone, kOne, kOther };

/// Of a sum as kernels have it ("v1 * 384 + (u - 8)"). With a GRAIN, kOne says as well that what is added to the
/// variable is a multiple of it, which it is seen to be: a constant, or something times one.
Advance advance_of(const std::string& expression, const Followed& variable, int grain = 1);

}  // namespace saccade::cuda
