#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>
#include <sstream>

#include "base/error.hpp"
#include "base/input_file.hpp"
#include "vision/labels/labels.hpp"

namespace saccade {
namespace {

// One line per class, of a hundred characters and more.
constexpr std::uintmax_t kMostBytes = 16 << 20;

using Lines = std::vector<std::string>;

Lines read_lines(const std::string& path) {
  std::istringstream file(read_input(path, kMostBytes));
  Lines lines;
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.find('\0') != std::string::npos)
      fail(ErrorCode::kInvalidFile, "{}:{}: this is not text; one label per line is expected", path, lines.size() + 1);
    lines.push_back(std::move(line));
    if (lines.size() > kMaxClasses) fail(ErrorCode::kInvalidFile, "{} has more than {} lines", path, kMaxClasses);
  }
  return lines;
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

/// "n01440764 tench, Tinca tinca": a WordNet ID, then the names.
bool is_synset(std::string_view line) {
  constexpr std::size_t kDigits = 8;
  return line.size() > kDigits + 2 && line[0] == 'n' && (line[kDigits + 1] == ' ' || line[kDigits + 1] == '\t') &&
         std::ranges::all_of(line.substr(1, kDigits), [](unsigned char c) { return std::isdigit(c) != 0; });
}

std::string first_name(std::string_view synset) {
  const std::string_view names = trimmed(synset.substr(synset.find_first_of(" \t")));
  return std::string(trimmed(names.substr(0, names.find(','))));
}

/// The subset of YAML in such files: a key `names` with a list or map of scalars, in block or flow style.
class NamesOfYaml {
 public:
  NamesOfYaml(const std::string& path, const Lines& lines) : path_(path), lines_(lines) {}

  std::vector<std::string> read() {
    while (at_ < lines_.size() && !lines_[at_].starts_with("names:")) ++at_;
    if (at_ == lines_.size()) fail(ErrorCode::kInvalidFile, "{} has no key 'names' with the classes' names", path_);
    const std::string_view rest = without_comment(std::string_view(lines_[at_]).substr(6));
    rest.empty() ? read_block() : read_brackets(rest);
    std::vector<std::string> labels;
    for (const auto& [id, name] : names_) {
      while (static_cast<int>(labels.size()) < id) labels.push_back(std::to_string(labels.size()));
      labels.push_back(name);
    }
    return labels;
  }

 private:
  [[noreturn]] void bad(std::string_view why) const {
    fail(ErrorCode::kInvalidFile, "{}:{}: {}: {:.80}", path_, std::min(at_ + 1, lines_.size()), why,
         lines_[std::min(at_, lines_.size() - 1)]);
  }

  /// Trimmed, without a comment: a # outside of quotes, after a space.
  static std::string_view without_comment(std::string_view text) {
    char quote = '\0';
    for (std::size_t i = 0; i < text.size(); ++i) {
      const char c = text[i];
      if (quote != '\0')
        quote = c == quote ? '\0' : quote;
      else if ((c == '\'' || c == '"') && (i == 0 || !std::isalnum(static_cast<unsigned char>(text[i - 1]))))
        quote = c;
      else if (c == '#' && (i == 0 || text[i - 1] == ' ' || text[i - 1] == '\t'))
        return trimmed(text.substr(0, i));
    }
    return trimmed(text);
  }

  std::string scalar(std::string_view text) const {
    if (text.empty()) bad("a name is missing");
    const char quote = text[0];
    if (quote != '\'' && quote != '"') return std::string(text);
    if (text.size() < 2 || text.back() != quote) bad("a quote is not closed");
    std::string name;
    for (std::size_t i = 1; i + 1 < text.size(); ++i) {
      const bool doubled = quote == '\'' && text[i] == quote && i + 2 < text.size() && text[i + 1] == quote;
      if (doubled || (quote == '"' && text[i] == '\\' && i + 2 < text.size())) ++i;
      name += text[i];
    }
    return name;
  }

  void add(int id, std::string name) {
    if (id >= kMaxClasses) bad("a class ID is too large");
    if (!names_.emplace(id, std::move(name)).second) bad("a class has two names");
  }
  void add_item(std::string_view text) { add(static_cast<int>(names_.size()), scalar(text)); }
  void add_pair(std::string_view text) {
    int id = -1;
    std::string_view number = trimmed(text.substr(0, text.find(':')));
    if (number.size() > 2 && (number[0] == '\'' || number[0] == '"')) number = number.substr(1, number.size() - 2);
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), id);
    if (error != std::errc{} || end != number.data() + number.size() || id < 0 || text.find(':') == text.npos)
      bad("'names' must be a list, or a map from class numbers to names");
    add(id, scalar(trimmed(text.substr(text.find(':') + 1))));
  }

  void read_block() {
    bool is_list = false;
    for (++at_; at_ < lines_.size(); ++at_) {
      const std::string_view text = without_comment(lines_[at_]);
      if (text.empty()) continue;
      const bool item = text == "-" || text.starts_with("- ");
      if (lines_[at_][0] != ' ' && lines_[at_][0] != '\t' && !item) break;  // the next key
      if (names_.empty()) is_list = item;
      if (item != is_list) bad("a list and a map are mixed");
      item ? add_item(trimmed(text.substr(1))) : add_pair(text);
    }
  }

  void read_brackets(std::string_view first) {
    const char open = first[0];
    if (open != '[' && open != '{') bad("'names' must be a list, or a map from class numbers to names");
    const char close = open == '[' ? ']' : '}';
    std::string text(first.substr(1));
    while (text.empty() || text.back() != close) {
      if (++at_ == lines_.size()) bad("'names' has no end");
      text += ' ';
      text += without_comment(lines_[at_]);
      text = std::string(trimmed(text));
    }
    text.pop_back();
    const auto take = [&](std::string_view entry) {
      if (!entry.empty()) open == '[' ? add_item(entry) : add_pair(entry);
    };
    char quote = '\0';
    std::size_t begin = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
      const char c = text[i];
      // A name is quoted if it begins with a quote, after its number if there is one.
      const std::string_view before = trimmed(std::string_view(text).substr(begin, i - begin));
      const bool opens = (c == '\'' || c == '"') && (before.empty() || before.find(':') != before.npos);
      if (quote != '\0') {
        quote = c == quote ? '\0' : quote;
      } else if (opens) {
        quote = c;
      } else if (c == ',') {
        take(before);
        begin = i + 1;
      }
    }
    take(trimmed(std::string_view(text).substr(begin)));
  }

  const std::string& path_;
  const Lines& lines_;
  std::size_t at_ = 0;
  std::map<int, std::string> names_;
};

}  // namespace

std::vector<std::string> read_labels(const std::string& path) {
  const Lines lines = read_lines(path);
  std::vector<std::string> labels;
  if (path.ends_with(".yaml") || path.ends_with(".yml")) {
    labels = NamesOfYaml(path, lines).read();
  } else {
    for (const std::string& line : lines)
      if (!line.empty()) labels.push_back(line);
    if (std::ranges::all_of(labels, is_synset)) std::ranges::transform(labels, labels.begin(), first_name);
  }
  if (const auto found = std::ranges::find_if(labels, is_no_label); found != labels.end())
    fail(ErrorCode::kInvalidFile, "{}: the label {} has {} bytes, more than the limit of {}", path,
         found - labels.begin(), found->size(), kMaxLabelBytes);
  if (labels.empty()) fail(ErrorCode::kInvalidFile, "{} holds no labels: one per line is expected", path);
  return labels;
}

}  // namespace saccade
