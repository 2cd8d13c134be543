#include "saccade/source.hpp"

#include "base/error.hpp"
#include "pipeline/stream/source_impl.hpp"

namespace saccade {

void Source::Impl::take() {
  if (taken_.exchange(true))
    fail(ErrorCode::kInvalidArgument, "{} was already read by a pipeline; open it again", info().name);
}

Source Source::open(const std::string& uri) { return source_of(open_reader(uri)); }

const SourceInfo& Source::info() const { return impl_->info(); }

}  // namespace saccade
