#include "apps/command_fixture.hpp"

namespace saccade {
namespace {

using nlohmann::json;
using test::Finished;
using test::run_saccade;

class InspectCommand : public test::CommandTest {};

TEST_F(InspectCommand, SaysWhatAModelIs) {
  const std::string model = test::write_box_detector(folder_);
  const Finished finished = run_saccade({"inspect", model, "--json", "--check"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const json report = json::parse(finished.out);
  EXPECT_EQ(report["inputs"][0]["name"], "image");
  EXPECT_EQ(report["inputs"][0]["shape"], json({1, 3, 8, 8}));
  EXPECT_EQ(report["operators"]["Mul"], 1);
  EXPECT_GT(report["plan"]["arena_bytes"], 0);
  EXPECT_FALSE(report["passes"].empty());
  EXPECT_GT(report["check"]["compared"], 0);
  EXPECT_LT(report["check"]["largest_difference"], 1e-4);
  EXPECT_NE(report["card"]["toml"].get<std::string>().find("yolo-e2e"), std::string::npos);
  const Finished text = run_saccade({"inspect", model, "--dump", "--pipeline"});
  EXPECT_NE(text.out.find("==== as imported"), std::string::npos);
  EXPECT_NE(text.out.find("saccade.Preprocess"), std::string::npos);
  EXPECT_EQ(text.out.find("passes compared"), std::string::npos) << "without --check";
  EXPECT_NE(run_saccade({"inspect", model, "--check"}).out.find("passes compared"), std::string::npos);
}

TEST_F(InspectCommand, FitsAnEightyColumnTerminal) {
  const std::string model = test::write_color_classifier(folder_);
  const Finished finished = run_saccade({"inspect", model, "--pipeline", "--check", "--device", "cpu"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  std::istringstream lines(finished.out);
  for (std::string line; std::getline(lines, line);)
    EXPECT_TRUE(line.size() <= 80 || line.find(folder_.string()) != std::string::npos) << line;
  EXPECT_NE(finished.out.find("saccade.Preprocess"), std::string::npos) << finished.out;
}

TEST_F(InspectCommand, WritesACardThatCanBeUsed) {
  const std::string model = test::write_box_detector(folder_);
  const std::string card = folder_ / "written.toml";
  const Finished finished = run_saccade({"inspect", model, "--write-card", card});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const Finished used = run_saccade({"inspect", model, "--card", card, "--json"});
  ASSERT_EQ(used.exit_code, 0) << used.err;
  EXPECT_EQ(json::parse(used.out)["card"]["origin"], "card " + card);
  EXPECT_EQ(json::parse(used.out)["card"]["toml"],
            json::parse(run_saccade({"inspect", model, "--json"}).out)["card"]["toml"]);
  const Finished again = run_saccade({"inspect", model, "--write-card", card});
  EXPECT_EQ(again.exit_code, 1);
  EXPECT_NE(again.err.find(card + " already exists"), std::string::npos) << again.err;
  const Finished nowhere = run_saccade({"inspect", model, "--write-card", folder_ / "none/card.toml"});
  EXPECT_EQ(nowhere.exit_code, 1);
  EXPECT_NE(nowhere.err.find("can't write"), std::string::npos) << nowhere.err;
}

TEST_F(InspectCommand, WritesATemplateForAModelThatIsNotRecognised) {
  const std::string model = test::write_color_mapper(folder_);
  std::filesystem::remove(folder_ / "map.toml");
  const std::string card = folder_ / "template.toml";
  const Finished finished = run_saccade({"inspect", model, "--write-card", card});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_NE(finished.out.find(card + " is a template to complete"), std::string::npos) << finished.out;
  const std::string text = test::bytes_of_file(card);
  EXPECT_NE(text.find("#   output output: float32 1x3x8x8\n"), std::string::npos) << text;
  EXPECT_NE(text.find("decoder = \"semantic\""), std::string::npos) << text;
  const Finished refused = run_saccade({"run", model, "--source", images(), "--no-save"});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_TRUE(refused.err.starts_with("saccade: error: " + model + ": the model is not recognised: ")) << refused.err;
  EXPECT_TRUE(refused.err.ends_with(text)) << refused.err << text;
}

TEST_F(InspectCommand, WritesNamesIntoACardThatCanNotSteerIt) {
  const std::string plain = test::write_box_detector(folder_);
  const std::string model = folder_ / "x\n[output]\nconf = 0.99 #\x1b.onnx";
  std::filesystem::rename(plain, model);
  std::filesystem::rename(folder_ / "boxes.toml", std::filesystem::path(model).replace_extension(".toml"));
  folder_.write("card.toml",
                "[input]\nresize = \"stretch\"\n[output]\ndecoder = \"yolo-e2e\"\nlabels = "
                "[\"near\\u007f\\u009b\\u202e\\\"\\\\\", \"far\"]\n");
  for (const std::vector<std::string>& options : {std::vector<std::string>{}, {"--card", folder_ / "card.toml"}}) {
    std::filesystem::remove(folder_ / "written.toml");
    std::vector<std::string> command{"inspect", model, "--write-card", folder_ / "written.toml"};
    command.insert(command.end(), options.begin(), options.end());
    ASSERT_EQ(run_saccade(command).exit_code, 0);
    const std::string card = test::bytes_of_file(folder_ / "written.toml");
    EXPECT_EQ(card.find("\nconf = 0.99"), std::string::npos) << card;
    for (const char* raw : {"\x1b", "\x7f", "\u009b", "\u202e"}) EXPECT_EQ(card.find(raw), std::string::npos) << card;
    const Finished used = run_saccade({"inspect", model, "--card", folder_ / "written.toml", "--json"});
    ASSERT_EQ(used.exit_code, 0) << used.err;
    const std::string toml = json::parse(used.out)["card"]["toml"];
    EXPECT_NE(card.find(toml.substr(toml.find("labels"))), std::string::npos);
  }
}

TEST_F(InspectCommand, SaysWhatTheDeviceDoesNotRunAndWhy) {
  onnx_writer::Model strange(17);
  strange.input("x", {1, 2, 4, 4}).output("y");
  strange.initializer(onnx_writer::tensor<float>("w", {2, 2, 1, 1}, {1, 2, 3, 4}));
  strange.node({.op = "Conv", .inputs = {"x", "w"}, .outputs = {"a"}, .name = "first"});
  strange.node({.op = "Det", .inputs = {"a"}, .outputs = {"y"}, .name = "determinants"});
  strange.save(folder_ / "strange.onnx");

  const Finished finished = run_saccade({"inspect", folder_ / "strange.onnx", "--json"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const json plan = json::parse(finished.out)["plan"];
  ASSERT_EQ(plan["fallbacks"].size(), 1U) << plan["fallbacks"];
  EXPECT_EQ(plan["fallbacks"][0]["operator"], "Det");
  EXPECT_EQ(plan["fallbacks"][0]["example"], "determinants");
  EXPECT_EQ(plan["fallbacks"][0]["reasons"], json::array());
  // The convolution's 32 floats: input or reordered input, and output.
  EXPECT_GE(plan["peak_activation_bytes"], 2 * 32 * 4);
  EXPECT_LE(plan["peak_activation_bytes"], plan["arena_bytes"]);
  const Finished text = run_saccade({"inspect", folder_ / "strange.onnx"});
  EXPECT_NE(text.out.find("not supported by cpu"), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("no kernel for this operator"), std::string::npos) << text.out;
  const Finished reference = run_saccade({"inspect", folder_ / "strange.onnx", "--device", "reference"});
  EXPECT_EQ(reference.out.find("not supported by"), std::string::npos) << "it was requested";
}

TEST_F(InspectCommand, WritesTheGraphBeforeAndAfterThePasses) {
  const std::string model = test::write_box_detector(folder_);
  ASSERT_EQ(run_saccade({"inspect", model, "--graphviz", folder_ / "graphs"}).exit_code, 0);
  const std::string before = test::bytes_of_file(folder_ / "graphs/before.dot");
  const std::string after = test::bytes_of_file(folder_ / "graphs/after.dot");
  EXPECT_TRUE(before.starts_with("digraph \"")) << before;
  EXPECT_TRUE(after.ends_with("}\n")) << after;
  EXPECT_NE(before, after);
  EXPECT_EQ(run_saccade({"inspect", model, "--graphviz", model}).exit_code, 1) << "a file is no folder";
}

TEST_F(InspectCommand, ListsThePasses) {
  const Finished finished = run_saccade({"inspect", "--list-passes"});
  EXPECT_EQ(finished.exit_code, 0);
  EXPECT_NE(finished.out.find("fold_constants\n"), std::string::npos);
}

}  // namespace
}  // namespace saccade
