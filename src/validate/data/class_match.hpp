#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "saccade/model.hpp"
#include "validate/data/coco_annotations.hpp"

namespace saccade {

/// Maps the classes of a model to the categories of a data set.
struct ClassMatch {
  std::vector<std::string> labels;      ///< the model's
  std::vector<int> category;            ///< category index by class ID; -1: none
  std::vector<bool> selected;           ///< by class ID: selected by --classes
  std::vector<bool> known;              ///< by category: a selected class maps to it
  std::vector<std::string> categories;  ///< their names

  int of(int class_id) const {
    const auto i = static_cast<std::size_t>(class_id);
    return class_id >= 0 && i < category.size() && selected[i] ? category[i] : -1;
  }
};

/// Matches the classes of MODEL's boxes by COCO's numbers if the model's labels are COCO's 80 and the file has all of
/// them, else by name. KIND is the data set's. Deselected classes are not matched. Throws Error (kInvalidArgument) with
/// some names of both if none matches.
ClassMatch match_classes(const Model& model, const CocoAnnotations& annotations, const char* kind = "coco:");

/// Notes on classes without a category and on categories without a class, with the number of their OBJECTS (by
/// category); empty if all match. Deselected classes are not reported. PATH is the data set's.
std::vector<std::string> unmatched(const ClassMatch& match, const Model& model, const std::string& path,
                                   std::span<const std::int64_t> objects);

}  // namespace saccade
