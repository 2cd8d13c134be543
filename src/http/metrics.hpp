#pragma once

#include "base/http_module.hpp"

namespace saccade::http {

/// HttpModule::metrics
HttpReply metrics(const RunState& state);

}  // namespace saccade::http
