package dev.stoker.metadata;

import dev.stoker.metadata.chunks.ChunkHeads;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.storage.ObjectIterator;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.Stores;
import java.io.IOException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Map;
import java.util.TreeMap;

/** The contents of datasets. */
public final class Contents {

    private Contents() {}

    /** Each sample of the newest version by its key: split, class, other small fields, payload, as text. */
    public static Map<String, String> of(String location) throws IOException {
        Map<String, String> samples = new TreeMap<>();
        try (ObjectStore store = Stores.open(location)) {
            Snapshot snapshot = Dataset.open(store).snapshot();
            for (int i = 0; i < snapshot.table().size(); i++) {
                if (!snapshot.table().isLive(i)) {
                    continue;
                }
                ChunkHead head = ChunkHeads.read(store, snapshot.table(), i);
                byte[] file = store.readAll(ChunkNames.path(snapshot.table().id(i)), Integer.MAX_VALUE);
                for (int row = 0; row < head.rows(); row++) {
                    if (ChunkHeads.isRemoved(snapshot.table(), i, row)) {
                        continue;
                    }
                    String text = snapshot.table().split(i) + text(head, file, row);
                    if (samples.put(head.key(row), text) != null) {
                        throw new AssertionError("twice: " + head.key(row));
                    }
                }
            }
        }
        return samples;
    }

    private static String text(ChunkHead head, byte[] file, int row) {
        StringBuilder text = new StringBuilder();
        for (int f = 0; f < head.fields().size(); f++) {
            Field field = head.fields().get(f);
            text.append(' ').append(field.name()).append('=');
            if (field.payload()) {
                int from = head.payloadPosition(f, row);
                text.append(
                        HexFormat.of().formatHex(Arrays.copyOfRange(file, from, from + head.payloadLength(f, row))));
            } else if (field.type().canonical().equals("categorical")) {
                text.append(head.classes(f).get(head.column(f).intAt(row)));
            } else {
                text.append(head.column(f).isNull(row) ? null : head.column(f).stringAt(row));
            }
        }
        return text.toString();
    }

    /** Copies every object. */
    public static void copy(String from, String to) throws IOException {
        try (ObjectStore source = Stores.open(from);
                ObjectStore target = Stores.open(to);
                ObjectIterator objects = source.list("")) {
            while (objects.hasNext()) {
                String name = objects.next().name();
                if (!target.createIfAbsent(name, source.readAll(name, Integer.MAX_VALUE))) {
                    throw new AssertionError(to + " has " + name);
                }
            }
        }
    }
}
