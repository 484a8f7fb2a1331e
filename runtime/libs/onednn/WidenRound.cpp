// SPDX-License-Identifier: Apache-2.0
// AVX2 forms where the processor has them, else the scalar definitions.
#include "runtime/libs/onednn/WidenRound.h"

#include "runtime/base/Float16.h"

#include <algorithm>
#include <omp.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace halftone::runtime::onednn {
namespace {

/// Below this many elements a second thread costs more than it saves.
constexpr int64_t kGrain = 1 << 15;

using Widen = void (*)(const uint16_t *, float *, int64_t);
using Round = void (*)(const float *, uint16_t *, int64_t);

template <float (*convert)(uint16_t)>
void widenEach(const uint16_t *source, float *destination, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    destination[i] = convert(source[i]);
}

template <uint16_t (*convert)(float)>
void roundEach(const float *source, uint16_t *destination, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    destination[i] = convert(source[i]);
}

#if defined(__x86_64__)
bool hasVectorForms() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("f16c");
}

__attribute__((target("avx2,f16c"))) void
widenFloat16(const uint16_t *source, float *destination, int64_t count) {
  int64_t i = 0;
  for (; i + 8 <= count; i += 8)
    _mm256_storeu_ps(destination + i,
                     _mm256_cvtph_ps(_mm_loadu_si128(
                         reinterpret_cast<const __m128i *>(source + i))));
  widenEach<float16ToFloat>(source + i, destination + i, count - i);
}

__attribute__((target("avx2,f16c"))) void
roundFloat16(const float *source, uint16_t *destination, int64_t count) {
  int64_t i = 0;
  for (; i + 8 <= count; i += 8)
    _mm_storeu_si128(reinterpret_cast<__m128i *>(destination + i),
                     _mm256_cvtps_ph(_mm256_loadu_ps(source + i),
                                     _MM_FROUND_TO_NEAREST_INT));
  roundEach<floatToFloat16>(source + i, destination + i, count - i);
}

__attribute__((target("avx2"))) void
widenBfloat16(const uint16_t *source, float *destination, int64_t count) {
  int64_t i = 0;
  for (; i + 8 <= count; i += 8) {
    __m256i wide = _mm256_cvtepu16_epi32(
        _mm_loadu_si128(reinterpret_cast<const __m128i *>(source + i)));
    _mm256_storeu_ps(destination + i,
                     _mm256_castsi256_ps(_mm256_slli_epi32(wide, 16)));
  }
  widenEach<bfloat16ToFloat>(source + i, destination + i, count - i);
}

__attribute__((target("avx2"))) void
roundBfloat16(const float *source, uint16_t *destination, int64_t count) {
  const __m256i bias = _mm256_set1_epi32(0x7fff), one = _mm256_set1_epi32(1);
  const __m256i quiet = _mm256_set1_epi32(0x40);
  int64_t i = 0;
  for (; i + 8 <= count; i += 8) {
    __m256 value = _mm256_loadu_ps(source + i);
    __m256i bits = _mm256_castps_si256(value);
    __m256i high = _mm256_srli_epi32(bits, 16);
    __m256i even = _mm256_add_epi32(bias, _mm256_and_si256(high, one));
    __m256i rounded = _mm256_srli_epi32(_mm256_add_epi32(bits, even), 16);
    __m256i nan =
        _mm256_castps_si256(_mm256_cmp_ps(value, value, _CMP_UNORD_Q));
    rounded = _mm256_blendv_epi8(rounded, _mm256_or_si256(high, quiet), nan);
    __m128i packed = _mm_packus_epi32(_mm256_castsi256_si128(rounded),
                                      _mm256_extracti128_si256(rounded, 1));
    _mm_storeu_si128(reinterpret_cast<__m128i *>(destination + i), packed);
  }
  roundEach<floatToBfloat16>(source + i, destination + i, count - i);
}

Widen widenForm(bool half) {
  if (!hasVectorForms())
    return half ? widenEach<float16ToFloat> : widenEach<bfloat16ToFloat>;
  return half ? widenFloat16 : widenBfloat16;
}

Round roundForm(bool half) {
  if (!hasVectorForms())
    return half ? roundEach<floatToFloat16> : roundEach<floatToBfloat16>;
  return half ? roundFloat16 : roundBfloat16;
}
#else
Widen widenForm(bool half) {
  return half ? widenEach<float16ToFloat> : widenEach<bfloat16ToFloat>;
}

Round roundForm(bool half) {
  return half ? roundEach<floatToFloat16> : roundEach<floatToBfloat16>;
}
#endif

/// Calls form(source, destination, count) on one stretch a thread.
template <typename Form, typename Source, typename Destination>
void onAllThreads(Form form, const Source *source, Destination *destination,
                  int64_t count) {
  int64_t pieces =
      std::clamp<int64_t>(count / kGrain, 1, omp_get_max_threads());
  int64_t piece = (count + pieces - 1) / pieces;
#pragma omp parallel for schedule(static)                                      \
    num_threads(static_cast<int>(pieces)) if (pieces > 1)
  for (int64_t begin = 0; begin < count; begin += piece)
    form(source + begin, destination + begin, std::min(piece, count - begin));
}

} // namespace

void widen(ElementType type, const void *source, float *destination,
           int64_t count) {
  onAllThreads(widenForm(type == ElementType::F16),
               static_cast<const uint16_t *>(source), destination, count);
}

void round(ElementType type, const float *source, void *destination,
           int64_t count) {
  onAllThreads(roundForm(type == ElementType::F16), source,
               static_cast<uint16_t *>(destination), count);
}

} // namespace halftone::runtime::onednn
