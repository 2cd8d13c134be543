#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace saccade {

// Other formats of models. Each function returns what PATH is instead of an ONNX file and how to convert it, as a
// clause that continues the path; empty if it does not know.

/// By the first bytes of a file, HEAD (512 suffice), or the files of a folder.
std::string foreign_format_by_contents(const std::filesystem::path& path, std::string_view head);
/// By the extension, for formats without a signature.
std::string foreign_format_by_extension(const std::filesystem::path& path);

}  // namespace saccade
