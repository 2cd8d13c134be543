#pragma once

#include <string>
#include <utility>

#include "saccade/model.hpp"

namespace saccade::test {

/// The model at PATH on the CPU, also where there is a GPU.
inline Model load_on_cpu(const std::string& path, ModelOptions options = {}) {
  options.device = Device::cpu();
  return Model::load(path, options);
}

}  // namespace saccade::test
