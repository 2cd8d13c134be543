#include <map>

#include "base/error.hpp"
#include "validate/data/coco_evaluator.hpp"
#include "validate/data/coco_files.hpp"
#include "validate/data/data_set.hpp"
#include "validate/data/heads.hpp"

namespace saccade {
namespace {

class CocoData final : public DataSet {
 public:
  explicit CocoData(const CocoFiles& files) {
    if (!files.instances.empty()) instances_ = read_coco_annotations(files.instances);
    if (!files.masks.empty()) masks_ = read_coco_annotations(files.masks);
    if (!files.keypoints.empty()) keypoints_ = read_coco_annotations(files.keypoints);
    const CocoImageFolders places(files);
    std::map<std::int64_t, DataImage> images;
    for (const auto* annotations : {&instances_, &masks_, &keypoints_})
      if (*annotations) add_images(**annotations, places, images);
    for (auto& [id, image] : images) images_.push_back(std::move(image));
    check_all_there(images_, fmt::format("'{}'", main().path));
  }

  std::span<const DataImage> images() const override { return images_; }

  std::span<const CocoCategory> categories() const override { return main().categories; }

  std::string contents() const override {
    std::size_t objects = 0;
    for (const CocoImage& image : main().images) objects += image.objects.size();
    return fmt::format("{} objects of {} categories", objects, main().categories.size());
  }

  std::unique_ptr<Evaluator> make_evaluator(const Model& model, CocoResults* results) const override {
    CocoTruth truth;
    // Pose models are evaluated on people only, as in COCO's keypoint task.
    truth.boxes = find_head(model, {Task::kPose}) != nullptr && keypoints_ ? &*keypoints_ : &main();
    if (masks_)
      truth.masks = &*masks_;
    else if (main().has_masks)
      truth.masks = &main();
    if (keypoints_ && keypoints_->keypoints > 0)
      truth.keypoints = &*keypoints_;
    else if (main().keypoints > 0)
      truth.keypoints = &main();
    return std::make_unique<CocoEvaluator>(model, truth, images_, results);
  }

 private:
  const CocoAnnotations& main() const { return instances_ ? *instances_ : *keypoints_; }

  static void add_images(const CocoAnnotations& annotations, const CocoImageFolders& places,
                         std::map<std::int64_t, DataImage>& images) {
    for (const CocoImage& said : annotations.images) {
      DataImage& image = images[said.id];
      if (image.file.empty()) {
        image.file = places.find(said.file_name, annotations.path).string();
        image.id = said.id;
      }
      if (image.width != 0 && said.width != 0 && (image.width != said.width || image.height != said.height))
        fail(ErrorCode::kInvalidFile, "'{}' says that image {} has {}x{} pixels, '{}' says {}x{}", annotations.path,
             said.id, said.width, said.height, image.said_by, image.width, image.height);
      if (said.width == 0 || said.height == 0) continue;
      image.width = said.width;
      image.height = said.height;
      image.said_by = annotations.path;
    }
  }

  std::optional<CocoAnnotations> instances_;
  std::optional<CocoAnnotations> masks_;
  std::optional<CocoAnnotations> keypoints_;
  std::vector<DataImage> images_;
};

}  // namespace

std::unique_ptr<DataSet> open_coco(const std::filesystem::path& folder) {
  return std::make_unique<CocoData>(find_coco_files(folder));
}

}  // namespace saccade
