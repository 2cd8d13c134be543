#include "validate/data/coco_annotations.hpp"

#include <gtest/gtest.h>

#include "validate/data.hpp"
#include "validate/data/coco_files.hpp"
#include "validate/data/data_set.hpp"

namespace saccade {
namespace {

using test::expect_error;

class CocoAnnotationsTest : public testing::Test {
 protected:
  CocoAnnotations read(const std::string& annotations) {
    return read_coco_annotations(folder_.write("instances.json", annotations));
  }
  /// With one annotation of FIELDS besides its image and category.
  CocoAnnotations read_one(const std::string& fields) {
    return read(R"({"categories": [{"id": 1, "name": "car"}], "images": [{"id": 5, "file_name": "5.jpg", "width": 10,
      "height": 6}], "annotations": [{"id": 9, "image_id": 5, "category_id": 1, )" +
                fields + "}]}");
  }

  test::TempFolder folder_;
};

TEST_F(CocoAnnotationsTest, HoldImagesByNumberAndTheirObjects) {
  const CocoAnnotations read = this->read(test::box_annotations());
  ASSERT_EQ(read.images.size(), 2U);
  EXPECT_EQ(read.images[0].file_name, "1.png");
  ASSERT_EQ(read.images[0].objects.size(), 2U);
  EXPECT_EQ(read.images[0].objects[1].category, 1U);
  EXPECT_EQ(read.categories[1].name, "far");
  EXPECT_FALSE(read.has_masks);
  EXPECT_EQ(read.keypoints, 0U);
}

TEST_F(CocoAnnotationsTest, SilhouettesComeInThreeForms) {
  const char* forms[] = {R"("segmentation": [[0, 0, 2, 0, 2, 2, 0, 2], [4, 0, 5, 0, 5, 1, 4, 1]])",
                         R"("segmentation": {"size": [6, 10], "counts": [0, 2, 4, 2, 16, 1, 35]})",
                         R"("segmentation": {"size": [6, 10], "counts": "0240<Oc0"})"};
  for (const char* form : forms) {
    const CocoAnnotations read = read_one(std::string(form) + R"(, "bbox": [0, 0, 5, 2])");
    EXPECT_TRUE(read.has_masks);
    const std::vector<MaskRun> runs = mask_of(read.images[0].objects[0].segmentation, 10, 6);
    ASSERT_EQ(runs.size(), 3U) << form;
    EXPECT_EQ(runs[0].x2, 2);
    EXPECT_EQ(runs[1].x1, 4);
    EXPECT_EQ(runs[2].y, 1);
    EXPECT_EQ(area_of(runs), 5);
  }
}

TEST_F(CocoAnnotationsTest, RunsOfAnotherSizeThanTheImagesAreRefused) {
  const CocoAnnotations read =
      read_one(R"("bbox": [0, 0, 5, 2], "segmentation": {"size": [10, 6], "counts": [0, 60]})");
  const Segmentation& turned = read.images[0].objects[0].segmentation;
  expect_error([&] { mask_of(turned, 10, 6); }, {"6x10", "10x6"});
  EXPECT_EQ(area_of(mask_of(turned, 6, 10)), 60);
}

TEST_F(CocoAnnotationsTest, ObjectsOfOneIdAreCounted) {
  std::string annotations = test::box_annotations();
  annotations.replace(annotations.find("\"id\": 3, \"image_id\""), 7, "\"id\": 1");
  const CocoAnnotations read = this->read(annotations);
  EXPECT_EQ(read.repeated_ids, 1U);
  EXPECT_EQ(read.images[1].objects.size(), 1U);
}

TEST_F(CocoAnnotationsTest, AMissingAreaIsThatOfTheBox) {
  EXPECT_EQ(read_one(R"("bbox": [0, 0, 5, 2])").images[0].objects[0].area, 10);
}

TEST_F(CocoAnnotationsTest, AnObjectWithoutVisibleKeypointsHasNone) {
  const CocoAnnotations read = read_one(R"("bbox": [0, 0, 5, 2], "keypoints": [0, 0, 0, 0, 0, 0], "num_keypoints": 0)");
  EXPECT_EQ(read.keypoints, 2U);
  EXPECT_FALSE(read.images[0].objects[0].has_keypoints);
}

TEST_F(CocoAnnotationsTest, InvalidEntriesAreNamed) {
  expect_error([&] { read("not json"); }, {"instances.json", "not JSON"});
  expect_error([&] { read_one(R"("bbox": [0, 0, 1e400, 2])"); }, {"instances.json", "1e400"});
  expect_error([&] { read("[1, 2]"); }, {"instances.json", "'categories'"});
  expect_error([&] { read(R"({"categories": [], "images": [], "annotations": []})"); }, {"'categories'", "empty"});
  expect_error([&] { read(R"({"categories": [{"id": 1, "name": "car"}], "images": [], "annotations": []})"); },
               {"'images'", "empty"});
  expect_error([&] { read_one(R"("bbox": [0, 0, 5])"); }, {"annotation 9", "3 numbers"});
  expect_error([&] { read_one(R"("bbox": [0, 0, -5, 2])"); }, {"annotation 9", "-5"});
  expect_error([&] { read_one(R"("bbox": "large")"); }, {"annotation 9", "'bbox'"});
  expect_error([&] { read_one(R"("area": 3)"); }, {"annotation 9", "no 'bbox'"});
  expect_error([&] { read_one(R"("bbox": [0, 0, 5, 2], "keypoints": [1, 2])"); }, {"annotation 9", "keypoints"});
  expect_error([&] { read_one(R"("bbox": [0, 0, 5, 2], "segmentation": {"size": [6, 10]})"); },
               {"annotation 9", "runs"});
  for (const char* size : {"[6]", "[6, -10]", "[1e300, 10]"})
    expect_error(
        [&] {
          read_one(R"("bbox": [0, 0, 5, 2], "segmentation": {"counts": [60], "size": )" + std::string(size) + "}");
        },
        {"annotation 9", "'size'"});
  std::string stray = test::box_annotations();
  stray.replace(stray.find("\"image_id\": 2"), 13, "\"image_id\": 4");
  expect_error([&] { read(stray); }, {"annotation 3", "image 4"});
  stray = test::box_annotations();
  stray.replace(stray.find("\"category_id\": 3"), 16, "\"category_id\": 9");
  expect_error([&] { read(stray); }, {"annotation 2", "category 9"});
  stray = test::box_annotations();
  stray.replace(stray.find("\"id\": 2, \"file_name\""), 7, "\"id\": 1");
  expect_error([&] { read(stray); }, {"image 1", "twice"});
  expect_error([] { read_coco_annotations("/nowhere.json"); }, {"/nowhere.json"});
}

TEST_F(CocoAnnotationsTest, MissingImagesAreCountedAndTheFirstIsNamed) {
  folder_.write("instances.json", test::box_annotations());
  expect_error([&] { open_data_set("coco:" + folder_.string()); }, {"instances.json", "2 images", "2 are", "1.png"});
  test::write_solid_image(folder_, "images/1.png", 8, 8);
  expect_error([&] { open_data_set("coco:" + folder_.string()); }, {"1 is missing", "2.png"});
}

TEST_F(CocoAnnotationsTest, ImagesLieInAFolderOrBesideTheFile) {
  folder_.write("instances.json", test::box_annotations());
  test::write_solid_image(folder_, "images/1.png", 8, 8);
  test::write_solid_image(folder_, "2.png", 8, 8);
  const auto data = open_data_set("coco:" + folder_.string());
  ASSERT_EQ(data->images().size(), 2U);
  EXPECT_EQ(data->images()[0].file, folder_ / "images/1.png");
  EXPECT_EQ(data->contents(), "3 objects of 2 categories");
}

TEST_F(CocoAnnotationsTest, ImagesOutsideOfTheDataAreRefused) {
  const auto annotations = [](const std::string& name) {
    return R"({"categories": [{"id": 1, "name": "car"}], "annotations": [{"id": 1, "image_id": 1, "category_id": 1,
              "bbox": [1, 1, 2, 2], "area": 4, "iscrowd": 0}], "images": [{"id": 1, "file_name": ")" +
           name + R"(", "width": 8, "height": 8}]})";
  };
  const auto open = [&](const std::string& name) {
    test::write_file(folder_, "data/instances.json", annotations(name));
    return open_coco(folder_ / "data")->images()[0].file;
  };
  for (const char* name : {"secret.png", "data/images/1.png", "data/kept/2.png", "elsewhere/3.png"})
    test::write_solid_image(folder_, name, 8, 8);
  std::filesystem::create_symlink("../kept/2.png", folder_ / "data/images/2.png");
  std::filesystem::create_symlink("../../secret.png", folder_ / "data/images/link.png");
  const std::string absolute = folder_ / "secret.png";
  for (const std::string& name :
       {absolute, std::string("../../secret.png"), std::string("../../../etc/passwd"), std::string("link.png")})
    test::expect_error([&] { open(name); }, {"instances.json", name, "outside the data's folder: refused"});
  EXPECT_EQ(open("1.png"), folder_ / "data/images/1.png");
  EXPECT_EQ(open("images/1.png"), folder_ / "data/images/1.png");
  EXPECT_EQ(open("2.png"), folder_ / "data/images/2.png") << "a link within the data's folder";
  // The image folder may be a link.
  std::filesystem::remove_all(folder_ / "data/images");
  std::filesystem::create_directory_symlink("../elsewhere", folder_ / "data/images");
  EXPECT_EQ(open("3.png"), folder_ / "data/images/3.png");
}

