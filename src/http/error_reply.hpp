#pragma once

#include "base/http_module.hpp"

namespace saccade::http {

/// The server's own reply with STATUS, 400 or more: {"error": a sentence that says what is wrong}.
HttpReply error_reply(int status);

}  // namespace saccade::http
