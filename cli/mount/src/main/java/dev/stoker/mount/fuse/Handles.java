package dev.stoker.mount.fuse;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** Numbers for what is open. Thread-safe. */
final class Handles<T> {

    private final Map<Long, T> open = new ConcurrentHashMap<>();
    private final AtomicLong next = new AtomicLong(1);

    /** Returns a new number, which is never 0. */
    long add(T opened) {
        long number = next.getAndIncrement();
        open.put(number, opened);
        return number;
    }

    @Nullable
    T get(long number) {
        return open.get(number);
    }

    @Nullable
    T remove(long number) {
        return open.remove(number);
    }

    /** Returns what is open now. */
    List<T> all() {
        return new ArrayList<>(open.values());
    }
}
