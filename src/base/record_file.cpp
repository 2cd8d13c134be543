#include "base/record_file.hpp"

#include <utility>

namespace saccade {

RecordFile::RecordFile(const std::string& path, const Rotation& rotation, RecordForm form, Now now)
    : path_(path), rotation_(rotation), form_(std::move(form)), now_(now) {
  if (rotation.is_on() && !is_stream_path(path)) series_.emplace(path, rotation.keep);
  begin();
}

void RecordFile::begin() {
  // The names of a series are unbounded in number: its own name is claimed instead.
  if (series_)
    file_.emplace(series_->next(), OutputFile::Appears::kAtOnce, OutputPath::Claim::kChecked);
  else
    file_.emplace(path_, OutputFile::Appears::kAtOnce);
  bytes_ = 0;
  is_empty_ = true;
  if (form_.header.empty()) return;
  file_->write_header(form_.header);
  bytes_ = form_.header.size();
}

bool RecordFile::is_due(std::size_t bytes) const {
  if (!series_ || is_empty_) return false;
  if (rotation_.bytes > 0 && bytes_ + form_.separator.size() + bytes + form_.end.size() > rotation_.bytes) return true;
  return rotation_.period.count() > 0 && now_() - start_ >= rotation_.period;
}

void RecordFile::rotate() {
  // Taken first: a file that cannot be closed must not keep the next one from beginning.
  OutputFile finished = std::move(*file_);
  file_.reset();
  finished.close();
}

void RecordFile::append(std::string_view record) {
  if (file_ && !record.empty() && is_due(record.size())) rotate();
  if (!file_) begin();
  if (!record.empty()) {
    if (!is_empty_) file_->write(form_.separator);
    file_->write(record);
  }
  form_.end.empty() ? file_->flush() : file_->write_end(form_.end);
  if (record.empty()) return;
  bytes_ += record.size() + (is_empty_ ? 0 : form_.separator.size());
  if (std::exchange(is_empty_, false) && series_) start_ = now_();
}

void RecordFile::close(std::string_view last) {
  if (!file_) begin();
  file_->write(last);
  file_->write(form_.end);
  file_->close();
  if (series_) series_->finish();
}

}  // namespace saccade
