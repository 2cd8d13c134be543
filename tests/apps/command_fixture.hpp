#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "media/frame_reader.hpp"
#include "support/subprocess.hpp"
#include "support/tiny_models.hpp"

namespace saccade::test {

/// A folder with two images and a video, for the commands that run models.
class CommandTest : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directory(folder_ / "images");
    image("images/7.png", 16, 8, 255, 0, 0);
    image("images/12.png", 8, 16, 0, 0, 255);
  }

  void image(const std::string& name, int width, int height, std::uint8_t r, std::uint8_t g, std::uint8_t b) {
    std::vector<std::uint8_t> pixels;
    for (int i = 0; i < width * height; ++i) pixels.insert(pixels.end(), {r, g, b});
    write_image(folder_ / name, view_of(RgbView{pixels.data(), 3 * width, width, height}));
  }

  std::string video(int frames) {
    const std::string path = folder_ / "video.mp4";
    const auto writer = open_video_writer(path, 25);
    std::vector<std::uint8_t> pixels(3 * 64 * 32, 90);
    for (int i = 0; i < frames; ++i) writer->write(view_of(RgbView{pixels.data(), 3 * 64, 64, 32}), i * 40'000'000LL);
    writer->close();
    return path;
  }

  std::string images() const { return folder_ / "images"; }

  TempFolder folder_;
};

/// The JSON documents of TEXT, one per line.
inline std::vector<nlohmann::json> lines_of(const std::string& text) {
  std::vector<nlohmann::json> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(nlohmann::json::parse(line));
  return lines;
}

}  // namespace saccade::test
