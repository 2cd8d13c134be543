#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "media/frame_reader.hpp"
#include "saccade/npy.hpp"
#include "scene/scene.hpp"
#include "support/frames.hpp"
#include "support/subprocess.hpp"

namespace saccade {
namespace {

using nlohmann::json;
using test::run_saccade;

constexpr const char* kScene = "synthetic:?seed=7&size=160x120&objects=20&fps=2";

/// COCO's uncompressed run-length encoding as one byte per pixel, row by row.
std::vector<int> mask_of(const json& segmentation, int width, int height) {
  EXPECT_EQ(segmentation.at("size"), json::array({height, width}));
  std::vector<int> mask(static_cast<std::size_t>(width * height));
  int at = 0;
  int value = 0;
  for (const int run : segmentation.at("counts")) {
    for (int i = 0; i < run; ++i, ++at) mask.at(static_cast<std::size_t>((at % height) * width + at / height)) = value;
    value = 1 - value;
  }
  EXPECT_EQ(at, width * height);
  return mask;
}

TEST(Render, WritesImagesAndGroundTruth) {
  const test::TempFolder folder;
  const auto finished = run_saccade({"demo", "--render", "6", "--output", folder / "set", "--source", kScene});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const json coco = json::parse(test::bytes_of_file(folder / "set/instances.json"));

  EXPECT_EQ(parse_scene(coco.at("info").at("source").get<std::string>()).seed, 7U);
  ASSERT_EQ(coco.at("categories").size(), scene_classes().size());
  for (std::size_t i = 0; i < scene_classes().size(); ++i)
    EXPECT_EQ(coco["categories"][i], (json{{"id", i}, {"name", scene_classes()[i]}}));

  Scene scene(parse_scene(kScene));
  std::size_t annotation = 0;
  ASSERT_EQ(coco.at("images").size(), 6U);
  for (int frame = 0; frame < 6; ++frame) {
    const json& image = coco["images"][static_cast<std::size_t>(frame)];
    EXPECT_EQ(image.at("id"), frame);
    EXPECT_EQ(image.at("file_name"), "frame_00000" + std::to_string(frame) + ".png");
    const SceneTruth& truth = scene.truth(frame);
    for (const SceneObject& object : truth.objects) {
      const json& entry = coco.at("annotations").at(annotation++);
      EXPECT_EQ(entry.at("image_id"), frame);
      EXPECT_EQ(entry.at("category_id"), object.class_id);
      EXPECT_EQ(entry.at("bbox"), json::array({object.x1, object.y1, object.x2 - object.x1, object.y2 - object.y1}));
      EXPECT_EQ(entry.at("area"), object.visible_pixels);
      EXPECT_EQ(entry.at("iscrowd"), object.ignore ? 1 : 0);
      const std::vector<int> mask = mask_of(entry.at("segmentation"), 160, 120);
      for (std::size_t i = 0; i < mask.size(); ++i) ASSERT_EQ(mask[i] != 0, truth.identities[i] == object.identity);
    }
  }
  EXPECT_EQ(annotation, coco["annotations"].size());
  EXPECT_GT(annotation, 20U);
}

TEST(Render, ImagesAreASourceWithTheGroundTruthsNumbers) {
  const test::TempFolder folder;
  ASSERT_EQ(run_saccade({"demo", "--render", "2", "--output", folder.string(), "--source", kScene}).exit_code, 0);
  std::filesystem::remove(folder / "instances.json");
  test::FramePool pool(2);
  const auto reader = open_reader(folder.string());
  Scene scene(parse_scene(kScene));
  std::vector<std::uint8_t> expected(160 * 120 * 3);
  for (int number = 0; number < 2; ++number) {
    const Outcome<Frame> frame = reader->read(pool);
    ASSERT_TRUE(frame);
    EXPECT_EQ(frame->image_id, number);
    scene.render(number, {expected.data(), 480, 160, 120});
    for (int y = 0; y < 120; ++y)
      EXPECT_TRUE(std::equal(expected.data() + 480 * y, expected.data() + 480 * (y + 1),
                             frame->view.planes[0] + static_cast<std::ptrdiff_t>(y) * frame->view.pitch_bytes[0]));
  }
}

TEST(Render, DepthIsThatOfThePixelInTheMiddleOfEachSquare) {
  Scene scene(parse_scene("synthetic:?seed=7&size=161x120&objects=20&fps=2"));
  for (const int step : {1, 4}) {
    SCOPED_TRACE(step);
    const test::TempFolder folder;
    const auto finished =
        run_saccade({"demo", "--render", "2", "--output", folder.string(), "--depth", std::to_string(step), "--source",
                     "synthetic:?seed=7&size=161x120&objects=20&fps=2", "--format", "jpg"});
    ASSERT_EQ(finished.exit_code, 0) << finished.err;
    for (int frame = 0; frame < 2; ++frame) {
      const Tensor map = load_npy(folder / ("depth/frame_00000" + std::to_string(frame) + ".npy"));
      const SceneTruth& truth = scene.truth(frame);
      ASSERT_EQ(map.dtype(), DType::kFloat32);
      ASSERT_EQ(map.shape(), (Shape{120 / step, (161 + step - 1) / step}));
      const auto depth = map.data<float>();
      for (int y = 0; y < map.shape()[0]; ++y)
        for (int x = 0; x < map.shape()[1]; ++x)
          ASSERT_EQ(
              depth[static_cast<std::size_t>(y * map.shape()[1] + x)],
              truth.depth[static_cast<std::size_t>((y * step + step / 2) * 161 + std::min(x * step + step / 2, 160))]);
    }
  }
}

TEST(Render, WhatIsWrittenEvaluatesTheShippedModel) {
  const test::TempFolder folder;
  const std::string set = folder.string();
  ASSERT_EQ(
      run_saccade({"demo", "--render", "2", "--output", set, "--depth", "1", "--source", "synthetic:?seed=7&fps=2"})
          .exit_code,
      0);
  const auto scores = [&](const std::string& kind) {
    const auto evaluated = run_saccade({"validate", SACCADE_SOURCE "/models/scene_model.onnx", "--data",
                                        kind + ":" + set, "--json", "--threads", "1"});
    EXPECT_EQ(evaluated.exit_code, 0) << evaluated.err;
    return json::parse(evaluated.out).at("models").at(0).at("scores");
  };
  const json objects = scores("coco");
  EXPECT_GT(objects.at("box").at("ap50"), 0.8);
  EXPECT_GT(objects.at("mask").at("ap50"), 0.8);
  EXPECT_GT(scores("depth").at("depth").at("delta1"), 0.8);
}

TEST(Render, FewerFramesWhereTheSceneEndsBefore) {
  const test::TempFolder folder;
  const auto finished = run_saccade({"demo", "--render", "9", "--output", folder.string(), "--source",
                                     "synthetic:?size=32x32&frames=2", "--format", "jpg"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_TRUE(finished.out.starts_with("2 frames of synthetic:")) << finished.out;
  EXPECT_TRUE(std::filesystem::exists(folder / "frame_000001.jpg"));
  EXPECT_FALSE(std::filesystem::exists(folder / "frame_000002.jpg"));
}

TEST(Render, WhatIsWrongIsNamed) {
  const test::TempFolder folder;
  const auto option =
      run_saccade({"demo", "--render", "1", "--output", folder.string(), "--source", "synthetic:?sead=1"});
  EXPECT_EQ(option.exit_code, 1);
  EXPECT_NE(option.err.find("sead"), std::string::npos) << option.err;

  const std::string file = folder.write("file", "");
  const auto output = run_saccade({"demo", "--render", "1", "--output", file});
  EXPECT_EQ(output.exit_code, 1);
  EXPECT_NE(output.err.find(file), std::string::npos) << output.err;

  const auto source = run_saccade({"demo", "--render", "1", "--output", folder.string(), "--source", "video.mp4"});
  EXPECT_EQ(source.exit_code, 1);
  EXPECT_NE(source.err.find("video.mp4"), std::string::npos) << source.err;
  EXPECT_EQ(run_saccade({"demo", "--render", "1", "--output", folder.string(), "--format", "bmp"}).exit_code, 2);
  EXPECT_EQ(run_saccade({"demo", "--render", "1", "--output", folder.string(), "--depth", "0"}).exit_code, 2);
  EXPECT_EQ(run_saccade({"demo", "--output", folder.string(), "--depth", "1"}).exit_code, 2);

  ASSERT_EQ(run_saccade({"demo", "--render", "1", "--output", folder.string()}).exit_code, 0);
  const std::string blocked = folder.write("depth", "");
  const auto depth = run_saccade({"demo", "--render", "1", "--output", folder.string(), "--depth", "1"});
  EXPECT_EQ(depth.exit_code, 1);
  EXPECT_NE(depth.err.find(blocked), std::string::npos) << depth.err;
}

TEST(Render, WritesAMotChallengeSequence) {
  const test::TempFolder folder;
  const auto finished = run_saccade(
      {"demo", "--render", "3", "--layout", "mot", "--output", folder / "set", "--source", kScene, "--format", "jpg"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_NE(finished.out.find("gt/gt.txt"), std::string::npos);
  Scene scene(parse_scene(kScene));
  std::string expected;
  for (int frame = 0; frame < 3; ++frame)
    for (const SceneObject& object : scene.truth(frame).objects)
      expected += fmt::format("{},{},{},{},{},{},{},{},{:.3f}\n", frame + 1, object.identity, object.x1, object.y1,
                              object.x2 - object.x1, object.y2 - object.y1, object.ignore ? 0 : 1, object.class_id + 1,
                              object.visible_share);
  EXPECT_EQ(test::bytes_of_file(folder / "set/gt/gt.txt"), expected);
  EXPECT_EQ(test::bytes_of_file(folder / "set/seqinfo.ini"),
            "[Sequence]\nname=set\nimDir=img1\nframeRate=2\nseqLength=3\nimWidth=160\nimHeight=120\nimExt=.jpg\n");
  EXPECT_TRUE(std::filesystem::exists(folder / "set/img1/000003.jpg"));
  EXPECT_FALSE(std::filesystem::exists(folder / "set/instances.json"));
  EXPECT_EQ(
      run_saccade({"demo", "--render", "1", "--layout", "mot", "--depth", "1", "--output", folder / "x"}).exit_code, 2);
}

}  // namespace
}  // namespace saccade
