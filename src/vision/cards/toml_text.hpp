#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/printable.hpp"

namespace saccade {

/// A basic TOML string, without control characters, which TOML forbids.
inline std::string toml_text(const std::string& text) {
  std::string out = "\"";
  for (std::string_view rest = text; !rest.empty();) {
    const Glyph glyph = first_glyph(rest);
    const std::string_view bytes = rest.substr(0, glyph.bytes);
    if (bytes == "\"" || bytes == "\\")
      out.append("\\").append(bytes);
    else if (!glyph.is_utf8)
      out += "\\ufffd";
    else if (!glyph.is_printable)
      out += fmt::format("\\U{:08x}", static_cast<std::uint32_t>(glyph.code));
    else
      out += bytes;
    rest.remove_prefix(glyph.bytes);
  }
  return out + '"';
}

/// A list of them.
inline std::string toml_texts(const std::vector<std::string>& texts) {
  std::string text = "[";
  for (std::size_t i = 0; i < texts.size(); ++i) text += (i == 0 ? "" : ", ") + toml_text(texts[i]);
  return text + "]";
}

}  // namespace saccade
