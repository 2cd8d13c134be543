#include "vision/cards/card_file.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/input_file.hpp"
#include "vision/cards/card_field.hpp"
#include "vision/cards/second_card.hpp"

namespace saccade {
namespace {

constexpr std::uintmax_t kMostCardBytes = 16 << 20;  // including labels
constexpr float kMostUnclip = 10;

/// One key of a card: its documentation and its parser.
struct Key {
  std::string_view section;
  std::string_view name;
  std::string_view type;
  std::string_view meaning;
  void (*read)(const Field&, CardFile&);
};

constexpr Key kKeys[] = {
    {"", "task",
     "`detect`, `classify`, `segment`, `pose`, `obb`, `semantic`, `depth`, `upscale`, `embed`, `text` or "
     "`track`",
     "What the model does; follows from the (first) decoder.",
     [](const Field& f, CardFile& c) { c.task = f.choice<Task>(names_of<Task, kTasks>()); }},
    {"input", "name", "string", "The model's image input.", [](const Field& f, CardFile& c) { c.input = f.text(); }},
    {"input", "color", "`rgb`, `bgr` or `gray`", "The order of the tensor's channels.",
     [](const Field& f, CardFile& c) { c.color = f.choice<ChannelOrder>(kColorNames); }},
    {"input", "roi", "[x, y, width, height]", "The region of interest (ROI) in frame pixels.",
     [](const Field& f, CardFile& c) { c.roi = region_of(f); }},
    {"input", "resize", "`stretch`, `letterbox`, `letterbox-topleft`, `resize-crop` or `resize-crop-floor`",
     "How a frame is resized to the input: ignoring the aspect ratio; padded, centred or at the top left; or with its "
     "short side resized to `resize_to` pixels, then centre-cropped as in torchvision and timm, or (`-floor`) as in "
     "Hugging Face's image processors, which round the crop's corner down.",
     [](const Field& f, CardFile& c) { c.resize = f.choice<ResizeMode>(kResizeNames); }},
    {"input", "size", "[width, height]", "The input's size; must match the model.",
     [](const Field& f, CardFile& c) { c.size = f.integers<2>(1, 16384); }},
    {"input", "resize_to", "integer",
     "For `resize-crop` and `resize-crop-floor`: pixels of the short side before the crop.",
     [](const Field& f, CardFile& c) { c.resize_to = f.integer(1, 16384); }},
    {"input", "interpolation", "`bilinear`, `bilinear-antialias`, `bicubic`, `bicubic-antialias`, `area` or `nearest`",
     "How pixels are interpolated when a frame is resized: as in OpenCV (`INTER_LINEAR`, `INTER_CUBIC`, `INTER_AREA`, "
     "`INTER_NEAREST`), or as in Pillow, torchvision and timm (`-antialias`). The default follows from the decoder.",
     [](const Field& f, CardFile& c) { c.interpolation = f.choice<Interpolation>(kInterpolationNames); }},
    {"input", "pad", "0..255, or three", "The padding colour of a letterboxed frame, in the tensor's channel order.",
     [](const Field& f, CardFile& c) { c.pad = pad_of(f); }},
    {"input", "scale", "number", "The tensor is (pixel * scale - mean) / std, with pixels 0..255; not 0.",
     [](const Field& f, CardFile& c) {
       c.scale = f.number();
       if (*c.scale == 0) f.bad("other than 0");
     }},
    {"input", "mean", "number or three", "See `scale`; in the tensor's channel order.",
     [](const Field& f, CardFile& c) { c.mean = f.numbers(); }},
    {"input", "std", "number or three", "See `scale`; none may be 0.",
     [](const Field& f, CardFile& c) {
       c.std = f.numbers();
       if (std::ranges::find(*c.std, 0.0F) != c.std->end()) f.bad("other than 0");
     }},
    {"output", "name", "string or list of strings", "The output, or the outputs in order, that the decoder reads.",
     [](const Field& f, CardFile& c) { c.heads.back().outputs = texts_of(f, "a string or a list of strings"); }},
    {"output", "decoder", "name", "How the output is decoded: one of the decoders below.",
     [](const Field& f, CardFile& c) { c.heads.back().decoder = decoder_of(f); }},
    {"output", "labels", "list of strings, or the name of a file",
     "The class names. A file has one per line, ImageNet synsets (`n01440764 tench, Tinca tinca`) or Ultralytics' YAML "
     "(`names:`), and is in the card's folder.",
     [](const Field& f, CardFile& c) { c.heads.back().labels = labels_of(f); }},
    {"output", "anchors", "list of widths and heights",
     "For anchor-based heads: sizes in pixels, per level in the order of the outputs.",
     [](const Field& f, CardFile& c) { c.heads.back().anchors = anchors_of(f); }},
    {"output", "strides", "list of integers", "Pixels per cell, per level in the order of the outputs.",
     [](const Field& f, CardFile& c) { c.heads.back().strides = integers_of(f, 1, 1024); }},
    {"output", "conf", "0..1, or a list with one per class",
     "The default confidence threshold; `--conf` overrides it. For `classify` one number, and only with `sigmoid` or "
     "`multi_label`.",
     [](const Field& f, CardFile& c) { c.heads.back().conf = conf_of(f); }},
    {"output", "iou", "0..1",
     "The default IoU threshold of NMS; `--iou` overrides it. Only for decoders that need NMS.",
     [](const Field& f, CardFile& c) { c.heads.back().iou = f.share(); }},
    {"output", "remap", "list of integers",
     "The class ID of each of the output's classes, -1 to drop it. The labels are those of the resulting classes.",
     [](const Field& f, CardFile& c) { c.heads.back().remap = integers_of(f, -1, kMost); }},
    {"output", "multi_label", "true or false",
     "One detection per class above the threshold instead of the best class only, where a box has several scores. For "
     "`classify`: the scores are probabilities of independent classes; those above the threshold are reported.",
     [](const Field& f, CardFile& c) { c.heads.back().multi_label = f.flag(); }},
    {"output", "softmax", "true or false", "For `classify`: the output is logits of mutually exclusive classes.",
     [](const Field& f, CardFile& c) { c.heads.back().softmax = f.flag(); }},
    {"output", "sigmoid", "true or false",
     "For `classify` and `semantic`: the scores are logits of independent classes; excludes `softmax`.",
     [](const Field& f, CardFile& c) { c.heads.back().sigmoid = f.flag(); }},
    {"output", "keypoints", "integer", "Keypoints per object, where the output does not determine it.",
     [](const Field& f, CardFile& c) { c.heads.back().keypoints = f.integer(1, 1000); }},
    {"output", "depth", "`relative`, `metric` or `inverse`",
     "The meaning of the depth: larger is farther, metres, or larger is nearer.",
     [](const Field& f, CardFile& c) { c.heads.back().depth = f.choice<DepthKind>(names_of<DepthKind, 3>()); }},
    {"output", "normalize", "true or false", "For `embed`: the vector is divided by its L2 norm; true by default.",
     [](const Field& f, CardFile& c) { c.heads.back().normalize = f.flag(); }},
    {"output", "background", "integer",
     "For `semantic`: the class that is the background, which stays clear in drawings; -1: none. Class 0 by default if "
     "its label is `background`.",
     [](const Field& f, CardFile& c) { c.heads.back().background = f.integer(-1, kMost); }},
    {"output", "map_threshold", "0..1",
     "For `db`: cells of a greater probability are text (PaddleOCR's `thresh`); 0.3 by default.",
     [](const Field& f, CardFile& c) { c.heads.back().map_threshold = f.share(); }},
    {"output", "unclip_ratio", "number",
     "For `db`: each side of a box is moved out by area * `unclip_ratio` / perimeter; 1.5 by default.",
     [](const Field& f, CardFile& c) {
       c.heads.back().unclip_ratio = f.number();
       if (!(*c.heads.back().unclip_ratio >= 0 && *c.heads.back().unclip_ratio <= kMostUnclip))
         f.bad(fmt::format("a number in 0..{}", kMostUnclip));
     }},
    {"output", "characters", "list of strings, or the name of a file",
     "For `ctc`: the characters of the classes after the blank, C - 1 of them, or C - 2 if the last class is the "
     "space. "
     "A file has one per line and is in the card's folder.",
     [](const Field& f, CardFile& c) { c.heads.back().characters = labels_of(f); }},
    {"second", "model", "the name of a file",
     "The second model, which runs on the detected objects: an ONNX file or a plan in the card's folder.",
     [](const Field& f, CardFile& c) { name_second(f, *c.second); }},
    {"second", "shape", "list of integers", "The shape of its input, if that is dynamic: `[1, 3, 48, 320]`.",
     [](const Field& f, CardFile& c) { c.second->shape = integers_of(f, 1, kMost); }},
    {"second", "classes", "list of strings", "The classes whose objects are cropped, by name or ID; all by default.",
     [](const Field& f, CardFile& c) {
       c.second->classes = texts_of(f, "a list of strings: names or IDs of classes");
     }},
    {"second", "margin", "0..1", "Added to each side of a box, relative to its width or height; 0 by default.",
     [](const Field& f, CardFile& c) { c.second->margin = f.share(); }},
    {"second", "most", "1..1000", "Crops per frame, of the objects with the highest confidence; 16 by default.",
     [](const Field& f, CardFile& c) { c.second->most = f.integer(1, 1000); }},
    {"second", "align", "`box` or `five-points`",
     "What is cropped: the box, or the face that the similarity transform of five landmarks maps to ArcFace's "
     "template.",
     [](const Field& f, CardFile& c) { c.second->align = f.choice<CropAlign>(kCropAlignNames); }},
    {"track", "target", "string",
     "For `track`: the input that takes the image of the target; the smaller of two images by default.",
     [](const Field& f, CardFile& c) { c.track->input = f.text(); }},
    {"track", "target_factor", "number",
     "The square around the target that this image shows: its side, relative to the square root of the box's area; 2 "
     "by default.",
     [](const Field& f, CardFile& c) { c.track->target_factor = crop_factor(f); }},
    {"track", "search_factor", "number",
     "The same for the image in which the target is searched, around its last box; 4 by default.",
     [](const Field& f, CardFile& c) { c.track->search_factor = crop_factor(f); }},
};

/// Sections whose keys have the names of other sections' keys.
bool is_named_whole(std::string_view section) { return section == "second" || section == "track"; }

std::string full_name(std::string_view section, std::string_view name) {
  return section.empty() ? std::string(name) : fmt::format("{}.{}", section, name);
}

void read_table(const toml::table& table, std::string_view section, CardFile& card);

/// [input], [second], [track], [output], or each of [[output]].
void read_section(const Field& field, CardFile& card) {
  const bool is_output = field.name == "output";
  if (const toml::array* several = field.node.as_array(); several != nullptr && is_output) {
    for (const toml::node& entry : *several) {
      if (!entry.is_table()) field.bad("tables: [[output]]");
      card.heads.emplace_back();
      read_table(*entry.as_table(), field.name, card);
    }
    return;
  }
  if (!field.node.is_table()) field.bad(fmt::format("a table: [{}]", field.name));
  if (is_output) card.heads.emplace_back();
  if (field.name == "second") card.second.emplace();
  if (field.name == "track") card.track.emplace();
  read_table(*field.node.as_table(), field.name, card);
}

void read_table(const toml::table& table, std::string_view section, CardFile& card) {
  for (const auto& [key, node] : table) {
    const std::string_view name = key.str();
    if (section.empty() && (name == "input" || name == "output" || is_named_whole(name))) {
      read_section(Field{card.path, name, node}, card);
      continue;
    }
    const auto found =
        std::ranges::find_if(kKeys, [&](const Key& known) { return known.section == section && known.name == name; });
    const std::string full = full_name(section, name);
    if (found == std::end(kKeys)) {
      std::string known;
      for (const Key& k : kKeys) known += (known.empty() ? "" : ", ") + full_name(k.section, k.name);
      fail(ErrorCode::kInvalidFile, "{}:{}: '{}' is not a key of a card; the keys are {}", card.path.string(),
           key.source().begin.line, full, known);
    }
    auto& places = section == "output" ? card.heads.back().places : card.places;
    places[is_named_whole(section) ? full : std::string(name)] =
        fmt::format("{}:{}", card.path.string(), key.source().begin.line);
    found->read(Field{card.path, full, node}, card);
  }
}

/// Checks across keys.
void check(const CardFile& card) {
  if (card.heads.size() > 1 && !card.names_decoders())
    fail(ErrorCode::kInvalidFile, "{}: each of several outputs must name its decoder", card.path.string());
  const auto says_nothing = [](const HeadFile& head) { return head.places.empty(); };
  if (card.places.empty() && std::ranges::all_of(card.heads, says_nothing))
    fail(ErrorCode::kInvalidFile, "{}: the card has no keys: add one, or remove the card (docs/cards.md)",
         card.path.string());
  if (card.second && card.second->model.empty())
    fail(ErrorCode::kInvalidFile, "{}: [second] needs 'second.model', the file of the second model",
         card.path.string());
  for (const HeadFile& head : card.heads)
    if (head.softmax.value_or(false) && head.sigmoid.value_or(false))
      fail(ErrorCode::kInvalidFile, "{}: 'output.softmax' and 'output.sigmoid' exclude each other", card.path.string());
}

}  // namespace

namespace {

/// Parses the file PATH by PARSE.
template <typename Parse>
CardFile read_with(const std::filesystem::path& path, Parse parse) {
  CardFile card;
  card.path = path;
  try {
    read_table(parse(path.string()), "", card);
  } catch (const toml::parse_error& error) {
    fail(ErrorCode::kInvalidFile, "the card {}:{} can't be read: {}", path.string(), error.source().begin.line,
         error.description());
  }
  check(card);
  return card;
}

}  // namespace

CardFile read_card_file(const std::filesystem::path& path) {
  return read_with(path, [](const std::string& name) { return toml::parse(read_input(name, kMostCardBytes), name); });
}

CardFile parse_card_file(std::string_view text, const std::filesystem::path& path) {
  return read_with(path, [&](const std::string& name) { return toml::parse(text, name); });
}

bool CardFile::names_decoders() const {
  return !heads.empty() && std::ranges::all_of(heads, [](const HeadFile& head) { return head.decoder != nullptr; });
}

std::string decoder_names() {
  std::string names;
  for (const Decoder* decoder : decoders()) names += fmt::format("{}{}", names.empty() ? "" : ", ", decoder->name);
  return names;
}

std::string decoder_schema() {
  std::string text = "| decoder | task | reads | shapes |\n| --- | --- | --- | --- |\n";
  for (const Decoder* decoder : decoders())
    text += fmt::format("| `{}` | {} | {} | {} |\n", decoder->name, to_string(decoder->task), decoder->reads,
                        decoder->shapes);
  return text;
}

std::string card_schema() {
  std::string text = "| key | type | meaning |\n| --- | --- | --- |\n";
  for (const Key& key : kKeys)
    text += fmt::format("| `{}` | {} | {} |\n", full_name(key.section, key.name), key.type, key.meaning);
  return text;
}

}  // namespace saccade
