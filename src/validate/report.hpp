#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "base/report_text.hpp"
#include "validate/validate.hpp"

namespace saccade {

/// The text report: shares in points (hundredths), by condition, by class, and the verdict.
ReportText to_text(const Validation& validation);
/// {"data", "pictures", "models": [{"model", "settings", "scores": {"box": {"ap", ...}}, "classes"}], "conditions",
/// "against"}; shares from 0 to 1, null without data, differences in points.
nlohmann::ordered_json to_json(const Validation& validation);

}  // namespace saccade
