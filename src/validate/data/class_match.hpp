#pragma once

#include <span>
#include <string>
#include <vector>

#include "saccade/model.hpp"
#include "validate/data/coco_annotations.hpp"

namespace saccade {

/// Which of a data set's categories each class of a model is.
struct ClassMatch {
  std::vector<std::string> labels;      ///< the model's
  std::vector<int> category;            ///< its place, by class id; -1: none
  std::vector<bool> asked;              ///< by class id: the model was not told to leave it out
  std::vector<bool> known;              ///< by category: some class that was asked for is it
  std::vector<std::string> categories;  ///< their names

  int of(int class_id) const {
    const auto i = static_cast<std::size_t>(class_id);
    return class_id >= 0 && i < category.size() && asked[i] ? category[i] : -1;
  }
};

/// The classes of MODEL's boxes. By COCO's numbers where the model's labels are COCO's 80 and the file has all of
/// those, else by name. Classes that the model was told to leave out are none. Throws Error (kInvalidArgument) naming
/// some of both where none matches.
ClassMatch match_classes(const Model& model, const CocoAnnotations& annotations);

/// The classes without a category and the categories without a class, with their objects, each in a sentence; empty
/// where all match. Those that the model was told to leave out are not among them.
std::vector<std::string> unmatched(const ClassMatch& match, const Model& model, const CocoAnnotations& annotations);

}  // namespace saccade
