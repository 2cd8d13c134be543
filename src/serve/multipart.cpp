#include "serve/multipart.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "base/error.hpp"

namespace saccade::serve {
namespace {

/// The value of boundary= in a Content-Type (RFC 2046, 5.1.1).
std::string_view boundary_of(std::string_view type) {
  constexpr std::string_view kName = "boundary=";
  const std::size_t at = type.find(kName);
  if (at == std::string_view::npos) return {};
  std::string_view value = type.substr(at + kName.size());
  if (value.starts_with('"')) return value.substr(1, value.find('"', 1) - 1);
  return value.substr(0, value.find_first_of("; \t"));
}

}  // namespace

std::string_view image_in(const HttpRequest& request) {
  const std::string_view body = request.body;
  if (body.empty()) fail(ErrorCode::kInvalidArgument, "the body is empty: it is the bytes of a JPEG or PNG file");
  const std::string_view type = request.header("Content-Type");
  if (!type.starts_with("multipart/form-data")) return body;
  const std::string_view boundary = boundary_of(type);
  constexpr std::size_t kLongest = 70;
  if (boundary.empty() || boundary.size() > kLongest)
    fail(ErrorCode::kInvalidArgument, "the multipart body has no valid boundary");
  const std::string delimiter = "--" + std::string(boundary);
  const std::string end = "\r\n" + delimiter;
  std::optional<std::string_view> file;
  for (std::size_t at = body.find(delimiter); at != std::string_view::npos;) {
    const std::size_t head = at + delimiter.size();
    const std::size_t blank = body.find("\r\n\r\n", head);
    const std::size_t last = blank == std::string_view::npos ? blank : body.find(end, blank + 2);
    if (last == std::string_view::npos) break;
    const std::string_view headers = body.substr(head, blank - head);
    const std::size_t first = blank + 4;
    if (headers.find("filename=") != std::string_view::npos && last >= first) {
      if (file) fail(ErrorCode::kInvalidArgument, "the multipart body has several files: send one per request");
      file = body.substr(first, last - first);
    }
    at = last + 2;
  }
  if (!file) fail(ErrorCode::kInvalidArgument, "the multipart body has no file");
  return *file;
}

}  // namespace saccade::serve
