package dev.stoker.server;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Waits for a condition of another thread. */
public final class Waiting {
    private Waiting() {}

    public static void until(BooleanSupplier condition) {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() > end) {
                throw new AssertionError("the condition did not come true within 60 s");
            }
            LockSupport.parkNanos(1_000_000);
        }
    }
}
