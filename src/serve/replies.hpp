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

/// Calls RESPOND with what MAKE returns, or with its error.
template <typename Make>
void respond_with(const HttpRespond& respond, const Make& make) {
  try {
    respond(make());
  } catch (const Error& error) {
    respond(error_reply(error));
  } catch (const std::exception& error) {
    respond(error_reply(Error(ErrorCode::kInternal, error.what())));
  }
}

}  // namespace saccade::serve
