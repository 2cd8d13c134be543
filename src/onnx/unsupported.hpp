#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "graph/graph.hpp"

namespace saccade {

/// Collects the operators that Saccade lacks, so that one error lists them all.
class UnsupportedOperators {
 public:
  /// Whether NODE's operator (of operator set VERSION) is unknown; records it if so.
  bool note(const Node& node, std::int64_t version);
  /// Throws Error (kUnsupported) listing the recorded operators, if there are any.
  void check() const;

 private:
  struct Found {
    int count = 0;
    std::string example;
  };
  std::map<std::string, Found> found_;  // by "domain.name"
  std::int64_t newer_opset_ = 0;
};

}  // namespace saccade
