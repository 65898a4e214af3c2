/* Included by lanes.h for each kind of processor. */

/* sixteen records of a leaf or children of a node, column by column */

INSIDE word KIND(keep_lanes)(eight one, eight two, float bound, float *lanes) {
    store(lanes, one);
    store(lanes + 8, two);
    return up_to(one, all_of(bound)) | up_to(two, all_of(bound)) << 8;
}

FUNCTION word KIND(within)(
    const float *leaves, word leaf, const float *row, word columns, float bound, float *lanes
) {
    eight one = all_of(0), two = all_of(0);
    leaves += 16 * columns * leaf;
    for (word j = 0; j < columns; j++, leaves += 16) {
        eight x = all_of(row[j]), a = minus(load(leaves), x), b = minus(load(leaves + 8), x);
        one = plus(one, times(a, a));
        two = plus(two, times(b, b));
    }
    return KIND(keep_lanes)(one, two, bound, lanes);
}

INSIDE eight KIND(outside)(const float *low, const float *high, eight x) {
    return larger(larger(minus(load(low), x), minus(x, load(high))), all_of(0));
}

FUNCTION word KIND(boxes_within)(
    const float *low, const float *high, word node, const float *row, word columns, float bound, float *lanes
) {
    eight one = all_of(0), two = all_of(0);
    low += 16 * columns * node;
    high += 16 * columns * node;
    for (word j = 0; j < columns; j++, low += 16, high += 16) {
        eight x = all_of(row[j]), a = KIND(outside)(low, high, x), b = KIND(outside)(low + 8, high + 8, x);
        one = plus(one, times(a, a));
        two = plus(two, times(b, b));
    }
    return KIND(keep_lanes)(one, two, bound, lanes);
}

FUNCTION int KIND(tighten)(
    const float *lows, const float *highs, word of, float *low, float *high, word node, word lane, word columns
) {
    int changed = 0;
    eight gone = all_of(1e17f), away = all_of(-1e18f);
    lows += 16 * columns * of;
    highs += 16 * columns * of;
    low += 16 * columns * node + lane;
    high += 16 * columns * node + lane;
    for (word j = 0; j < 16 * columns; j += 16) {
        eight a = load(highs + j), b = load(highs + j + 8);
        float bottom = smallest_of(smaller(load(lows + j), load(lows + j + 8)));
        float top = largest_of(larger(if_more(a, gone, away, a), if_more(b, gone, away, b)));
        changed |= (bottom != low[j]) | (top != high[j]);
        low[j] = bottom;
        high[j] = top;
    }
    return changed;
}

FUNCTION void KIND(widths)(const float *records, word block, const float *ends, word columns, double *wide) {
    records += 16 * columns * block;
    for (int lane = 0; lane < 16; lane += 8) {
        double total[8] = {0, 0, 0, 0, 0, 0, 0, 0};
        for (word j = 0; j < columns; j++) {
            eight x = load(records + 16 * j + lane);
            eight side = minus(larger(x, all_of(ends[columns + j])), smaller(x, all_of(ends[j])));
            add_to_doubles(total, times(side, side));
        }
        memcpy(wide + lane, total, sizeof total);
    }
}

/* records in blocks of eight, column by column */

FUNCTION word KIND(narrowest)(
    const float *records, word columns, word count, const float *low, const float *high, word row
) {
    float least = INFINITY, wide[8];
    word best = 0;
    low += columns * row;
    high += columns * row;
    for (word first = 0; first < count; first += 8, records += 8 * columns) {
        eight total = all_of(0);
        for (word j = 0; j < columns; j++) {
            eight x = load(records + 8 * j), side = minus(larger(x, all_of(high[j])), smaller(x, all_of(low[j])));
            total = plus(total, times(side, side));
        }
        word less_wide = less(total, all_of(least)) & ((1 << (count - first < 8 ? count - first : 8)) - 1);
        if (!less_wide) continue;
        store(wide, total);
        for (; less_wide; less_wide &= less_wide - 1) {
            word lane = lanes_lowest_bit(less_wide);
            if (wide[lane] < least) {
                least = wide[lane];
                best = first + lane;
            }
        }
    }
    return best;
}

/* eight columns of a record, and of the rows of a box: low, high, and what they are without the member at the end */

INSIDE eight KIND(square)(eight x, eight low, eight high) {
    eight side = larger(larger(minus(high, x), minus(x, low)), all_of(0));
    return times(side, side);
}

INSIDE eight KIND(low_without)(eight out, eight low, eight next) { return if_more(out, low, low, next); }

INSIDE eight KIND(high_without)(eight out, eight high, eight next) { return if_more(high, out, high, next); }

