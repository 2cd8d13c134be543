#pragma once

#include <string>

#include "measure/report/table.hpp"
#include "validate/validate.hpp"

namespace saccade {

/// "43.52"; "-" without data.
std::string points_text(double share);
/// "+0.31" points.
std::string signed_text(double points);

/// The score with the index I: one row per model, one column per metric.
Table figures_table(const Validation& validation, std::size_t i);
/// Primary metrics of the original images and under each condition, one row each.
Table conditions_table(const Validation& validation);
/// The score with the index I by class: all classes for one model, those that differ most for two.
Table classes_table(const Validation& validation, std::size_t i);

}  // namespace saccade
