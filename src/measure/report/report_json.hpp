#pragma once

#include <nlohmann/json.hpp>

#include "measure/statistics/units.hpp"
#include "saccade/summary.hpp"

namespace saccade {

/// {"count", "min", "mean", "std", "p50", "p90", "p95", "p99", "max"}, times in milliseconds.
nlohmann::ordered_json distribution_json(const Distribution& time);

}  // namespace saccade
