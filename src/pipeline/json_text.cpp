#include "pipeline/json_text.hpp"

#include <cmath>

namespace saccade {
namespace {

/// Bytes of the UTF-8 sequence that TEXT starts with; 0 where it is damaged.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xC0U) != 0x80) return 0;
  // Overlong forms, surrogates and what lies beyond Unicode.
  if ((first == 0xE0 && byte(1) < 0xA0) || (first == 0xED && byte(1) > 0x9F)) return 0;
  if ((first == 0xF0 && byte(1) < 0x90) || (first == 0xF4 && byte(1) > 0x8F)) return 0;
  return length;
}

}  // namespace

void append_json_string(JsonBuffer& out, std::string_view text) {
  out.push_back('"');
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    const char c = text.front();
    if (length == 0) {
      append(out, "\\ufffd");
    } else if (c == '"' || c == '\\') {
      append(out, "\\{}", c);
    } else if (static_cast<unsigned char>(c) < 0x20) {
      append(out, "\\u{:04x}", static_cast<int>(c));
    } else {
      out.append(text.substr(0, length));
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  out.push_back('"');
}

void append_json_number(JsonBuffer& out, float value) {
  if (std::isfinite(value))
    append(out, "{}", value);
  else
    append(out, "null");
}

}  // namespace saccade
