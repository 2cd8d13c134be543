#pragma once

#include <functional>
#include <string>
#include <vector>

#include "graph/fp32_keep_list.hpp"
#include "saccade/model.hpp"

namespace saccade {

/// Convolutions, GEMMs and attention that follow each other.
struct ProductGroup {
  NodeNames products;
  double operations = 0;  ///< share of all groups
  double drift = 0;       ///< of the model's raw outputs if these products alone are narrowed: see drift()
  bool is_last = false;   ///< no product reads their results: boxes and scores are rounded by them
};

/// The products that PRECISION narrows in the model at PATH with OPTIONS: the last ones of all branches, then the
/// others in at most 16 groups; and the drift that each group causes in the model's float32 outputs on two frames of
/// the built-in scene. The model is recognised. Compiles it once for each group; PROGRESS goes from 0 to 1. Throws
/// Error.
std::vector<ProductGroup> find_sensitive_products(const std::string& path, ModelOptions options, Precision precision,
                                                  const std::function<void(double)>& progress = {});

/// The products to keep in fp32, step by step: the last ones; then groups with the most drift for their operations
/// first, until those that are left cause a half, a quarter and an eighth of the drift. Rounding errors of groups are
/// independent: they add as squares.
std::vector<NodeNames> steps_to_keep(std::vector<ProductGroup> groups);

}  // namespace saccade
