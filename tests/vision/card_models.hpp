#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <string>

#include "base/error.hpp"
#include "support/graph_builder.hpp"
#include "support/temp_folder.hpp"
#include "vision/cards/card.hpp"

// Models of given shapes, and cards written beside them.
namespace saccade::test {

/// A graph with one input and one output, computed by OP after a convolution's name.
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
  std::filesystem::path write(const std::string& text, const std::string& name = "card.toml") const {
    return folder_.write(name, text);
  }
  Card load(const Graph& graph, const std::string& text) const { return card_for(graph, {}, write(text)); }
  std::string rejection(const Graph& graph, const std::string& text) const {
    return message_of([&] { load(graph, text); });
  }

  TempFolder folder_;
};

}  // namespace saccade::test
