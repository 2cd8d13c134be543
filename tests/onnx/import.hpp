#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "base/module.hpp"
#include "graph/importer.hpp"
#include "graph/verify.hpp"
#include "support/onnx_writer.hpp"

namespace saccade {

/// Each test has a temporary folder.
class ImportTest : public ::testing::Test {
 protected:
  ImportTest() {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::temp_directory_path() /
              ("saccade_" + std::to_string(getpid()) + "_" + test->test_suite_name() + "_" + test->name());
    std::filesystem::create_directories(folder_);
  }
  ~ImportTest() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path file(const std::string& name) const { return folder_ / name; }

  void write(const std::string& name, const std::string& contents) const {
    std::ofstream(file(name), std::ios::binary) << contents;
  }

  static Graph import_file(const std::filesystem::path& path, const ImportOptions& options = {}) {
    Graph graph = module<OnnxModule>("onnx").import_model(path, options);
    verify(graph);
    return graph;
  }

  Graph import(const onnx_writer::Model& model, const ImportOptions& options = {}) const {
    model.save(file("model.onnx"));
    return import_file(file("model.onnx"), options);
  }

  /// "CODE: message" of the import's error, without the file's folder; "" if it succeeds.
  std::string error_of(const std::filesystem::path& path, const ImportOptions& options = {}) const {
    try {
      import_file(path, options);
      return "";
    } catch (const Error& error) {
      std::string message = error.what();
      const std::string prefix = folder_.string() + "/";
      for (auto at = message.find(prefix); at != std::string::npos; at = message.find(prefix))
        message.erase(at, prefix.size());
      return message;
    }
  }
  std::string error_of(const onnx_writer::Model& model, const ImportOptions& options = {}) const {
    model.save(file("model.onnx"));
    return error_of(file("model.onnx"), options);
  }

 private:
  std::filesystem::path folder_;
};

/// The only live node of that operator.
inline const Node& only_node(const Graph& graph, std::string_view op) {
  const Node* found = nullptr;
  for (NodeId id : graph.order()) {
    if (graph.node(id).op != op) continue;
    EXPECT_EQ(found, nullptr) << "more than one " << op;
    found = &graph.node(id);
  }
  if (found == nullptr) throw std::runtime_error("no " + std::string(op));
  return *found;
}

/// A node's constant input, as integers or floats.
template <typename T>
std::vector<T> constant_input(const Graph& graph, const Node& node, std::size_t at) {
  const Tensor* tensor = graph.constant(node.inputs.at(at));
  if (tensor == nullptr) throw std::runtime_error("input is no constant");
  const auto values = tensor->data<T>();
  return {values.begin(), values.end()};
}

}  // namespace saccade
