#include "serve/multipart.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "base/error.hpp"

namespace saccade::serve {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

/// Whether TEXT begins with PREFIX, which is in lower case; the case of TEXT does not matter.
bool begins_with(std::string_view text, std::string_view prefix) {
  return text.size() >= prefix.size() && std::ranges::equal(text.substr(0, prefix.size()), prefix, {}, lower);
}

/// A header may continue on a line that begins with a blank.
constexpr std::string_view kBlanks = " \t\r\n";

std::string_view trimmed(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  return text.substr(0, text.find_last_not_of(kBlanks) + 1);
}

/// The end of the quoted string that TEXT begins with, behind its quote; npos: it has none.
std::size_t end_of_quoted(std::string_view text) {
  std::size_t at = text.find_first_of("\"\\", 1);
  while (at != std::string_view::npos && text[at] == '\\') at = text.find_first_of("\"\\", at + 2);
  return at == std::string_view::npos ? at : at + 1;
}

/// Takes the first of the parameters "; NAME=VALUE" (RFC 9110, 5.6.6) off REST. A value is as sent, without its quotes.
std::pair<std::string_view, std::string_view> take_parameter(std::string_view& rest) {
  rest.remove_prefix(std::min(rest.find(';'), rest.size()));
  rest.remove_prefix(std::min<std::size_t>(1, rest.size()));
  const std::size_t equals = rest.find_first_of("=;");
  if (equals == std::string_view::npos || rest[equals] == ';') return {};
  const std::string_view name = trimmed(rest.substr(0, equals));
  rest.remove_prefix(std::min(rest.find_first_not_of(kBlanks, equals + 1), rest.size()));
  if (!rest.starts_with('"')) return {name, trimmed(rest.substr(0, rest.find(';')))};
  const std::size_t end = end_of_quoted(rest);
  const std::string_view quoted = end == std::string_view::npos ? std::string_view() : rest.substr(1, end - 2);
  rest.remove_prefix(std::min(end, rest.size()));
  return {name, quoted};
}

/// The value of the parameter NAME, which is in lower case, of a header's VALUE; nullopt: it has none.
std::optional<std::string_view> parameter_of(std::string_view value, std::string_view name) {
  while (!value.empty())
    if (const auto [given, text] = take_parameter(value); given.size() == name.size() && begins_with(given, name))
      return text;
  return std::nullopt;
}

/// Takes the first of HEADERS off them.
std::string_view take_header(std::string_view& headers) {
  std::size_t end = headers.find("\r\n");
  const auto continues = [&] {
    return end + 2 < headers.size() && (headers[end + 2] == ' ' || headers[end + 2] == '\t');
  };
  while (end != std::string_view::npos && continues()) end = headers.find("\r\n", end + 2);
  const std::string_view header = headers.substr(0, end);
  headers.remove_prefix(std::min(header.size() + 2, headers.size()));
  return header;
}

/// Whether a part with HEADERS is a file (RFC 7578, 4.2). Some clients send nothing but the filename* of RFC 6266.
bool is_file(std::string_view headers) {
  while (!headers.empty())
    if (const std::string_view header = take_header(headers); begins_with(header, "content-disposition:"))
      return parameter_of(header, "filename") || parameter_of(header, "filename*");
  return false;
}

}  // namespace

std::string_view image_in(const HttpRequest& request) {
  const std::string_view body = request.body;
  if (body.empty()) fail(ErrorCode::kInvalidArgument, "the body is empty: it is the bytes of a JPEG or PNG file");
  const std::string_view type = request.header("Content-Type");
  if (!begins_with(type, "multipart/form-data")) return body;
  const std::string_view boundary = parameter_of(type, "boundary").value_or("");
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
    if (last >= first && is_file(headers)) {
      if (file) fail(ErrorCode::kInvalidArgument, "the multipart body has several files: send one per request");
      file = body.substr(first, last - first);
    }
    at = last + 2;
  }
  if (!file) fail(ErrorCode::kInvalidArgument, "the multipart body has no file");
  return *file;
}

}  // namespace saccade::serve
