#pragma once

#include <string>

#include "measure/demo/demo.hpp"
#include "measure/report/table.hpp"

namespace saccade {

// What a demo's page and its text share.

/// "0.934"; "-" where there was nothing to find.
std::string score_text(double score);
/// A row a class.
Table classes_table(const DemoResult& result);
/// A row a condition.
Table conditions_table(const DemoResult& result);

}  // namespace saccade
