package dev.stoker.schemas.order;

import com.fasterxml.jackson.databind.JsonNode;
import dev.stoker.schemas.condition.InvalidExpressionException;
import dev.stoker.schemas.condition.RowExpression;
import java.util.ArrayList;
import java.util.List;

/**
 * Contains the parameters that determine, together with a stream, every batch of every epoch. Immutable.
 *
 * @param seed 0 … 2^63-1
 * @param batchSize number of samples in a batch for one rank, 1 … 65,535 (a batch's pieces are counted in 16 bits)
 * @param lanes 1 … 65,535; a stream with fewer chunks gets fewer, and the stored order is one lane
 * @param shuffleWindowBytes bytes of chunk files that are shuffled together, over all lanes; a window has at least one
 *     chunk
 * @param shuffle how rows are permuted
 * @param laneOrder how lanes take turns
 * @param where canonical text of the condition that rows must satisfy; empty for all rows
 */
public record OrderSpec(
        long seed,
        int batchSize,
        int lanes,
        long shuffleWindowBytes,
        ShufflePolicy shuffle,
        LaneOrder laneOrder,
        String where) {
    /** The newest version of the order function. */
    public static final int NEWEST_FUNCTION = 2;

    public static final int MAX_BATCH_SIZE = 65_535;
    public static final int MAX_LANES = 65_535;

    private static final OrderSpec DEFAULTS = new OrderSpec(0, 64, 16, 1L << 30, ShufflePolicy.WINDOW, LaneOrder.MIXED);

    /** Describes an order of all rows. */
    public OrderSpec(
            long seed, int batchSize, int lanes, long shuffleWindowBytes, ShufflePolicy shuffle, LaneOrder laneOrder) {
        this(seed, batchSize, lanes, shuffleWindowBytes, shuffle, laneOrder, "");
    }

    public OrderSpec {
        List<String> problems = new ArrayList<>();
        if (seed < 0) {
            problems.add("seed is " + seed + ": expected a whole number from 0 to 2^63-1");
        }
        if (batchSize < 1 || batchSize > MAX_BATCH_SIZE) {
            problems.add("batch_size is " + batchSize + ": expected a whole number from 1 to " + MAX_BATCH_SIZE);
        }
        if (lanes < 1 || lanes > MAX_LANES) {
            problems.add("lanes is " + lanes + ": expected a whole number from 1 to " + MAX_LANES);
        }
        if (shuffleWindowBytes < 0) {
            problems.add(
                    "shuffle_window is " + shuffleWindowBytes + ": expected a whole number of bytes from 0 to 2^63-1");
        }
        if (shuffle == null) {
            problems.add("shuffle is missing");
        }
        if (laneOrder == null) {
            problems.add("lane_order is missing");
        }
        if (where == null) {
            problems.add("where is missing");
        } else if (!where.isEmpty()) {
            try {
                where = RowExpression.parse(where).canonical();
            } catch (InvalidExpressionException e) {
                problems.add("where: " + e.getMessage());
            }
        }
        refuse(problems);
    }

    /** seed 0, batch size 64, 16 lanes, 1 GiB, window, mixed. */
    public static OrderSpec defaults() {
        return DEFAULTS;
    }

    /**
     * Reads a complete order spec. Every key must be present.
     *
     * @throws IllegalArgumentException that names all problems
     */
    public static OrderSpec fromJson(JsonNode json) {
        return OrderOverlay.fromJson(json).complete();
    }

    /**
     * Reads a complete order spec. Every key must be present.
     *
     * @throws IllegalArgumentException that names all problems
     */
    public static OrderSpec fromJson(String json) {
        return OrderOverlay.fromJson(json).complete();
    }

    /**
     * Returns the same parameters with another number of lanes.
     *
     * @throws IllegalArgumentException if the number is not 1 … 65,535
     */
    public OrderSpec withLanes(int count) {
        return new OrderSpec(seed, batchSize, count, shuffleWindowBytes, shuffle, laneOrder, where);
    }

    /**
     * Returns the same parameters for the rows that satisfy a condition.
     *
     * @param condition need not be canonical; empty for all rows
     * @throws IllegalArgumentException if it is no condition
     */
    public OrderSpec withWhere(String condition) {
        return new OrderSpec(seed, batchSize, lanes, shuffleWindowBytes, shuffle, laneOrder, condition);
    }

    /** Returns the version of the order function: 2 with a key of function 2, or else 1. */
    public int function() {
        return where.isEmpty() ? 1 : NEWEST_FUNCTION;
    }

    /** Returns the canonical text: all keys in their fixed order, no spaces. Part of the fingerprint. */
    public String toJson() {
        return OrderOverlay.of(this).toJson();
    }

    static void refuse(List<String> problems) {
        if (!problems.isEmpty()) {
            throw new IllegalArgumentException("order spec: " + String.join("; ", problems));
        }
    }
}
