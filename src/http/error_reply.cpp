#include "http/error_reply.hpp"

#include <fmt/format.h>

#include <exception>
#include <string_view>

#include "base/log.hpp"

namespace saccade::http {
namespace {

/// Without characters that JSON escapes.
std::string_view sentence_of(int status) {
  switch (status) {
    case 400: return "the request is not valid HTTP/1.1";
    case 401: return "the header 'Authorization: Bearer TOKEN' is missing, or its token is not the server's";
    case 403:
      return "the host name of the request is not that of this machine: use its address; or it is of another site's "
             "page";
    case 404: return "nothing is served at this path";
    case 405: return "the path does not take this method: the header 'Allow' lists those that it takes";
    case 413: return "the body is larger than this path takes";
    case 415: return "the body is compressed, which is not supported: send it without 'Content-Encoding'";
    case 431: return "the headers are larger than 16 KiB";
    case 501: return "the transfer coding is not supported: send the body with its length, or chunked";
    case 503: return "the bodies of other requests fill the memory: come again later";
    default: return "the request can't be served: the server's log says why";
  }
}

}  // namespace

HttpReply error_reply(int status) {
  return {.status = status,
          .type = "application/json",
          .body = fmt::format(R"({{"error":"{}"}})", sentence_of(status)),
          .stream = nullptr,
          .headers = {}};
}

HttpReply failed_reply() {
  try {
    throw;
  } catch (const std::exception& error) {
    log(LogLevel::kWarning, "a request can't be served: {}", error.what());
  }
  return error_reply(500);
}

}  // namespace saccade::http
