#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/report_text.hpp"
#include "measure/statistics/statistics.hpp"

namespace saccade {

/// The change of a model's time between two benchmarks.
struct Comparison {
  std::string model;
  double before_ms = 0;
  double after_ms = 0;
  Estimate ratio;  ///< after / before: above 1, it became slower
  Verdict verdict = Verdict::kSame;
};

struct Comparisons {
  std::vector<Comparison> models;
  std::vector<std::string> notes;  ///< models that are only in one, settings that differ

  bool any_slower() const;
};

/// Compares two files written by `bench --json`: the models in both, in the order of BEFORE. Throws Error
/// (kInvalidFile) naming a file of another kind, or if they have no model in common.
Comparisons compare_benches(const std::string& before, const std::string& after, double tolerance);

nlohmann::ordered_json to_json(const Comparisons& comparisons);
ReportText to_text(const Comparisons& comparisons);

}  // namespace saccade
