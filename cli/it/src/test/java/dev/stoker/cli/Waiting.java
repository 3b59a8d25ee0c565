package dev.stoker.cli;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** Waits for conditions that other processes fulfil. */
public final class Waiting {

    private Waiting() {}

    /** Something that becomes true. */
    public interface Condition {
        boolean holds() throws Exception;
    }

    public static void until(Condition condition) throws Exception {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        while (!condition.holds()) {
            if (System.nanoTime() > end) {
                throw new AssertionError("the condition did not come true within 60 s");
            }
            LockSupport.parkNanos(20_000_000);
        }
    }
}
