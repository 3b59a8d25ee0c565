package dev.stoker.cli.look;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stoker.cli.output.CommandException;
import dev.stoker.cli.running.FeedFile;
import dev.stoker.feeder.plan.StreamArgument;
import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.Snapshot;
import dev.stoker.metadata.explain.OrderExplanation;
import dev.stoker.metadata.follow.EpochVersions;
import dev.stoker.metadata.version.DatasetReference;
import dev.stoker.metadata.version.VersionName;
import dev.stoker.schemas.dataset.EpochChoice;
import dev.stoker.schemas.json.Json;
import dev.stoker.schemas.order.OrderSpec;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.Stores;
import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
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
            description = "The state of a training as JSON: feed.state_dict(). It gives version, split, order, skipped"
                    + " batches, and the position from which steps count.")
    private @Nullable Path state;

    private @Nullable SavedState saved;

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

    /** Returns the content of {@code --state}; empty without it. */
    Optional<SavedState> state() throws IOException {
        if (state == null) {
            return Optional.empty();
        }
        if (saved == null) {
            saved = SavedState.read(state);
        }
        return Optional.of(saved);
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
        SavedState from = state().orElseThrow();
        Optional<VersionName> typed = reference.version();
        if (typed.isPresent() && !typed.get().text().equals(Long.toString(from.version()))) {
            throw new IllegalArgumentException("@" + typed.get() + ": the state is of version " + from.version());
        }
        return open(reference.path(), from.split(), from.order(), all -> {
            requireDataset(from, all);
            return all.snapshot(from.version());
        });
    }

    private static void requireDataset(SavedState from, Dataset all) throws CommandException {
        if (!all.info().id().toString().equals(from.dataset())) {
            throw new CommandException("the state is of dataset " + from.dataset() + ", not of " + all.where()
                    + ", which is " + all.info().id());
        }
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
        String split = stream.path("split").asText();
        OrderSpec spec = spec(file.json().path("order"));
        Optional<SavedState> from = state();
        return open(stream.path("path").asText(), split, spec, all -> {
            long version = version(file, stream, all, epoch);
            if (from.isPresent()) {
                requireDataset(from.get(), all);
                requireStream(from.get(), split, spec, file.name());
                // At batch 0, nothing of the epoch has been read, so a feed that follows can choose another version.
                boolean isBinding = !stream.path("follow").asBoolean()
                        || (from.get().epoch() == epoch && from.get().batch() > 0);
                if (isBinding && from.get().version() != version) {
                    throw new CommandException(
                            "the state is of version " + from.get().version() + ", but feed " + file.name()
                                    + " reads version " + version + " in epoch " + epoch);
                }
            }
            return all.snapshot(version);
        });
    }

    private static void requireStream(SavedState from, String split, OrderSpec spec, String feedName)
            throws CommandException {
        if (!from.split().equals(split)) {
            throw new CommandException("the state is of split " + from.split() + ", but the stream of feed " + feedName
                    + " reads " + split + "; name another one with --stream");
        }
        if (!from.order().equals(spec)) {
            throw new CommandException("the state has the order " + from.order().toJson() + ", but feed " + feedName
                    + " has " + spec.toJson() + "; give the dataset instead of --feed");
        }
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

    private static JsonNode json(String option, String text) {
        try {
            return Json.PLAIN.readTree(text);
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
