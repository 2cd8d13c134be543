#pragma once

#include <set>
#include <string>

namespace saccade {

/// Values by name.
using ValueNames = std::set<std::string, std::less<>>;

/// What stays in float32 in a graph that is computed in another precision. Values are named as after all passes before
/// narrow_floats.
struct Fp32KeepList {
  ValueNames values = {};   ///< neither written nor read in it: they may exceed the range of fp16
  ValueNames results = {};  ///< of products that are not computed in it: the predictions would change

  ValueNames names() const {
    ValueNames all = values;
    all.insert(results.begin(), results.end());
    return all;
  }
  void add(const Fp32KeepList& other) {
    values.insert(other.values.begin(), other.values.end());
    results.insert(other.results.begin(), other.results.end());
  }
  bool operator==(const Fp32KeepList&) const = default;
};

}  // namespace saccade
