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

/// Where nothing else is said, detections have a higher score.
inline constexpr float kUsualConfidence = 0.25F;

/// One answer of a model: which outputs it is read from, and how.
struct Head {
  const Decoder* decoder = find_decoder("yolov8");
  std::vector<std::string> outputs;  ///< that the decoder reads, in its own order
  int classes = 0;                   ///< that the predictions tell apart; 0: the outputs do not say
  std::vector<std::string> labels;   ///< one per class
  std::vector<int> strides;          ///< pixels per cell, level by level
  std::vector<float> anchors;        ///< width and height in pixels, one after the other, level by level
  std::vector<float> conf;           ///< detections have a higher score: one for all classes, or one per class
  std::vector<int> remap;            ///< the class that each of the output's is; -1: none
  bool multi_label = false;          ///< a box for every class above the threshold, not for the best alone
  bool softmax = false;              ///< the scores are logits, one class an image (classify)
  bool sigmoid = false;              ///< the scores are logits, each class by itself
  int keypoints = 0;                 ///< points an object
  DepthKind depth = DepthKind::kRelative;

  /// Classes that the outputs tell apart: a map makes others of them.
  int output_classes() const { return remap.empty() ? classes : static_cast<int>(remap.size()); }
};

/// What to do around a model: pixels before it, answers after it. docs/cards.md describes its file.
struct Card {
  // [input]
  std::string input;  ///< the model's image input
  ChannelOrder color = ChannelOrder::kRgb;
  std::optional<Region> roi;  ///< source pixels; nothing: the whole frame
  ResizeMode resize = ResizeMode::kLetterbox;
  int width = 0;  ///< of the model's input
  int height = 0;
  int resize_to = 0;            ///< short side before the centre is cut out (resize-crop)
  std::array<int, 3> pad{};     ///< 0..255, in the tensor's channel order
  float scale = 1;              ///< tensor = (pixel * scale - mean) / std, pixels being 0..255
  std::array<float, 3> mean{};  ///< in the tensor's channel order
  std::array<float, 3> std{1, 1, 1};

  std::vector<Head> heads = {{}};  ///< [output], one or several

  /// Where it comes from: "card FILE", "the model's metadata", "the model's inputs and outputs".
  std::string origin;
  /// What nothing in the model says, so that a card may have to say it.
  std::vector<std::string> assumptions;

  /// The first answer's, which names the model's task.
  const Head& head() const { return heads.front(); }
  Task task() const { return head().decoder->task; }
};

/// The file that holds a model's card: GIVEN, else MODEL's path with its ending replaced by .toml where that is there;
/// empty: none. Throws Error (kNotFound) naming a GIVEN one that is not there.
std::filesystem::path find_card_file(const std::filesystem::path& model, const std::filesystem::path& given);

/// The card of a model: CARD_FILE, or MODEL's path with its ending replaced by .toml where that file exists; what it
/// leaves out comes from the model's metadata (Ultralytics'), else from its inputs and outputs. Throws Error
/// (kInvalidFile) naming file, key and line, and (kUnsupported) showing the card to write where nothing fits.
Card card_for(const Graph& graph, const std::filesystem::path& model, const std::filesystem::path& card_file = {});

/// The card as a TOML file.
std::string to_toml(const Card& card);

/// Class ids of the first answer by name or number, as `--classes person,3` gives them. Throws Error (kInvalidArgument)
/// naming one that the model lacks.
std::vector<int> find_classes(const Card& card, const std::vector<std::string>& names);

}  // namespace saccade
