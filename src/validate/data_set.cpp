#include "validate/data_set.hpp"

#include <array>

#include "base/error.hpp"
#include "validate/coco_files.hpp"

namespace saccade {
namespace {

struct Kind {
  std::string_view name;
  std::unique_ptr<DataSet> (*open)(const std::filesystem::path& folder);
};
constexpr std::array kKinds = {Kind{"coco", open_coco}, Kind{"imagenet", open_imagenet},
                               Kind{"masks", open_label_masks}, Kind{"depth", open_depths}};

}  // namespace

std::unique_ptr<DataSet> open_data_set(const std::string& what) {
  const std::size_t colon = what.find(':');
  const std::string_view name = std::string_view(what).substr(0, colon);
  for (const Kind& kind : kKinds) {
    if (colon == std::string::npos || kind.name != name) continue;
    const std::filesystem::path folder = what.substr(colon + 1);
    std::error_code error;
    if (!std::filesystem::is_directory(folder, error))
      fail(ErrorCode::kNotFound, "the data '{}': there is no folder '{}'", what, folder.string());
    return kind.open(folder);
  }
  fail(ErrorCode::kInvalidArgument,
       "the data '{}' is of no known kind: give coco:, imagenet:, masks: or depth: and a folder", what);
}

std::vector<std::string> annotation_files(const std::string& what) {
  constexpr std::string_view kCoco = "coco:";
  if (!what.starts_with(kCoco)) return {};
  return find_coco_files(what.substr(kCoco.size())).annotations();
}

}  // namespace saccade
