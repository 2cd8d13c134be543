#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "base/error.hpp"
#include "support/graph_builder.hpp"
#include "vision/card.hpp"

// Models of given shapes, and cards written beside them.
namespace saccade::test {

/// A graph with one input and one output, made by OP behind a convolution's name.
inline Graph model(const Shape& input, const Shape& output, DType input_type = DType::kFloat32) {
  Graph graph;
  const ValueId image = graph.add_input("images", {input_type, input});
  const ValueId out = graph.add_value("output0", {DType::kFloat32, output});
  graph.add_node({.op = "Conv", .name = "all", .inputs = {image}, .outputs = {out}});
  graph.add_output(out);
  return graph;
}

/// GRAPH with one more output.
inline Graph also(Graph graph, const std::string& name, const Shape& shape) {
  const ValueId out = graph.add_value(name, {DType::kFloat32, shape});
  graph.add_node({.op = "Conv", .name = name, .inputs = {graph.inputs()[0]}, .outputs = {out}});
  graph.add_output(out);
  return graph;
}

inline std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

class CardFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() /
              ("saccade_cards_" + std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path write(const std::string& text, const std::string& name = "card.toml") const {
    std::ofstream(folder_ / name) << text;
    return folder_ / name;
  }
  Card load(const Graph& graph, const std::string& text) const { return card_for(graph, {}, write(text)); }
  std::string rejection(const Graph& graph, const std::string& text) const {
    return message_of([&] { load(graph, text); });
  }

  std::filesystem::path folder_;
};

}  // namespace saccade::test
