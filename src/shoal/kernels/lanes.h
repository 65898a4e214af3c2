/* Eight or sixteen numbers of single precision at once; lanes.py says what each function does.

The functions are in lanes_loops.h. On x86-64 they are compiled a second time for AVX2, and the processor is asked which
to take. Both add in the same order and round alike, so that results are the same to the last bit. */

#ifndef SHOAL_LANES
#define SHOAL_LANES

#include <math.h>
#include <string.h>

#if defined(__GNUC__) || defined(__clang__)
#define FOR_PROCESSOR(name) __attribute__((target(name), unused))
#define FOR_ALL __attribute__((unused))
#define IN_PARTS
#else
#define FOR_PROCESSOR(name)
#define FOR_ALL
#include <intrin.h>
#endif

typedef long long word;

/* What eight numbers are on any processor: parts of four, or single ones where the compiler knows no vectors. */

#define INSIDE static CYTHON_INLINE FOR_ALL
#define EACH for (int i = 0; i < 8 / PART; i++)

#ifdef IN_PARTS
#define PART 4
typedef float part __attribute__((vector_size(16)));
typedef int truth __attribute__((vector_size(16)));
INSIDE part part_of(float x) { return (part){x, x, x, x}; }
INSIDE part choice(truth when, part one, part two) { return (part)((when & (truth)one) | (~when & (truth)two)); }
INSIDE part part_root(part a) { return (part){sqrtf(a[0]), sqrtf(a[1]), sqrtf(a[2]), sqrtf(a[3])}; }
INSIDE word bits_of(truth when) { return (when[0] & 1) | (when[1] & 2) | (when[2] & 4) | (when[3] & 8); }
INSIDE truth truth_of(int bits) { return ((truth){bits, bits, bits, bits} & (truth){1, 2, 4, 8}) != 0; }
INSIDE word lanes_lowest_bit(word bits) { return __builtin_ctzll((unsigned long long)bits); }
#else
#define PART 1
typedef float part;
typedef int truth;
INSIDE part part_of(float x) { return x; }
INSIDE part choice(truth when, part one, part two) { return when ? one : two; }
INSIDE part part_root(part a) { return sqrtf(a); }
INSIDE word bits_of(truth when) { return when; }
INSIDE truth truth_of(int bits) { return bits & 1; }
INSIDE word lanes_lowest_bit(word bits) {
    unsigned long place;
    _BitScanForward64(&place, (unsigned long long)bits);
    return place;
}
#endif

typedef struct { part at[8 / PART]; } eight;
INSIDE eight load(const float *from) { eight a; memcpy(&a, from, sizeof a); return a; }
INSIDE void store(float *to, eight a) { memcpy(to, &a, sizeof a); }
INSIDE eight all_of(float x) { eight a; EACH a.at[i] = part_of(x); return a; }
INSIDE eight plus(eight a, eight b) { EACH a.at[i] += b.at[i]; return a; }
INSIDE eight minus(eight a, eight b) { EACH a.at[i] -= b.at[i]; return a; }
INSIDE eight times(eight a, eight b) { EACH a.at[i] *= b.at[i]; return a; }
INSIDE eight root(eight a) { EACH a.at[i] = part_root(a.at[i]); return a; }
/* x where a is more than b, otherwise y */
INSIDE eight if_more(eight a, eight b, eight x, eight y) {
    EACH y.at[i] = choice(a.at[i] > b.at[i], x.at[i], y.at[i]);
    return y;
}
INSIDE eight larger(eight a, eight b) { return if_more(a, b, a, b); }
INSIDE eight smaller(eight a, eight b) { return if_more(b, a, a, b); }
/* a bit for each lane in which a is less than b, or not more than b */
INSIDE word less(eight a, eight b) { word w = 0; EACH w |= bits_of(a.at[i] < b.at[i]) << PART * i; return w; }
INSIDE word up_to(eight a, eight b) { word w = 0; EACH w |= bits_of(a.at[i] <= b.at[i]) << PART * i; return w; }
/* 0 in lanes that have no bit */
INSIDE eight those(eight a, word bits) {
    EACH a.at[i] = choice(truth_of((int)(bits >> PART * i)), a.at[i], part_of(0));
    return a;
}
/* the sum, the smallest and the largest of all lanes: of the halves, again and again */
#define OF_HALVES(name, of_two) \
    INSIDE float name(eight all) { \
        float x[8]; \
        store(x, all); \
        for (int half = 4; half; half /= 2) \
            for (int i = 0; i < half; i++) { float a = x[i], b = x[i + half]; x[i] = of_two; } \
        return x[0]; \
    }
