#pragma once

#include <set>
#include <string>

namespace saccade {

/// Values by name.
using ValueNames = std::set<std::string, std::less<>>;

/// Nodes by name. Names are unique in an imported graph, and fusion preserves them.
using NodeNames = std::set<std::string, std::less<>>;

/// What stays in float32 in a graph that is computed in another precision.
struct Fp32KeepList {
  /// Neither written nor read in it, because they may exceed the range of fp16. Named as after all passes before
  /// narrow_floats.
  ValueNames values = {};
  NodeNames products = {};  ///< convolutions, GEMMs and attention that are not computed in it, for the accuracy

  /// All of them.
  std::set<std::string, std::less<>> names() const {
    ValueNames all = values;
    all.insert(products.begin(), products.end());
    return all;
  }
  void add(const Fp32KeepList& other) {
    values.insert(other.values.begin(), other.values.end());
    products.insert(other.products.begin(), other.products.end());
  }
  bool operator==(const Fp32KeepList&) const = default;
};

}  // namespace saccade
