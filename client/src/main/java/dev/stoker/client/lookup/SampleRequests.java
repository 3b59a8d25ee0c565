package dev.stoker.client.lookup;

import dev.stoker.client.errors.CorruptBatchException;
import dev.stoker.client.errors.FeedProtocolException;
import dev.stoker.client.source.ClientOptions;
import dev.stoker.client.transport.Target;
import dev.stoker.schemas.arrow.ArrowColumn;
import dev.stoker.schemas.arrow.BatchColumns;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.errors.ErrorText;
import dev.stoker.schemas.errors.StokerException;
import dev.stoker.schemas.protocol.Entries;
import dev.stoker.schemas.protocol.GetSamples;
import dev.stoker.schemas.protocol.Samples;
import dev.stoker.schemas.protocol.Welcome;
import dev.stoker.schemas.protocol.parts.SampleAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** Requests samples of one stream, in the order of the caller's keys. Thread-safe. */
public final class SampleRequests implements AutoCloseable {
    private final LookupFeeders feeders;
    private final Welcome welcome;
    private final List<Field> fields;

    /**
     * A sample that was found.
     *
     * @param place where it is stored
     * @param columns the columns of its message: the key, then the fields
     * @param row its row in them
     */
    public record Row(SampleAddress place, List<ArrowColumn> columns, int row) {}

    /** Connects to the feed. */
    public SampleRequests(Target target, ClientOptions options) {
        feeders = new LookupFeeders(target, options);
        welcome = feeders.connect();
        fields = welcome.columns().fields().stream()
                .map(field -> new Field(field.name(), FieldType.parse(field.type()), field.nullable(), field.payload()))
                .toList();
    }

    public Welcome welcome() {
        return welcome;
    }

    /** Returns the dataset's fields. */
    public List<Field> fields() {
        return fields;
    }

    /** Returns the places of samples; empty for a key that the version does not have. */
    public List<Optional<SampleAddress>> stat(List<String> keys) {
        List<Optional<SampleAddress>> places = new ArrayList<>(Collections.nCopies(keys.size(), Optional.empty()));
        for (List<Integer> numbers : requests(keys)) {
            List<String> some = numbers.stream().map(keys::get).toList();
            feeders.call(session -> {
                session.get(some, true, part -> {
                    for (Samples.Item item : part.items()) {
                        if (item.state() != Samples.State.MISSING) {
                            places.set(numbers.get((int) item.key()), Optional.of(item.place()));
                        }
                    }
                });
                return places;
            });
        }
        return places;
    }

    /**
     * Reads samples; empty for a key that the version does not have.
     *
     * @throws CorruptBatchException if a sample is damaged; names chunk, row and key
     */
    public List<Optional<Row>> get(List<String> keys) {
        List<Optional<Row>> rows = new ArrayList<>(Collections.nCopies(keys.size(), Optional.empty()));
        Map<Integer, String> damage = new TreeMap<>();
        for (List<Integer> numbers : requests(keys)) {
            Map<Integer, Boolean> left = new LinkedHashMap<>();
            numbers.forEach(number -> left.put(number, true));
            feeders.call(session -> {
                List<Integer> now = List.copyOf(left.keySet());
                List<String> some = now.stream().map(keys::get).toList();
                if (some.isEmpty()) {
                    return rows;
                }
                session.get(some, false, part -> {
                    List<Optional<Row>> found = rows(part, some, session.address());
                    for (int i = 0; i < found.size(); i++) {
                        Samples.Item item = part.items().get(i);
                        int number = now.get((int) item.key());
                        rows.set(number, found.get(i));
                        if (item.state() == Samples.State.DAMAGED) {
                            damage.put(number, item.problem());
                        }
                        left.remove(number);
                    }
                });
                return rows;
            });
        }
        if (!damage.isEmpty()) {
            throw new CorruptBatchException(damage.values().iterator().next());
        }
        return rows;
    }

    /** Returns the samples of the items of a part. */
    private List<Optional<Row>> rows(Samples part, List<String> keys, String address) {
        try {
            List<ArrowColumn> columns = part.found() == 0
                    ? List.of()
                    : BatchColumns.read(part.message(), fields, "the answer of " + address);
            if (!columns.isEmpty() && columns.get(0).rows() != part.found()) {
                throw new FeedProtocolException(
                        address + " sent " + columns.get(0).rows() + " rows for " + part.found() + " samples",
                        "bad_frame");
            }
            List<Optional<Row>> rows = new ArrayList<>();
            int row = 0;
            for (Samples.Item item : part.items()) {
                if (item.state() != Samples.State.FOUND) {
                    rows.add(Optional.empty());
                    continue;
                }
                String key = columns.get(0).stringAt(row);
                if (!key.equals(keys.get((int) item.key()))) {
                    throw new FeedProtocolException(
                            address + " answered the key '" + keys.get((int) item.key()) + "' with '" + key + "'",
                            "bad_frame");
                }
                rows.add(Optional.of(new Row(item.place(), columns, row++)));
            }
            return rows;
        } catch (StokerException e) {
            throw new FeedProtocolException(ErrorText.of(e), "bad_frame");
        }
    }

    /**
     * Requests a part of a listing.
     *
     * @param after the name of the last entry, or empty
     */
    public Entries list(String prefix, String delimiter, String after) {
        return feeders.call(session -> session.list(prefix, delimiter, after));
    }

    /** Returns the numbers of the keys, divided into requests. Keys that are not Unicode text are left out. */
    private static List<List<Integer>> requests(List<String> keys) {
        List<List<Integer>> requests = new ArrayList<>();
        List<Integer> some = new ArrayList<>();
        long bytes = 0;
        for (int i = 0; i < keys.size(); i++) {
            if (!StandardCharsets.UTF_8.newEncoder().canEncode(keys.get(i))) {
                continue;
            }
            int length = Integer.BYTES + keys.get(i).getBytes(StandardCharsets.UTF_8).length;
            if (length > GetSamples.MAX_KEY_BYTES) {
                throw new IllegalArgumentException("a key of " + (length - Integer.BYTES)
                        + " bytes cannot be requested; the limit is " + (GetSamples.MAX_KEY_BYTES - Integer.BYTES));
            }
            if (!some.isEmpty() && (some.size() == GetSamples.MAX_KEYS || bytes + length > GetSamples.MAX_KEY_BYTES)) {
                requests.add(some);
                some = new ArrayList<>();
                bytes = 0;
            }
            some.add(i);
            bytes += length;
        }
        if (!some.isEmpty()) {
            requests.add(some);
        }
        return requests;
    }

    @Override
    public void close() {
        feeders.close();
    }
}
