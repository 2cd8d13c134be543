#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "base/error.hpp"
#include "base/http_module.hpp"

namespace saccade::serve {

/// A reply with status 200. Text that is not UTF-8 gets U+FFFD.
HttpReply json_reply(const nlohmann::json& body);

/// A reply with {"error": SENTENCE}.
HttpReply error_reply(int status, const std::string& sentence);

/// What a client may know of ERROR: what is wrong with the request, nothing about the machine.
HttpReply error_reply(const Error& error);

}  // namespace saccade::serve
