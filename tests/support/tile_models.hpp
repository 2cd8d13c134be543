#pragma once

#include <string>

#include "support/onnx_writer.hpp"
#include "support/temp_folder.hpp"

namespace saccade::test {

/// A detector of 32x32 images, with its card: one box of class 0 "blob" around all pixels brighter than a half, with
/// 0.9. Returns its path.
inline std::string write_blob_detector(const TempFolder& folder, const std::string& name = "blob") {
  using onnx_writer::attribute;
  using onnx_writer::Dims;
  onnx_writer::Model model(13);
  model.input("image", {1, 3, 32, 32}).output("detections");
  model.initializer(onnx_writer::tensor<float>("half", {1}, {0.5F}));
  model.initializer(onnx_writer::tensor<float>("one", {1}, {1}));
  model.initializer(onnx_writer::tensor<float>("zero", {1}, {0}));
  model.initializer(onnx_writer::tensor<float>("confidence", {1}, {0.9F}));
  model.initializer(onnx_writer::tensor<std::int64_t>("rows", {3}, {1, 1, 6}));
  const auto node = [&](const std::string& op, std::vector<std::string> inputs, const std::string& output,
                        std::vector<onnx_writer::Message> attributes = {}) {
    model.node({.op = op,
                .inputs = std::move(inputs),
                .outputs = {output},
                .attributes = std::move(attributes),
                .name = output});
  };
  const auto reduce = [&](const std::string& input, const Dims& axes, const std::string& output) {
    node("ReduceMax", {input}, output, {attribute("axes", axes), attribute("keepdims", 0)});
  };
  const auto edges = [&](const std::string& profile, const std::string& first, const std::string& last) {
    node("Greater", {profile, "half"}, profile + "_bright");
    node("Cast", {profile + "_bright"}, profile + "_mask", {attribute("to", 1)});
    node("ArgMax", {profile + "_mask"}, first + "_index", {attribute("axis", 1), attribute("keepdims", 1)});
    node("ArgMax", {profile + "_mask"}, last + "_index",
         {attribute("axis", 1), attribute("keepdims", 1), attribute("select_last_index", 1)});
    node("Cast", {first + "_index"}, first, {attribute("to", 1)});
    node("Cast", {last + "_index"}, last + "_inside", {attribute("to", 1)});
    node("Add", {last + "_inside", "one"}, last);
  };
  reduce("image", {1}, "gray");
  reduce("gray", {1}, "across");
  reduce("gray", {2}, "down");
  edges("across", "x1", "x2");
  edges("down", "y1", "y2");
  node("ReduceMax", {"across_mask"}, "found", {attribute("axes", Dims{1}), attribute("keepdims", 1)});
  node("Mul", {"found", "confidence"}, "score");
  node("Mul", {"found", "zero"}, "class");
  node("Concat", {"x1", "y1", "x2", "y2", "score", "class"}, "row", {attribute("axis", 1)});
  node("Reshape", {"row", "rows"}, "detections");
  model.save(folder / (name + ".onnx"));
  folder.write(name + ".toml",
               "[input]\nresize = \"stretch\"\nscale = 0.00392156862745098\nmean = 0\nstd = 1\n[output]\ndecoder = "
               "\"yolo-e2e\"\nlabels = [\"blob\"]\n");
  return folder / (name + ".onnx");
}

/// A network of one node that enlarges images of WIDTH x HEIGHT pixels threefold by bicubic interpolation, with its
/// card; of CHANNELS 1 for the luma. Returns its path.
inline std::string write_bicubic(const TempFolder& folder, int width, int height, int channels,
                                 const std::string& name) {
  onnx_writer::Model model(13);
  model.input("image", {1, channels, height, width}).output("larger");
  model.initializer(onnx_writer::tensor<float>("scales", {4}, {1, 1, 3, 3}));
  model.node({.op = "Resize",
              .inputs = {"image", "", "scales"},
              .outputs = {"larger"},
              .attributes = {onnx_writer::attribute("mode", "cubic"), onnx_writer::attribute("cubic_coeff_a", -0.5F)},
              .name = "larger"});
  model.save(folder / (name + ".onnx"));
  folder.write(name + ".toml", std::string("[input]\ncolor = \"") + (channels == 1 ? "gray" : "rgb") +
                                   "\"\nscale = 0.00392156862745098\nmean = 0\nstd = 1\n[output]\ndecoder = "
                                   "\"upscale\"\n");
  return folder / (name + ".onnx");
}

}  // namespace saccade::test
