#pragma once

#include <string>

#include "support/onnx_writer.hpp"
#include "support/temp_folder.hpp"

namespace saccade::test {

/// A tracker of one object, without a card: it searches an area of the colour that the centre of its template has, as
/// large as the target. Its outputs are named as those of OpenCV's VitTrack. Returns its path.
inline std::string write_color_tracker(const TempFolder& folder, const std::string& name = "tracker") {
  using onnx_writer::attribute;
  using onnx_writer::Dims;
  onnx_writer::Model model(13);
  model.input("template", {1, 3, 32, 32}).input("search", {1, 3, 64, 64});
  model.output("output1").output("output2").output("output3");
  model.initializer(onnx_writer::tensor<std::int64_t>("first", {2}, {12, 12}));
  model.initializer(onnx_writer::tensor<std::int64_t>("last", {2}, {20, 20}));
  model.initializer(onnx_writer::tensor<std::int64_t>("axes", {2}, {2, 3}));
  model.initializer(onnx_writer::tensor<float>("falling", {1}, {-4}));
  model.initializer(onnx_writer::tensor<float>("nothing", {1}, {0}));
  model.initializer(onnx_writer::tensor<float>("quarters", {1, 2, 1, 1}, {0.25F, 0.25F}));
  model.initializer(onnx_writer::tensor<float>("centres", {1, 2, 1, 1}, {0.5F, 0.5F}));
  const auto node = [&](const std::string& op, std::vector<std::string> inputs, const std::string& output,
                        std::vector<onnx_writer::Message> attributes = {}) {
    model.node({.op = op,
                .inputs = std::move(inputs),
                .outputs = {output},
                .attributes = std::move(attributes),
                .name = output});
  };
  node("Slice", {"template", "first", "last", "axes"}, "centre");
  node("ReduceMean", {"centre"}, "color", {attribute("axes", Dims{2, 3}), attribute("keepdims", 1)});
  node("Sub", {"search", "color"}, "difference");
  node("Mul", {"difference", "difference"}, "squares");
  node("ReduceMean", {"squares"}, "distance", {attribute("axes", Dims{1}), attribute("keepdims", 1)});
  node("Mul", {"distance", "falling"}, "exponent");
  node("Exp", {"exponent"}, "alike");
  // The target is 16 pixels wide: cells of 4 pixels have the mean over as many around their centre.
  node("AveragePool", {"alike"}, "output1",
       {attribute("kernel_shape", Dims{16, 16}), attribute("strides", Dims{4, 4}), attribute("pads", Dims{6, 6, 6, 6}),
        attribute("count_include_pad", 1)});
  node("Mul", {"output1", "nothing"}, "zeros");
  node("Add", {"zeros", "quarters"}, "output2");
  node("Add", {"zeros", "centres"}, "output3");
  model.save(folder / (name + ".onnx"));
  return folder / (name + ".onnx");
}

}  // namespace saccade::test
