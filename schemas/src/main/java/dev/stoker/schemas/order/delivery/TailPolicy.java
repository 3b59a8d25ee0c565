package dev.stoker.schemas.order.delivery;

import java.util.Optional;

/**
 * Lists the policies of a subscription at the end of an epoch, if the batches cannot be divided evenly among the ranks.
 */
public enum TailPolicy {
    /**
     * Numbers past the end repeat from the start, and the short last batch is filled. All ranks have equal numbers of
     * batches, with static shapes.
     */
    PAD(0, "pad"),
    /**
     * Omits the short last batch, and batches that do not suffice for every rank. Shapes are static, and the number of
     * ranks does not decide whether a short batch appears.
     */
    DROP(1, "drop"),
    /** Delivers every batch exactly once. Ranks may differ by one step, and the last batch may be short. */
    KEEP(2, "keep");

    private final int code;
    private final String text;

    TailPolicy(int code, String text) {
        this.code = code;
        this.text = text;
    }

    /** Returns the code in a SUBSCRIBE frame. */
    public int code() {
        return code;
    }

    /** Returns the name in options, ledger and vectors. */
    public String text() {
        return text;
    }

    /** Returns the policy with this code, if there is one. */
    public static Optional<TailPolicy> byCode(int code) {
        return code >= 0 && code < values().length ? Optional.of(values()[code]) : Optional.empty();
    }

    /** Returns the policy with this name; {@link IllegalArgumentException} names the possible ones. */
    public static TailPolicy byText(String text) {
        for (TailPolicy policy : values()) {
            if (policy.text.equals(text)) {
                return policy;
            }
        }
        throw new IllegalArgumentException("tail is '" + text + "': expected pad, drop or keep");
    }

    @Override
    public String toString() {
        return text;
    }
}