TEST_F(CocoAnnotationsTest, OfTheOfficialFilesThoseOfValAreTaken) {
  test::write_file(folder_, "annotations/instances_train2017.json", "{}");
  test::write_file(folder_, "annotations/instances_val2017.json", test::box_annotations());
  expect_error([&] { find_coco_files(folder_.string()); }, {"annotations", "val2017"});
  test::write_solid_image(folder_, "train2017/1.png", 8, 8);
  test::write_solid_image(folder_, "val2017/1.png", 8, 8);
  test::write_solid_image(folder_, "val2017/2.png", 8, 8);
  const auto data = open_data_set("coco:" + folder_.string());
  EXPECT_EQ(data->images()[1].file, folder_ / "val2017/2.png");
}

TEST_F(CocoAnnotationsTest, IfThereAreNoneItListsTheExpectedNames) {
  expect_error([&] { open_data_set("coco:" + folder_.string()); },
               {folder_.string(), "instances.json", "annotations/"});
  expect_error([] { open_data_set("coco:/nowhere"); }, {"no folder '/nowhere'"});
  expect_error([] { open_data_set("voc:/tmp"); }, {"voc:/tmp", "imagenet:"});
  expect_error([] { open_data_set("coco"); }, {"an unknown kind"});
}

}  // namespace
}  // namespace saccade
