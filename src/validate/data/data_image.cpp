#include "validate/data/data_image.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/input_file.hpp"
#include "media/image_list.hpp"

namespace saccade {
namespace fs = std::filesystem;

std::vector<fs::path> images_in(const fs::path& folder) {
  std::vector<fs::path> images;
  std::error_code error;
  if (!fs::is_directory(folder, error)) return images;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
    if (has_image_ending(entry->path()) && !entry->is_directory()) images.push_back(entry->path());
  if (error) fail(ErrorCode::kIo, "the folder '{}' can't be read: {}", folder.string(), error.message());
  std::ranges::sort(images);
  return images;
}

void check_all_there(std::span<const DataImage> images, const std::string& who) {
  std::size_t missing = 0;
  std::string first;
  for (const DataImage& image : images) {
    std::error_code error;
    if (fs::status(image.file, error).type() != fs::file_type::not_found) {
      check_input(image.file);
      continue;
    }
    if (missing++ == 0) first = image.file;
  }
  if (missing == 0) return;
  fail(ErrorCode::kNotFound, "{} lists {} images, of which {} {} missing: the first is '{}'", who, images.size(),
       missing, missing == 1 ? "is" : "are", first);
}

std::vector<std::size_t> spread(std::size_t size, std::size_t count) {
  const std::size_t chosen = count == 0 ? size : std::min(count, size);
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < chosen; ++i) places.push_back(i * size / chosen);
  return places;
}

}  // namespace saccade
