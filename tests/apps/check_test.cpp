#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "support/onnx_writer.hpp"
#include "support/subprocess.hpp"

// saccade check: folders of tests in ONNX's layout.
namespace saccade {
namespace {

using nlohmann::json;
using onnx_writer::Message;
using onnx_writer::tensor;
using test::Finished;
using test::run_saccade;

class Check : public testing::Test {
 protected:
  /// A test folder of MODEL with one data set; returns its path.
  std::string write(const std::string& name, const onnx_writer::Model& model, const std::vector<Message>& inputs,
                    const std::vector<Message>& outputs) {
    const std::string set = name + "/test_data_set_0/";
    std::filesystem::create_directories(folder_ / set);
    model.save(folder_ / (name + "/model.onnx"));
    for (std::size_t i = 0; i < inputs.size(); ++i)
      folder_.write(set + "input_" + std::to_string(i) + ".pb", inputs[i].bytes());
    for (std::size_t i = 0; i < outputs.size(); ++i)
      folder_.write(set + "output_" + std::to_string(i) + ".pb", outputs[i].bytes());
    return folder_ / name;
  }

  /// y = OP(x), x of two floats 1 and -2, and the expected Y.
  std::string write_unary(const std::string& name, const std::string& op, const std::vector<float>& y) {
    onnx_writer::Model model(17);
    model.input("x", {2}).output("y");
    model.node({.op = op, .inputs = {"x"}, .outputs = {"y"}, .name = "node"});
    return write(name, model, {tensor<float>("x", {2}, {1, -2})}, {tensor<float>("y", {2}, y)});
  }

  json check(std::vector<std::string> arguments, int exit_code) {
    arguments.insert(arguments.begin(), "check");
    arguments.emplace_back("--json");
    const Finished finished = run_saccade(arguments);
    EXPECT_EQ(finished.exit_code, exit_code) << finished.err;
    return json::parse(finished.out);
  }

  std::string reason(const std::string& name, int exit_code) {
    return check({folder_ / name}, exit_code)["reasons"].value(name, "");
  }

  test::TempFolder folder_;
};

TEST_F(Check, SortsTestsByWhatBecameOfThem) {
  write_unary("all/right", "Neg", {-1, 2});
  write_unary("all/deep/wrong", "Neg", {-1, 3});
  write_unary("all/strange", "Frobnicate", {0, 0});

  const json report = check({folder_ / "all"}, 3);

  EXPECT_EQ(report["passed"], json({"right"}));
  EXPECT_EQ(report["failed"], json({"deep/wrong"}));
  EXPECT_EQ(report["unsupported"], json({"strange"}));
  EXPECT_EQ(report["reasons"]["deep/wrong"],
            "test_data_set_0: output 'y': 1 of 2 elements differ, the largest difference at element 1: 2 instead of 3");
  EXPECT_EQ(report["reasons"]["strange"], "1 operator is not supported: Frobnicate (1 node, e.g. 'node')");
  EXPECT_EQ(report["reasons"].size(), 2U);
}

TEST_F(Check, RunsOnTheReferenceKernelsAlone) {
  write_unary("right", "Neg", {-1, 2});
  EXPECT_EQ(check({folder_ / "right", "--device", "reference"}, 0)["passed"], json({"right"}));

  const Finished finished = run_saccade({"inspect", folder_ / "right/model.onnx", "--device", "reference", "--json"});
  const json plan = json::parse(finished.out)["plan"];
  EXPECT_EQ(plan["backend"], "reference");
  ASSERT_EQ(plan["steps"].size(), 1U);
  EXPECT_EQ(plan["steps"][0]["tactic"], "reference");
}

TEST_F(Check, SaysTheSameToPeople) {
  write_unary("right", "Neg", {-1, 2});
  write_unary("strange", "Frobnicate", {0, 0});

  const Finished finished = run_saccade({"check", folder_ / "right", folder_ / "strange"});

  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_EQ(finished.out,
            "unsupported strange: 1 operator is not supported: Frobnicate (1 node, e.g. 'node')\n"
            "2 tests: 1 passed, 0 failed, 1 unsupported\n");
}

TEST_F(Check, RunsEveryDataSetWithItsOwnShapes) {
  onnx_writer::Model model(17);
  model.input("x", {"n"}).output("y").node({.op = "Neg", .inputs = {"x"}, .outputs = {"y"}});
  write("two", model, {tensor<float>("x", {2}, {1, -2})}, {tensor<float>("y", {2}, {-1, 2})});
  std::filesystem::create_directories(folder_ / "two/test_data_set_1");
  folder_.write("two/test_data_set_1/input_0.pb", tensor<float>("x", {1}, {7}).bytes());
  folder_.write("two/test_data_set_1/output_0.pb", tensor<float>("y", {1}, {-7}).bytes());
  EXPECT_EQ(reason("two", 0), "");

  folder_.write("two/test_data_set_1/output_0.pb", tensor<float>("y", {1}, {7}).bytes());
  EXPECT_EQ(
      reason("two", 3),
      "test_data_set_1: output 'y': 1 of 1 elements differ, the largest difference at element 0: -7 instead of 7");
}

TEST_F(Check, InputsCountByTheirPlaceAndMayDecideShapes) {
  onnx_writer::Model model(17);
  model.input("x", {2}).input("shape", {2}, onnx_writer::kInt64).output("y");
  model.node({.op = "Reshape", .inputs = {"x", "shape"}, .outputs = {"y"}});
  write("reshape", model, {tensor<float>("", {2}, {1, 2}), tensor<std::int64_t>("", {2}, {2, 1})},
        {tensor<float>("", {2, 1}, {1, 2})});

  EXPECT_EQ(reason("reshape", 0), "");
}

TEST_F(Check, AToleranceMayStandBesideTheModel) {
  write_unary("loose", "Neg", {-1, 2.1F});
  EXPECT_NE(reason("loose", 3), "");
  folder_.write("loose/data.json", R"({"rtol": 0.1})");
  EXPECT_EQ(reason("loose", 0), "");
}

TEST_F(Check, WhatIsWrongWithATestIsItsReason) {
  write_unary("few", "Neg", {-1, 2});
  std::filesystem::remove(folder_ / "few/test_data_set_0/input_0.pb");
  EXPECT_NE(reason("few", 3).find("the model has 1 inputs"), std::string::npos);

  write_unary("damaged", "Neg", {-1, 2});
  folder_.write("damaged/test_data_set_0/output_0.pb", "?");
  EXPECT_NE(reason("damaged", 3).find("output_0.pb: is not a tensor"), std::string::npos);

  write_unary("text", "Neg", {-1, 2});
  folder_.write("text/model.onnx", "This is not a model.");
  EXPECT_NE(reason("text", 3).find("is a text file"), std::string::npos);

  std::filesystem::create_directory(folder_ / "bare");
  onnx_writer::Model(17).save(folder_ / "bare/model.onnx");
  EXPECT_NE(reason("bare", 3).find("has no test_data_set_0"), std::string::npos);
}

TEST_F(Check, AFolderWithoutTestsIsAnError) {
  const Finished nowhere = run_saccade({"check", folder_ / "nowhere"});
  EXPECT_EQ(nowhere.exit_code, 1);
  EXPECT_EQ(nowhere.err, "saccade: error: " + (folder_ / "nowhere") + " is not a folder\n");

  const Finished empty = run_saccade({"check", folder_.string()});
  EXPECT_EQ(empty.exit_code, 1);
  EXPECT_NE(empty.err.find("holds no test"), std::string::npos);
}

}  // namespace
}  // namespace saccade
