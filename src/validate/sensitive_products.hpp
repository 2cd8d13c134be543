#pragma once

#include <functional>
#include <string>
#include <vector>

#include "graph/fp32_keep_list.hpp"
#include "saccade/model.hpp"

namespace saccade {

/// Products of a model that are computed in fp32 while a precision narrows the others.
struct KeptProducts {
  ValueNames results = {};  ///< see Fp32KeepList; empty: none is kept
  std::size_t products = 0;
};

/// Convolutions, GEMMs and attention that follow each other.
struct ProductGroup {
  KeptProducts kept;
  double operations = 0;  ///< share of all groups
  double drift = 0;       ///< of the model's raw outputs if these products alone are narrowed: see drift()
  bool is_last = false;   ///< nothing but float32 code reads their results: boxes and scores are rounded by them
};

/// The products that PRECISION narrows in the model at PATH with OPTIONS: the last ones of all branches, then the
/// others in at most 16 groups; and the drift that each group causes on two frames of the built-in scene. The model is
/// recognised. Compiles it once for each group; PROGRESS goes from 0 to 1. Throws Error.
std::vector<ProductGroup> find_sensitive_products(const std::string& path, ModelOptions options, Precision precision,
                                                  const std::function<void(double)>& progress = {});

/// What to keep in fp32, step by step: the last products; then groups with the most drift for their operations first,
/// until those that are left cause a half, a quarter and an eighth of the drift. Rounding errors of groups are
/// independent: they add as squares.
std::vector<KeptProducts> steps_to_keep(std::vector<ProductGroup> groups);

}  // namespace saccade
