#pragma once

#include "base/http_module.hpp"

namespace saccade::http {

/// HttpModule::listen
std::unique_ptr<HttpServer> listen(const HttpOptions& options, std::vector<HttpRoute> routes);

}  // namespace saccade::http
