package dev.stoker.server.window;

import dev.stoker.server.chunks.LoadTime;
import dev.stoker.server.feed.OnCorrupt;
import java.io.IOException;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * The open windows of a node, shared by all sessions at the same position.
 *
 * <p>A window stays in memory while a cursor keeps it, which means that a session is in it or about to enter it. A
 * window that no cursor keeps is dropped at once, so memory does not grow with the number of epochs. At the limit, the
 * least recently used window is dropped, and read again when it is needed. Thread-safe; the lock guards the maps, and
 * no thread holds it during a read.
 */
public final class Windows implements AutoCloseable {
    private static final int OPENERS = 2;

    /** Identifies a window. {@link GroupOrder} is compared by identity: groups with the same spec share one. */
    record Key(GroupOrder order, long epoch, int lane, int window) {}

    /** One read of a window. The thread that claims it does the read. */
    private static final class Load {
        final long bytes;
        final AtomicBoolean claimed = new AtomicBoolean();
        final CompletableFuture<OpenWindow> window = new CompletableFuture<>();
        /** Whether the kernel had to read from a disk for it. Written before the future completes. */
        boolean fromDisk;

        Load(long bytes) {
            this.bytes = bytes;
        }
    }

    /** A kept window. The lock guards it. */
    private static final class Entry {
        int keepers;

        @Nullable
        Load load;
    }

    private final long limitBytes;
    private final WindowOpener opener;
    private final ThreadPoolExecutor executor;
    private final Map<Key, Entry> entries = new HashMap<>();
    /** Entries with a load, least recently used first. */
    private final LinkedHashSet<Entry> loaded = new LinkedHashSet<>();

    /** Number of sessions that look ahead, by their order. */
    private final IdentityHashMap<GroupOrder, Integer> followed = new IdentityHashMap<>();

    private long usedBytes;

    /**
     * @param limitBytes limit of the bytes of all windows together
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

    /** Keeps the window until {@link #release}, so that the next session that needs it finds it open. */
    synchronized void keep(Key key) {
        entries.computeIfAbsent(key, k -> new Entry()).keepers++;
    }

    /** Reverts one {@link #keep}. */
    synchronized void release(Key key) {
        Entry entry = kept(key);
        if (--entry.keepers == 0) {
            entries.remove(key);
            unload(entry);
        }
    }

    /** Opens a kept window in the background if there is room for it. */
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
            // The process may be unable to start more threads. The session that needs the window opens it.
        }
    }

    /**
     * Returns a kept window. This thread opens it unless another thread is opening it.
     *
     * @throws IOException if a head cannot be read or is damaged
     */
    OpenWindow get(Key key) throws IOException {
        Load load;
        synchronized (this) {
            Entry entry = kept(key);
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
            Entry entry = kept(key);
            if (entry.load != null) {
                return entry.load;
            }
            for (Iterator<Entry> oldest = loaded.iterator(); usedBytes + bytes > limitBytes && oldest.hasNext(); ) {
                Entry victim = oldest.next();
                oldest.remove();
                unload(victim);
            }
            return load(entry, bytes);
        }
    }

    private Entry kept(Key key) {
        return Objects.requireNonNull(entries.get(key), "windows are kept while they are used");
    }

    private Load load(Entry entry, long bytes) {
        Load load = new Load(bytes);
        entry.load = load;
        usedBytes += bytes;
        loaded.add(entry);
        return load;
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

    /** Notes that a session looks ahead in an order. */
    synchronized void follow(GroupOrder order) {
        followed.merge(order, 1, Integer::sum);
    }

    /** Reverts one {@link #follow}. */
    synchronized void unfollow(GroupOrder order) {
        followed.computeIfPresent(order, (key, count) -> count == 1 ? null : count - 1);
    }

    /** Returns the number of orders in which sessions look ahead. They share the memory for it. */
    synchronized int followed() {
        return followed.size();
    }

    /** Returns the number of windows in memory. */
    public synchronized int open() {
        return loaded.size();
    }

    /** Returns the bytes of the windows in memory. */
    public synchronized long usedBytes() {
        return usedBytes;
    }

    /** Ends the background threads. */
    @Override
    public void close() {
        executor.shutdownNow();
    }
}
