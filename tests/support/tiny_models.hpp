#pragma once

#include <string>

#include "support/onnx_writer.hpp"
#include "support/temp_folder.hpp"

namespace saccade::test {

/// The card of a classifier of images, 0 to 1, into "red", "green" and "blue".
inline void write_color_card(const TempFolder& folder, const std::string& name) {
  folder.write(name + ".toml", R"([input]
resize = "stretch"
scale = 0.00392156862745098
mean = 0
std = 1
[output]
decoder = "classify"
softmax = false
labels = ["red", "green", "blue"]
)");
}

/// A classifier of 8x8 images, with its card: its scores are the mean red, green and blue, 0 to 1. Returns its path.
inline std::string write_color_classifier(const TempFolder& folder, const std::string& name = "color") {
  onnx_writer::Model model(13);
  model.input("image", {1, 3, 8, 8}).output("scores");
  model.node({.op = "GlobalAveragePool", .inputs = {"image"}, .outputs = {"mean"}, .name = "pool"});
  model.node({.op = "Flatten", .inputs = {"mean"}, .outputs = {"scores"}, .name = "flatten"});
  model.save(folder / (name + ".onnx"));
  write_color_card(folder, name);
  return folder / (name + ".onnx");
}

/// A detector of 8x8 images, with its card, that predicts the same two boxes for every image: class 0 "near" at (1,
/// 2)-(5, 6) with 0.9, and class 1 "far" at (0, 0)-(2, 2) with 0.4. Returns its path.
inline std::string write_box_detector(const TempFolder& folder, const std::string& name = "boxes") {
  onnx_writer::Model model(13);
  model.input("image", {1, 3, 8, 8}).output("detections");
  model.initializer(onnx_writer::tensor<float>("boxes", {1, 2, 6}, {1, 2, 5, 6, 0.9F, 0, 0, 0, 2, 2, 0.4F, 1}));
  model.initializer(onnx_writer::tensor<float>("zero", {1}, {0}));
  model.node({.op = "GlobalAveragePool", .inputs = {"image"}, .outputs = {"mean"}, .name = "pool"});
  model.node({.op = "ReduceMean",
              .inputs = {"mean"},
              .outputs = {"one"},
              .attributes = {onnx_writer::attribute("axes", onnx_writer::Dims{1, 2, 3}),
                             onnx_writer::attribute("keepdims", 0)},
              .name = "reduce"});
  model.node({.op = "Mul", .inputs = {"one", "zero"}, .outputs = {"nothing"}, .name = "mul"});
  model.node({.op = "Add", .inputs = {"boxes", "nothing"}, .outputs = {"detections"}, .name = "add"});
  model.save(folder / (name + ".onnx"));
  folder.write(name + ".toml", R"([input]
resize = "stretch"
[output]
decoder = "yolo-e2e"
labels = ["near", "far"]
)");
  return folder / (name + ".onnx");
}

/// Writes a model of one node, OP with ATTRIBUTES, on an 8x8 image, with its card: its input is 0 to 1. Returns its
/// path.
inline std::string write_one_node(const TempFolder& folder, const std::string& name, const std::string& op,
                                  const std::vector<onnx_writer::Message>& attributes, const std::string& card) {
  onnx_writer::Model model(13);
  model.input("image", {1, 3, 8, 8}).output("output");
  model.node({.op = op, .inputs = {"image"}, .outputs = {"output"}, .attributes = attributes, .name = "output"});
  model.save(folder / (name + ".onnx"));
  folder.write(name + ".toml",
               "[input]\nresize = \"stretch\"\nscale = 0.00392156862745098\nmean = 0\nstd = 1\n[output]\n" + card);
  return folder / (name + ".onnx");
}

/// Predicts for every pixel of an 8x8 image the class of its strongest colour: 0 "red", 1 "green" or 2 "blue".
inline std::string write_color_mapper(const TempFolder& folder, const std::string& name = "map") {
  return write_one_node(folder, name, "Relu", {}, "decoder = \"semantic\"\nlabels = [\"red\", \"green\", \"blue\"]\n");
}

/// Predicts for every pixel of an 8x8 image its mean brightness, 0 to 1, as its depth of this KIND.
inline std::string write_brightness_depth(const TempFolder& folder, const std::string& kind = "metric",
                                          const std::string& name = "depth") {
  return write_one_node(folder, name, "ReduceMean",
                        {onnx_writer::attribute("axes", onnx_writer::Dims{1}), onnx_writer::attribute("keepdims", 1)},
                        "decoder = \"depth\"\ndepth = \"" + kind + "\"\n");
}

}  // namespace saccade::test
