#pragma once

#include "vision/card.hpp"

namespace saccade {

// In the order of their enums.
inline constexpr std::array<std::string_view, 3> kColorNames = {"rgb", "bgr", "gray"};
inline constexpr std::array<std::string_view, 4> kResizeNames = {"stretch", "letterbox", "letterbox-topleft",
                                                                 "resize-crop"};

/// What a card's file says; what it leaves out is not set.
struct CardFile {
  std::filesystem::path path;
  std::optional<Task> task;
  std::optional<std::string> input;
  std::optional<ChannelOrder> color;
  std::optional<Region> roi;
  std::optional<ResizeMode> resize;
  std::optional<std::array<int, 2>> size;
  std::optional<int> resize_to;
  std::optional<std::array<int, 3>> pad;
  std::optional<float> scale;
  std::optional<std::array<float, 3>> mean;
  std::optional<std::array<float, 3>> std;
  std::optional<std::string> output;
  const Decoder* decoder = nullptr;
  std::vector<std::string> labels;
  std::vector<int> strides;
  std::optional<bool> multi_label;
  std::optional<bool> softmax;
};

/// Reads a card's file. Throws Error (kInvalidFile) naming file, line and key: an unknown key, a wrong type, a value
/// that makes no sense.
CardFile read_card_file(const std::filesystem::path& path);

/// Writes what SAID says over CARD and fits the rest to GRAPH. Throws Error (kInvalidFile) where they contradict.
void apply(const CardFile& said, const Graph& graph, Card& card);

/// "yolov8, yolox, ..."
std::string decoder_names();

/// Every key of a card, as the table in docs/cards.md.
std::string card_schema();

}  // namespace saccade
