#include "cuda/executor/download.hpp"

#include <algorithm>
#include <cstring>

namespace saccade::cuda {
namespace {

std::size_t end_of(const std::vector<Copy>& outputs) {
  std::size_t end = 0;
  for (const Copy& output : outputs)
    end = std::max(end, static_cast<std::size_t>(output.to) + static_cast<std::size_t>(output.bytes));
  return end;
}

}  // namespace

Download::Download(Device& device, const std::vector<Copy>& outputs)
    : outputs_(outputs), bytes_(end_of(outputs)), transfer_(device, outputs.size(), bytes_) {
  for (PinnedMemory& place : places_) place = make_pinned(bytes_);
  poison();
}

void Download::prepare() {
  written_ = 1 - shown_;
  const CUdeviceptr place = address_of(places_[written_].get());
  std::ranges::transform(outputs_, transfer_.copies().begin(), [place](const Copy& output) {
    Copy copy = output;
    copy.to += place;
    return copy;
  });
}

void Download::poison() {
  for (const PinnedMemory& place : places_) std::memset(place.get(), 0xFF, bytes_);
}

}  // namespace saccade::cuda
