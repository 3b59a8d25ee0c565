package dev.stoker.schemas.testing;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.Arguments;

/**
 * The cells of a matrix of tests that a run draws, for example for a {@code @MethodSource}:
 *
 * <pre>{@code
 * static Stream<Arguments> formatsAndTypes() {
 *     return Cells.drawn(all(), Cells.at(0), Cells.at(1));
 * }
 * }</pre>
 *
 * <p>With {@code -Dtest.tier=full} these are all cells. Otherwise they are a quarter, chosen by {@code -Dtest.seed},
 * with at least one cell of each value on each axis that is named.
 */
public final class Cells {
    private static final int SHARE = 4;

    private Cells() {}

    /** Returns whether this run has all cells of each matrix. */
    public static boolean areAll() {
        return System.getProperty("test.tier", "default").equals("full");
    }

    /** Returns the cells to run, in their order. The matrix has the name of the method that calls this. */
    @SafeVarargs
    @SuppressWarnings("varargs") // the array is only read
    public static <T> Stream<T> drawn(Stream<T> cells, Function<? super T, ?>... axes) {
        String caller = StackWalker.getInstance()
                .walk(frames -> frames.skip(1)
                        .findFirst()
                        .map(frame -> frame.getClassName().replaceFirst(".*\\.", "") + "." + frame.getMethodName())
                        .orElseThrow());
        return drawn(caller, cells, axes);
    }

    /** Returns the cells to run, in their order. Matrices of different names draw different cells. */
    @SafeVarargs
    @SuppressWarnings("varargs") // the array is only read
    public static <T> Stream<T> drawn(String matrix, Stream<T> cells, Function<? super T, ?>... axes) {
        List<T> all = cells.toList();
        if (areAll()) {
            return all.stream();
        }
        List<T> drawn = drawn(all, TestSeed.value() + matrix.hashCode(), List.of(axes));
        System.out.printf(
                Locale.ROOT, "cells %s: seed %d, %d of %d%n", matrix, TestSeed.value(), drawn.size(), all.size());
        return drawn.stream();
    }

    /** Returns the axis of the argument at this index. */
    public static Function<Arguments, Object> at(int index) {
        return cell -> Objects.requireNonNullElse(cell.get()[index], "null");
    }

    /** Draws a quarter of the cells, rounded up, and more if some value of an axis would lack a cell. */
    static <T> List<T> drawn(List<T> all, long seed, List<Function<? super T, ?>> axes) {
        List<Integer> shuffled = new ArrayList<>();
        for (int i = 0; i < all.size(); i++) {
            shuffled.add(i);
        }
        Collections.shuffle(shuffled, TestSeed.random(seed, 0));
        Set<List<Object>> missing = new HashSet<>();
        shuffled.forEach(i -> missing.addAll(kinds(all.get(i), axes)));
        Set<Integer> drawn = new LinkedHashSet<>();
        while (!missing.isEmpty()) {
            int best = -1;
            long most = 0;
            for (int i : shuffled) {
                long found = kinds(all.get(i), axes).stream()
                        .filter(missing::contains)
                        .count();
                if (found > most) {
                    best = i;
                    most = found;
                }
            }
            missing.removeAll(kinds(all.get(best), axes));
            drawn.add(best);
        }
        int share = (all.size() + SHARE - 1) / SHARE;
        for (int i = 0; drawn.size() < share; i++) {
            drawn.add(shuffled.get(i));
        }
        return drawn.stream().sorted().map(all::get).toList();
    }

    /** The values of a cell, each with the number of its axis. */
    private static <T> List<List<Object>> kinds(T cell, List<Function<? super T, ?>> axes) {
        List<List<Object>> kinds = new ArrayList<>();
        for (int axis = 0; axis < axes.size(); axis++) {
            kinds.add(List.of(axis, axes.get(axis).apply(cell)));
        }
        return kinds;
    }
}
