#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "media/source.hpp"

namespace saccade {

/// Whether PATH ends as files of images do: ".jpg", ".PNG", ...
bool has_image_ending(const std::filesystem::path& path);

/// A source of one image. Throws Error naming the file where its header can't be read.
std::unique_ptr<Source> open_image(const std::string& path);

/// A source of the images directly in a folder, in the order of their names. An unreadable one costs its own frame
/// (kCorrupt). Throws Error where the folder can't be read or has no image.
std::unique_ptr<Source> open_folder(const std::string& path);

/// A source of FILES in their order, of which NAME is the name. An unreadable one costs its own frame (kCorrupt).
std::unique_ptr<Source> open_images(const std::string& name, std::vector<std::string> files);

}  // namespace saccade
