#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "saccade/model.hpp"
#include "validate/data/data_set.hpp"
#include "vision/cards/card_variants.hpp"

namespace saccade {

/// The predictions of one model on all images.
struct Evidence {
  double metric = -1;             ///< AP or top-1; -1: none
  std::vector<double> images;     ///< by image; NaN: none
  std::uint64_t predictions = 0;  ///< a hash of all boxes, classes and confidences
};

/// Images on which cards are compared, with labels or without.
class EvidenceSource {
 public:
  virtual ~EvidenceSource() = default;
  virtual std::size_t images() const = 0;
  /// "ap", "top1"; empty without labels
  virtual std::string metric() const = 0;
  /// What the evidence of an image is.
  virtual std::string meaning() const = 0;
  /// Whether models of TASK can be compared.
  virtual bool takes(Task task) const = 0;
  /// The classes of the labels, for models whose outputs do not tell theirs; empty: unknown.
  virtual std::vector<NumberedClass> classes() const { return {}; }
  /// Post-processing that the evidence needs.
  virtual PostprocessOptions post() const = 0;
  /// The evidence below which no card is right.
  virtual double least() const = 0;
  /// Runs MODEL on all images. STOP ends it early with fewer. Throws Error if the model's classes are not the data's.
  virtual Evidence collect(const Model& model, const std::function<bool()>& stop) const = 0;
};

/// DATA: "coco:FOLDER", "imagenet:FOLDER" or a folder of images; at most LIMIT images (0: all). Throws Error
/// (kNotFound, kInvalidFile, kInvalidArgument).
std::unique_ptr<EvidenceSource> open_evidence(const std::string& data, std::size_t limit);

}  // namespace saccade
