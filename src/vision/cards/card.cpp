#include "vision/cards/card.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/error.hpp"
#include "vision/cards/card_file.hpp"
#include "vision/cards/card_template.hpp"
#include "vision/cards/characters.hpp"
#include "vision/cards/processor_file.hpp"
#include "vision/cards/recognise.hpp"
#include "vision/cards/second_card.hpp"
#include "vision/cards/toml_text.hpp"
#include "vision/labels/known_labels.hpp"
#include "vision/labels/labels.hpp"

namespace saccade {
namespace {

/// Labels: the metadata's if their number matches, else those of a known data set with that many classes, else numbers.
void name_classes(const Graph& graph, Card& card, Head& head) {
  const auto fits = [&](std::size_t count) { return head.classes == 0 || static_cast<int>(count) == head.classes; };
  if (const auto names = graph.metadata.find("names"); names != graph.metadata.end()) {
    std::vector<std::string> said = parse_python_names(names->second);
    if (fits(said.size())) {
      head.labels = std::move(said);
      return;
    }
    if (card.heads.size() == 1)
      fail(ErrorCode::kInvalidFile, "its metadata names {} classes, but its output has {}", said.size(), head.classes);
  }
  if (std::optional<KnownLabels> known = known_labels(head)) {
    head.labels = std::move(known->labels);
    card.assumptions.push_back(fmt::format("{} (output.labels)", known->data_set));
  } else if (head.decoder->task == Task::kPose && head.classes == 1) {
    head.labels = {"person"};
  } else {
    // The outputs of a model with built-in NMS do not determine the number of classes.
    const int count = head.classes > 0 ? head.classes : 1000;
    for (int i = 0; i < count; ++i) head.labels.push_back(std::to_string(i));
    card.assumptions.emplace_back("class numbers instead of names (output.labels)");
  }
}

/// The background by its label, if the card does not name it.
void find_background(Head& head) {
  constexpr std::array<std::string_view, 3> kNames = {"background", "__background__", "_background_"};
  const auto count = static_cast<int>(head.labels.size());
  if (!head.background)
    head.background = count > 0 && std::ranges::find(kNames, head.labels.front()) != kNames.end() ? 0 : -1;
  if (*head.background >= count)
    fail(ErrorCode::kInvalidFile, "'output.background' is {}, but there are {} classes, from 0 on", *head.background,
         count);
}

/// The number of classes that a card remaps to.
void resolve_classes(Head& head) {
  if (head.remap.empty()) return;
  if (head.classes != 0 && static_cast<int>(head.remap.size()) != head.classes)
    fail(ErrorCode::kInvalidFile, "'output.remap' maps {} classes, but the output '{}' has {}", head.remap.size(),
         head.outputs.front(), head.classes);
  const int most = std::ranges::max(head.remap);
  if (most < 0) fail(ErrorCode::kInvalidFile, "'output.remap' drops every class");
  head.classes = head.labels.empty() ? most + 1 : static_cast<int>(head.labels.size());
  if (most >= head.classes)
    fail(ErrorCode::kInvalidFile, "'output.remap' maps to class {}, but there are {} labels", most, head.classes);
}

template <typename T>
std::string triple(const std::array<T, 3>& values) {
  return fmt::format("[{}]", fmt::join(values, ", "));
}

/// Overrides CARD, which is recognised, by the file of another tool beside MODEL, if there is one.
void apply_processor(const Graph& graph, const std::filesystem::path& model, Card& card) {
  const std::filesystem::path file = find_processor_file(model);
  if (file.empty()) return;
  try {
    ProcessorFile said = read_processor_file(file, graph, card);
    apply(said.card, graph, card);
    card.origin = file.string();
    card.assumptions = std::move(said.assumptions);
  } catch (const Error& error) {
    if (std::string_view(error.what()).starts_with(file.string())) throw;
    throw error.in(file.string());
  }
}

}  // namespace

void complete_labels(const Graph& graph, Card& card) {
  for (Head& head : card.heads) {
    if (head.decoder->uses.characters) complete_characters(graph, head);
    if (!head.decoder->uses.labels) continue;
    resolve_classes(head);
    if (head.labels.empty()) name_classes(graph, card, head);
    if (head.classes != 0 && static_cast<int>(head.labels.size()) != head.classes)
      fail(ErrorCode::kInvalidFile, "there are {} labels, but the output '{}' has {} classes", head.labels.size(),
           head.outputs.front(), head.classes);
    if (head.decoder->uses.background) find_background(head);
    if (head.conf.size() > 1 && head.conf.size() != head.labels.size())
      fail(ErrorCode::kInvalidFile, "'output.conf' has {} thresholds, but there are {} classes", head.conf.size(),
           head.labels.size());
  }
}

std::filesystem::path find_card_file(const std::filesystem::path& model, const std::filesystem::path& given) {
  // A dangling or circular link exists: reading it reports the error.
  const auto is_there = [](const std::filesystem::path& path) {
    std::error_code error;
    return std::filesystem::symlink_status(path, error).type() != std::filesystem::file_type::not_found;
  };
  if (!given.empty()) {
    if (!is_there(given)) fail(ErrorCode::kNotFound, "the card {} does not exist", given.string());
    return given;
  }
  if (model.empty()) return {};
  std::filesystem::path beside = model;
  beside.replace_extension(".toml");
  return is_there(beside) ? beside : std::filesystem::path{};
}

Card card_for(const Graph& graph, const std::filesystem::path& model, const std::filesystem::path& card_file) {
  const std::filesystem::path file = find_card_file(model, card_file);
  const CardFile said = file.empty() ? CardFile{} : read_card_file(file);
  const auto make = [&] {
    if (said.names_decoders()) return card_of(said, graph);
    std::string why;
    std::optional<Card> card = recognise(graph, why);
    if (!card) refuse_unrecognised(graph, model, why);
    return *std::move(card);
  };
  if (file.empty()) {
    Card card = make();
    apply_processor(graph, model, card);
    complete_labels(graph, card);
    return card;
  }
  try {
    Card card = make();
    apply(said, graph, card);
    check_effects(said, card);
    complete_labels(graph, card);
    complete_second(said, card);
    return card;
  } catch (const Error& error) {
    // The message with the template names the file to write.
    if (error.code() == ErrorCode::kUnsupported) throw;
    // A message with a line names the file already.
    if (std::string_view(error.what()).starts_with(file.string() + ":")) throw;
    throw error.in(file.string());
  }
}

Card card_in(const std::filesystem::path& file, std::string_view text, const Graph& graph) {
  const CardFile said = parse_card_file(text, file);
  if (!said.names_decoders()) fail(ErrorCode::kInvalidFile, "its card names no decoder");
  Card card = card_of(said, graph);
  apply(said, graph, card);
  complete_labels(graph, card);
  complete_second(said, card);
  return card;
}

namespace {

template <typename T>
void add_list(std::string& text, const char* key, const std::vector<T>& values) {
  if (!values.empty()) text += fmt::format("{} = [{}]\n", key, fmt::join(values, ", "));
}

std::string to_toml(const Head& head, bool alone) {
  std::string text =
      fmt::format("\n{}\nname = {}\ndecoder = \"{}\"\n", alone ? "[output]" : "[[output]]",
                  head.outputs.size() == 1 ? toml_text(head.outputs[0]) : toml_texts(head.outputs), head.decoder->name);
  add_list(text, "strides", head.strides);
  add_list(text, "anchors", head.anchors);
  add_list(text, "conf", head.conf);
  if (head.iou) text += fmt::format("iou = {}\n", *head.iou);
  add_list(text, "remap", head.remap);
  if (head.keypoints > 0) text += fmt::format("keypoints = {}\n", head.keypoints);
  if (head.sigmoid) text += "sigmoid = true\n";
  if (head.decoder->uses.softmax) text += fmt::format("softmax = {}\n", head.softmax);
  if (head.decoder->uses.depth) text += fmt::format("depth = \"{}\"\n", to_string(head.depth));
  if (head.decoder->uses.background) text += fmt::format("background = {}\n", head.background.value_or(-1));
  if (head.decoder->uses.normalize) text += fmt::format("normalize = {}\n", head.normalize);
  if (head.multi_label) text += "multi_label = true\n";
  if (head.decoder->uses.text_map)
    text += fmt::format("map_threshold = {}\nunclip_ratio = {}\n", head.map_threshold, head.unclip_ratio);
  if (!head.characters.empty()) text += fmt::format("characters = {}\n", toml_texts(head.characters));
  if (!head.labels.empty()) text += fmt::format("labels = {}\n", toml_texts(head.labels));
  return text;
}

}  // namespace

std::string to_toml(const Card& card) {
  std::string text =
      fmt::format("task = \"{}\"\n\n[input]\nname = {}\ncolor = \"{}\"\nresize = \"{}\"\n", to_string(card.task()),
                  toml_text(card.input), kColorNames[static_cast<std::size_t>(card.color)],
                  kResizeNames[static_cast<std::size_t>(card.resize)]);
  text += fmt::format("size = [{}, {}]\n", card.width, card.height);
  if (is_crop(card.resize)) text += fmt::format("resize_to = {}\n", card.resize_to);
  text += fmt::format("interpolation = \"{}\"\n", kInterpolationNames[static_cast<std::size_t>(card.interpolation)]);
  if (card.roi)
    text += fmt::format("roi = [{}, {}, {}, {}]\n", card.roi->x, card.roi->y, card.roi->width, card.roi->height);
  if (card.resize == ResizeMode::kLetterbox || card.resize == ResizeMode::kLetterboxTopLeft)
    text += fmt::format("pad = {}\n", triple(card.pad));
  text += fmt::format("scale = {}\nmean = {}\nstd = {}\n", card.scale, triple(card.mean), triple(card.std));
  for (const Head& head : card.heads) text += to_toml(head, card.heads.size() == 1);
  if (card.second) text += to_toml(*card.second);
  if (const auto& track = card.track)
    text += fmt::format("\n[track]\ntarget = {}\ntarget_factor = {}\nsearch_factor = {}\n", toml_text(track->input),
                        track->target_factor, track->search_factor);
  return text;
}

std::vector<int> find_classes(const Card& card, const std::vector<std::string>& names) {
  std::vector<int> ids;
  const std::vector<std::string>& labels = card.head().labels;
  for (const std::string& name : names) {
    if (labels.empty()) fail(ErrorCode::kInvalidArgument, "the model has no classes, so there is no '{}'", name);
    const auto found = std::ranges::find(labels, name);
    int id = static_cast<int>(found - labels.begin());
    if (found == labels.end()) {
      const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), id);
      const bool number = error == std::errc{} && end == name.data() + name.size();
      if (!number || id < 0 || id >= static_cast<int>(labels.size()))
        fail(ErrorCode::kInvalidArgument, "the model has no class '{}'; it has {} classes, such as '{}' (0)", name,
             labels.size(), labels.front());
    }
    ids.push_back(id);
  }
  return ids;
}

}  // namespace saccade
