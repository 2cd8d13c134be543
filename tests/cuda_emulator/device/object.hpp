#pragma once

// What a kernel's object and the emulated driver know of each other. Freestanding: the object includes no system
// header, and finds the driver through pointers alone, since the driver is opened with RTLD_LOCAL.
namespace saccade_emulator {

struct Index {
  unsigned x, y, z;
};

/// Where a kernel called what it waits in, for messages and to tell whether threads wait in the same place.
struct Site {
  const char* what;
  const char* file;
  int line;
};

/// Called once all members of a group have arrived: MEMBERS holds what each passed, by its number; null: not a member.
using Combine = void (*)(void* const* members, unsigned count);

/// One an object: the driver fills it in before each block, and THREAD before a thread goes on.
struct Runtime {
  Index thread, block, threads, blocks;
  unsigned char* dynamic_shared;
  bool waited;  ///< for the kernel before: some thread has executed griddepcontrol.wait

  void (*wait_block)(const Site& site, void* mine, Combine combine);
  void (*wait_warp)(const Site& site, unsigned mask, void* mine, Combine combine);
  /// Begins a copy of BYTES, of which READ are read and the rest are zeros; nothing arrives before cp_async_wait.
  void (*cp_async)(const Site& site, void* to, const void* from, unsigned bytes, unsigned read);
  void (*cp_async_commit)();
  void (*cp_async_wait)(unsigned pending);

  // Barriers in shared memory (mbarrier), what is written in their name, and a cluster's own barrier.
  void (*mbarrier_init)(unsigned long long* barrier, unsigned arrivals);
  void (*mbarrier_arrive_expect_tx)(unsigned long long* barrier, int bytes);
  void (*mbarrier_arrive)(unsigned long long* barrier);
  /// Once the copies that the thread began by cp_async have arrived.
  void (*cp_async_mbarrier_arrive)(unsigned long long* barrier);
  void (*mbarrier_wait)(unsigned long long* barrier, unsigned parity);
  /// Until BARRIER is told, nothing has arrived.
  void (*cp_async_bulk)(void* shared, const void* global, unsigned bytes, unsigned long long* barrier);
  /// Stores BYTES at VALUE where block PEER of the cluster has SHARED; its BARRIER is told.
  void (*st_async_dsmem)(unsigned peer, void* shared, const void* value, unsigned bytes, unsigned long long* barrier);
  void (*cluster_arrive)();
  void (*cluster_wait)();

  /// Work on what BYTES at DATA say that the tensor cores do in the background: it is done when its group is waited
  /// for.
  void (*issue_wgmma)(void (*work)(const void* data), const void* data, unsigned bytes);
  void (*wgmma_commit)();
  void (*wgmma_wait)(unsigned pending);

  bool (*is_shared)(const void* address);
  /// Ends the process, naming kernel, block and thread.
  void (*fail)(const Site& site, const char* text);
};

struct Parameter {
  unsigned bytes;
  bool pointer;
};

struct Entry {
  const char* name;
  void (*call)(void** arguments);
  const Parameter* parameters;
  unsigned count;
  unsigned most_threads;  ///< __launch_bounds__; 0: none
  Index cluster;          ///< __cluster_dims__
};

/// Exported by every object as saccade_emulated_object.
struct Object {
  unsigned runtime_bytes;    ///< sizeof(Runtime): whether both were built from the same header
  const char* architecture;  ///< "sm_90a"
  Runtime* runtime;
  const Entry* entries;
  unsigned count;
  unsigned char* shared_begin;  ///< what is declared __shared__
  unsigned char* shared_end;
};

}  // namespace saccade_emulator
