#include "validate/data/picture.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/input_file.hpp"
#include "media/image_list.hpp"

namespace saccade {
namespace fs = std::filesystem;

std::vector<fs::path> pictures_in(const fs::path& folder) {
  std::vector<fs::path> pictures;
  std::error_code error;
  if (!fs::is_directory(folder, error)) return pictures;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
    if (has_image_ending(entry->path()) && !entry->is_directory()) pictures.push_back(entry->path());
  if (error) fail(ErrorCode::kIo, "the folder '{}' can't be read: {}", folder.string(), error.message());
  std::ranges::sort(pictures);
  return pictures;
}

void check_all_there(std::span<const DataPicture> pictures, const std::string& who) {
  std::size_t missing = 0;
  std::string first;
  for (const DataPicture& picture : pictures) {
    std::error_code error;
    if (fs::status(picture.file, error).type() != fs::file_type::not_found) {
      check_input(picture.file);
      continue;
    }
    if (missing++ == 0) first = picture.file;
  }
  if (missing == 0) return;
  fail(ErrorCode::kNotFound, "{} lists {} images, of which {} {} missing: the first is '{}'", who, pictures.size(),
       missing, missing == 1 ? "is" : "are", first);
}

std::vector<std::size_t> spread(std::size_t size, std::size_t count) {
  const std::size_t chosen = count == 0 ? size : std::min(count, size);
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < chosen; ++i) places.push_back(i * size / chosen);
  return places;
}

}  // namespace saccade
