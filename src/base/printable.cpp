#include "base/printable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/utf8.hpp"

namespace saccade {
namespace {

char32_t code_of(std::string_view sequence) noexcept {
  const auto byte = [&](std::size_t i) { return static_cast<char32_t>(static_cast<unsigned char>(sequence[i])); };
  switch (sequence.size()) {
    case 1: return byte(0);
    case 2: return (byte(0) & 0x1F) << 6 | (byte(1) & 0x3F);
    case 3: return (byte(0) & 0x0F) << 12 | (byte(1) & 0x3F) << 6 | (byte(2) & 0x3F);
    default: return (byte(0) & 0x07) << 18 | (byte(1) & 0x3F) << 12 | (byte(2) & 0x3F) << 6 | (byte(3) & 0x3F);
  }
}

/// Control characters (C0, DEL, C1), line and paragraph separators, and bidirectional controls.
bool steers(char32_t code) noexcept {
  return code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0x061C || code == 0x200E || code == 0x200F ||
         (code >= 0x2028 && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
}

template <typename Out>
void append_escape(Out& out, const Glyph& glyph) {
  const auto code = static_cast<unsigned>(glyph.code);
  const auto to = std::back_inserter(out);
  if (glyph.code == '\n')
    fmt::format_to(to, "\\n");
  else if (glyph.code == '\t')
    fmt::format_to(to, "\\t");
  else if (glyph.code == '\r')
    fmt::format_to(to, "\\r");
  else if (!glyph.is_utf8 || code < 0x80)
    fmt::format_to(to, "\\x{:02x}", code);
  else
    fmt::format_to(to, "\\u{:04x}", code);
}

/// KEPT: characters that are not escaped.
template <typename Out>
void append_cleaned(Out& out, std::string_view text, std::string_view kept) {
  for (; !text.empty();) {
    const Glyph glyph = first_glyph(text);
    const std::string_view sequence = text.substr(0, glyph.bytes);
    if (glyph.is_printable || kept.find(text.front()) != std::string_view::npos)
      out.append(sequence.data(), sequence.data() + sequence.size());
    else
      append_escape(out, glyph);
    text.remove_prefix(glyph.bytes);
  }
}

}  // namespace

Glyph first_glyph(std::string_view text) noexcept {
  const std::size_t length = utf8_length(text);
  if (length == 0) return {.code = static_cast<unsigned char>(text.front()), .is_utf8 = false};
  const char32_t code = code_of(text.substr(0, length));
  return {.bytes = length, .code = code, .is_printable = !steers(code)};
}

template <typename Out>
void append_printable(Out& out, std::string_view text) {
  append_cleaned(out, text, {});
}

template void append_printable(std::string& out, std::string_view text);
template void append_printable(fmt::memory_buffer& out, std::string_view text);

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  append_cleaned(out, text, {});
  return out;
}

std::string printable_lines(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  append_cleaned(out, text, "\n\t");
  return out;
}

std::string printable_json(std::string json) {
  const auto is_hidden = [](std::string_view text) {
    const Glyph glyph = first_glyph(text);
    return !glyph.is_printable && glyph.code != '\n' && glyph.code != '\t' && glyph.code != '\r';
  };
  std::string out;
  for (std::string_view text = json; !text.empty();) {
    const Glyph glyph = first_glyph(text);
    if (is_hidden(text)) {
      // Nothing was escaped so far: the text before is copied once.
      if (out.empty()) out.assign(json, 0, json.size() - text.size());
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", glyph.is_utf8 ? static_cast<unsigned>(glyph.code) : 0xFFFDU);
    } else if (!out.empty()) {
      out.append(text.substr(0, glyph.bytes));
    }
    text.remove_prefix(glyph.bytes);
  }
  return out.empty() ? json : out;
}

}  // namespace saccade
