package dev.stoker.server.lookup;

import dev.stoker.metadata.index.ConfirmedSample;
import dev.stoker.metadata.index.SampleIndex;
import dev.stoker.metadata.index.SampleStat;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.errors.ErrorText;
import dev.stoker.schemas.protocol.GetSamples;
import dev.stoker.schemas.protocol.Samples;
import dev.stoker.schemas.protocol.parts.SampleAddress;
import dev.stoker.server.chunks.ChunkSource;
import dev.stoker.server.chunks.ListedChunk;
import dev.stoker.server.window.ServedStream;
import dev.stoker.storage.errors.NoSuchObjectException;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Answers one request with the values of samples. Goes through the chunks in ascending order, so that each one is read
 * once, and has the next ones loaded meanwhile. For one thread.
 */
final class GetAnswer implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(GetAnswer.class);

    /** Bytes of values at which a frame is sent. A frame has at least one sample. */
    private static final int FRAME_BYTES = 2 << 20;

    private static final int FRAME_ITEMS = 8192;

    /** Chunks that are loaded ahead. */
    private static final int AHEAD = 32;

    /** A key that was found. */
    private record Wanted(int key, SampleStat stat, int chunk) {}

    private final GetSamples request;
    private final ServedStream stream;
    private final SampleIndex index;
    private final LookupHeads heads;
    private final SampleMessage message;
    private final LookupThreads threads;
    private final SampleLookup.Output out;
    /** Chunks that will be needed and are not loaded ahead yet. */
    private final Queue<Integer> later = new ArrayDeque<>();
    /** Chunks whose use is near, in the order of their use. Far ones have their heads read. */
    private final Queue<ListedChunk> ahead = new ArrayDeque<>();
    /** Those of them that are loaded ahead. */
    private final Set<ListedChunk> loading = new HashSet<>();

    private final List<Samples.Item> items = new ArrayList<>();
    private final List<SampleMessage.Row> rows = new ArrayList<>();
    private long bytes;

    GetAnswer(
            GetSamples request,
            ServedStream stream,
            SampleIndex index,
            LookupHeads heads,
            SampleMessage message,
            LookupThreads threads,
            SampleLookup.Output out) {
        this.request = request;
        this.stream = stream;
        this.index = index;
        this.heads = heads;
        this.out = out;
        this.message = message;
        this.threads = threads;
    }

    void send() throws IOException, InterruptedException {
        List<Wanted> found = find();
        found.stream().map(Wanted::chunk).distinct().forEach(later::add);
        int chunk = -1;
        for (Wanted wanted : found) {
            if (out.isEnded()) {
                return;
            }
            if (wanted.chunk() != chunk) {
                advance(chunk);
                chunk = wanted.chunk();
            }
            add(wanted);
            if (bytes >= FRAME_BYTES || items.size() >= FRAME_ITEMS) {
                flush(false);
            }
        }
        flush(true);
    }

    /** Finds the keys, and notes those that are missing. Returns the others in the order of their places. */
    private List<Wanted> find() throws IOException {
        List<Wanted> found = new ArrayList<>();
        List<String> keys = request.keys();
        for (int i = 0; i < keys.size(); i++) {
            Optional<SampleStat> stat = index.stat(keys.get(i));
            if (stat.isPresent()) {
                found.add(new Wanted(i, stat.get(), chunk(stat.get())));
            } else {
                items.add(Samples.Item.missing(i));
            }
        }
        found.sort(Comparator.comparingInt(Wanted::chunk)
                .thenComparingInt(wanted -> wanted.stat().row()));
        return found;
    }

    /** Returns the index of a sample's chunk in the stream. */
    private int chunk(SampleStat stat) {
        return stream.chunks().indexOf(stat.ordinal());
    }

    /** Ends the use of a chunk, and has more of the next ones loaded. */
    private void advance(int done) throws IOException {
        ChunkSource source = stream.source();
        if (done >= 0) {
            ListedChunk used = ahead.poll();
            if (used != null && loading.remove(used)) {
                source.unwant(used);
            }
        }
        List<LookupThreads.Read> farHeads = new ArrayList<>();
        while (ahead.size() < AHEAD && !later.isEmpty()) {
            int chunk = later.remove();
            ListedChunk next = stream.file(chunk);
            ahead.add(next);
            if (source.isFar(next)) {
                farHeads.add(() -> readAhead(chunk));
                continue;
            }
            source.want(next);
            loading.add(next);
        }
        if (!farHeads.isEmpty()) {
            threads.all(farHeads);
        }
    }

    /** Reads a head, so that it is known when it is needed. */
    private void readAhead(int chunk) {
        try {
            heads.get(stream, chunk);
        } catch (IOException e) {
            LOG.debug("A head is read again when it is needed", e);
        }
    }

    private void add(Wanted wanted) throws IOException {
        try {
            Optional<ConfirmedSample<LookupChunk>> found =
                    ConfirmedSample.of(index, wanted.stat(), stat -> heads.get(stream, chunk(stat)));
            if (found.isEmpty()) {
                items.add(Samples.Item.missing(wanted.key()));
                return;
            }
            SampleStat stat = found.get().stat();
            items.add(Samples.Item.found(wanted.key(), SampleLookup.place(stat)));
            rows.add(new SampleMessage.Row(items.size() - 1, found.get().chunk(), stat.row()));
            bytes += Integer.toUnsignedLong(stat.length());
        } catch (CorruptDataException | NoSuchObjectException e) {
            items.add(damaged(wanted.key(), wanted.stat().key(), SampleLookup.place(wanted.stat()), e));
        }
    }

    private static Samples.Item damaged(int key, String name, SampleAddress place, Exception e) {
        String why = e instanceof CorruptDataException corrupt ? ErrorText.of(corrupt) : e.toString();
        return Samples.Item.damaged(
                key, place, "chunk " + place.ordinal() + ", row " + place.row() + ", key '" + name + "': " + why);
    }

    /** Sends the items so far. */
    private void flush(boolean isLast) throws IOException, InterruptedException {
        if (items.isEmpty() && !isLast) {
            return;
        }
        try {
            message.build(rows, (row, e) -> {
                Samples.Item item = items.get(row.item());
                items.set(row.item(), damaged((int) item.key(), request.keys().get((int) item.key()), item.place(), e));
            });
            out.write(new Samples(request.request(), stream.version(), isLast, items, message.bytes())
                    .parts(message.crc32c()));
        } finally {
            message.clear();
        }
        items.clear();
        rows.clear();
        bytes = 0;
    }

    @Override
    public void close() {
        loading.forEach(stream.source()::unwant);
        loading.clear();
        ahead.clear();
        message.clear();
    }
}
