#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "media/frame_reader.hpp"

namespace saccade {

/// Whether PATH has the extension of an image file: ".jpg", ".PNG", ...
bool has_image_ending(const std::filesystem::path& path);

/// Reads one image. Throws Error naming the file if its header cannot be read.
std::unique_ptr<FrameReader> open_image(const std::string& path, const ReaderOptions& options = {});

/// Reads the images directly in a folder, in the order of their names. An unreadable one yields one corrupt frame
/// (kCorrupt). Throws Error if the folder cannot be read or has no image.
std::unique_ptr<FrameReader> open_folder(const std::string& path, const ReaderOptions& options = {});

/// Reads FILES in their order as the source NAME. An unreadable one yields one corrupt frame (kCorrupt).
std::unique_ptr<FrameReader> open_images(const std::string& name, std::vector<std::string> files,
                                         const ReaderOptions& options = {});

}  // namespace saccade
