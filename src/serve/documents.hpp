#pragma once

#include <vector>

#include "base/http_module.hpp"

namespace saccade::serve {

/// Adds the routes of what is the same on every server and needs no token: the page, and the OpenAPI description of all
/// routes.
void add_documents(std::vector<HttpRoute>& routes);

}  // namespace saccade::serve
