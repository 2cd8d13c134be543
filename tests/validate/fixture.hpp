#pragma once

#include <gtest/gtest.h>

#include "support/png_writer.hpp"
#include "support/tiny_models.hpp"
#include "validate/data.hpp"
#include "validate/validate.hpp"

namespace saccade::test {

/// Writes data sets and runs models over them.
class ValidateFixture : public testing::Test {
 protected:
  Validation run(const std::string& model, const std::string& kind, const std::string& against = {}) {
    ValidateOptions options = options_;
    options.data = kind + ":" + folder_.string();
    options.model.file = model;
    options.model.options.device = Device::cpu();
    options.model.options.post.confidence = 0.001F;
    if (!against.empty()) options.against = EvaluatedModel{against, options.model.options};
    return validate(options, {.progress = [&](const std::string&, double share) { progress_ = share; }});
  }

  /// Two images with the boxes that write_box_detector() predicts.
  void write_boxes() {
    write_file(folder_, "instances.json", box_annotations());
    for (const char* name : {"images/1.png", "images/2.png"}) write_solid_image(folder_, name, 8, 8);
  }

  /// Two red images, the second with a mask of green in its upper half.
  void write_maps() {
    for (const char* name : {"images/a.png", "images/b.png"}) write_solid_image(folder_, name, 8, 8, {200, 0, 0});
    std::vector<std::uint16_t> classes(64, 0);
    write_file(folder_, "masks/a.png", png_of(8, 8, 8, classes, true));
    std::fill_n(classes.begin(), 32, 1);
    classes[0] = 255;
    write_file(folder_, "masks/b.png", png_of(8, 8, 8, classes));
  }

  TempFolder models_;
  TempFolder folder_;
  ValidateOptions options_;
  double progress_ = -1;
};

/// The first figure of that NAME; -2 if there is none.
inline double figure(const Validation& validation, const std::string& name, std::size_t model = 0) {
  for (const Score& score : validation.models[model].scores)
    for (const Score::Figure& each : score.figures)
      if (each.name == name) return each.value;
  return -2;
}

}  // namespace saccade::test
