#pragma once

#include <string>

#include "support/temp_folder.hpp"
#include "support/tiny_models.hpp"

namespace saccade::test {

/// An embedding network of 8x8 images, 0 to 1, with its card: its vector is the mean red, green and blue, not
/// normalized. Returns its path.
inline std::string write_color_embedding(const TempFolder& folder, const std::string& name = "embedding") {
  return write_one_node(folder, name, "GlobalAveragePool", {}, "decoder = \"embed\"\nnormalize = false\n");
}

/// write_box_detector(), whose card names SECOND, a file in FOLDER, with further KEYS of [second]. Returns its path.
inline std::string write_first_model(const TempFolder& folder, const std::string& second, const std::string& keys = "",
                                     const std::string& name = "boxes") {
  const std::string path = write_box_detector(folder, name);
  folder.write(name + ".toml",
               bytes_of_file(folder / (name + ".toml")) + "[second]\nmodel = \"" + second + "\"\n" + keys);
  return path;
}

/// Makes OUTPUT of MODEL's initializer "rows" for every "image": the image takes part with a factor of 0.
inline void give_rows(onnx_writer::Model& model, const std::string& output) {
  model.initializer(onnx_writer::tensor<float>("zero", {1}, {0}));
  model.node({.op = "ReduceMean",
              .inputs = {"image"},
              .outputs = {"mean"},
              .attributes = {onnx_writer::attribute("axes", onnx_writer::Dims{1, 2, 3}),
                             onnx_writer::attribute("keepdims", 0)},
              .name = "reduce"});
  model.node({.op = "Mul", .inputs = {"mean", "zero"}, .outputs = {"nothing"}, .name = "mul"});
  model.node({.op = "Add", .inputs = {"rows", "nothing"}, .outputs = {output}, .name = "add"});
}

/// A detector of 8x8 images that predicts ROWS of COLUMNS numbers for every image, with a card of this DECODER and
/// SECOND, the section [second]. Returns its path.
inline std::string write_row_detector(const TempFolder& folder, const std::vector<float>& rows, int columns,
                                      const std::string& decoder, const std::string& second) {
  const int count = static_cast<int>(rows.size()) / columns;
  onnx_writer::Model model(13);
  model.input("image", {1, 3, 8, 8}).output("detections");
  model.initializer(onnx_writer::tensor<float>("rows", {1, count, columns}, rows));
  give_rows(model, "detections");
  model.save(folder / "rows.onnx");
  folder.write("rows.toml", "[input]\nresize = \"stretch\"\n[output]\nlabels = [\"object\"]\ndecoder = " + decoder +
                                "\n[second]\n" + second);
  return folder / "rows.onnx";
}

/// A text recognition network for images of any size, with its card: it reads "ab" in all of them, with the confidences
/// 0.9 and 0.7.
inline void write_text_recognition(const TempFolder& folder, const std::string& name = "reader") {
  onnx_writer::Model model(13);
  model.input("image", {1, 3, "height", "width"}).output("columns");
  // The blank, a and b of each column; repetitions merge.
  model.initializer(onnx_writer::tensor<float>(
      "rows", {1, 4, 3}, {0.05F, 0.9F, 0.05F, 0.8F, 0.1F, 0.1F, 0.1F, 0.2F, 0.7F, 0.25F, 0.25F, 0.5F}));
  give_rows(model, "columns");
  model.save(folder / (name + ".onnx"));
  folder.write(name + ".toml", "[output]\ndecoder = \"ctc\"\nsoftmax = false\ncharacters = [\"a\", \"b\"]\n");
}

}  // namespace saccade::test
