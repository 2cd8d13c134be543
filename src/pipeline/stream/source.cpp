#include "saccade/source.hpp"

#include "base/error.hpp"
#include "media/source_list.hpp"
#include "pipeline/stream/custom_reader.hpp"
#include "pipeline/stream/source_impl.hpp"

namespace saccade {

void Source::Impl::take() {
  if (taken_.exchange(true))
    fail(ErrorCode::kInvalidArgument, "{} was already read by a pipeline; open it again", info().name);
}

Source Source::open(const std::string& uri, const SourceOptions& options) {
  return source_of(open_source(uri, options));
}

Source Source::from(std::unique_ptr<CustomSource> reader) { return source_of(read_custom(std::move(reader))); }

std::vector<Source> Source::open_all(const std::vector<std::string>& uris, const SourceOptions& options) {
  std::vector<Source> sources;
  for (auto& reader : open_readers(uris, options)) sources.push_back(source_of(std::move(reader)));
  return sources;
}

std::vector<Source> Source::open_listed(const std::vector<ListedSource>& listed, const SourceOptions& options) {
  std::vector<Source> sources;
  for (auto& reader : saccade::open_listed(listed, options)) sources.push_back(source_of(std::move(reader)));
  return sources;
}

const SourceInfo& Source::info() const { return impl_->info(); }

}  // namespace saccade
