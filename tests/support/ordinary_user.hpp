#pragma once

#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

namespace saccade::test {

/// While it exists, file permissions apply to the calling thread even if it is root's: containers run tests as root.
class OrdinaryUser {
 public:
  OrdinaryUser() {
    call(SYS_capget, held_);
    Sets fewer = held_;
    fewer[0].effective &= ~((1U << CAP_DAC_OVERRIDE) | (1U << CAP_DAC_READ_SEARCH));
    call(SYS_capset, fewer);
  }
  OrdinaryUser(const OrdinaryUser&) = delete;
  OrdinaryUser& operator=(const OrdinaryUser&) = delete;
  ~OrdinaryUser() { call(SYS_capset, held_); }

 private:
  using Sets = std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3>;

  static void call(long number, Sets& sets) {
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    if (syscall(number, &header, sets.data()) != 0)
      throw std::system_error(errno, std::generic_category(), "the thread's capabilities");
  }

  Sets held_{};
};

}  // namespace saccade::test
