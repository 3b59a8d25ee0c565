package dev.stoker.client;

import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Waits for conditions that other threads fulfil. */
public final class Waiting {
    private static final long LIMIT_NS = 60_000_000_000L;

    private Waiting() {}

    public static void until(BooleanSupplier condition) {
        long deadline = System.nanoTime() + LIMIT_NS;
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() > deadline) {
                throw new AssertionError("not within 60 s");
            }
            LockSupport.parkNanos(1_000_000);
        }
    }
}
