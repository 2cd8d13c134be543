#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/report_text.hpp"
#include "measure/statistics/statistics.hpp"

namespace saccade {

/// How a model's time changed from one benchmark to another.
struct Comparison {
  std::string model;
  double before_ms = 0;
  double after_ms = 0;
  Estimate ratio;  ///< after / before: above 1, it became slower
  Verdict verdict = Verdict::kSame;
};

struct Comparisons {
  std::vector<Comparison> models;
  std::vector<std::string> notes;  ///< models that only one has, settings that differ

  bool any_slower() const;
};

/// Compares two files that `bench --json` wrote: the models that both have, in the order of BEFORE. Throws Error
/// (kInvalidFile) naming a file that is something else, or where no model is in both.
Comparisons compare_benches(const std::string& before, const std::string& after, double tolerance);

nlohmann::ordered_json to_json(const Comparisons& comparisons);
ReportText to_text(const Comparisons& comparisons);

}  // namespace saccade
