#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <memory>

#include "http/shared.hpp"

namespace saccade::http {

/// Serves the requests that come by SOCKET, one after the other.
void serve(std::shared_ptr<Shared> shared, boost::asio::ip::tcp::socket socket);

}  // namespace saccade::http
