package dev.stoker.flink.failure;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * What this process waits for at present: services that are unavailable. {@code stoker top} and the commands show it.
 * Thread-safe.
 */
public final class Outages {

    private static final Map<Object, String> REASONS = new ConcurrentHashMap<>();

    private Outages() {}

    /**
     * Notes a reason to wait, in place of the owner's earlier reason.
     *
     * @param owner the part that waits; it must call {@link #clear} later
     */
    public static void note(Object owner, String reason) {
        REASONS.put(owner, reason);
    }

    /** Notes that the owner no longer waits. */
    public static void clear(Object owner) {
        REASONS.remove(owner);
    }

    /** Returns the reasons to wait, without duplicates. */
    public static List<String> all() {
        return REASONS.values().stream().distinct().sorted().toList();
    }

    /** Returns a reason to wait in parentheses, with a space before them; empty if there is none. */
    public static String remark() {
        return all().stream().findFirst().map(why -> " (" + why + ")").orElse("");
    }
}
