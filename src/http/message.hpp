#pragma once

#include <boost/beast/core/error.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/string_body.hpp>
#include <string>
#include <vector>

#include "base/http_module.hpp"

namespace saccade::http {

/// MESSAGE without its body. NAMES are those of its path.
HttpRequest request_of(const boost::beast::http::request<boost::beast::http::string_body>& message,
                       std::vector<std::string> names);

/// Whether FAILURE is the client's: what it sent is no HTTP.
bool is_malformed(boost::beast::error_code failure);

/// Whether the other end of the connection SOCKET sends no more. Any thread.
bool is_closed_by_peer(int socket);

}  // namespace saccade::http
