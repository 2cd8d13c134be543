#pragma once

#include <map>

#include "vision/cards/card.hpp"

namespace saccade {

// In the order of their enums.
inline constexpr std::array<std::string_view, 2> kCropAlignNames = {"box", "five-points"};
inline constexpr std::array<std::string_view, 3> kColorNames = {"rgb", "bgr", "gray"};
inline constexpr std::array<std::string_view, 5> kResizeNames = {"stretch", "letterbox", "letterbox-topleft",
                                                                 "resize-crop", "resize-crop-floor"};
inline constexpr std::array<std::string_view, 6> kInterpolationNames = {
    "bilinear", "bilinear-antialias", "bicubic", "bicubic-antialias", "area", "nearest"};

/// The names of an enum's first N values, by its to_string().
template <typename Enum, std::size_t N>
std::array<std::string_view, N> names_of() {
  std::array<std::string_view, N> names;
  for (std::size_t i = 0; i < N; ++i) names[i] = to_string(static_cast<Enum>(i));
  return names;
}

/// One head of a card file; missing keys are not set.
struct HeadFile {
  std::map<std::string, std::string, std::less<>> places;  ///< position of each key ("labels"): "card.toml:3"
  const Decoder* decoder = nullptr;
  std::vector<std::string> outputs;
  std::vector<std::string> labels;
  std::vector<int> strides;
  std::vector<float> anchors;
  std::vector<float> conf;
  std::optional<float> iou;
  std::vector<int> remap;
  std::optional<bool> multi_label;
  std::optional<bool> softmax;
  std::optional<bool> sigmoid;
  std::optional<int> keypoints;
  std::optional<DepthKind> depth;
  std::optional<bool> normalize;
  std::optional<int> background;
  std::optional<float> map_threshold;
  std::optional<float> unclip_ratio;
  std::vector<std::string> characters;
};

/// The contents of a card file.
struct CardFile {
  std::filesystem::path path;
  /// Position of each key outside of [output] ("pad", "second.model", "track.target"): "card.toml:3".
  std::map<std::string, std::string, std::less<>> places;
  std::optional<Task> task;
  std::optional<std::string> input;
  std::optional<ChannelOrder> color;
  std::optional<Region> roi;
  std::optional<ResizeMode> resize;
  std::optional<std::array<int, 2>> size;
  std::optional<int> resize_to;
  std::optional<Interpolation> interpolation;
  std::optional<std::array<int, 3>> pad;
  std::optional<float> scale;
  std::optional<std::array<float, 3>> mean;
  std::optional<std::array<float, 3>> std;
  std::vector<HeadFile> heads;        ///< [output], or each of [[output]]
  std::optional<SecondModel> second;  ///< [second]
  std::optional<TrackImages> track;   ///< [track]

  /// Whether it names the decoder of every head, so that the model need not be recognised.
  bool names_decoders() const;
};

/// Reads a card file. Throws Error (kInvalidFile) with file, line and key: an unknown key, a wrong type, an invalid
/// value.
CardFile read_card_file(const std::filesystem::path& path);
/// The same for the TEXT of a file; messages refer to PATH.
CardFile parse_card_file(std::string_view text, const std::filesystem::path& path);

/// A card with SAID's decoders, fitted to GRAPH. Throws Error (kInvalidFile) if they contradict.
Card card_of(const CardFile& said, const Graph& graph);
/// Overrides CARD, which is fitted to GRAPH, with the keys of SAID. Throws Error (kInvalidFile) if they contradict.
void apply(const CardFile& said, const Graph& graph, Card& card);

/// Throws Error (kInvalidFile) with a key of SAID that has no effect in CARD, which it was applied to.
void check_effects(const CardFile& said, const Card& card);

/// Parses TEXT, written by to_toml() for the same model; FILE is its origin. Throws Error (kInvalidFile).
Card card_in(const std::filesystem::path& file, std::string_view text, const Graph& graph);

/// "yolov8, yolox, ..."
std::string decoder_names();

/// Every key of a card, and every decoder, as the tables in docs/cards.md.
std::string card_schema();
std::string decoder_schema();

}  // namespace saccade
