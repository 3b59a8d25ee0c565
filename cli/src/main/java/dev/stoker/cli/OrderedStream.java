package dev.stoker.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stoker.feeder.plan.StreamArgument;
import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.DatasetReference;
import dev.stoker.metadata.EpochVersions;
import dev.stoker.metadata.Snapshot;
import dev.stoker.metadata.VersionName;
import dev.stoker.metadata.explain.OrderExplanation;
import dev.stoker.schemas.dataset.EpochChoice;
import dev.stoker.schemas.order.OrderSpec;
import dev.stoker.schemas.order.SkipList;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.Stores;
import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The stream and the order that a verb explains: those of a feed, or a dataset with an order. */
final class OrderedStream {

    private static final String DEFAULT_GROUP = "default";

    @Parameters(
            index = "0",
            arity = "0..1",
            paramLabel = "DATASET",
            description = "The stream, path[@version][:split], with --state or --order; the split is train by default.")
    private @Nullable String dataset;

    @Option(
            names = "--feed",
            paramLabel = "NAME",
            description = "A running or ended feed of this machine; stoker ps --all lists the names.")
    private @Nullable String feed;

    @Option(
            names = "--stream",
            paramLabel = "NAME",
            description = "With --feed: the stream. Default: the only one, or train.")
    private @Nullable String name;

    @Option(
            names = "--group",
            paramLabel = "NAME",
            description = "With --feed --follow: the group of the trainers. Default: default.")
    private String group = DEFAULT_GROUP;

    @Option(
            names = "--state",
            paramLabel = "FILE",
            description = "The state of a training as JSON: feed.state_dict(). It gives version, split and order.")
    private @Nullable Path state;

    @Option(
            names = "--order",
            paramLabel = "JSON",
            description = "The order, such as {\"seed\":7,\"batch_size\":256}; the rest has the defaults of a feed.")
    private @Nullable String order;

    /**
     * A stream of an open dataset.
     *
     * @param store of the dataset
     * @param dataset the dataset
     * @param snapshot the version that the epoch reads
     * @param order explains the stream
     */
    record Opened(ObjectStore store, Dataset dataset, Snapshot snapshot, OrderExplanation order) implements Closeable {
        @Override
        public void close() throws IOException {
            store.close();
        }
    }

    /** Opens the dataset and selects the version of an epoch. The caller closes it. */
    private interface Selection {
        Snapshot of(Dataset dataset) throws IOException;
    }

    /** Returns the epoch of {@code --state}; 0 without it. */
    long epochOfState() throws IOException {
        return state == null ? 0 : readState().path("epoch").asLong();
    }

    /** Returns the batches that {@code --state} skips: those that were still to come. */
    List<SkipList.Range> skippedByState() throws IOException {
        List<SkipList.Range> ranges = new ArrayList<>();
        if (state != null) {
            for (JsonNode range : readState().path("skip")) {
                if (range.size() != 3) {
                    throw new CommandException("the state skips " + range + "; expected [epoch,first,last]");
                }
                ranges.add(new SkipList.Range(
                        range.path(0).asLong(-1),
                        range.path(1).asLong(-1),
                        range.path(2).asLong(-1)));
            }
        }
        return ranges;
    }

    /** Opens the stream for an epoch. */
    Opened open(long epoch) throws IOException {
        if ((feed == null) == (dataset == null)) {
            throw new IllegalArgumentException("give --feed NAME, or a dataset with --state or --order");
        }
        return feed == null ? ofDataset(dataset) : ofFeed(feed, epoch);
    }

    private Opened ofDataset(String text) throws IOException {
        if ((state == null) == (order == null)) {
            throw new IllegalArgumentException("a dataset needs its order: give --state FILE or --order JSON");
        }
        DatasetReference reference = StreamArgument.parse(text).dataset();
        if (order != null) {
            OrderSpec spec = spec(json("--order", order));
            return open(reference.path(), reference.split().orElseThrow(), spec, reference::open);
        }
        JsonNode saved = readState();
        long version = saved.path("version").asLong();
        Optional<VersionName> typed = reference.version();
        if (typed.isPresent() && !typed.get().text().equals(Long.toString(version))) {
            throw new IllegalArgumentException("@" + typed.get() + ": the state is of version " + version);
        }
        return open(reference.path(), saved.path("split").asText(), spec(saved.path("order")), all -> {
            if (!all.info().id().toString().equals(saved.path("dataset").asText())) {
                throw new CommandException("the state is of dataset "
                        + saved.path("dataset").asText() + ", not of " + all.where() + ", which is "
                        + all.info().id());
            }
            return all.snapshot(version);
        });
    }

    private Opened ofFeed(String feedName, long epoch) throws IOException {
        FeedFile file = FeedFile.require(feedName);
        List<String> names = new ArrayList<>();
        JsonNode found = null;
        for (JsonNode stream : file.json().path("streams")) {
            names.add(stream.path("name").asText());
            String wanted = name == null && file.json().path("streams").size() > 1 ? "train" : name;
            if (wanted == null || wanted.equals(stream.path("name").asText())) {
                found = stream;
            }
        }
        if (found == null) {
            throw new CommandException("feed " + feedName + " has no stream " + (name == null ? "train" : name)
                    + "; it has " + String.join(", ", names));
        }
        JsonNode stream = found;
        return open(
                stream.path("path").asText(),
                stream.path("split").asText(),
                spec(file.json().path("order")),
                all -> all.snapshot(version(file, stream, all, epoch)));
    }

    private long version(FeedFile file, JsonNode stream, Dataset all, long epoch) throws IOException {
        if (!stream.path("follow").asBoolean()) {
            return stream.path("version").asLong();
        }
        OptionalLong chosen = new EpochVersions(
                        all,
                        new EpochChoice.Pass(file.id(), stream.path("name").asText(), group),
                        InstantSource.system())
                .find(epoch);
        return chosen.orElseThrow(() -> new CommandException("feed " + file.name()
                + " follows its dataset, and group " + group + " has not begun epoch " + epoch
                + "; its version is chosen then"));
    }

    private static Opened open(String path, String split, OrderSpec spec, Selection version) throws IOException {
        ObjectStore store = Stores.open(Stores.normalize(path));
        try {
            Dataset all = Dataset.open(store);
            Snapshot snapshot = version.of(all);
            return new Opened(store, all, snapshot, new OrderExplanation(all, snapshot, split, spec));
        } catch (IOException | RuntimeException e) {
            store.close();
            throw e;
        }
    }

    private JsonNode readState() throws IOException {
        return json("--state", Files.readString(Objects.requireNonNull(state)));
    }

    private static JsonNode json(String option, String text) {
        try {
            return Json.MAPPER.readTree(text);
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException("option " + option + ": not JSON: " + e.getOriginalMessage());
        }
    }

    /** Returns an order; missing keys have the defaults of a feed. */
    private static OrderSpec spec(JsonNode partial) {
        if (!(partial instanceof ObjectNode given)) {
            throw new IllegalArgumentException("the order is not a JSON object, such as {\"batch_size\":64}");
        }
        ObjectNode whole = (ObjectNode) json("--order", OrderSpec.defaults().toJson());
        whole.setAll(given);
        return OrderSpec.fromJson(whole);
    }
}
