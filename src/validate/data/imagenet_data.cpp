#include <algorithm>
#include <fstream>
#include <map>

#include "base/error.hpp"
#include "base/input_file.hpp"
#include "validate/data/data_set.hpp"
#include "validate/data/heads.hpp"
#include "validate/data/top_evaluator.hpp"

namespace saccade {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kSynsetLength = 9;  // "n01440764"

bool starts_with_synset(std::string_view text) {
  if (text.size() < kSynsetLength || text[0] != 'n') return false;
  return std::ranges::all_of(text.substr(1, kSynsetLength - 1), [](char c) { return c >= '0' && c <= '9'; });
}

struct Synsets {
  std::string path;  ///< the file that lists them
  std::vector<std::string> numbers;
  std::vector<std::string> names;
};

/// Reads one synset per line, "n01440764 tench, Tinca tinca" or a file name that starts with one.
Synsets read_synsets(const fs::path& path) {
  Synsets synsets{.path = path.string(), .numbers = {}, .names = {}};
  std::ifstream file = open_input(path);
  std::size_t number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.empty()) continue;
    if (!starts_with_synset(line))
      fail(ErrorCode::kInvalidFile, "'{}', line {}: '{:.40}' does not start with a synset such as n01440764",
           path.string(), number, line);
    synsets.numbers.push_back(line.substr(0, kSynsetLength));
    const std::string rest = line.size() > kSynsetLength ? line.substr(kSynsetLength + 1) : std::string();
    synsets.names.push_back(rest.empty() ? synsets.numbers.back() : rest.substr(0, rest.find(',')));
  }
  return synsets;
}

/// The class order; empty if the folder does not define it.
Synsets find_synsets(const fs::path& folder) {
  for (const char* name :
       {"synset.txt", "synsets.txt", "synset_words.txt", "LOC_synset_mapping.txt", "class_order.txt"}) {
    if (!has_entry(folder / name)) continue;
    Synsets synsets = read_synsets(folder / name);
    if (synsets.numbers.empty()) fail(ErrorCode::kInvalidFile, "'{}' lists no synsets", (folder / name).string());
    return synsets;
  }
  return {};
}

class ImagenetData final : public DataSet {
 public:
  explicit ImagenetData(const fs::path& folder) : synsets_(find_synsets(folder)) {
    std::error_code error;
    const bool is_split = fs::is_directory(folder / "val", error);
    const fs::path root = is_split ? folder / "val" : folder;
    add_folders(root);
    if (images_.empty()) add_flat(root);
    if (images_.empty())
      fail(ErrorCode::kNotFound,
           "'{}' has no ImageNet images: neither folders val/n01440764 nor files n01440764_tench.JPEG",
           folder.string());
    for (std::size_t i = 0; i < synsets_.numbers.size(); ++i) place_.emplace(synsets_.numbers[i], static_cast<int>(i));
    for (std::size_t i = 0; i < images_.size(); ++i)
      if (!place_.contains(synset_of_[i]))
        fail(ErrorCode::kInvalidFile, "'{}' is of the synset {}, which '{}' does not list", images_[i].file,
             synset_of_[i], synsets_.path);
  }

  std::span<const DataImage> images() const override { return images_; }
  std::string contents() const override { return fmt::format("{} classes", synsets_.numbers.size()); }

  std::unique_ptr<Evaluator> make_evaluator(const Model& model, CocoResults* /*results*/) const override {
    const std::vector<int> model_class = match(model);
    std::map<int, std::string> names;
    Score::Truth known{.file = synsets_.path, .classes = {}};
    for (std::size_t i = 0; i < model_class.size(); ++i) {
      if (model_class[i] < 0) continue;
      names.emplace(model_class[i], synsets_.names[i]);
      known.classes.push_back(synsets_.numbers[i]);
    }
    std::vector<int> truth;
    for (const std::string& synset : synset_of_)
      truth.push_back(model_class[static_cast<std::size_t>(place_.at(synset))]);
    const auto strange = static_cast<std::size_t>(std::ranges::count(truth, -1));
    if (strange == truth.size())
      fail(ErrorCode::kInvalidArgument,
           "none of the images belongs to a class of {}: its labels name other synsets than '{}'", model.name(),
           synsets_.path);
    std::vector<std::string> notes;
    if (strange > 0)
      notes.push_back(fmt::format("{} of the {} images are skipped: {} has no class for their synsets", strange,
                                  truth.size(), model.name()));
    return std::make_unique<TopEvaluator>(std::move(truth), std::move(names), std::move(known), std::move(notes));
  }

 private:
  void add(const fs::path& file, const std::string& synset) {
    images_.push_back({.file = file.string(), .id = static_cast<std::int64_t>(images_.size()), .said_by = {}});
    synset_of_.push_back(synset);
  }

  void add_folders(const fs::path& root) {
    std::vector<fs::path> folders;
    std::error_code error;
    for (fs::directory_iterator entry(root, error), end; !error && entry != end; entry.increment(error))
      if (entry->is_directory() && starts_with_synset(entry->path().filename().string()))
        folders.push_back(entry->path());
    if (error) fail(ErrorCode::kIo, "the folder '{}' can't be read: {}", root.string(), error.message());
    std::ranges::sort(folders);
    for (const fs::path& each : folders)
      for (const fs::path& file : images_in(each)) add(file, each.filename().string());
    if (folders.empty() || !synsets_.numbers.empty()) return;
    // All classes have a folder: the order is that of the names, as in torchvision's ImageFolder.
    synsets_.path = root.string();
    for (const fs::path& each : folders) synsets_.numbers.push_back(each.filename().string());
    synsets_.names = synsets_.numbers;
  }

  void add_flat(const fs::path& root) {
    for (const fs::path& file : images_in(root)) {
      const std::string name = file.filename().string();
      if (!starts_with_synset(name)) continue;
      if (synsets_.numbers.empty())
        fail(ErrorCode::kNotFound,
             "'{}' does not define the order of the classes: put synset.txt there, one synset per line", root.string());
      add(file, name.substr(0, kSynsetLength));
    }
  }

  /// The model's class ID of every synset; -1: none.
  std::vector<int> match(const Model& model) const {
    const std::vector<std::string>& labels = need_head(model, {Task::kClassify}, "imagenet:", "image classes").labels;
    std::vector<int> found;
    const bool has_synsets = std::ranges::any_of(labels, starts_with_synset);
    if (has_synsets) {
      for (const std::string& number : synsets_.numbers) {
        const auto at =
            std::ranges::find_if(labels, [&](const std::string& label) { return label.starts_with(number); });
        found.push_back(at == labels.end() ? -1 : static_cast<int>(at - labels.begin()));
      }
      return found;
    }
    const std::size_t count = synsets_.numbers.size();
    // TensorFlow's ImageNet classifiers have a background class 0.
    const bool has_background = count == 1000 && labels.size() == 1001;
    if (!labels.empty() && labels.size() != count && !has_background)
      fail(ErrorCode::kInvalidArgument, "{} has {} classes, but '{}' has {}", model.name(), labels.size(),
           synsets_.path, count);
    for (std::size_t i = 0; i < count; ++i) found.push_back(static_cast<int>(i) + (has_background ? 1 : 0));
    return found;
  }

  Synsets synsets_;
  std::map<std::string, int> place_;  ///< by synset
  std::vector<DataImage> images_;
  std::vector<std::string> synset_of_;  ///< by image
};

}  // namespace

std::unique_ptr<DataSet> open_imagenet(const fs::path& folder) { return std::make_unique<ImagenetData>(folder); }

}  // namespace saccade
