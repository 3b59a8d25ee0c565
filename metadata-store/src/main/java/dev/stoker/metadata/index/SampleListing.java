package dev.stoker.metadata.index;

import dev.stoker.metadata.index.run.DamagedRunException;
import dev.stoker.metadata.index.run.RowCursor;
import dev.stoker.metadata.index.run.RunCursor;
import dev.stoker.schemas.index.IndexedRow;
import dev.stoker.schemas.index.SampleRun;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.PriorityQueue;

/** Lists the samples of a version in the order of their keys' bytes. Not thread-safe. See {@link SampleIndex#list}. */
public final class SampleListing {

    private final SampleIndex index;
    private final byte[] prefix;
    private final byte[] delimiter;
    private final PriorityQueue<RunCursor> heads = new PriorityQueue<>(RowCursor::compare);
    /** The least key that the listing has not passed. */
    private byte[] resume;

    private boolean isOpen;

    SampleListing(SampleIndex index, byte[] prefix, byte[] delimiter) {
        this.index = index;
        this.prefix = prefix;
        this.delimiter = delimiter;
        this.resume = prefix;
    }

    /**
     * Continues a listing with the same prefix and delimiter after an entry. Call it before the first {@link #next}.
     *
     * @param name the name of the last entry; a name before the prefix changes nothing
     */
    public void skipAfter(String name) {
        byte[] last = SampleIndex.bytes(name);
        if (Arrays.compareUnsigned(last, prefix) < 0) {
            return;
        }
        int end = delimiter.length == 0 || !startsWithPrefix(last) ? -1 : endOfDelimiter(last);
        resume = end < 0 ? Arrays.copyOf(last, last.length + 1) : after(Arrays.copyOf(last, end));
    }

    /** Returns the next entry; empty at the end. */
    public Optional<ListEntry> next() throws IOException {
        while (true) {
            try {
                if (!isOpen) {
                    open();
                }
                return advance();
            } catch (DamagedRunException e) {
                index.discard(e);
                isOpen = false;
            }
        }
    }

    private void open() throws IOException {
        heads.clear();
        for (SampleRun run : index.runsOfAllChunks()) {
            RunCursor cursor = new RunCursor(run);
            cursor.skipTo(resume);
            push(cursor);
        }
        isOpen = true;
    }

    /** Moves the cursors before {@link #resume} there. */
    private void skip() throws IOException {
        List<RunCursor> before = new ArrayList<>();
        while (!heads.isEmpty() && Arrays.compareUnsigned(heads.element().key(), resume) < 0) {
            before.add(heads.remove());
        }
        for (RunCursor cursor : before) {
            cursor.skipTo(resume);
            push(cursor);
        }
    }

    private void push(RunCursor cursor) throws IOException {
        if (cursor.next()) {
            heads.add(cursor);
        }
    }

    private Optional<ListEntry> advance() throws IOException {
        for (RunCursor head = heads.poll(); head != null; head = heads.poll()) {
            byte[] key = head.key();
            IndexedRow row = head.row();
            if (!startsWithPrefix(key)) {
                heads.clear();
                return Optional.empty();
            }
            push(head);
            // Two runs may have the same row.
            if (Arrays.compareUnsigned(key, resume) >= 0 && index.isLive(row)) {
                return Optional.of(entry(key, row));
            }
        }
        return Optional.empty();
    }

    private ListEntry entry(byte[] key, IndexedRow row) throws IOException {
        int end = delimiter.length == 0 ? -1 : endOfDelimiter(key);
        if (end < 0) {
            resume = Arrays.copyOf(key, key.length + 1);
            return new ListEntry(SampleIndex.text(key), Optional.of(index.stat(SampleIndex.text(key), row)));
        }
        byte[] common = Arrays.copyOf(key, end);
        resume = after(common);
        skip();
        return new ListEntry(new String(common, StandardCharsets.UTF_8), Optional.empty());
    }

    /** Returns the least bytes above all texts that begin with this one. */
    private static byte[] after(byte[] common) {
        byte[] next = common.clone();
        // The last byte of UTF-8 is less than FF.
        next[next.length - 1]++;
        return next;
    }

    private boolean startsWithPrefix(byte[] key) {
        return key.length >= prefix.length && Arrays.equals(key, 0, prefix.length, prefix, 0, prefix.length);
    }

    /** Returns the end of the first delimiter after the prefix, or -1. */
    private int endOfDelimiter(byte[] key) {
        for (int at = prefix.length; at <= key.length - delimiter.length; at++) {
            if (Arrays.equals(key, at, at + delimiter.length, delimiter, 0, delimiter.length)) {
                return at + delimiter.length;
            }
        }
        return -1;
    }
}
