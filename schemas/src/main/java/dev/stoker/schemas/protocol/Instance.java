package dev.stoker.schemas.protocol;

/**
 * The process that opened a client. Its loader workers inherit it, so the connections of one trainer carry one instance.
 *
 * @param boot identifies the running kernel: two texts are equal only on one machine between two boots
 * @param pid the process
 * @param start when it started, in a unit of the machine's own; it tells apart processes that had the same number
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

    /** Whether both name the same process. The host's name may change while a process runs. */
    public boolean isSame(Instance other) {
        return boot.equals(other.boot) && pid == other.pid && start == other.start;
    }

    @Override
    public String toString() {
        return "process " + pid + " on " + host;
    }
}
