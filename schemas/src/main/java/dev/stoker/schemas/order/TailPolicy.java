package dev.stoker.schemas.order;

import java.util.Optional;

/**
 * Lists the policies of a subscription at the end of an epoch, if the batches cannot be divided evenly among the ranks.
 */
public enum TailPolicy {
    /** Numbers past the end repeat from the start and the short last batch is filled: all ranks equal, shapes static. */
    PAD(0, "pad"),
    /** The short last batch and what does not suffice for every rank are left out. */
    DROP(1, "drop"),
    /** Every batch exactly once; ranks may differ by one step and the last batch may be short. */
    KEEP(2, "keep");

    private final int code;
    private final String text;

    TailPolicy(int code, String text) {
        this.code = code;
        this.text = text;
    }

    /** The code in a SUBSCRIBE frame. */
    public int code() {
        return code;
    }

    /** The name in options, ledger and vectors. */
    public String text() {
        return text;
    }

    /** The policy with this code, if there is one. */
    public static Optional<TailPolicy> byCode(int code) {
        return code >= 0 && code < values().length ? Optional.of(values()[code]) : Optional.empty();
    }

    /** The policy with this name; {@link IllegalArgumentException} names the possible ones. */
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
