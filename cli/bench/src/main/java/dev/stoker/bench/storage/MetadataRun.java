package dev.stoker.bench.storage;

import dev.stoker.bench.measure.Progress;
import dev.stoker.bench.measure.Rounds;
import dev.stoker.storage.ObjectIterator;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Measures metadata operations: creating small objects (each durable, as a commit needs it), asking for their length,
 * listing and deleting them. Of a dataset, only lengths and listings.
 */
final class MetadataRun {
    private static final byte[] CONTENT = new byte[100];
    private static final int MOST_OBJECTS = 20_000;

    /** An operation on the object with a number. */
    private interface Operation {
        void on(int number) throws IOException;
    }

    private final ObjectStore store;
    private final TestFiles files;
    private final Progress progress;
    private final Map<String, List<Double>> rates = new LinkedHashMap<>();

    MetadataRun(ObjectStore store, TestFiles files, Progress progress) {
        this.store = store;
        this.files = files;
        this.progress = progress;
    }

    /** Measures one round of each operation. */
    void round(int round, int depth, Duration time, ExecutorService threads) throws IOException, InterruptedException {
        Duration each = time.dividedBy(files.areOwn() ? 4 : 2);
        if (!files.areOwn()) {
            measure("length", depth, Integer.MAX_VALUE, each, threads, number -> store.length(nameOf(number)));
            list(depth, "chunks/", each);
            return;
        }
        String folder = files.folder() + "meta/" + round + "-" + depth + "-";
        int created = measure(
                "create", depth, MOST_OBJECTS, each, threads, number -> store.createIfAbsent(folder + number, CONTENT));
        measure("length", depth, Integer.MAX_VALUE, each, threads, number -> store.length(folder + number % created));
        list(depth, folder, each);
        // All of them: the next round lists only its own.
        measure("delete", depth, created, Duration.ofHours(1), threads, number -> store.delete(folder + number));
    }

    private String nameOf(int number) {
        return files.files().get(number % files.files().size()).name();
    }

    /** Returns how many operations there were: at least one. */
    private int measure(String name, int depth, int most, Duration time, ExecutorService threads, Operation operation)
            throws IOException, InterruptedException {
        AtomicInteger next = new AtomicInteger();
        AtomicInteger done = new AtomicInteger();
        long began = System.nanoTime();
        long end = began + time.toNanos();
        Callable<Void> loop = () -> {
            do {
                int number = next.getAndIncrement();
                if (number >= most) {
                    break;
                }
                operation.on(number);
                done.incrementAndGet();
            } while (System.nanoTime() < end && !progress.isStopped());
            return null;
        };
        List<Callable<Void>> tasks = new ArrayList<>();
        for (int i = 0; i < depth; i++) {
            tasks.add(loop);
        }
        for (Future<Void> task : threads.invokeAll(tasks)) {
            try {
                task.get();
            } catch (ExecutionException e) {
                throw e.getCause() instanceof IOException cause ? cause : new IOException(e.getCause());
            }
        }
        add(name, depth, done.get() * 1e9 / Math.max(1, System.nanoTime() - began));
        return done.get();
    }

    /** Lists in one thread, as Stoker does. */
    private void list(int depth, String prefix, Duration time) throws IOException {
        if (depth > 1) {
            return;
        }
        long began = System.nanoTime();
        long listed = 0;
        do {
            try (ObjectIterator objects = store.list(prefix)) {
                while (objects.hasNext()) {
                    objects.next();
                    listed++;
                }
            }
        } while (System.nanoTime() - began < time.toNanos() && !progress.isStopped());
        add("list (objects)", depth, listed * 1e9 / Math.max(1, System.nanoTime() - began));
    }

    private void add(String name, int depth, double rate) {
        rates.computeIfAbsent(name + "\n" + depth, key -> new ArrayList<>()).add(rate);
    }

    List<StorageResult.Metadata> results() {
        return rates.entrySet().stream()
                .map(entry -> {
                    String[] parts = entry.getKey().split("\n", 2);
                    return new StorageResult.Metadata(
                            parts[0], Integer.parseInt(parts[1]), new Rounds(entry.getValue()));
                })
                .toList();
    }
}
