#pragma once

#include <gtest/gtest.h>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "media/frame_reader.hpp"
#include "saccade/error.hpp"
#include "support/temp_folder.hpp"

namespace saccade::test {

/// Writes an image of one colour, and creates its parent folders.
inline void write_solid_image(const TempFolder& folder, const std::string& name, int width, int height,
                              std::array<std::uint8_t, 3> color = {200, 100, 50}) {
  std::filesystem::create_directories(std::filesystem::path(folder / name).parent_path());
  std::vector<std::uint8_t> pixels;
  for (int i = 0; i < width * height; ++i) pixels.insert(pixels.end(), color.begin(), color.end());
  write_image(folder / name, view_of(RgbView{pixels.data(), 3 * width, width, height}));
}

/// Writes a file, and creates its parent folders.
inline void write_file(const TempFolder& folder, const std::string& name, const std::string& bytes) {
  std::filesystem::create_directories(std::filesystem::path(folder / name).parent_path());
  folder.write(name, bytes);
}

/// Expects that ACTION throws an Error whose message contains every one of PARTS.
inline void expect_error(const std::function<void()>& action, const std::vector<std::string>& parts) {
  try {
    action();
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    for (const std::string& part : parts)
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

/// COCO annotations of two 8x8 images, "1.png" and "2.png", with boxes where write_box_detector() predicts them: both,
/// "near" and "far", in the first; only "near" in the second. ID numbers the categories.
inline std::string box_annotations() {
  return R"({"categories": [{"id": 7, "name": "near"}, {"id": 3, "name": "far"}],
"images": [{"id": 2, "file_name": "2.png", "width": 8, "height": 8}, {"id": 1, "file_name": "1.png", "width": 8, "height": 8}],
"annotations": [{"id": 1, "image_id": 1, "category_id": 7, "bbox": [1, 2, 4, 4], "area": 16, "iscrowd": 0},
{"id": 2, "image_id": 1, "category_id": 3, "bbox": [0, 0, 2, 2], "area": 4, "iscrowd": 0},
{"id": 3, "image_id": 2, "category_id": 7, "bbox": [1, 2, 4, 4], "area": 16, "iscrowd": 0}]})";
}

}  // namespace saccade::test
