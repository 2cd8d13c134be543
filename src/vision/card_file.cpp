#include "vision/card_file.hpp"

#include <toml++/toml.h>
#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "vision/labels.hpp"
#include "vision/recognise.hpp"

namespace saccade {
namespace {

/// One key's node with what an error needs to name it.
struct Field {
  const std::filesystem::path& file;
  std::string_view name;  ///< "input.color"
  const toml::node& node;

  [[noreturn]] void bad(const std::string& wanted) const {
    fail(ErrorCode::kInvalidFile, "{}:{}: '{}' must be {}", file.string(), node.source().begin.line, name, wanted);
  }
  std::string text() const {
    const auto value = node.value_exact<std::string>();
    if (!value) bad("a text");
    return *value;
  }
  bool flag() const {
    const auto value = node.value_exact<bool>();
    if (!value) bad("true or false");
    return *value;
  }
  double number() const { return number(node); }
  double number(const toml::node& from) const {
    const auto value = from.is_number() ? from.value<double>() : std::nullopt;
    if (!value || !std::isfinite(*value)) bad("a number");
    return *value;
  }
  int integer(int low, int high) const { return integer(node, low, high); }
  int integer(const toml::node& from, int low, int high) const {
    const auto value = from.value_exact<std::int64_t>();
    if (!value || *value < low || *value > high) bad(fmt::format("of integers in {}..{}", low, high));
    return static_cast<int>(*value);
  }
  const toml::array& array(std::size_t size) const {
    const toml::array* values = node.as_array();
    if (values == nullptr || (size != 0 && values->size() != size))
      bad(size == 0 ? "a list" : fmt::format("a list of {}", size));
    return *values;
  }
  template <std::size_t N>
  std::array<int, N> integers(int low, int high) const {
    std::array<int, N> out{};
    const toml::array& values = array(N);
    for (std::size_t i = 0; i < N; ++i) out[i] = integer(values[i], low, high);
    return out;
  }
  /// Three numbers, or one for all channels.
  std::array<float, 3> numbers() const {
    if (!node.is_array()) return fill();
    std::array<float, 3> out{};
    const toml::array& values = array(3);
    for (std::size_t i = 0; i < 3; ++i) out[i] = static_cast<float>(number(values[i]));
    return out;
  }
  std::array<float, 3> fill() const {
    const auto value = static_cast<float>(number());
    return {value, value, value};
  }
  template <typename Enum, std::size_t N>
  Enum choice(const std::array<std::string_view, N>& names) const {
    const std::string value = text();
    const auto found = std::ranges::find(names, value);
    if (found == names.end()) bad(fmt::format("one of {}; it is '{}'", fmt::join(names, ", "), value));
    return static_cast<Enum>(found - names.begin());
  }
};

constexpr std::array<std::string_view, 2> kTaskNames = {"detect", "classify"};
/// Decoders, tasks that a card may name one day.
constexpr std::array<std::string_view, 8> kPlannedDecoders = {"nanodet", "detr",     "rfdetr", "ssd",
                                                              "scrfd",   "semantic", "depth",  "yolov3"};
constexpr int kMost = 1'000'000;

const Decoder* decoder_of(const Field& field) {
  const std::string name = field.text();
  if (const Decoder* decoder = find_decoder(name)) return decoder;
  if (std::ranges::find(kPlannedDecoders, name) != kPlannedDecoders.end())
    fail(ErrorCode::kUnsupported, "{}:{}: the decoder '{}' is not built yet; there are {}", field.file.string(),
         field.node.source().begin.line, name, decoder_names());
  field.bad(fmt::format("one of {}; it is '{}'", decoder_names(), name));
}

std::vector<std::string> labels_of(const Field& field) {
  if (field.node.is_string()) return read_labels((field.file.parent_path() / field.text()).string());
  std::vector<std::string> labels;
  for (const toml::node& entry : field.array(0)) {
    const auto label = entry.value_exact<std::string>();
    if (!label) field.bad("a list of texts, or the name of a file with one a line");
    labels.push_back(*label);
  }
  if (labels.empty()) field.bad("a list of at least one text");
  return labels;
}

Region region_of(const Field& field) {
  const auto [x, y, width, height] = field.integers<4>(0, kMost);
  if (width == 0 || height == 0) field.bad("x, y, width, height with a size above 0");
  return {x, y, width, height};
}

std::array<int, 3> pad_of(const Field& field) {
  if (field.node.is_array()) return field.integers<3>(0, 255);
  const int value = field.integer(0, 255);
  return {value, value, value};
}

std::vector<int> strides_of(const Field& field) {
  std::vector<int> strides;
  for (const toml::node& entry : field.array(0)) strides.push_back(field.integer(entry, 1, 1024));
  if (strides.empty()) field.bad("a list of at least one integer");
  return strides;
}

/// One key of a card: what it is, and how it is read.
struct Key {
  std::string_view section;
  std::string_view name;
  std::string_view type;
  std::string_view meaning;
  void (*read)(const Field&, CardFile&);
};

constexpr Key kKeys[] = {
    {"", "task", "`detect` or `classify`", "What the model does; follows from the decoder.",
     [](const Field& f, CardFile& c) { c.task = f.choice<Task>(kTaskNames); }},
    {"input", "name", "text", "The model's image input.", [](const Field& f, CardFile& c) { c.input = f.text(); }},
    {"input", "color", "`rgb`, `bgr` or `gray`", "The order of the tensor's channels.",
     [](const Field& f, CardFile& c) { c.color = f.choice<ChannelOrder>(kColorNames); }},
    {"input", "roi", "[x, y, width, height]", "The part of the frame to look at, in its pixels.",
     [](const Field& f, CardFile& c) { c.roi = region_of(f); }},
    {"input", "resize", "`stretch`, `letterbox`, `letterbox-topleft` or `resize-crop`",
     "How a frame gets the input's size: by changing its aspect; by padding it, centred or not; or by cutting its "
     "centre out after its short side got `resize_to` pixels.",
     [](const Field& f, CardFile& c) { c.resize = f.choice<ResizeMode>(kResizeNames); }},
    {"input", "size", "[width, height]", "The input's size; it must be the model's.",
     [](const Field& f, CardFile& c) { c.size = f.integers<2>(1, 16384); }},
    {"input", "resize_to", "integer", "For `resize-crop`: pixels of the short side before the cut.",
     [](const Field& f, CardFile& c) { c.resize_to = f.integer(1, 16384); }},
    {"input", "pad", "0..255 or three", "The colour around a letterboxed frame, in the tensor's channel order.",
     [](const Field& f, CardFile& c) { c.pad = pad_of(f); }},
    {"input", "scale", "number", "The tensor holds (pixel * scale - mean) / std, pixels being 0..255.",
     [](const Field& f, CardFile& c) { c.scale = static_cast<float>(f.number()); }},
    {"input", "mean", "number or three", "See `scale`; in the tensor's channel order.",
     [](const Field& f, CardFile& c) { c.mean = f.numbers(); }},
    {"input", "std", "number or three", "See `scale`; none may be 0.",
     [](const Field& f, CardFile& c) {
       c.std = f.numbers();
       if (std::ranges::find(*c.std, 0.0F) != c.std->end()) f.bad("other than 0");
     }},
    {"output", "name", "text", "The output that the decoder reads.",
     [](const Field& f, CardFile& c) { c.output = f.text(); }},
    {"output", "decoder", "`yolov8`, `yolox`, `yolov5`, `yolo-e2e` or `classify`",
     "How the output is read: columns x, y, w, h, classes (YOLOv8, v11, v12); the undecoded grid of YOLOX; rows x, y, "
     "w, h, objectness, classes; boxes x1, y1, x2, y2, score, class that need no suppression; scores of classes.",
     [](const Field& f, CardFile& c) { c.decoder = decoder_of(f); }},
    {"output", "labels", "list of texts, or the name of a file with one a line",
     "The classes' names; a file is looked for beside the card.",
     [](const Field& f, CardFile& c) { c.labels = labels_of(f); }},
    {"output", "anchors", "", "Not built yet: export YOLO heads with their boxes decoded.",
     [](const Field& f, CardFile&) {
       fail(ErrorCode::kUnsupported,
            "{}:{}: '{}': heads with anchors outside of the graph are not built yet; export the model with its boxes "
            "decoded",
            f.file.string(), f.node.source().begin.line, f.name);
     }},
    {"output", "strides", "list of integers", "For `yolox`: pixels a cell, finest first.",
     [](const Field& f, CardFile& c) { c.strides = strides_of(f); }},
    {"output", "multi_label", "true or false",
     "A box for every class above the threshold instead of the best class alone.",
     [](const Field& f, CardFile& c) { c.multi_label = f.flag(); }},
    {"output", "softmax", "true or false", "For `classify`: the output is logits.",
     [](const Field& f, CardFile& c) { c.softmax = f.flag(); }},
};

std::string full_name(std::string_view section, std::string_view name) {
  return section.empty() ? std::string(name) : fmt::format("{}.{}", section, name);
}

void read_table(const toml::table& table, std::string_view section, CardFile& card) {
  for (const auto& [key, node] : table) {
    const std::string_view name = key.str();
    if (section.empty() && (name == "input" || name == "output")) {
      if (!node.is_table()) Field{card.path, name, node}.bad(fmt::format("a table: [{}]", name));
      read_table(*node.as_table(), name, card);
      continue;
    }
    const auto found =
        std::ranges::find_if(kKeys, [&](const Key& known) { return known.section == section && known.name == name; });
    const std::string full = full_name(section, name);
    if (found == std::end(kKeys)) {
      std::string known;
      for (const Key& k : kKeys) known += (known.empty() ? "" : ", ") + full_name(k.section, k.name);
      fail(ErrorCode::kInvalidFile, "{}:{}: '{}' is not a key of a card; there are {}", card.path.string(),
           key.source().begin.line, full, known);
    }
    found->read(Field{card.path, full, node}, card);
  }
}

template <typename T>
void take(T& into, const std::optional<T>& said) {
  if (said) into = *said;
}

}  // namespace

CardFile read_card_file(const std::filesystem::path& path) {
  CardFile card;
  card.path = path;
  try {
    read_table(toml::parse_file(path.string()), "", card);
  } catch (const toml::parse_error& error) {
    fail(ErrorCode::kInvalidFile, "the card {}:{} can't be read: {}", path.string(), error.source().begin.line,
         error.description());
  }
  return card;
}

void apply(const CardFile& said, const Graph& graph, Card& card) {
  if (said.decoder != nullptr) recognise_input(graph, card);
  if (said.task && *said.task != card.task())
    fail(ErrorCode::kInvalidFile, "the task is '{}', but the decoder '{}' is for '{}'", to_string(*said.task),
         card.decoder->name, to_string(card.task()));
  if (said.input && *said.input != card.input)
    fail(ErrorCode::kInvalidFile, "the model's input is '{}', not '{}'", card.input, *said.input);
  if (said.size && *said.size != std::array{card.width, card.height})
    fail(ErrorCode::kInvalidFile, "the size is {}x{}, but the model takes {}x{} (width x height)", (*said.size)[0],
         (*said.size)[1], card.width, card.height);
  const bool gray = card.color == ChannelOrder::kGray;
  take(card.color, said.color);
  if (gray != (card.color == ChannelOrder::kGray))
    fail(ErrorCode::kInvalidFile, "the color is '{}', but the model takes {}",
         kColorNames[static_cast<std::size_t>(card.color)], gray ? "one channel" : "three channels");
  if (said.roi) card.roi = said.roi;
  take(card.resize, said.resize);
  take(card.resize_to, said.resize_to);
  take(card.pad, said.pad);
  take(card.scale, said.scale);
  take(card.mean, said.mean);
  take(card.std, said.std);
  if (card.resize == ResizeMode::kResizeCrop && card.resize_to == 0) card.resize_to = std::max(card.width, card.height);
  take(card.output, said.output);
  if (!said.strides.empty()) card.strides = said.strides;
  if (said.decoder != nullptr || said.output) fit_output(graph, card);
  if (!said.labels.empty()) card.labels = said.labels;
  take(card.multi_label, said.multi_label);
  take(card.softmax, said.softmax);
  card.origin = "card " + said.path.string();
  card.assumptions.clear();
}

std::string decoder_names() {
  std::string names;
  for (const Decoder& decoder : decoders()) names += fmt::format("{}{}", names.empty() ? "" : ", ", decoder.name);
  return names;
}

std::string card_schema() {
  std::string text = "| key | type | meaning |\n| --- | --- | --- |\n";
  for (const Key& key : kKeys)
    text += fmt::format("| `{}` | {} | {} |\n", full_name(key.section, key.name), key.type, key.meaning);
  return text;
}

}  // namespace saccade
