package dev.stoker.cli.copy;

import dev.stoker.metadata.copy.CopyResult;
import dev.stoker.metadata.copy.DatasetCopy;
import dev.stoker.schemas.text.Units;
import java.time.Duration;
import java.util.concurrent.atomic.LongAdder;

/** Follows a copy, for the line that shows its progress, and ends it. Thread-safe. */
final class CopyProgress implements DatasetCopy.Listener {

    private final LongAdder copied = new LongAdder();
    private volatile long total;
    private volatile long began = System.nanoTime();
    private volatile boolean stopped;

    @Override
    public void planned(CopyResult plan) {
        copied.reset();
        total = plan.copied().bytes();
        began = System.nanoTime();
    }

    @Override
    public void copied(long bytes) {
        copied.add(bytes);
    }

    void stop() {
        stopped = true;
    }

    @Override
    public boolean isStopped() {
        return stopped;
    }

    String text() {
        long bytes = copied.sum();
        double rate = bytes / ((System.nanoTime() - began) / 1e9);
        String left = bytes == 0 || bytes > total
                ? ""
                : ", " + Units.time(Duration.ofSeconds((long) ((total - bytes) / rate))) + " left";
        return "copying: " + Units.bytes(bytes) + " of " + Units.bytes(total) + ", " + Units.rate(rate) + left;
    }
}
