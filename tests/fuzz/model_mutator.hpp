#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "onnx.pb.h"

namespace saccade::fuzz {

/// Mutates models as a file's author might, by mistake or on purpose: they stay protobufs, and mostly graphs, so that
/// shape rules and kernels receive unexpected values. Deterministic by seed.
class ModelMutator {
 public:
  explicit ModelMutator(unsigned seed) : random_(seed) {}

  /// Makes one to four changes.
  void mutate(onnx::ModelProto& model);
  /// Adds OTHER's nodes and constants to MODEL: equal names join the graphs.
  void join(onnx::ModelProto& model, const onnx::ModelProto& other);

 private:
  void change(onnx::ModelProto& model);
  void change_nodes(onnx::GraphProto& graph);
  void change_edges(onnx::GraphProto& graph);
  void change_attributes(onnx::GraphProto& graph);
  void change_value(onnx::AttributeProto& attribute);
  void change_constants(onnx::GraphProto& graph);
  void change_tensor(onnx::TensorProto& tensor);
  void change_inputs(onnx::GraphProto& graph);
  void nest(onnx::GraphProto& graph);

  int below(int count) { return std::uniform_int_distribution<int>(0, count - 1)(random_); }
  bool once_in(int count) { return below(count) == 0; }
  std::int64_t number();
  float real();
  std::string some_name(const onnx::GraphProto& graph);

  std::mt19937 random_;
};

}  // namespace saccade::fuzz
