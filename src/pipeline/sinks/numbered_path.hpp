#pragma once

#include <fmt/format.h>

#include <filesystem>
#include <string>

namespace saccade {

/// The file of the source with the index STREAM: out.mp4, out-1.mp4, ...
inline std::string numbered_path(const std::filesystem::path& path, std::size_t stream) {
  if (stream == 0) return path.string();
  return (path.parent_path() / fmt::format("{}-{}{}", path.stem().string(), stream, path.extension().string()))
      .string();
}

}  // namespace saccade
