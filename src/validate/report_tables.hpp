#pragma once

#include <string>

#include "measure/report/table.hpp"
#include "validate/validate.hpp"

namespace saccade {

/// "43.52"; "-" where there was nothing to measure.
std::string points_text(double share);
/// "+0.31" points.
std::string signed_text(double points);

/// Score number I of every model: a row a model, a column a figure.
Table figures_table(const Validation& validation, std::size_t i);
/// Headlines as the images are and under each condition, a row each.
Table conditions_table(const Validation& validation);
/// Score number I by class: of one model all classes, of two those that differ most.
Table classes_table(const Validation& validation, std::size_t i);

}  // namespace saccade