OF_HALVES(sum_of, a + b)
OF_HALVES(smallest_of, a < b ? a : b)
OF_HALVES(largest_of, a > b ? a : b)
INSIDE void add_to_doubles(double *total, eight a) {
    float x[8];
    store(x, a);
    for (int i = 0; i < 8; i++) total[i] += x[i];
}

#define KIND(name) name##_plain
#define FUNCTION static FOR_ALL
#include "lanes_loops.h"

/* The same on processors with AVX2. */

#if defined(__x86_64__) || defined(_M_X64)
#include <immintrin.h>
#ifdef IN_PARTS
#include <cpuid.h>
#endif
#undef INSIDE
#undef OF_HALVES
#define INSIDE static CYTHON_INLINE FOR_PROCESSOR("avx2")
#define eight __m256
#define load _mm256_loadu_ps
#define store _mm256_storeu_ps
#define all_of _mm256_set1_ps
#define plus _mm256_add_ps
#define minus _mm256_sub_ps
#define times _mm256_mul_ps
#define root _mm256_sqrt_ps
#define larger _mm256_max_ps
#define smaller _mm256_min_ps
#define if_more(a, b, x, y) _mm256_blendv_ps(y, x, _mm256_cmp_ps(a, b, _CMP_GT_OQ))
#define less(a, b) ((word)_mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_LT_OQ)))
#define up_to(a, b) ((word)_mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_LE_OQ)))
INSIDE eight those_avx2(eight a, word bits) {
    __m256i each = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    __m256i chosen = _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32((int)bits), each), each);
    return _mm256_and_ps(a, _mm256_castsi256_ps(chosen));
}
#define OF_HALVES(name, of_four) \
    INSIDE float name(eight a) { \
        __m128 four = of_four(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1)); \
        __m128 two = of_four(four, _mm_movehl_ps(four, four)); \
        return _mm_cvtss_f32(of_four(two, _mm_shuffle_ps(two, two, 1))); \
    }
OF_HALVES(sum_of_avx2, _mm_add_ps)
OF_HALVES(smallest_of_avx2, _mm_min_ps)
OF_HALVES(largest_of_avx2, _mm_max_ps)
INSIDE void add_to_doubles_avx2(double *total, eight a) {
    __m256d low = _mm256_cvtps_pd(_mm256_castps256_ps128(a)), high = _mm256_cvtps_pd(_mm256_extractf128_ps(a, 1));
    _mm256_storeu_pd(total, _mm256_add_pd(_mm256_loadu_pd(total), low));
    _mm256_storeu_pd(total + 4, _mm256_add_pd(_mm256_loadu_pd(total + 4), high));
}
#define those those_avx2
#define sum_of sum_of_avx2
#define smallest_of smallest_of_avx2
#define largest_of largest_of_avx2
#define add_to_doubles add_to_doubles_avx2

#undef KIND
#undef FUNCTION
#define KIND(name) name##_avx2
#define FUNCTION static FOR_PROCESSOR("avx2")
#include "lanes_loops.h"

static int with_avx2;
#define CHOSEN(name) (with_avx2 ? name##_avx2 : name##_plain)

/* Whether the processor has AVX2, and the system keeps its registers. */
FOR_PROCESSOR("xsave") static int has_avx2(void) {
    unsigned of_1[4], of_7[4];
#ifdef IN_PARTS
    if (__get_cpuid_max(0, 0) < 7) return 0;
    __cpuid_count(1, 0, of_1[0], of_1[1], of_1[2], of_1[3]);
    __cpuid_count(7, 0, of_7[0], of_7[1], of_7[2], of_7[3]);
#else
    __cpuidex((int *)of_1, 0, 0);
    if (of_1[0] < 7) return 0;
    __cpuidex((int *)of_1, 1, 0);
    __cpuidex((int *)of_7, 7, 0);
#endif
    return of_7[1] >> 5 & 1 && of_1[2] >> 27 & 1 && (_xgetbv(0) & 6) == 6;
}
static int lanes_take_avx2(int wanted) { return with_avx2 = wanted && has_avx2(); }
#else
#define CHOSEN(name) name##_plain
static int lanes_take_avx2(int wanted) { return wanted & 0; }
#endif
#endif
