package dev.stoker.feeder.node.window;

import dev.stoker.feeder.node.OnCorrupt;
import dev.stoker.feeder.node.chunks.LoadTime;
import java.io.IOException;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;

/**
 * The open windows of a node, shared by all sessions that are at the same place.
 *
 * <p>A window stays in memory while a cursor keeps it, that is while a session is in it or about to enter it; windows that
 * nobody keeps are dropped at once, so memory does not grow with the epochs. At the limit the window that was used longest
 * ago makes room, and is read again when it is needed. Thread-safe; the lock guards the maps, never a read.
 */
public final class Windows implements AutoCloseable {
    private static final int OPENERS = 2;

    /** Which window. {@link GroupOrder} is compared by identity: groups with one spec have one. */
    record Key(GroupOrder order, long epoch, int lane, int window) {}

    /** One reading of a window; whoever claims it does it. */
    private static final class Load {
        final long bytes;
        final AtomicBoolean claimed = new AtomicBoolean();
        final CompletableFuture<OpenWindow> window = new CompletableFuture<>();
        /** Whether the kernel had to go to a disk for it; written before the window is complete. */
        boolean fromDisk;

        Load(long bytes) {
            this.bytes = bytes;
        }
    }

    /** A kept window; guarded by the lock. */
    private static final class Entry {
        int keepers;
        Load load;
    }

    private final long limitBytes;
    private final WindowOpener opener;
    private final ThreadPoolExecutor executor;
    private final Map<Key, Entry> entries = new HashMap<>();
    /** Entries with a load, by last use, oldest first. */
    private final LinkedHashSet<Entry> loaded = new LinkedHashSet<>();

    /** Sessions that look ahead, by their order. */
    private final Map<GroupOrder, Integer> followed = new IdentityHashMap<>();

    private long usedBytes;

    /**
     * @param limitBytes bytes of all windows together
     * @param corrupt counts chunks whose heads were damaged at the origin
     */
    public Windows(long limitBytes, OnCorrupt onCorrupt, LongAdder corrupt) {
        this.limitBytes = limitBytes;
        this.opener = new WindowOpener(onCorrupt, corrupt);
        this.executor = new ThreadPoolExecutor(
                OPENERS, OPENERS, 30, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), Windows::thread);
        executor.allowCoreThreadTimeOut(true);
    }

    private static Thread thread(Runnable task) {
        Runnable whole = () -> {
            try {
                task.run();
            } finally {
                LoadTime.forget();
            }
        };
        Thread thread = new Thread(whole, "stoker-window-opener");
        thread.setDaemon(true);
        return thread;
    }

    /** Keeps the window until {@link #release}, so that whoever gets it next finds it open. */
    synchronized void keep(Key key) {
        entries.computeIfAbsent(key, k -> new Entry()).keepers++;
    }

    /** Takes back one {@link #keep}. */
    synchronized void release(Key key) {
        Entry entry = entries.get(key);
        if (--entry.keepers == 0) {
            entries.remove(key);
            unload(entry);
        }
    }

    /** Has a kept window opened in the background if there is room for it. */
    void openAhead(Key key) {
        long bytes = WindowOpener.bytes(key);
        Load load;
        synchronized (this) {
            Entry entry = entries.get(key);
            if (entry == null || entry.load != null || usedBytes + bytes > limitBytes) {
                return;
            }
            load = load(entry, bytes);
        }
        try {
            executor.execute(() -> {
                if (isWanted(key, load)) {
                    open(key, load);
                }
            });
        } catch (OutOfMemoryError e) {
            // The process may have no more threads. Whoever needs the window opens it.
        }
    }

    /**
     * A kept window, opened by this thread unless another is at it.
     *
     * @throws IOException if a head cannot be read or is damaged
     */
    OpenWindow get(Key key) throws IOException {
        Load load;
        synchronized (this) {
            Entry entry = entries.get(key);
            load = entry.load;
            if (load != null) {
                loaded.remove(entry);
                loaded.add(entry);
            }
        }
        if (load == null) {
            load = reserve(key);
        }
        if (load.window.isDone()) {
            return opened(load);
        }
        LoadTime.begin();
        try {
            open(key, load);
            OpenWindow window = opened(load);
            if (load.fromDisk) {
                LoadTime.byOthers();
            }
            return window;
        } finally {
            LoadTime.end();
        }
    }

    private static OpenWindow opened(Load load) throws IOException {
        try {
            return load.window.join();
        } catch (CompletionException e) {
            if (e.getCause() instanceof IOException failure) {
                throw failure;
            }
            if (e.getCause() instanceof Error failure) {
                throw failure;
            }
            throw e;
        }
    }

    private Load reserve(Key key) throws IOException {
        long bytes = WindowOpener.bytes(key);
        if (bytes > limitBytes) {
            throw new IOException("window " + key.window() + " of lane " + key.lane() + " takes " + bytes
                    + " bytes of working memory, the limit is " + limitBytes + ": give --working-memory of at least "
                    + bytes + " bytes, or a smaller --shuffle-window");
        }
        synchronized (this) {
            Entry entry = entries.get(key);
            if (entry.load != null) {
                return entry.load;
            }
            for (Iterator<Entry> oldest = loaded.iterator(); usedBytes + bytes > limitBytes && oldest.hasNext(); ) {
                Entry victim = oldest.next();
                oldest.remove();
                usedBytes -= victim.load.bytes;
                victim.load = null;
            }
            return load(entry, bytes);
        }
    }

    private Load load(Entry entry, long bytes) {
        entry.load = new Load(bytes);
        usedBytes += bytes;
        loaded.add(entry);
        return entry.load;
    }

    private void unload(Entry entry) {
        if (entry.load != null) {
            usedBytes -= entry.load.bytes;
            entry.load = null;
            loaded.remove(entry);
        }
    }

    private synchronized boolean isWanted(Key key, Load load) {
        Entry entry = entries.get(key);
        return entry != null && entry.load == load;
    }

    private void open(Key key, Load load) {
        if (!load.claimed.compareAndSet(false, true)) {
            return;
        }
        try {
            long before = LoadTime.diskBytes();
            OpenWindow opened = opener.open(key);
            load.fromDisk = LoadTime.diskBytes() != before;
            load.window.complete(opened);
        } catch (IOException | RuntimeException | Error e) {
            synchronized (this) {
                Entry entry = entries.get(key);
                if (entry != null && entry.load == load) {
                    unload(entry);
                }
            }
            load.window.completeExceptionally(e);
        }
    }

    /** A session looks ahead in an order. */
    synchronized void follow(GroupOrder order) {
        followed.merge(order, 1, Integer::sum);
    }

    /** Takes back one {@link #follow}. */
    synchronized void unfollow(GroupOrder order) {
        followed.computeIfPresent(order, (key, count) -> count == 1 ? null : count - 1);
    }

    /** Orders in which sessions look ahead; they share the memory for it. */
    synchronized int followed() {
        return followed.size();
    }

    /** Windows in memory. */
    public synchronized int open() {
        return loaded.size();
    }

    /** Bytes of those. */
    public synchronized long usedBytes() {
        return usedBytes;
    }

    /** Ends the background threads. */
    @Override
    public void close() {
        executor.shutdownNow();
    }
}
