#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "graph/graph.hpp"
#include "ops/vision/pixels.hpp"
#include "saccade/results.hpp"
#include "vision/decoders.hpp"

namespace saccade {

/// The default confidence threshold.
inline constexpr float kUsualConfidence = 0.25F;
/// The default IoU threshold of NMS.
inline constexpr float kUsualIou = 0.7F;

/// One head of a model: its outputs and their decoding.
struct Head {
  const Decoder* decoder = find_decoder("yolov8");
  std::vector<std::string> outputs;  ///< outputs in the decoder's order
  int classes = 0;                   ///< number of classes of the predictions; 0: unknown from the outputs
  std::vector<std::string> labels;   ///< one per class
  std::vector<int> strides;          ///< pixels per cell, per level
  std::vector<float> anchors;        ///< widths and heights in pixels, per level
  std::vector<float> conf;           ///< confidence threshold: one for all classes, or one per class
  std::optional<float> iou;          ///< IoU threshold of NMS
  std::vector<int> remap;            ///< class ID of each of the output's classes; -1: dropped
  bool multi_label = false;          ///< one detection per class above the threshold, not only the best class
  bool softmax = false;              ///< the scores are logits of exclusive classes (classify)
  bool sigmoid = false;              ///< the scores are logits of independent classes
  int keypoints = 0;                 ///< keypoints per object
  DepthKind depth = DepthKind::kRelative;
  bool normalize = true;                ///< an embedding is divided by its L2 norm
  std::optional<int> background;        ///< the class of a class map that is the background; -1: none
  float map_threshold = 0.3F;           ///< of the probabilities of a map of text
  float unclip_ratio = 1.5F;            ///< enlarges a box of text by area * unclip_ratio / perimeter on each side
  std::vector<std::string> characters;  ///< of the classes after the blank, in UTF-8

  /// Number of classes of the outputs, before remap.
  int output_classes() const { return remap.empty() ? classes : static_cast<int>(remap.size()); }
};

/// How a crop of an object is cut out of the frame.
enum class CropAlign : std::uint8_t {
  kBox,         ///< its box
  kFivePoints,  ///< the similarity transform of its five facial landmarks to ArcFace's template
};

/// [second]: the model that runs on the detected objects.
struct SecondModel {
  std::string model;                 ///< its file, as the card names it: in the card's folder
  std::filesystem::path path;        ///< the same as a path
  std::vector<int> shape;            ///< of its input, if that is dynamic; empty: symbolic dimensions are 1
  std::vector<std::string> classes;  ///< names or IDs of the first head's classes that are cropped; empty: all
  std::vector<int> class_ids;        ///< the same as IDs
  float margin = 0;                  ///< added to each side of a box, relative to its size
  int most = 16;                     ///< crops per frame
  CropAlign align = CropAlign::kBox;
};

/// [track]: the second image of a tracker of one object, and what is cut out of the frames for both.
struct TrackImages {
  std::string input;  ///< the model's input for the target, as it was when it was given
  int width = 0;      ///< of that input
  int height = 0;
  /// The side of the square around a box, relative to the square root of the box's area, for the target.
  float target_factor = 2;
  float search_factor = 4;  ///< the same for the image in which it is searched
};

/// Pre- and post-processing of a model. docs/cards.md describes the file format.
struct Card {
  // [input]
  std::string input;  ///< the model's image input
  ChannelOrder color = ChannelOrder::kRgb;
  std::optional<Region> roi;  ///< source pixels; nullopt: the whole frame
  ResizeMode resize = ResizeMode::kLetterbox;
  int width = 0;  ///< of the model's input
  int height = 0;
  int resize_to = 0;  ///< short side before the centre crop (is_crop())
  Interpolation interpolation = Interpolation::kBilinear;
  std::array<int, 3> pad{};     ///< 0..255, in the tensor's channel order
  float scale = 1;              ///< tensor = (pixel * scale - mean) / std, with pixels 0..255
  std::array<float, 3> mean{};  ///< in the tensor's channel order
  std::array<float, 3> std{1, 1, 1};

  std::vector<Head> heads = {{}};  ///< [output], one or several

  std::optional<SecondModel> second;  ///< [second]
  std::optional<TrackImages> track;   ///< [track], of a model with two images as inputs; `input` is that of the search

  /// Its origin: "card FILE", "the model's metadata", "the model's inputs and outputs".
  std::string origin;
  /// Assumptions that the model does not confirm, with the keys of a card that correct them.
  std::vector<std::string> assumptions;

  /// The first head, which determines the model's task.
  const Head& head() const { return heads.front(); }
  Task task() const { return head().decoder->task; }
};

/// The card file of a model: GIVEN, else MODEL's path with the extension .toml if that exists; empty: none. Throws
/// Error (kNotFound) if GIVEN does not exist.
std::filesystem::path find_card_file(const std::filesystem::path& model, const std::filesystem::path& given);

/// The card of a model: CARD_FILE, or MODEL's path with the extension .toml if that exists. Missing keys come from the
/// model's metadata (Ultralytics'), else from its inputs and outputs. Throws Error (kInvalidFile) with file, key and
/// line, and (kUnsupported) with a template card in Error::details() if nothing matches.
Card card_for(const Graph& graph, const std::filesystem::path& model, const std::filesystem::path& card_file = {});

/// The card as a TOML file.
std::string to_toml(const Card& card);

/// Class IDs of the first head by name or number, as in `--classes person,3`. Throws Error (kInvalidArgument) with a
/// class that the model lacks.
std::vector<int> find_classes(const Card& card, const std::vector<std::string>& names);

}  // namespace saccade
