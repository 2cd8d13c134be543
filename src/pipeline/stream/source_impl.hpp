#pragma once

#include <atomic>
#include <memory>

#include "media/frame_reader.hpp"
#include "pipeline/model/impl_access.hpp"

namespace saccade {

class Source::Impl {
 public:
  explicit Impl(std::unique_ptr<FrameReader> reader) : reader_(std::move(reader)) {}

  FrameReader& reader() { return *reader_; }
  const SourceInfo& info() const { return reader_->info(); }
  /// Acquires the source for one pipeline. Throws Error if it is already in use.
  void take();

 private:
  std::unique_ptr<FrameReader> reader_;
  std::atomic<bool> taken_{false};
};

/// The source that READER reads.
inline Source source_of(std::unique_ptr<FrameReader> reader) { return ImplAccess::make<Source>(std::move(reader)); }

}  // namespace saccade
