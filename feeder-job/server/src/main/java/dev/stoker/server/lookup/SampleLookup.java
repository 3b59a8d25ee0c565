package dev.stoker.server.lookup;

import dev.stoker.metadata.index.ListEntry;
import dev.stoker.metadata.index.SampleIndex;
import dev.stoker.metadata.index.SampleListing;
import dev.stoker.metadata.index.SampleStat;
import dev.stoker.schemas.protocol.Entries;
import dev.stoker.schemas.protocol.GetSamples;
import dev.stoker.schemas.protocol.ListSamples;
import dev.stoker.schemas.protocol.Samples;
import dev.stoker.schemas.protocol.parts.SampleAddress;
import dev.stoker.server.window.ServedStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The samples of one version of a stream, by key. Thread-safe. */
public final class SampleLookup {
    /** Most keys that one frame without values answers. */
    private static final int PLACES_PER_FRAME = 8192;

    /** Bytes of names at which an answer ends. */
    private static final int NAME_BYTES = 1 << 20;

    private static final ByteBuffer NO_MESSAGE = ByteBuffer.allocate(0);

    /** Sends parts of an answer. */
    public interface Output {
        /** Sends a frame; its buffers may be reused when this returns. */
        void write(ByteBuffer[] parts) throws IOException;

        /** Returns whether nobody waits for the answer any more. */
        boolean isEnded();
    }

    private final ServedStream stream;
    private final SampleIndex index;
    private final LookupHeads heads;
    private final LookupMemory memory;
    private final LookupThreads threads;

    SampleLookup(
            ServedStream stream, SampleIndex index, LookupHeads heads, LookupMemory memory, LookupThreads threads) {
        this.stream = stream;
        this.index = index;
        this.heads = heads;
        this.memory = memory;
        this.threads = threads;
    }

    /**
     * Answers a request in one or more frames.
     *
     * @throws IOException if the origin fails or the connection is lost
     */
    public void answer(GetSamples request, Output out) throws IOException, InterruptedException {
        if (request.statOnly()) {
            answerPlaces(request, out);
        } else {
            try (GetAnswer answer = new GetAnswer(
                    request, stream, index, heads, new SampleMessage(stream, memory, threads), threads, out)) {
                answer.send();
            }
        }
    }

    private void answerPlaces(GetSamples request, Output out) throws IOException {
        List<String> keys = request.keys();
        for (int from = 0; from < keys.size() && !out.isEnded(); from += PLACES_PER_FRAME) {
            int to = Math.min(keys.size(), from + PLACES_PER_FRAME);
            List<Samples.Item> items = new ArrayList<>(to - from);
            for (int i = from; i < to; i++) {
                Optional<SampleStat> stat = index.stat(keys.get(i));
                items.add(stat.isPresent() ? Samples.Item.found(i, place(stat.get())) : Samples.Item.missing(i));
            }
            out.write(new Samples(request.request(), stream.version(), to == keys.size(), items, NO_MESSAGE).parts(0));
        }
    }

    static SampleAddress place(SampleStat stat) {
        return new SampleAddress(stat.ordinal(), stat.row(), Integer.toUnsignedLong(stat.length()), stat.crc32c());
    }

    /** Returns the requested part of a listing. */
    public Entries list(ListSamples request) throws IOException {
        SampleListing listing = index.list(request.prefix(), request.delimiter());
        if (!request.after().isEmpty()) {
            listing.skipAfter(request.after());
        }
        List<Entries.Entry> entries = new ArrayList<>();
        long nameBytes = 0;
        Optional<ListEntry> next = listing.next();
        while (next.isPresent() && entries.size() < request.limit() && nameBytes < NAME_BYTES) {
            entries.add(new Entries.Entry(next.get().name(), next.get().sample().map(SampleLookup::place)));
            nameBytes += next.get().name().length();
            next = listing.next();
        }
        return new Entries(request.request(), stream.version(), next.isPresent(), entries);
    }
}
