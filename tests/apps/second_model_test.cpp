// A detector's card names a second model, through the command line.
#include <cmath>

#include "apps/command_fixture.hpp"
#include "apps/expect_error.hpp"
#include "saccade/image.hpp"
#include "support/frames.hpp"
#include "support/second_models.hpp"

namespace saccade {
namespace {

using nlohmann::json;
using test::Finished;
using test::run_saccade;

class SecondModelCommand : public test::CommandTest {
 protected:
  void SetUp() override {
    CommandTest::SetUp();
    test::write_color_classifier(folder_);
    model_ = test::write_first_model(folder_, "color.onnx", "most = 1\n");
  }
  std::string model_;
};

TEST_F(SecondModelCommand, RunWritesWhatItPredicts) {
  const Finished finished = run_saccade({"run", model_, "--source", images(), "--jsonl", "-", "--device", "cpu"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const std::vector<json> lines = test::lines_of(finished.out);
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[0]["detections"][0]["classes"][0]["class"], "blue");
  EXPECT_EQ(lines[1]["detections"][0]["classes"][0]["class"], "red");
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_FALSE(lines[i]["detections"][1].contains("classes"));
    EXPECT_FALSE(lines[i].contains("classes"));
    EXPECT_EQ(lines[i]["uncropped"], 1);
  }
  EXPECT_EQ(lines[2]["models"], json({"boxes"}));
  EXPECT_EQ(finished.err.find("warning"), std::string::npos) << finished.err;
  EXPECT_NE(finished.err.find("1 not cropped"), std::string::npos) << finished.err;
}

TEST_F(SecondModelCommand, OtherFilesSayOnceWhatTheyDoNotHold) {
  const Finished finished =
      run_saccade({"run", model_, "--source", images(), "--coco", folder_ / "out.json", "--quiet", "--device", "cpu"});
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  const auto said = finished.err.find("out.json does not hold what boxes's second model predicts for the objects");
  ASSERT_NE(said, std::string::npos) << finished.err;
  EXPECT_EQ(finished.err.find("does not hold", said + 20), std::string::npos) << finished.err;
}

TEST_F(SecondModelCommand, CsvHasColumnsForClassesAndTexts) {
  const auto rows_of = [&](const std::string& model) {
    const Finished finished =
        run_saccade({"run", model, "--source", images() + "/7.png", "--csv", "-", "--quiet", "--device", "cpu"});
    EXPECT_EQ(finished.exit_code, 0) << finished.err;
    const auto warnings = finished.err.find("warning");
    return finished.out + (warnings == std::string::npos ? "" : finished.err.substr(warnings));
  };
  const std::string classes = rows_of(model_);
  EXPECT_NE(classes.find(",0,red,"), std::string::npos) << classes;
  EXPECT_NE(classes.find("object,,,,,,,,,,,,,,,,,\n"), std::string::npos) << "not cropped: " << classes;
  EXPECT_EQ(classes.find("warning"), std::string::npos) << classes;
  test::write_text_recognition(folder_);
  const std::string texts = rows_of(test::write_first_model(folder_, "reader.onnx", "shape = [1, 3, 8, 16]\n"));
  EXPECT_NE(texts.find(",,,,ab,0."), std::string::npos) << texts;
  test::write_color_embedding(folder_);
  const std::string vectors = rows_of(test::write_first_model(folder_, "embedding.onnx"));
  const auto said = vectors.find("- does not hold the embeddings of objects");
  ASSERT_NE(said, std::string::npos) << vectors;
  EXPECT_EQ(vectors.find("does not hold", said + 20), std::string::npos) << "once: " << vectors;
}

TEST_F(SecondModelCommand, ItsFilesAreNotOverwritten) {
  const Finished finished =
      run_saccade({"run", model_, "--source", images(), "--jsonl", folder_ / "color.onnx", "--device", "cpu"});
  EXPECT_EQ(finished.exit_code, 2) << finished.err;
  EXPECT_NE(test::bytes_of_file(folder_ / "color.onnx"), "");
}

TEST_F(SecondModelCommand, InspectShowsIt) {
  const Finished finished = run_saccade({"inspect", model_, "--write-card", folder_ / "written.toml"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_NE(finished.out.find("model = \"color.onnx\""), std::string::npos) << finished.out;
  EXPECT_NE(
      test::bytes_of_file(folder_ / "written.toml").find("[second]\nmodel = \"color.onnx\"\nmargin = 0\nmost = 1"),
      std::string::npos);
}

TEST_F(SecondModelCommand, ProfileNamesIt) {
  const Finished finished = run_saccade(
      {"profile", model_, "--source", images() + "/7.png", "--max-frames", "20", "--json", "--device", "cpu"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const json report = json::parse(finished.out);
  EXPECT_EQ(report["model"], "boxes");
  EXPECT_EQ(report["second"]["model"], "color");
  EXPECT_EQ(report["second"]["crops"], 1);
  ASSERT_FALSE(report["second"]["launches"].empty());
  for (const json& launch : report["second"]["launches"]) EXPECT_EQ(launch["ms"]["count"], 20);
}

TEST_F(SecondModelCommand, AMissingOneIsNamed) {
  std::filesystem::remove(folder_ / "color.onnx");
  test::expect_error(run_saccade({"run", model_, "--source", images(), "--no-save"}), 1,
                     {"boxes.toml:", "'second.model' names ", "color.onnx, which does not exist"});
}

/// The crop of an object, and the same pixels as an image of their own.
TEST(SecondModel, SeesACropAsAnImage) {
  const std::string shared = SACCADE_SHARED;
  const std::string models = shared + "/models/real/";
  if (!std::filesystem::exists(models + "yolov8n_640.onnx")) GTEST_SKIP() << "needs ../shared";
  const test::TempFolder folder;
  std::filesystem::copy(models + "yolov8n_640.onnx", folder / "yolo.onnx");
  std::filesystem::copy(models + "mobilenetv2_v1_224.onnx", folder / "classes.onnx");
  folder.write("yolo.toml", "[second]\nmodel = \"classes.onnx\"\nclasses = [\"dog\"]\n");
  // Without chroma to share, a crop may begin anywhere.
  test::FramePool pool;
  const auto reader = open_reader(shared + "/images/dog.jpg");
  const Image image = convert((*reader->read(pool)).view, PixelFormat::kRgb24);
  write_image(folder / "dog.png", image.view());
  const auto run = [&](const std::string& model, const std::string& file) {
    const Finished finished = run_saccade(
        {"run", folder / model, "--source", folder / file, "--jsonl", "-", "--no-summary", "--device", "cpu"});
    EXPECT_EQ(finished.exit_code, 0) << finished.err;
    return test::lines_of(finished.out).at(0);
  };
  const json whole = run("yolo.onnx", "dog.png");
  std::size_t crops = 0;
  for (const json& object : whole["detections"]) {
    if (object["class"] != "dog") {
      EXPECT_FALSE(object.contains("classes"));
      continue;
    }
    ++crops;
    const std::vector<float> box = object["box"];
    const int x = static_cast<int>(std::floor(box[0]));
    const int y = static_cast<int>(std::floor(box[1]));
    write_image(folder / "crop.png", crop(image.view(), {x, y, static_cast<int>(std::ceil(box[2])) - x,
                                                         static_cast<int>(std::ceil(box[3])) - y}));
    const json alone = run("classes.onnx", "crop.png")["classes"];
    ASSERT_EQ(object["classes"].size(), alone.size());
    for (std::size_t i = 0; i < alone.size(); ++i) {
      EXPECT_EQ(object["classes"][i]["class"], alone[i]["class"]);
      EXPECT_NEAR(object["classes"][i]["confidence"].get<double>(), alone[i]["confidence"].get<double>(), 1e-5);
    }
  }
  EXPECT_EQ(crops, 1U);
}

}  // namespace
}  // namespace saccade
