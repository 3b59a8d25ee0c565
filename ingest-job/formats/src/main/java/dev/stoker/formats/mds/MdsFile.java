package dev.stoker.formats.mds;

import dev.stoker.formats.BadValueException;
import dev.stoker.formats.DamagedFileException;
import dev.stoker.formats.ReadLimits;
import dev.stoker.formats.RowColumn;
import dev.stoker.formats.RowFile;
import dev.stoker.formats.RowPart;
import dev.stoker.formats.RowReader;
import dev.stoker.formats.RowSchema;
import dev.stoker.formats.ValueSink;
import dev.stoker.formats.input.ByteInput;
import dev.stoker.formats.mds.MdsIndex.StoredFile;
import dev.stoker.schemas.io.RangeReader;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/** A shard. It is one part, whose rows are counted. */
final class MdsFile implements RowFile {
    private final RangeReader file;
    private final ReadLimits limits;
    private final StoredFile stored;
    private final RowSchema schema;
    /** The place of each column of the schema in the shard. */
    private final int[] places;

    private final RowPart part;

    private MdsFile(
            RangeReader file, ReadLimits limits, StoredFile stored, RowSchema schema, int[] places, RowPart part) {
        this.file = file;
        this.limits = limits;
        this.stored = stored;
        this.schema = schema;
        this.places = places;
        this.part = part;
    }

    /** @param samples number of samples that the index says, or -1 */
    static MdsFile open(RangeReader file, ReadLimits limits, StoredFile stored, long samples) throws IOException {
        if (stored.bytes() >= 0 && stored.bytes() != file.length()) {
            throw MdsConfig.damaged(
                    file.name(), "it has " + file.length() + " bytes, but the index says " + stored.bytes());
        }
        try (ByteInput in = MdsInput.open(file, limits)) {
            MdsShard shard = new MdsShard(in, limits);
            if (samples >= 0 && samples != shard.samples()) {
                throw shard.damaged("it has " + shard.samples() + " samples, but the index says " + samples);
            }
            ByteBuffer[] first = shard.next() ? shard.values() : null;
            RowSchema schema = MdsColumns.schema(shard.config(), first);
            return new MdsFile(
                    file,
                    limits,
                    stored,
                    schema,
                    places(schema, shard.config()),
                    new RowPart(0, 0, file.length(), shard.samples(), shard.largestSample()));
        }
    }

    private static int[] places(RowSchema schema, MdsConfig config) {
        List<Integer> places = new ArrayList<>();
        int column = 0;
        for (int i = 0; i < config.names().size(); i++) {
            if (column < schema.columns().size()
                    && schema.columns().get(column).name().equals(config.names().get(i))
                    && schema.columns()
                            .get(column)
                            .sourceType()
                            .equals(config.encodings().get(i))) {
                places.add(i);
                column++;
            }
        }
        return places.stream().mapToInt(i -> i).toArray();
    }

    @Override
    public RowSchema schema() {
        return schema;
    }

    @Override
    public List<RowPart> parts() {
        return List.of(part);
    }

    @Override
    public RowReader read(RowPart part, int[] columns) throws IOException {
        HashedFile hashed = new HashedFile(file, stored);
        ByteInput in = MdsInput.open(hashed, limits);
        try {
            return new Reader(in, hashed, columns);
        } catch (IOException | RuntimeException e) {
            in.close();
            throw e;
        }
    }

    /** Does nothing: the caller closes the file. */
    @Override
    public void close() {}

    /** Not thread-safe. */
    private final class Reader implements RowReader {
        private final ByteInput in;
        private final HashedFile hashed;
        private final MdsShard shard;
        private final RowColumn[] columns;
        private final int[] place;
        private final MdsEncoding[] encodings;
        private final MdsArray[] arrays;
        private boolean canSkip;

        private Reader(ByteInput in, HashedFile hashed, int[] selected) throws IOException {
            this.in = in;
            this.hashed = hashed;
            this.shard = new MdsShard(in, limits);
            columns = new RowColumn[selected.length];
            place = new int[selected.length];
            encodings = new MdsEncoding[selected.length];
            arrays = new MdsArray[selected.length];
            for (int i = 0; i < selected.length; i++) {
                columns[i] = schema.columns().get(selected[i]);
                place[i] = places[selected[i]];
                String encoding = columns[i].sourceType();
                arrays[i] = MdsArray.isArray(encoding) ? MdsArray.parse(encoding) : null;
                encodings[i] = MdsEncoding.of(encoding);
            }
        }

        @Override
        public boolean next() throws IOException {
            long before = shard.number();
            canSkip = false;
            try {
                if (shard.next()) {
                    return true;
                }
                hashed.verify();
                return false;
            } catch (DamagedFileException e) {
                // The sample was read as a whole, but its values do not fit into it.
                canSkip = shard.number() > before;
                throw e;
            }
        }

        @Override
        public long position() {
            return shard.number();
        }

        @Override
        public void get(int column, ValueSink sink) throws BadValueException {
            ByteBuffer value = shard.values()[place[column]];
            if (arrays[column] != null) {
                arrays[column].give(value, columns[column].type(), sink);
            } else {
                encodings[column].give(value.duplicate().order(ByteOrder.LITTLE_ENDIAN), sink);
            }
        }

        @Override
        public boolean skip() {
            return canSkip;
        }

        @Override
        public void close() throws IOException {
            in.close();
        }
    }
}
