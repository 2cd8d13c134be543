#pragma once

#include "base/http_module.hpp"

namespace saccade::http {

/// The server's own reply with STATUS, 400 or more: {"error": a sentence that says what is wrong}.
HttpReply error_reply(int status);

/// For the exception that is being handled, which becomes a line of the log: clients learn nothing about the machine.
HttpReply failed_reply();

}  // namespace saccade::http
