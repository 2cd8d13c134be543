#include "base/file_series.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <string_view>

#include "base/error.hpp"
#include "base/file_registry.hpp"
#include "base/log.hpp"

namespace saccade {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kDigits = 6;

/// The number in NAME, STEM 000001 ENDING; 0 if it is not such a name.
std::uint64_t number_in(std::string_view name, std::string_view stem, std::string_view ending) {
  if (!name.starts_with(stem) || !name.ends_with(ending) || name.size() < stem.size() + kDigits + ending.size())
    return 0;
  name.remove_prefix(stem.size());
  name.remove_suffix(ending.size());
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  return error == std::errc() && end == name.data() + name.size() ? number : 0;
}

bool is_there(const std::string& path) {
  std::error_code unknown;  // opening the file reports it
  return fs::exists(fs::symlink_status(path, unknown));
}

}  // namespace

FileSeries::FileSeries(const std::string& path, std::size_t keep) : keep_(keep) {
  const fs::path target = behind_links(path);
  std::error_code error;
  if (!target.has_filename() || fs::is_directory(target, error))
    fail(ErrorCode::kIo, "can't write {}: it is a folder", path);
  claim_output(target);
  if (target.has_parent_path()) folder_ = (target.parent_path() / "").string();
  stem_ = target.stem().string() + "-";
  ending_ = target.extension().string();
  std::uint64_t highest = 0;
  for (fs::directory_iterator entry(folder_.empty() ? "." : folder_, error), end; !error && entry != end;
       entry.increment(error))
    highest = std::max(highest, number_in(entry->path().filename().string(), stem_, ending_));
  number_ = highest + 1;
}

std::string FileSeries::name_of(std::uint64_t number) const {
  return fmt::format("{}{}{:0{}}{}", folder_, stem_, number, kDigits, ending_);
}

const std::string& FileSeries::next() {
  finish();
  current_ = name_of(number_);
  while (is_there(current_)) current_ = name_of(++number_);  // of another run
  return current_;
}

void FileSeries::finish() {
  if (current_.empty()) return;
  const std::string name = std::exchange(current_, {});
  if (!is_there(name)) return;
  ++number_;
  if (keep_ == 0) return;
  finished_.push_back(name);
  for (; finished_.size() > keep_; finished_.pop_front()) {
    std::error_code error;
    fs::remove(finished_.front(), error);
    if (error) log(LogLevel::kWarning, "can't remove {}: {}", finished_.front(), error.message());
  }
}

}  // namespace saccade
