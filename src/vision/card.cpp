#include "vision/card.hpp"

#include <algorithm>
#include <charconv>

#include "base/error.hpp"
#include "vision/card_file.hpp"
#include "vision/labels.hpp"
#include "vision/recognise.hpp"

namespace saccade {
namespace {

/// The metadata's names, else COCO's where there are 80 classes to detect, else numbers.
void name_classes(const Graph& graph, Card& card) {
  if (const auto names = graph.metadata.find("names"); names != graph.metadata.end()) {
    card.labels = parse_python_names(names->second);
  } else if (card.classes == 80 && card.task() == Task::kDetect) {
    card.labels.assign(coco_labels().begin(), coco_labels().end());
    card.assumptions.emplace_back("COCO's 80 classes");
  } else {
    // A model that chooses among its boxes itself does not say how many classes it has.
    const int count = card.classes > 0 ? card.classes : 1000;
    for (int i = 0; i < count; ++i) card.labels.push_back(std::to_string(i));
    card.assumptions.emplace_back("class numbers instead of names");
  }
}

void settle_labels(const Graph& graph, Card& card) {
  if (card.labels.empty()) name_classes(graph, card);
  if (card.classes != 0 && static_cast<int>(card.labels.size()) != card.classes)
    fail(ErrorCode::kInvalidFile, "there are {} labels, but the output '{}' tells {} classes apart", card.labels.size(),
         card.output, card.classes);
}

/// The card's file for a model: the one given, or the one beside it; empty: none.
std::filesystem::path find_file(const std::filesystem::path& model, const std::filesystem::path& given) {
  if (!given.empty()) {
    if (!std::filesystem::exists(given)) fail(ErrorCode::kNotFound, "the card {} does not exist", given.string());
    return given;
  }
  std::filesystem::path beside = model;
  beside.replace_extension(".toml");
  return !model.empty() && std::filesystem::exists(beside) ? beside : std::filesystem::path{};
}

std::string describe(const Graph& graph) {
  std::string text;
  const auto list = [&](std::string_view what, std::span<const ValueId> values) {
    for (ValueId id : values) {
      const Value& value = graph.value(id);
      text += fmt::format("#   {} {}: {} {}\n", what, value.name, to_string(value.type.dtype),
                          value.type.shape.to_string());
    }
  };
  list("input", graph.inputs());
  list("output", graph.outputs());
  return text;
}

[[noreturn]] void show_card_to_write(const Graph& graph, const std::filesystem::path& model, const std::string& why) {
  Card example = default_card(*find_decoder("yolov8"));
  recognise_input(graph, example);
  example.output = graph.outputs().empty() ? "" : graph.value(graph.outputs()[0]).name;
  example.labels = {"first", "second"};
  const std::string file = model.empty() ? "MODEL.toml" : model.stem().string() + ".toml";
  fail(ErrorCode::kUnsupported,
       "the model is not recognised: {}. Say how to read it in a card, {} beside the model or --card FILE, like this "
       "one with its values changed (decoder: one of {}; docs/cards.md):\n"
       "# the model's\n{}{}",
       why, file, decoder_names(), describe(graph), to_toml(example));
}

template <typename T>
std::string triple(const std::array<T, 3>& values) {
  return fmt::format("[{}]", fmt::join(values, ", "));
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\')
      out += std::string("\\") + c;
    else if (static_cast<unsigned char>(c) < 0x20)
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    else
      out += c;
  }
  return out + '"';
}

}  // namespace

Card card_for(const Graph& graph, const std::filesystem::path& model, const std::filesystem::path& card_file) {
  const std::filesystem::path file = find_file(model, card_file);
  const CardFile said = file.empty() ? CardFile{} : read_card_file(file);
  std::string why;
  std::optional<Card> card;
  if (said.decoder == nullptr) {
    card = recognise(graph, why);
    if (!card) show_card_to_write(graph, model, why);
  } else {
    card = default_card(*said.decoder);
  }
  if (file.empty()) {
    settle_labels(graph, *card);
    return *card;
  }
  try {
    apply(said, graph, *card);
    settle_labels(graph, *card);
  } catch (const Error& error) {
    throw error.in(file.string());
  }
  return *card;
}

std::string to_toml(const Card& card) {
  std::string text =
      fmt::format("task = \"{}\"\n\n[input]\nname = {}\ncolor = \"{}\"\nresize = \"{}\"\n", to_string(card.task()),
                  quoted(card.input), kColorNames[static_cast<std::size_t>(card.color)],
                  kResizeNames[static_cast<std::size_t>(card.resize)]);
  text += fmt::format("size = [{}, {}]\n", card.width, card.height);
  if (card.resize == ResizeMode::kResizeCrop) text += fmt::format("resize_to = {}\n", card.resize_to);
  if (card.roi)
    text += fmt::format("roi = [{}, {}, {}, {}]\n", card.roi->x, card.roi->y, card.roi->width, card.roi->height);
  text += fmt::format("pad = {}\nscale = {}\nmean = {}\nstd = {}\n", triple(card.pad), card.scale, triple(card.mean),
                      triple(card.std));
  text += fmt::format("\n[output]\nname = {}\ndecoder = \"{}\"\n", quoted(card.output), card.decoder->name);
  if (!card.strides.empty()) text += fmt::format("strides = [{}]\n", fmt::join(card.strides, ", "));
  if (card.task() == Task::kClassify)
    text += fmt::format("softmax = {}\n", card.softmax);
  else
    text += fmt::format("multi_label = {}\n", card.multi_label);
  text += "labels = [";
  for (std::size_t i = 0; i < card.labels.size(); ++i) text += (i == 0 ? "" : ", ") + quoted(card.labels[i]);
  return text + "]\n";
}

std::vector<int> find_classes(const Card& card, const std::vector<std::string>& names) {
  std::vector<int> ids;
  for (const std::string& name : names) {
    const auto found = std::ranges::find(card.labels, name);
    int id = static_cast<int>(found - card.labels.begin());
    if (found == card.labels.end()) {
      const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), id);
      const bool number = error == std::errc{} && end == name.data() + name.size();
      if (!number || id < 0 || id >= static_cast<int>(card.labels.size()))
        fail(ErrorCode::kInvalidArgument, "the model has no class '{}'; it has {} of them, as '{}' (0)", name,
             card.labels.size(), card.labels.front());
    }
    ids.push_back(id);
  }
  return ids;
}

}  // namespace saccade
