#pragma once

#include <vector>

#include "base/http_module.hpp"
#include "serve/repository.hpp"

namespace saccade::serve {

/// Adds the routes of the protocol's model repository extension for MODELS, which outlive them.
void add_repository(std::vector<HttpRoute>& routes, Repository& models);

}  // namespace saccade::serve
