#include "validate/data/paired_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/error.hpp"

namespace saccade {
namespace fs = std::filesystem;
namespace {

/// The files of FOLDER with one of ENDINGS as extension, by stem.
std::map<std::string, fs::path> by_stem(const fs::path& folder, const std::vector<std::string>& endings) {
  std::map<std::string, fs::path> files;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    if (std::ranges::find(endings, entry->path().extension().string()) == endings.end()) continue;
    const auto [known, is_new] = files.emplace(entry->path().stem().string(), entry->path());
    if (!is_new)
      fail(ErrorCode::kInvalidFile, "'{}' and '{}' belong to the same image: remove one of them",
           known->second.string(), entry->path().string());
  }
  if (error) fail(ErrorCode::kNotFound, "the folder '{}' can't be read: {}", folder.string(), error.message());
  return files;
}

}  // namespace

PairedFiles find_pairs(const fs::path& folder, const std::string& truth, const std::vector<std::string>& endings) {
  std::error_code unreadable;
  const bool has_images = fs::is_directory(folder / "images", unreadable);
  const fs::path images = has_images ? folder / "images" : folder;
  std::map<std::string, fs::path> said = by_stem(folder / truth, endings);
  PairedFiles pairs;
  for (const fs::path& file : images_in(images)) {
    const auto at = said.find(file.stem().string());
    if (at == said.end())
      fail(ErrorCode::kNotFound, "'{}' has no {}: '{}' is missing", file.string(), fmt::join(endings, " or "),
           (folder / truth / file.stem()).string() + endings.front());
    pairs.images.push_back(
        {.file = file.string(), .id = static_cast<std::int64_t>(pairs.images.size()), .said_by = {}});
    pairs.truth.push_back(at->second);
    said.erase(at);
  }
  if (!said.empty())
    fail(ErrorCode::kNotFound, "'{}' has no image of the same name in '{}'", said.begin()->second.string(),
         images.string());
  if (pairs.images.empty()) fail(ErrorCode::kNotFound, "'{}' has no images", images.string());
  return pairs;
}

void check_size(const PairedFiles& files, std::size_t image, std::int64_t width, std::int64_t height,
                const Result& result) {
  if (width == result.width && height == result.height) return;
  fail(ErrorCode::kInvalidFile, "'{}' has {}x{} pixels, but its image '{}' has {}x{}", files.truth[image].string(),
       width, height, files.images[image].file, result.width, result.height);
}

}  // namespace saccade
