#include "validate/data/data_set.hpp"

#include <algorithm>
#include <array>

#include "base/error.hpp"
#include "validate/data/coco_files.hpp"

namespace saccade {
namespace {

constexpr std::array kKinds = {DataKind{"coco", open_coco, true}, DataKind{"imagenet", open_imagenet, false},
                               DataKind{"masks", open_label_masks, false}, DataKind{"depth", open_depths, false},
                               DataKind{"mot", open_mot_data, false, true}};

std::filesystem::path folder_of(const std::string& what) { return what.substr(what.find(':') + 1); }

}  // namespace

const DataKind& find_data_kind(const std::string& what) {
  const std::size_t colon = what.find(':');
  const auto kind = std::ranges::find(kKinds, std::string_view(what).substr(0, colon), &DataKind::name);
  if (colon == std::string::npos || kind == kKinds.end())
    fail(ErrorCode::kInvalidArgument,
         "the data '{}' is of an unknown kind: use coco:DIR, imagenet:DIR, masks:DIR, depth:DIR or mot:DIR", what);
  return *kind;
}

std::unique_ptr<DataSet> open_data_set(const std::string& what) {
  const DataKind& kind = find_data_kind(what);
  std::error_code error;
  if (!std::filesystem::is_directory(folder_of(what), error))
    fail(ErrorCode::kNotFound, "the data '{}': there is no folder '{}'", what, folder_of(what).string());
  return kind.open(folder_of(what));
}

std::vector<std::string> annotation_files(const std::string& what) {
  if (!find_data_kind(what).has_boxes) return {};
  return find_coco_files(folder_of(what)).annotations();
}

}  // namespace saccade
