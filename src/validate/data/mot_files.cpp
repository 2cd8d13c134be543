#include "validate/data/mot_files.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "base/error.hpp"
#include "base/input_file.hpp"
#include "validate/data/data_image.hpp"

namespace saccade {
namespace fs = std::filesystem;
namespace {

constexpr double kMostFrames = 1e7;
constexpr double kMostPixels = 1e6;

/// The lines of PATH, without their ends and empty ones. TAKE(line, number from 1).
template <typename Take>
void for_each_line(const fs::path& path, const Take& take) {
  std::ifstream file = open_input(path);
  std::size_t number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (!line.empty()) take(line, number);
  }
}

std::vector<double> numbers_of(std::string_view line, const fs::path& path, std::size_t place) {
  std::vector<double> numbers;
  for (std::size_t begin = 0; begin <= line.size();) {
    const std::size_t end = std::min(line.find(',', begin), line.size());
    std::string_view text = line.substr(begin, end - begin);
    while (text.starts_with(' ')) text.remove_prefix(1);
    while (text.ends_with(' ')) text.remove_suffix(1);
    double value = 0;
    const auto [last, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || last != text.data() + text.size() || !std::isfinite(value))
      fail(ErrorCode::kInvalidFile, "'{}', line {}: '{}' is not a number", path.string(), place, text);
    numbers.push_back(value);
    begin = end + 1;
  }
  return numbers;
}

/// "frame,id,left,top,width,height[,counts[,class,...]]".
class TruthReader {
 public:
  TruthReader(const fs::path& path, std::size_t frames, std::size_t labels) : path_(path), labels_(labels) {
    truth_.resize(frames);
    for_each_line(path, [this](const std::string& line, std::size_t place) { add(line, place); });
  }

  std::vector<std::vector<MotObject>> take() { return std::move(truth_); }

 private:
  void add(const std::string& line, std::size_t place) {
    const auto bad = [&](const std::string& why) {
      fail(ErrorCode::kInvalidFile, "'{}', line {}: {}", path_.string(), place, why);
    };
    const std::vector<double> n = numbers_of(line, path_, place);
    if (n.size() < 6) bad(fmt::format("{} numbers, not frame,id,left,top,width,height,...", n.size()));
    const auto is_integer = [](double value) { return value == std::floor(value); };
    if (!(n[0] >= 1 && n[0] <= kMostFrames && is_integer(n[0])))
      bad(fmt::format("the frame {} is not an integer from 1", n[0]));
    if (n[0] > static_cast<double>(truth_.size()))
      bad(fmt::format("frame {}, but the sequence has {} images", n[0], truth_.size()));
    if (!(std::abs(n[1]) <= 1e15 && is_integer(n[1]))) bad(fmt::format("the ID {} is not an integer", n[1]));
    for (std::size_t i = 2; i < 6; ++i)
      if (!(std::abs(n[i]) <= kMostPixels)) bad(fmt::format("{} pixels", n[i]));
    if (!(n[4] > 0 && n[5] > 0)) bad(fmt::format("a box of {} by {} pixels", n[4], n[5]));
    MotObject object{.id = static_cast<std::int64_t>(n[1]), .box = {n[2], n[3], n[2] + n[4], n[3] + n[5]}};
    object.counts = n.size() < 7 || n[6] != 0;
    // MOT15 has -1.
    if (n.size() > 7 && n[7] != -1) {
      if (!(n[7] >= 1 && n[7] <= 1000 && is_integer(n[7])))
        bad(fmt::format("the class {} is not an integer from 1", n[7]));
      if (labels_ > 0 && n[7] > static_cast<double>(labels_))
        bad(fmt::format("class {}, but labels.txt has {}", n[7], labels_));
      object.class_number = static_cast<int>(n[7]);
    }
    const auto frame = static_cast<std::size_t>(n[0]) - 1;
    if (!ids_.emplace(frame, object.id).second) bad(fmt::format("the ID {} is twice in frame {}", object.id, n[0]));
    truth_[frame].push_back(object);
  }

  const fs::path& path_;
  std::size_t labels_;
  std::vector<std::vector<MotObject>> truth_;
  std::set<std::pair<std::size_t, std::int64_t>> ids_;
};

/// KEY=VALUE lines.
std::map<std::string, std::string> read_ini(const fs::path& path) {
  std::map<std::string, std::string> values;
  for_each_line(path, [&](const std::string& line, std::size_t) {
    const std::size_t equals = line.find('=');
    if (equals != std::string::npos) values.emplace(line.substr(0, equals), line.substr(equals + 1));
  });
  return values;
}

std::vector<std::string> read_labels(const fs::path& sequence) {
  std::vector<std::string> labels;
  const fs::path path = sequence / "gt" / "labels.txt";
  if (!has_entry(path)) return labels;
  for_each_line(path, [&](const std::string& line, std::size_t) { labels.push_back(line); });
  if (labels.empty()) fail(ErrorCode::kInvalidFile, "'{}' has no class in it", path.string());
  return labels;
}

MotSequence read_sequence(const fs::path& folder, std::size_t labels) {
  MotSequence sequence{.name = fs::absolute(folder).lexically_normal().filename().string(), .images = {}, .frames = {}};
  fs::path images = folder / "img1";
  const fs::path about = folder / "seqinfo.ini";
  if (has_entry(about)) {
    const std::map<std::string, std::string> values = read_ini(about);
    if (const auto found = values.find("imDir"); found != values.end()) images = folder / found->second;
    if (const auto found = values.find("frameRate"); found != values.end()) {
      const std::string& text = found->second;
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), sequence.frame_rate);
      if (error != std::errc{} || end != text.data() + text.size() ||
          !(sequence.frame_rate > 0 && sequence.frame_rate < 1e4))
        fail(ErrorCode::kInvalidFile, "'{}': the frameRate '{}' is not a number of frames per second", about.string(),
             text);
    }
  }
  sequence.images = images_in(images);
  if (sequence.images.empty())
    fail(ErrorCode::kNotFound, "'{}' has no images: the frames of a sequence are in img1", images.string());
  sequence.frames = TruthReader(folder / "gt" / "gt.txt", sequence.images.size(), labels).take();
  return sequence;
}

bool is_sequence(const fs::path& folder) { return has_entry(folder / "gt" / "gt.txt"); }

std::vector<fs::path> sequences_in(const fs::path& folder) {
  if (is_sequence(folder)) return {folder};
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
    if (is_sequence(entry->path())) found.push_back(entry->path());
  if (error) fail(ErrorCode::kIo, "the folder '{}' can't be read: {}", folder.string(), error.message());
  if (found.empty())
    fail(ErrorCode::kNotFound, "'{}' has no gt/gt.txt, and neither has a folder in it", folder.string());
  std::ranges::sort(found);
  return found;
}

}  // namespace

MotFiles read_mot(const fs::path& folder) {
  MotFiles files;
  const std::vector<fs::path> folders = sequences_in(folder);
  files.labels = read_labels(folders.front());
  for (const fs::path& each : folders) {
    if (read_labels(each) != files.labels)
      fail(ErrorCode::kInvalidFile, "the classes of '{}' are not those of '{}' (gt/labels.txt)", each.string(),
           folders.front().string());
    files.sequences.push_back(read_sequence(each, files.labels.size()));
  }
  return files;
}

}  // namespace saccade
