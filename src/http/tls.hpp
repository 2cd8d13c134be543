#pragma once

#include <boost/asio/ssl/context.hpp>
#include <memory>

#include "base/http_module.hpp"

namespace saccade::http {

/// TLS 1.2 or newer with the files of OPTIONS; null without a certificate. Throws Error (kInvalidFile) naming the file.
std::unique_ptr<boost::asio::ssl::context> tls_context(const HttpOptions& options);

}  // namespace saccade::http
