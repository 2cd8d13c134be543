#include "base/host_memory.hpp"

#include <sys/mman.h>

#include <new>

namespace saccade {

void HostMemory::Deleter::operator()(std::byte* memory) const {
  ::operator delete (memory, std::align_val_t{alignment});
}

HostMemory::HostMemory(std::size_t bytes) : memory_(nullptr, {bytes < kHugePage ? kAlignment : kHugePage}) {
  memory_.reset(static_cast<std::byte*>(::operator new (bytes, std::align_val_t{memory_.get_deleter().alignment})));
  // Refused by kernels without huge pages, which changes nothing.
  if (bytes >= kHugePage) madvise(memory_.get(), bytes, MADV_HUGEPAGE);
}

}  // namespace saccade
