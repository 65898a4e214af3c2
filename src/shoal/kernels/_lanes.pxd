# What lanes.h has; CHOSEN is the function for this processor.
cdef extern from "lanes.h" nogil:
    ctypedef long long word

    bint take_avx2 "lanes_take_avx2"(bint wanted)
    word lowest_bit "lanes_lowest_bit"(word bits)
    word within "CHOSEN(within)"(
        const float *leaves, word leaf, const float *row, word columns, float bound, float *lanes)
    word boxes_within "CHOSEN(boxes_within)"(
        const float *low, const float *high, word node, const float *row, word columns, float bound, float *lanes)
    bint tighten "CHOSEN(tighten)"(
        const float *lows, const float *highs, word of, float *low, float *high, word node, word lane, word columns)
    void widths "CHOSEN(widths)"(const float *records, word block, const float *ends, word columns, double *wide)
    word narrowest "CHOSEN(narrowest)"(
        const float *records, word columns, word count, const float *low, const float *high, word row)
    float far_from "CHOSEN(far_from)"(const float *xs, word width, word i, const float *ends, word row)
    float far_from_without "CHOSEN(far_from_without)"(
        const float *xs, word width, word i, word out, const float *ends, word row)
    void widened "CHOSEN(widened)"(const float *xs, word width, word i, float *ends, word row, word to)
    void exchanged "CHOSEN(exchanged)"(const float *xs, word width, word out, word i, float *ends, word row, word to)
    void hold "CHOSEN(hold)"(const float *xs, word width, word i, float *ends, word row)
    word nearer "CHOSEN(nearer)"(
        const float *laid, word columns, word block, const float *ends, word width, word row, float bound)
    float sum_of_far "CHOSEN(sum_of_far)"(
        const float *laid, word columns, word block, const float *ends, word width, word row, word counted)
    void keep_least_far "CHOSEN(keep_least_far)"(
        const float *laid, word columns, word block, const float *ends, word width, word row, float *least, word at)
    word far_with_one_out "CHOSEN(far_with_one_out)"(
        const float *laid, word columns, word block, const float *xs, word width, word i, const float *ends, word row,
        const float *costs, word at, float limit, float *found, word to)
