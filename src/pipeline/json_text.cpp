#include "pipeline/json_text.hpp"

#include <cmath>

#include "base/utf8.hpp"

namespace saccade {

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

void append_json_numbers(JsonBuffer& out, std::span<const float> values) {
  out.push_back('[');
  for (const float& value : values) {
    if (&value != values.data()) out.push_back(',');
    append_json_number(out, value);
  }
  out.push_back(']');
}

}  // namespace saccade
