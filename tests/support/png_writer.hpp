#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace saccade::test {

/// An uncompressed single-plane PNG file, which the library itself never writes. BITS is 1, 8 or 16; with a PALETTE the
/// samples are indices (of greys).
inline std::string png_of(int width, int height, int bits, const std::vector<std::uint16_t>& samples,
                          bool has_palette = false) {
  const auto big = [](std::uint32_t value) {
    std::string bytes;
    for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift);
    return bytes;
  };
  const auto chunk = [&](const std::string& type, const std::string& data) {
    std::uint32_t crc = 0xFFFFFFFFU;
    for (const char c : type + data) {
      crc ^= static_cast<std::uint8_t>(c);
      for (int i = 0; i < 8; ++i) crc = (crc >> 1) ^ ((crc & 1U) != 0 ? 0xEDB88320U : 0U);
    }
    return big(static_cast<std::uint32_t>(data.size())) + type + data + big(~crc);
  };
  std::string rows;
  for (int y = 0; y < height; ++y) {
    rows += '\0';  // no filter
    std::uint8_t packed = 0;
    for (int x = 0; x < width; ++x) {
      const std::uint16_t sample = samples[static_cast<std::size_t>(y * width + x)];
      if (bits == 16) rows += static_cast<char>(sample >> 8);
      if (bits >= 8) rows += static_cast<char>(sample);
      if (bits != 1) continue;
      packed = static_cast<std::uint8_t>(packed | (sample << (7 - x % 8)));
      if (x % 8 != 7 && x + 1 != width) continue;
      rows += static_cast<char>(packed);
      packed = 0;
    }
  }
  std::uint32_t a = 1;
  std::uint32_t b = 0;
  for (const char c : rows) {
    a = (a + static_cast<std::uint8_t>(c)) % 65521;
    b = (b + a) % 65521;
  }
  std::string deflated = "\x78\x01\x01";
  const auto length = static_cast<std::uint16_t>(rows.size());  // of one stored block
  for (const std::uint16_t each : {length, static_cast<std::uint16_t>(~length)}) {
    deflated += static_cast<char>(each);
    deflated += static_cast<char>(each >> 8);
  }
  deflated += rows + big(b << 16 | a);
  std::string palette;
  for (int i = 0; has_palette && i < 256; ++i) palette += std::string(3, static_cast<char>(255 - i));
  std::string header = big(static_cast<std::uint32_t>(width)) + big(static_cast<std::uint32_t>(height));
  header += static_cast<char>(bits);
  header += static_cast<char>(has_palette ? 3 : 0);
  header += std::string(3, '\0');
  return "\x89PNG\r\n\x1a\n" + chunk("IHDR", header) + (has_palette ? chunk("PLTE", palette) : "") +
         chunk("IDAT", deflated) + chunk("IEND", "");
}

}  // namespace saccade::test
