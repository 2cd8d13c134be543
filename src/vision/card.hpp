#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "graph/graph.hpp"
#include "ops/pixels.hpp"
#include "saccade/results.hpp"
#include "vision/decoders.hpp"

namespace saccade {

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

  // [output]
  std::string output;  ///< the output that the decoder reads
  const Decoder* decoder = find_decoder("yolov8");
  int classes = 0;                  ///< that the output tells apart; 0: it does not say
  std::vector<std::string> labels;  ///< one a class
  std::vector<int> strides;         ///< pixels a cell, finest first (yolox)
  bool multi_label = false;         ///< a box for every class above the threshold, not for the best alone
  bool softmax = false;             ///< the output is logits (classify)

  /// Where it comes from: "card FILE", "the model's metadata", "the model's inputs and outputs".
  std::string origin;
  /// What nothing in the model says, so that a card may have to say it.
  std::vector<std::string> assumptions;

  Task task() const { return decoder->task; }
};

/// The card of a model: CARD_FILE, or MODEL's path with its ending replaced by .toml where that file exists; what it
/// leaves out comes from the model's metadata (Ultralytics'), else from its inputs and outputs. Throws Error
/// (kInvalidFile) naming file, key and line, and (kUnsupported) showing the card to write where nothing fits.
Card card_for(const Graph& graph, const std::filesystem::path& model, const std::filesystem::path& card_file = {});

/// The card as a TOML file.
std::string to_toml(const Card& card);

/// Class ids by name or number, as `--classes person,3` gives them. Throws Error (kInvalidArgument) naming one that the
/// model lacks.
std::vector<int> find_classes(const Card& card, const std::vector<std::string>& names);

}  // namespace saccade
