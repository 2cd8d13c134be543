#pragma once

// Entry points by which the driver calls kernels of any parameter types.
namespace {
namespace cpu {

template <int... I>
struct Indices {};
template <int N, int... I>
struct MakeIndices : MakeIndices<N - 1, N - 1, I...> {};
template <int... I>
struct MakeIndices<0, I...> {
  using type = Indices<I...>;
};

template <typename T>
constexpr bool kIsPointer = false;
template <typename T>
constexpr bool kIsPointer<T*> = true;
template <typename T>
constexpr bool kWrites = false;
template <typename T>
constexpr bool kWrites<T*> = true;
template <typename T>
constexpr bool kWrites<const T*> = false;

template <auto Kernel>
struct Call;
template <typename... P, void (*Kernel)(P...)>
struct Call<Kernel> {
  static constexpr saccade_emulator::Parameter kParameters[sizeof...(P) + 1] = {
      {sizeof(P), kIsPointer<P>, kWrites<P>}..., {0, false, false}};
  template <int... I>
  static void spread(void** arguments, Indices<I...>) {
    Kernel(*static_cast<P*>(arguments[I])...);
  }
  static void call(void** arguments) { spread(arguments, typename MakeIndices<sizeof...(P)>::type{}); }
  static constexpr saccade_emulator::Entry entry(const char* name, unsigned most_threads,
                                                 saccade_emulator::Index cluster, const char* const* declarations) {
    return {name, call, kParameters, sizeof...(P), most_threads, cluster, declarations};
  }
};

/// The arguments of __launch_bounds__ and __cluster_dims__.
constexpr unsigned bounds(unsigned threads = 0, unsigned = 0, unsigned = 0) { return threads; }
constexpr saccade_emulator::Index cluster(unsigned x = 1, unsigned y = 1, unsigned z = 1) { return {x, y, z}; }

}  // namespace cpu
}  // namespace
