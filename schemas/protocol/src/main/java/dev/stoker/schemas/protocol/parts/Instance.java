package dev.stoker.schemas.protocol.parts;

/**
 * Identifies the process that opened a client. Its loader workers inherit the instance, so all connections of one
 * trainer send the same one.
 *
 * @param boot identifies the running kernel: two values are equal only on one machine between two boots
 * @param pid id of the process
 * @param start start time of the process, in a unit that depends on the machine; it distinguishes processes that had
 *     the same pid
 * @param host the machine's name, for messages
 */
public record Instance(String boot, long pid, long start, String host) {
    private static final int MAX_BOOT = 64;
    private static final int MAX_HOST = 255;

    public Instance {
        Fields.name("instance.boot", boot, MAX_BOOT);
        Fields.natural("instance.pid", pid);
        Fields.natural("instance.start", start);
        Fields.name("instance.host", host, MAX_HOST);
    }

    /** Returns whether both identify the same process. The host's name may change while a process runs. */
    public boolean isSame(Instance other) {
        return boot.equals(other.boot) && pid == other.pid && start == other.start;
    }

    @Override
    public String toString() {
        return "process " + pid + " on " + host;
    }
}
