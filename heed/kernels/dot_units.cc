#include "heed/kernels/dot_units.h"

#include <hwy/detect_targets.h>

#include "heed/kernels/dot_features.h"
#include "heed/kernels/tile_products.h"

#if HWY_ARCH_X86_64 && defined(__linux__)
#include <immintrin.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <numeric>
#endif

namespace heed::kernels {

#if HWY_ARCH_X86_64 && defined(__linux__)
namespace {

// All factors are one, so that an element's sum counts its multiply-adds. The compiler must not know that.
template <typename T>
T unknown(T number) {
  const volatile T kept = number;
  return kept;
}

constexpr int kChains = 16;

__attribute__((target("avx512f,avx512bf16"))) Index avx512_bf16(Index steps) {
  const auto one = reinterpret_cast<__m512bh>(_mm512_set1_epi16(unknown<short>(0x3F80)));
  __m512 chains[kChains];
  for (__m512& chain : chains) chain = _mm512_set1_ps(unknown(0.0f));
  for (Index step = 0; step < steps; ++step) {
#pragma GCC unroll 16
    for (int i = 0; i < kChains; ++i) chains[i] = _mm512_dpbf16_ps(chains[i], one, one);
  }
  double total = 0;
  for (const __m512 chain : chains) {
    alignas(64) float lanes[16];
    _mm512_store_ps(lanes, chain);
    total = std::accumulate(lanes, lanes + 16, total);
  }
  return static_cast<Index>(total);
}

__attribute__((target("avx512f,avx512vnni"))) Index avx512_vnni(Index steps) {
  const __m512i one = _mm512_set1_epi8(unknown<char>(1));
  __m512i chains[kChains];
  for (__m512i& chain : chains) chain = _mm512_set1_epi32(unknown(0));
  for (Index step = 0; step < steps; ++step) {
#pragma GCC unroll 16
    for (int i = 0; i < kChains; ++i) chains[i] = _mm512_dpbusd_epi32(chains[i], one, one);
  }
  Index total = 0;
  for (const __m512i chain : chains) {
    alignas(64) std::int32_t lanes[16];
    _mm512_store_si512(lanes, chain);
    total = std::accumulate(lanes, lanes + 16, total);
  }
  return total;
}

// Of the eight tiles, four are sums, which hide the latency, and two are of each factor. What the tiles' asm statements
// read lies in memory for good: GCC 12 is not told that they read it.
constexpr int kTileRow = 64, kTileNumbers = 256;

template <typename T>
struct alignas(64) TileOfOnes {
  T numbers[16 * kTileRow / sizeof(T)];
  constexpr explicit TileOfOnes(T one) : numbers() { std::ranges::fill(numbers, one); }
};
constexpr TileOfOnes<std::uint16_t> kBf16Ones(0x3F80);
constexpr TileOfOnes<std::int8_t> kInt8Ones(1);

// Sets the tiles of sums to zero and loads the factors. The registers keep that for the steps that follow.
__attribute__((target("amx-tile"))) void load_tiles(const void* factor) {
  open_tiles(kTileSide);
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  _tile_loadd(4, factor, kTileRow);
  _tile_loadd(5, factor, kTileRow);
  _tile_loadd(6, factor, kTileRow);
  _tile_loadd(7, factor, kTileRow);
}

template <typename Sum>
__attribute__((target("amx-tile"))) Index take_sums() {
  alignas(64) Sum sums[4 * kTileNumbers];
  _tile_stored(0, sums, kTileRow);
  _tile_stored(1, sums + kTileNumbers, kTileRow);
  _tile_stored(2, sums + 2 * kTileNumbers, kTileRow);
  _tile_stored(3, sums + 3 * kTileNumbers, kTileRow);
  close_tiles();
  return static_cast<Index>(std::accumulate(sums, sums + 4 * kTileNumbers, 0.0));
}

__attribute__((target("amx-tile,amx-bf16"))) Index amx_bf16(Index steps) {
  load_tiles(&kBf16Ones);
  for (Index step = 0; step < steps; ++step) {
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(1, 4, 7);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  }
  return take_sums<float>();
}

__attribute__((target("amx-tile,amx-int8"))) Index amx_int8(Index steps) {
  load_tiles(&kInt8Ones);
  for (Index step = 0; step < steps; ++step) {
    _tile_dpbssd(0, 4, 6);
    _tile_dpbssd(1, 4, 7);
    _tile_dpbssd(2, 5, 6);
    _tile_dpbssd(3, 5, 7);
  }
  return take_sums<std::int32_t>();
}

// A unit, and whether this processor has it.
struct Candidate {
  bool there;
  DotUnit unit;
};

std::vector<DotUnit> those_there(std::initializer_list<Candidate> candidates) {
  std::vector<DotUnit> units;
  for (const Candidate& candidate : candidates) {
    if (candidate.there) units.push_back(candidate.unit);
  }
  return units;
}

}  // namespace

std::vector<DotUnit> bf16_units() {
  const DotFeatures has = dot_features();
  return those_there({{has.amx_bf16, {"AMX-BF16", amx_bf16}}, {has.avx512_bf16, {"AVX512-BF16", avx512_bf16}}});
}

std::vector<DotUnit> int8_units() {
  const DotFeatures has = dot_features();
  return those_there({{has.amx_int8, {"AMX-INT8", amx_int8}}, {has.avx512_vnni, {"AVX512-VNNI", avx512_vnni}}});
}

#else

std::vector<DotUnit> bf16_units() { return {}; }
std::vector<DotUnit> int8_units() { return {}; }

#endif

}  // namespace heed::kernels
