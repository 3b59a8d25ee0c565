package dev.stoker.cli.samples;

import dev.stoker.cli.output.CommandException;
import dev.stoker.client.FeedClient;
import dev.stoker.client.FeedClientBuilder;
import dev.stoker.client.FeedSample;
import dev.stoker.client.FeedSamples;
import dev.stoker.client.errors.FeedException;
import dev.stoker.metadata.index.ListEntry;
import dev.stoker.metadata.index.SampleStat;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.protocol.Entries;
import dev.stoker.schemas.protocol.parts.SampleAddress;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The samples of a stream of a running feed, read by its feeders. */
final class FedSamples implements KeyedSamples {

    private final FeedSamples samples;

    private FedSamples(FeedSamples samples) {
        this.samples = samples;
    }

    /**
     * Connects to a feed.
     *
     * @param feed its name or addresses
     * @throws CommandException if it is not known, does not answer or refuses
     */
    static FedSamples open(String feed, Optional<String> stream, OptionalLong version) throws IOException {
        FeedClientBuilder builder = FeedClient.of(feed);
        stream.ifPresent(builder::stream);
        version.ifPresent(builder::version);
        return new FedSamples(orFail(builder::openSamples));
    }

    private static <T> T orFail(Supplier<T> request) throws CommandException {
        try {
            return request.get();
        } catch (FeedException e) {
            throw new CommandException(String.valueOf(e.getMessage()));
        }
    }

    @Override
    public long version() {
        return samples.info().version();
    }

    @Override
    public List<Field> fields() {
        return samples.info().fields();
    }

    @Override
    public List<Optional<SampleStat>> stat(List<String> keys) throws IOException {
        List<Optional<SampleAddress>> places = orFail(() -> samples.stat(keys));
        List<Optional<SampleStat>> stats = new ArrayList<>();
        for (int i = 0; i < keys.size(); i++) {
            String key = keys.get(i);
            stats.add(places.get(i).map(place -> stat(key, place)));
        }
        return stats;
    }

    private SampleStat stat(String key, SampleAddress place) {
        return new SampleStat(
                key, samples.info().split(), place.ordinal(), (int) place.row(), (int) place.length(), place.crc32c());
    }

    @Override
    public List<Optional<ReadSample>> get(List<String> keys) throws IOException {
        return orFail(() -> samples.get(keys)).stream()
                .map(sample -> sample.map(this::read))
                .toList();
    }

    private ReadSample read(FeedSample sample) {
        List<Field> fields = sample.fields();
        return new ReadSample(
                stat(sample.key(), sample.place()),
                fields,
                field -> sample.column(fields.get(field).name()),
                field -> samples.info().classes().get(fields.get(field).name()),
                field -> sample.bytes(fields.get(field).name()),
                sample.row());
    }

    @Override
    public Listing list(String prefix, String delimiter) {
        return new Listing() {
            private @Nullable Iterator<Entries.Entry> entries;

            @Override
            public Optional<ListEntry> next() throws IOException {
                return orFail(this::advance);
            }

            private Optional<ListEntry> advance() {
                Iterator<Entries.Entry> begun = entries == null ? samples.list(prefix, delimiter) : entries;
                entries = begun;
                if (!begun.hasNext()) {
                    return Optional.empty();
                }
                Entries.Entry entry = begun.next();
                return Optional.of(new ListEntry(entry.name(), entry.sample().map(place -> stat(entry.name(), place))));
            }
        };
    }

    @Override
    public void close() {
        samples.close();
    }
}
