#include "vision/labels/labels.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/error.hpp"

namespace saccade {
namespace {

constexpr std::array<std::string_view, 80> kCoco = {
    "person",         "bicycle",    "car",           "motorcycle",    "airplane",     "bus",           "train",
    "truck",          "boat",       "traffic light", "fire hydrant",  "stop sign",    "parking meter", "bench",
    "bird",           "cat",        "dog",           "horse",         "sheep",        "cow",           "elephant",
    "bear",           "zebra",      "giraffe",       "backpack",      "umbrella",     "handbag",       "tie",
    "suitcase",       "frisbee",    "skis",          "snowboard",     "sports ball",  "kite",          "baseball bat",
    "baseball glove", "skateboard", "surfboard",     "tennis racket", "bottle",       "wine glass",    "cup",
    "fork",           "knife",      "spoon",         "bowl",          "banana",       "apple",         "sandwich",
    "orange",         "broccoli",   "carrot",        "hot dog",       "pizza",        "donut",         "cake",
    "chair",          "couch",      "potted plant",  "bed",           "dining table", "toilet",        "tv",
    "laptop",         "mouse",      "remote",        "keyboard",      "cell phone",   "microwave",     "oven",
    "toaster",        "sink",       "refrigerator",  "book",          "clock",        "vase",          "scissors",
    "teddy bear",     "hair drier", "toothbrush"};

// IDs that COCO's annotations skip.
constexpr std::array kMissing = {12, 26, 29, 30, 45, 66, 68, 69, 71, 83};

/// Parses Python's repr() of a dict from int to str or of a list of str.
class NamesParser {
 public:
  explicit NamesParser(std::string_view text) : text_(text) {}

  std::vector<std::string> parse() {
    skip_space();
    const bool dictionary = peek() == '{';
    if (!dictionary && peek() != '[') bad("is neither a dictionary nor a list");
    ++at_;
    const char close = dictionary ? '}' : ']';
    std::vector<std::string> names;
    for (skip_space(); peek() != close; skip_space()) {
      const std::size_t id = dictionary ? key() : names.size();
      while (names.size() <= id) names.push_back(std::to_string(names.size()));
      skip_space();
      names[id] = string();
      skip_space();
      if (peek() == ',')
        ++at_;
      else if (peek() != close)
        bad("lacks a comma");
    }
    ++at_;
    skip_space();
    if (at_ != text_.size()) bad("goes on after its end");
    return names;
  }

 private:
  [[noreturn]] void bad(std::string_view why) const {
    fail(ErrorCode::kInvalidFile, "the model's class names {} at character {}: {:.80}", why, at_, text_);
  }
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void skip_space() {
    while (peek() == ' ' || peek() == '\n' || peek() == '\t') ++at_;
  }

  std::size_t key() {
    const char quote = peek() == '\'' || peek() == '"' ? text_[at_++] : '\0';
    int id = -1;
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), id);
    if (error != std::errc{} || id < 0 || id >= kMaxClasses) bad("have no class number");
    at_ = static_cast<std::size_t>(end - text_.data());
    if (quote != '\0' && peek() != quote) bad("lacks a quote");
    if (quote != '\0') ++at_;
    skip_space();
    if (peek() != ':') bad("lacks a colon");
    ++at_;
    return static_cast<std::size_t>(id);
  }

  std::string string() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') bad("lacks a quote");
    ++at_;
    std::string value;
    while (peek() != quote) {
      if (at_ >= text_.size()) bad("ends inside a name");
      const char c = text_[at_++];
      if (c == '\\')
        value += escape();
      else
        value += c;
    }
    ++at_;
    if (is_no_label(value)) bad("holds a name that is too long, or has a NUL,");
    return value;
  }

  char escape() {
    const char c = peek();
    ++at_;
    switch (c) {
      case 'n': return '\n';
      case 't': return '\t';
      case '\\':
      case '\'':
      case '"': return c;
      default: bad("holds an unknown escape sequence");
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

std::span<const std::string_view> coco_labels() { return kCoco; }

int coco_category(int class_id) {
  int category = class_id + 1;
  for (int missing : kMissing) category += category >= missing ? 1 : 0;
  return category;
}

bool are_coco(std::span<const std::string> labels) { return std::ranges::equal(labels, kCoco); }

std::vector<std::string> parse_python_names(std::string_view text) { return NamesParser(text).parse(); }

}  // namespace saccade
