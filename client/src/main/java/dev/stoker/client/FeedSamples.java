package dev.stoker.client;

import dev.stoker.client.errors.CorruptBatchException;
import dev.stoker.client.errors.FeedException;
import dev.stoker.client.lookup.SampleRequests;
import dev.stoker.schemas.protocol.Entries;
import dev.stoker.schemas.protocol.parts.SampleAddress;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Optional;

/**
 * Reads single samples of one stream of a running feed, by key.
 *
 * <pre>{@code
 * try (FeedSamples samples = FeedClient.of("photos").openSamples()) {
 *     FeedSample cat = samples.get("cats/1.jpg").orElseThrow();
 *     show(cat.bytes("image"), cat.text("label"));
 * }
 * }</pre>
 *
 * <p>The feeders read the chunks, through their tiers. The object reads one version. If a feeder fails, it asks another
 * one. Thread-safe; each thread uses a separate connection. Failures are {@link FeedException}s.
 */
public final class FeedSamples implements AutoCloseable {
    private final SampleRequests requests;

    FeedSamples(SampleRequests requests) {
        this.requests = requests;
    }

    /** The description of the stream. */
    public StreamInfo info() {
        return StreamInfo.of(requests.welcome());
    }

    /** Returns where the sample with this key is stored; empty if the version has none. */
    public Optional<SampleAddress> stat(String key) {
        return stat(List.of(key)).get(0);
    }

    /** Returns where samples are stored, with one request. One element for each key, in the order of the keys. */
    public List<Optional<SampleAddress>> stat(List<String> keys) {
        return requests.stat(keys);
    }

    /** Reads the sample with this key; empty if the version has none. */
    public Optional<FeedSample> get(String key) {
        return get(List.of(key)).get(0);
    }

    /**
     * Reads samples with one request.
     *
     * @return one element for each key, in the order of the keys; empty for a key that the version does not have
     * @throws CorruptBatchException if a sample is damaged; names chunk, row and key. The other samples can be read
     */
    public List<Optional<FeedSample>> get(List<String> keys) {
        return requests.get(keys).stream()
                .map(row -> row.map(found -> new FeedSample(
                        requests.fields(),
                        requests.welcome().columns().classes(),
                        found.place(),
                        found.columns(),
                        found.row())))
                .toList();
    }

    /**
     * Lists samples in the order of the bytes of their keys. The iterator requests the entries part by part.
     *
     * @param prefix lists only keys that begin with this text
     * @param delimiter if not empty, all keys with this text after the prefix are one entry: the common prefix up to
     *     and including the first delimiter
     */
    public Iterator<Entries.Entry> list(String prefix, String delimiter) {
        return new Iterator<>() {
            private Entries part = requests.list(prefix, delimiter, "");
            private int next;

            @Override
            public boolean hasNext() {
                List<Entries.Entry> entries = part.entries();
                if (next == entries.size() && part.hasMore()) {
                    part = requests.list(
                            prefix, delimiter, entries.get(entries.size() - 1).name());
                    next = 0;
                }
                return next < part.entries().size();
            }

            @Override
            public Entries.Entry next() {
                if (!hasNext()) {
                    throw new NoSuchElementException("the listing has ended");
                }
                return part.entries().get(next++);
            }
        };
    }

    /** Ends the connections. */
    @Override
    public void close() {
        requests.close();
    }
}
