package dev.stoker.formats.arrow;

import dev.stoker.formats.BadValueException;
import dev.stoker.formats.DamagedFileException;
import dev.stoker.formats.ReadLimits;
import dev.stoker.formats.RowFile;
import dev.stoker.formats.RowPart;
import dev.stoker.formats.RowReader;
import dev.stoker.formats.RowSchema;
import dev.stoker.formats.UnsupportedFileException;
import dev.stoker.formats.ValueSink;
import dev.stoker.formats.block.MemoryBudget;
import dev.stoker.formats.huggingface.Feature;
import dev.stoker.schemas.errors.ErrorText;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** An open Arrow file or stream. Its parts are its record batches. For one thread at a time. */
final class ArrowRowFile implements RowFile {
    private final ArrowMessages messages;
    private final ReadLimits limits;
    private final List<ArrowNode> fields;
    private final ArrowColumns columns;
    private final RowSchema schema;
    private final List<RowPart> parts = new ArrayList<>();

    ArrowRowFile(ArrowMessages messages, ReadLimits limits) throws IOException {
        this.messages = messages;
        this.limits = limits;
        ArrowSchemaReader reader = new ArrowSchemaReader(limits.depth(), messages.schemaBytes());
        try {
            fields = reader.fields(messages.schema());
            String metadata = reader.metadata(messages.schema()).get(Feature.METADATA_KEY);
            columns = new ArrowColumns(fields, Feature.parse(metadata));
        } catch (IOException e) {
            throw messages.damaged(ErrorText.of(e), e);
        } catch (RuntimeException e) {
            throw messages.damaged("its schema is corrupt", e);
        }
        schema = columns.rows();
        for (ArrowMessages.Body batch : messages.batches()) {
            parts.add(new RowPart(
                    parts.size(),
                    batch.offset(),
                    batch.body() - batch.offset() + batch.bodyLength(),
                    batch.data().length(),
                    batch.bodyLength()));
        }
    }

    @Override
    public RowSchema schema() {
        return schema;
    }

    @Override
    public List<RowPart> parts() {
        return parts;
    }

    @Override
    public RowReader read(RowPart part, int[] selected) throws IOException {
        ArrowMessages.Body batch = messages.batches().get(part.number());
        String what = "record batch " + part.number();
        MemoryBudget budget = new MemoryBudget(messages.name(), limits);
        long first = 0;
        for (int i = 0; i < part.number(); i++) {
            first += parts.get(i).rows();
        }
        try {
            Vec[] roots = new Vec[fields.size()];
            boolean[] wanted = new boolean[fields.size()];
            for (int column : selected) {
                wanted[columns.columns().get(column).root()] = true;
            }
            BatchDecoder decoder = new BatchDecoder(messages, batch, dictionaries(batch, wanted, budget), budget, what);
            for (int i = 0; i < roots.length; i++) {
                if (wanted[i]) {
                    roots[i] = decoder.read(fields.get(i), false);
                    if (roots[i].length < part.rows()) {
                        throw new IOException("column '" + fields.get(i).name() + "' has " + roots[i].length
                                + " rows instead of " + part.rows());
                    }
                } else {
                    decoder.skip(fields.get(i));
                }
            }
            ArrowValue[] values = new ArrowValue[selected.length];
            for (int i = 0; i < selected.length; i++) {
                ArrowValue.Column column = columns.columns().get(selected[i]);
                values[i] = new ArrowValue(column, roots[column.root()], limits.valueBytes());
            }
            return new Reader(values, part.rows(), first, what);
        } catch (IOException | RuntimeException e) {
            throw damaged(what, e);
        }
    }

    private IOException damaged(String what, Exception e) {
        if (e instanceof DamagedFileException || e instanceof UnsupportedFileException) {
            return (IOException) e;
        }
        return new DamagedFileException(
                messages.name() + ": " + what + " is damaged" + DamagedFileException.reason(e)
                        + "; restore the file from a copy",
                e);
    }

    /** Reads the dictionaries that the wanted fields use. */
    private Map<Long, List<Vec>> dictionaries(ArrowMessages.Body batch, boolean[] wanted, MemoryBudget budget)
            throws IOException {
        Map<Long, ArrowNode> encoded = new HashMap<>();
        for (int i = 0; i < wanted.length; i++) {
            if (wanted[i]) {
                collect(fields.get(i), encoded);
            }
        }
        Map<Long, List<Vec>> dictionaries = new HashMap<>();
        for (ArrowMessages.Body body : messages.dictionaries(batch)) {
            long id = Objects.requireNonNull(body.dictionary(), "only dictionaries are in the list")
                    .id();
            ArrowNode field = encoded.get(id);
            if (field != null) {
                Vec values =
                        new BatchDecoder(messages, body, dictionaries, budget, "dictionary " + id).read(field, true);
                List<Vec> parts = new ArrayList<>();
                if (body.dictionary().isDelta()) {
                    parts.addAll(dictionaries.getOrDefault(id, List.of()));
                }
                parts.add(values);
                dictionaries.put(id, parts);
            }
        }
        return dictionaries;
    }

    private static void collect(ArrowNode field, Map<Long, ArrowNode> encoded) {
        if (field.dictionary() != null) {
            encoded.put(field.dictionary().id(), field);
        }
        field.children().forEach(child -> collect(child, encoded));
    }

    @Override
    public void close() {}

    private final class Reader implements RowReader {
        private final ArrowValue[] values;
        private final long rows;
        private final long first;
        private final String what;
        private int row = -1;

        Reader(ArrowValue[] values, long rows, long first, String what) {
            this.values = values;
            this.rows = rows;
            this.first = first;
            this.what = what;
        }

        @Override
        public boolean next() {
            if (row + 1 >= rows) {
                return false;
            }
            row++;
            return true;
        }

        @Override
        public long position() {
            return first + row;
        }

        @Override
        public void get(int column, ValueSink sink) throws IOException, BadValueException {
            try {
                values[column].give(row, sink);
            } catch (IOException | IndexOutOfBoundsException e) {
                throw damaged(what, e);
            }
        }

        @Override
        public void close() {}
    }
}
