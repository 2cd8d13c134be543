#include "http/message.hpp"

#include <poll.h>

#include <algorithm>
#include <boost/beast/http/error.hpp>
#include <utility>

namespace saccade::http {

HttpRequest request_of(const boost::beast::http::request<boost::beast::http::string_body>& message,
                       std::vector<std::string> names) {
  HttpRequest request;
  request.method = message.method_string();
  const auto target = message.target();
  const std::size_t question = std::min(target.find('?'), target.size());
  request.path = target.substr(0, question);
  request.query = target.substr(std::min(question + 1, target.size()));
  request.names = std::move(names);
  for (const auto& field : message) request.headers.emplace_back(field.name_string(), field.value());
  return request;
}

bool is_malformed(boost::beast::error_code failure) {
  using Error = boost::beast::http::error;
  return failure && failure.category() == make_error_code(Error::bad_method).category() &&
         failure != Error::end_of_stream && failure != Error::partial_message;
}

bool is_closed_by_peer(int socket) {
  pollfd events{.fd = socket, .events = POLLRDHUP, .revents = 0};
  return poll(&events, 1, 0) > 0;
}

}  // namespace saccade::http
