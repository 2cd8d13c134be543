#pragma once

#include <string>

#include "measure/demo/demo.hpp"
#include "measure/report/table.hpp"

namespace saccade {

// Shared by a demo's page and its text.

/// "0.934"; "-" without ground truth.
std::string score_text(double score);
/// One row per class.
Table classes_table(const DemoResult& result);
/// One row per condition.
Table conditions_table(const DemoResult& result);

}  // namespace saccade
