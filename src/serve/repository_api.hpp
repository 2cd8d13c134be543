#pragma once

#include <vector>

#include "base/http_module.hpp"
#include "serve/repository.hpp"
#include "serve/workers.hpp"

namespace saccade::serve {

/// Adds the routes of the protocol's model repository extension for MODELS. CONTROLS load and unload. Both outlive the
/// routes.
void add_repository(std::vector<HttpRoute>& routes, Repository& models, Workers& controls);

}  // namespace saccade::serve
