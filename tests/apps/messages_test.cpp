#include <gtest/gtest.h>

#include <filesystem>

#include "apps/expect_error.hpp"
#include "saccade/npy.hpp"
#include "support/subprocess.hpp"
#include "support/tiny_models.hpp"

// Errors of a file or a folder name it in one sentence; "bug in saccade" is for bugs.
namespace saccade {
namespace {

using onnx_writer::Message;
using test::expect_error;
using test::Finished;
using test::run_saccade;

class Messages : public testing::Test {
 protected:
  std::string model() { return test::write_box_detector(folder_); }

  /// A link to itself.
  std::string loop(const std::string& name) {
    std::filesystem::create_symlink(name, folder_ / name);
    return folder_ / name;
  }

  test::TempFolder folder_;
};

/// A graph whose only node is an If around another such graph, DEPTH times.
Message nested(int depth) {
  const auto graph = [](const Message& node, const std::string& output) {
    return Message().message(1, node).text(2, "g").message(12, onnx_writer::value_info_without_shape(output));
  };
  const auto relu = [](const std::string& output) {
    return onnx_writer::Node{.op = "Relu", .inputs = {"x"}, .outputs = {output}, .name = output}.message();
  };
  Message inner = graph(relu("y0"), "y0");
  for (int i = 1; i <= depth; ++i) {
    const std::string name = "y" + std::to_string(i);
    const onnx_writer::Node node{.op = "If",
                                 .inputs = {"condition"},
                                 .outputs = {name},
                                 .attributes = {onnx_writer::graph_attribute("then_branch", inner),
                                                onnx_writer::graph_attribute("else_branch", graph(relu("e"), "e"))},
                                 .name = name};
    inner = graph(node.message(), name);
  }
  return inner;
}

TEST_F(Messages, AGraphThatIsNestedTooDeepIsReported) {
  const auto save = [&](int depth) {
    Message graph = nested(depth);
    graph.message(5, onnx_writer::raw_tensor("condition", onnx_writer::kBool, {}, "\x01"));
    graph.message(11, onnx_writer::value_info("x", {1, 4}));
    const Message model = Message().integer(1, 8).message(7, graph).message(8, onnx_writer::opset_id("", 17));
    return folder_.write("nested.onnx", model.bytes());
  };
  const auto infer = [&](const std::string& file) { return run_saccade({"infer", file, "--output", folder_ / "o"}); };
  EXPECT_EQ(infer(save(30)).exit_code, 0);
  for (const int depth : {33, 34, 40, 500}) expect_error(infer(save(depth)), 1, {"nested.onnx", "nested too deep"});
}

TEST_F(Messages, AnIndexOutsideOfItsTensorNamesItsNode) {
  onnx_writer::Model picked(17);
  picked.input("x", {4, 3}).input("indices", {2}, onnx_writer::kInt64).output("y");
  picked.node({.op = "Gather", .inputs = {"x", "indices"}, .outputs = {"y"}, .name = "the_gather"});
  picked.save(folder_ / "picked.onnx");
  save_npy(folder_ / "i.npy", Tensor::of<std::int64_t>({2}, {0, 99}));
  for (const char* device : {"cpu", "reference"})
    expect_error(run_saccade({"infer", folder_ / "picked.onnx", "--output", folder_ / "o", "--input",
                              "indices=" + (folder_ / "i.npy"), "--device", device}),
                 1, {"'the_gather'", "Gather", "index 99 is outside"});
}

TEST_F(Messages, LinksThatGoInCirclesAreNoBug) {
  const std::string links = loop("loop");
  const std::vector<std::vector<std::string>> commands = {
      {"run", model(), "--no-save", "--source", "synthetic:?frames=1", "--card", links},
      {"run", links, "--no-save", "--source", "synthetic:?frames=1"},
      {"run", model(), "--no-save", "--source", links},
      {"limits", "--device-file", links},
      {"bench", "--compare", links, links},
      {"check", links},
      {"compile", model(), "-o", links},
      {"inspect", model(), "--write-card", links},
      {"validate", model(), "--data", "coco:" + links},
      {"demo", "--output", links, "--max-frames", "1"},
      {"infer", model(), "--output", links},
      {"infer", model(), "--output", folder_ / "o", "--input", "image=" + links}};
  for (const auto& command : commands) {
    const Finished finished = run_saccade(command);
    expect_error(finished, 1, {"loop"});
    EXPECT_EQ(finished.err.find("bug in saccade"), std::string::npos) << finished.err;
  }
}

TEST_F(Messages, ACardBesideTheModelThatCantBeReadIsNotPassedOver) {
  const std::string detector = model();
  std::filesystem::remove(folder_ / "boxes.toml");
  loop("boxes.toml");
  expect_error(run_saccade({"run", detector, "--no-save", "--source", "synthetic:?frames=1"}), 1,
               {"boxes.toml", "symbolic links"});
}

TEST_F(Messages, JsonErrorsAreReportedInOurWords) {
  const auto compare = [&](const std::string& text) {
    const std::string file = folder_.write("bench.json", text);
    const Finished finished = run_saccade({"bench", "--compare", file, file});
    EXPECT_EQ(finished.err.find("json.exception"), std::string::npos) << finished.err;
    return finished;
  };
  expect_error(compare("[1"), 1, {"bench.json", "has a syntax error at byte 3"});
  expect_error(compare(R"({"settings":{}})"), 1, {"bench.json", "it has no 'device'"});
  expect_error(compare(R"({"settings":{},"device":5})"), 1, {"bench.json", "of the wrong type"});
  expect_error(compare(R"({"settings":{},"device":1e999})"), 1, {"bench.json", "the number 1e999, which is too large"});
}

TEST_F(Messages, ATestsTolerancesAreNumbers) {
  std::filesystem::create_directories(folder_ / "tests/t/test_data_set_0");
  std::filesystem::copy(test::write_color_classifier(folder_), folder_ / "tests/t/model.onnx");
  const auto image = onnx_writer::tensor<float>("image", {1, 3, 8, 8}, std::vector<float>(192, 0.5F));
  folder_.write("tests/t/test_data_set_0/input_0.pb", image.bytes());
  folder_.write("tests/t/test_data_set_0/output_0.pb",
                onnx_writer::tensor<float>("scores", {1, 3}, std::vector<float>(3, 0.5F)).bytes());
  folder_.write("tests/t/data.json", R"({"rtol":"much"})");
  const Finished finished = run_saccade({"check", folder_ / "tests"});
  EXPECT_EQ(finished.exit_code, 3);
  EXPECT_NE(finished.out.find("data.json holds a value of the wrong type"), std::string::npos) << finished.out;
}

TEST_F(Messages, InvalidAnnotationsAreNamed) {
  std::filesystem::create_directory(folder_ / "data");
  const auto validate = [&](const std::string& annotation, const std::string& file_name = "a.png") {
    folder_.write("data/instances.json", R"({"categories":[{"id":1,"name":"near"}],"images":[{"id":1,"file_name":")" +
                                             file_name + R"("}],"annotations":[)" + annotation + "]}");
    return run_saccade({"validate", model(), "--data", "coco:" + (folder_ / "data")});
  };
  const std::string head = R"({"id":7,"image_id":1,"category_id":1,"bbox":[0,0,2,2],)";
  expect_error(validate(head + R"("area":-4})"), 1, {"instances.json", "annotation 7", "an area of -4"});
  expect_error(validate(head + R"("area":1e999})"), 1, {"instances.json", "the number 1e999, which is too large"});
  expect_error(validate(head + R"("iscrowd":18446744073709551615})"), 1,
               {"instances.json", "annotation 7", "'iscrowd'", "64 bits"});
  expect_error(validate(head + R"("area":4})", "a.png\\u0000.jpg"), 1, {"image 1", "'file_name'", "NUL"});
}

TEST_F(Messages, NamesThatAreNoUtf8CantBeInAPlan) {
  onnx_writer::Model strange(13);
  strange.input("\xFF", {1, 3}).output("y");
  strange.node({.op = "Relu", .inputs = {"\xFF"}, .outputs = {"y"}, .name = "relu"});
  strange.save(folder_ / "strange.onnx");
  const Finished finished = run_saccade({"compile", folder_ / "strange.onnx", "-o", folder_ / "strange.plan"});
  expect_error(finished, 1, {"strange.plan", "is not UTF-8"});
  EXPECT_EQ(finished.err.find("bug in saccade"), std::string::npos) << finished.err;
}

TEST_F(Messages, WithoutAFolderForTemporaryFilesAPeerIsRefused) {
  test::Subprocess bench({"/usr/bin/env", "TMPDIR=/nowhere", SACCADE_BINARY, "bench", "--device", "cpu",
                          test::write_color_classifier(folder_), "--against", "onnxruntime", "--peers-python",
                          "/bin/true"});
  expect_error(bench.wait(), 1, {"temporary files", "TMPDIR"});
}

}  // namespace
}  // namespace saccade
