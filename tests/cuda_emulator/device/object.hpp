#pragma once

// ABI between a kernel's object and the emulated driver. Freestanding: the object includes no system header and calls
// the driver through pointers, since the driver is opened with RTLD_LOCAL.
namespace saccade_emulator {

struct Index {
  unsigned x, y, z;
};

/// Source location of a call, for messages and to check that threads wait at the same one.
struct Site {
  const char* what;
  const char* file;
  int line;
};

/// Called when all members of a group have arrived. MEMBERS holds each one's argument by number; null: not a member.
using Combine = void (*)(void* const* members, unsigned count);

/// One per object. The driver fills it in before each block, and THREAD before a thread resumes.
struct Runtime {
  Index thread, block, threads, blocks;
  unsigned char* dynamic_shared;
  bool waited;       ///< some thread has executed griddepcontrol.wait
  bool before_wait;  ///< the running thread has not, and the kernel may overlap the one before it

  void (*wait_block)(const Site& site, void* mine, Combine combine);
  void (*wait_warp)(const Site& site, unsigned mask, void* mine, Combine combine);
  /// Issues a cp.async of BYTES, of which READ are read and the rest zero-filled; it completes in cp_async_wait.
  void (*cp_async)(const Site& site, void* to, const void* from, unsigned bytes, unsigned read);
  void (*cp_async_commit)();
  void (*cp_async_wait)(unsigned pending);

  // mbarriers, the asynchronous writes that complete on them, and the cluster barrier.
  void (*mbarrier_init)(unsigned long long* barrier, unsigned arrivals);
  void (*mbarrier_arrive_expect_tx)(unsigned long long* barrier, int bytes);
  void (*mbarrier_arrive)(unsigned long long* barrier);
  /// Arrives when the thread's prior cp.async operations have completed.
  void (*cp_async_mbarrier_arrive)(unsigned long long* barrier);
  void (*mbarrier_wait)(unsigned long long* barrier, unsigned parity);
  /// Not visible before BARRIER's phase completes.
  void (*cp_async_bulk)(void* shared, const void* global, unsigned bytes, unsigned long long* barrier);
  /// Stores BYTES of VALUE to SHARED in block PEER of the cluster; completes on its BARRIER.
  void (*st_async_dsmem)(unsigned peer, void* shared, const void* value, unsigned bytes, unsigned long long* barrier);
  void (*cluster_arrive)();
  void (*cluster_wait)();

  /// Issues WORK on the BYTES at DATA; it is executed when its wgmma group is waited for.
  void (*issue_wgmma)(void (*work)(const void* data), const void* data, unsigned bytes);
  void (*wgmma_commit)();
  void (*wgmma_wait)(unsigned pending);

  /// Aborts if another kernel may still write the BYTES at ADDRESS, or read them if this thread WRITES them.
  void (*access_before_wait)(const void* address, unsigned long bytes, bool writes);

  const unsigned char* shadow;  ///< of address 0, in a process with AddressSanitizer, else null
  /// Aborts if AddressSanitizer poisons any of the BYTES at ADDRESS: no memory, freed memory or a guard.
  void (*access_poisoned)(const void* address, unsigned long bytes, bool writes);

  bool (*is_shared)(const void* address);
  /// Aborts the process with kernel, block and thread.
  void (*fail)(const Site& site, const char* text);
};

struct Parameter {
  unsigned bytes;
  bool pointer;
  bool writes;  ///< a pointer to what is not const
};

struct Entry {
  const char* name;
  void (*call)(void** arguments);
  const Parameter* parameters;
  unsigned count;
  unsigned most_threads;            ///< __launch_bounds__; 0: none
  Index cluster;                    ///< __cluster_dims__
  const char* const* declarations;  ///< of the parameters; null: unknown
};

/// Exported by every object as saccade_emulated_object.
struct Object {
  unsigned runtime_bytes;    ///< sizeof(Runtime): whether both were built from the same header
  const char* architecture;  ///< "sm_90a"
  Runtime* runtime;
  const Entry* entries;
  unsigned count;
  unsigned char* shared_begin;  ///< static __shared__ memory
  unsigned char* shared_end;
};

}  // namespace saccade_emulator
