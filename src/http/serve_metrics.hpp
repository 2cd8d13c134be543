#pragma once

#include "base/http_module.hpp"

namespace saccade::http {

/// HttpModule::serve_metrics
HttpReply serve_metrics(const serve::ServeState& state);

}  // namespace saccade::http