FUNCTION float KIND(far_from)(const float *xs, word width, word i, const float *ends, word row) {
    eight total = all_of(0);
    xs += width * i;
    ends += width * row;
    for (word j = 0; j < width; j += 8)
        total = plus(total, KIND(square)(load(xs + j), load(ends + j), load(ends + width + j)));
    return sqrtf(sum_of(total));
}

FUNCTION float KIND(far_from_without)(
    const float *xs, word width, word i, word out, const float *ends, word row
) {
    eight total = all_of(0);
    ends += width * row;
    for (word j = 0; j < width; j += 8) {
        eight gone = load(xs + width * out + j);
        eight low = KIND(low_without)(gone, load(ends + j), load(ends + 2 * width + j));
        eight high = KIND(high_without)(gone, load(ends + width + j), load(ends + 3 * width + j));
        total = plus(total, KIND(square)(load(xs + width * i + j), low, high));
    }
    return sqrtf(sum_of(total));
}

FUNCTION void KIND(widened)(const float *xs, word width, word i, float *ends, word row, word to) {
    float *made = ends + width * to;
    ends += width * row;
    for (word j = 0; j < width; j += 8) {
        eight x = load(xs + width * i + j);
        store(made + j, smaller(x, load(ends + j)));
        store(made + width + j, larger(x, load(ends + width + j)));
    }
}

FUNCTION void KIND(exchanged)(const float *xs, word width, word out, word i, float *ends, word row, word to) {
    float *made = ends + width * to;
    ends += width * row;
    for (word j = 0; j < width; j += 8) {
        eight gone = load(xs + width * out + j), x = load(xs + width * i + j);
        eight low = KIND(low_without)(gone, load(ends + j), load(ends + 2 * width + j));
        eight high = KIND(high_without)(gone, load(ends + width + j), load(ends + 3 * width + j));
        store(made + j, smaller(x, low));
        store(made + width + j, larger(x, high));
    }
}

FUNCTION void KIND(hold)(const float *xs, word width, word i, float *ends, word row) {
    ends += width * row;
    for (word j = 0; j < width; j += 8, ends += 8) {
        eight x = load(xs + width * i + j), low = load(ends), high = load(ends + width);
        store(ends, smaller(x, low));
        store(ends + width, larger(x, high));
        store(ends + 2 * width, smaller(larger(x, low), load(ends + 2 * width)));
        store(ends + 3 * width, larger(smaller(x, high), load(ends + 3 * width)));
    }
}

/* eight members of a group, column by column; two sums take turns, so that neither waits for the other */

INSIDE eight KIND(far_of_eight)(const float *laid, word columns, word block, const float *ends, word width, word row) {
    eight one = all_of(0), two = all_of(0);
    laid += 8 * columns * block;
    ends += width * row;
    for (word j = 0; j < columns; j++) {
        eight next = plus(one, KIND(square)(load(laid + 8 * j), all_of(ends[j]), all_of(ends[width + j])));
        one = two;
        two = next;
    }
    return root(plus(one, two));
}

FUNCTION word KIND(nearer)(
    const float *laid, word columns, word block, const float *ends, word width, word row, float bound
) {
    return less(KIND(far_of_eight)(laid, columns, block, ends, width, row), all_of(bound));
}

FUNCTION float KIND(sum_of_far)(
    const float *laid, word columns, word block, const float *ends, word width, word row, word counted
) {
    return sum_of(those(KIND(far_of_eight)(laid, columns, block, ends, width, row), counted));
}

FUNCTION void KIND(keep_least_far)(
    const float *laid, word columns, word block, const float *ends, word width, word row, float *least, word at
) {
    store(least + at, smaller(KIND(far_of_eight)(laid, columns, block, ends, width, row), load(least + at)));
}

FUNCTION word KIND(far_with_one_out)(
    const float *laid, word columns, word block, const float *xs, word width, word i, const float *ends, word row,
    const float *costs, word at, float limit, float *found, word to
) {
    eight one = all_of(0), two = all_of(0);
    laid += 8 * columns * block;
    xs += width * i;
    ends += width * row;
    for (word j = 0; j < columns; j++, ends++) {
        eight gone = load(laid + 8 * j);
        eight low = KIND(low_without)(gone, all_of(ends[0]), all_of(ends[2 * width]));
        eight high = KIND(high_without)(gone, all_of(ends[width]), all_of(ends[3 * width]));
        eight next = plus(one, KIND(square)(all_of(xs[j]), low, high));
        one = two;
        two = next;
    }
    one = root(plus(one, two));
    store(found + to, one);
    return less(plus(load(costs + at), one), all_of(limit));
}
