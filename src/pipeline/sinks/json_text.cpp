#include "pipeline/sinks/json_text.hpp"

#include <cmath>

#include "base/printable.hpp"

namespace saccade {
namespace {

template <typename T>
void append_number(JsonBuffer& out, T value) {
  if (std::isfinite(value))
    append(out, "{}", value);
  else
    append(out, "null");
}

template <typename T>
void append_numbers(JsonBuffer& out, std::span<const T> values) {
  out.push_back('[');
  for (const T& value : values) {
    if (&value != values.data()) out.push_back(',');
    append_number(out, value);
  }
  out.push_back(']');
}

}  // namespace

void append_json_string(JsonBuffer& out, std::string_view text) {
  out.push_back('"');
  while (!text.empty()) {
    const Glyph glyph = first_glyph(text);
    const char c = text.front();
    if (!glyph.is_utf8)
      append(out, "\\ufffd");
    else if (c == '"' || c == '\\')
      append(out, "\\{}", c);
    else if (!glyph.is_printable)
      append(out, "\\u{:04x}", static_cast<unsigned>(glyph.code));
    else
      out.append(text.substr(0, glyph.bytes));
    text.remove_prefix(glyph.bytes);
  }
  out.push_back('"');
}

void append_json_number(JsonBuffer& out, float value) { append_number(out, value); }
void append_json_number(JsonBuffer& out, double value) { append_number(out, value); }
void append_json_numbers(JsonBuffer& out, std::span<const float> values) { append_numbers(out, values); }
void append_json_numbers(JsonBuffer& out, std::span<const double> values) { append_numbers(out, values); }

}  // namespace saccade
