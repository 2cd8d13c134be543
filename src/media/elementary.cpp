#include "media/elementary.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <string_view>

namespace saccade {

std::optional<ExactCodec> elementary_codec(const std::string& path) {
  constexpr std::array<std::string_view, 3> kH264 = {".h264", ".264", ".avc"};
  constexpr std::array<std::string_view, 3> kHevc = {".h265", ".265", ".hevc"};
  std::string ending = std::filesystem::path(path).extension().string();
  std::ranges::transform(ending, ending.begin(), [](unsigned char c) { return std::tolower(c); });
  if (std::ranges::find(kH264, ending) != kH264.end()) return ExactCodec::kH264;
  if (std::ranges::find(kHevc, ending) != kHevc.end()) return ExactCodec::kHevc;
  return std::nullopt;
}

}  // namespace saccade
