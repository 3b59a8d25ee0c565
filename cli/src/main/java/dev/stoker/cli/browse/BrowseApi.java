package dev.stoker.cli.browse;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stoker.cli.look.DiffJson;
import dev.stoker.cli.look.LogVerb;
import dev.stoker.cli.output.Columns;
import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.Snapshot;
import dev.stoker.metadata.Tags;
import dev.stoker.metadata.diff.VersionDiff;
import dev.stoker.metadata.files.ContentField;
import dev.stoker.metadata.history.VersionChange;
import dev.stoker.metadata.index.SampleIndex;
import dev.stoker.metadata.index.SampleStat;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.dataset.Tag;
import java.io.IOException;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/** The answers in JSON. Thread-safe. */
final class BrowseApi implements AutoCloseable {

    private static final Columns<VersionChange> VERSIONS = LogVerb.columns();

    private static final int MOST_CARDS = 200;
    private static final int MOST_VERSIONS = 100;
    private static final int MOST_KEYS = 500;
    private static final int MOST_CLASSES = 10_000;

    private final Versions versions;
    private final long first;
    private final SampleViews json;
    private final Comparisons comparisons;

    /** @param first the version that the page shows first */
    BrowseApi(Versions versions, long first, Values values) {
        this.versions = versions;
        this.first = first;
        this.json = new SampleViews(values);
        this.comparisons = new Comparisons(versions.dataset());
    }

    /** Answers a request; empty if there is no such resource. */
    Optional<ObjectNode> answer(String name, Parameters parameters) throws IOException {
        return switch (name) {
            case "dataset" -> Optional.of(dataset());
            case "versions" -> Optional.of(versions(parameters));
            case "version" -> Optional.of(version(open(parameters)));
            case "samples" -> Optional.of(samples(parameters));
            case "classes" -> Optional.of(classes(parameters));
            case "sample" -> Optional.of(sample(parameters));
            case "content" -> Optional.of(content(parameters));
            case "diff" -> Optional.of(diff(parameters));
            default -> Optional.empty();
        };
    }

    private BrowsedVersion open(Parameters parameters) throws IOException {
        return versions.open(parameters.required("version"));
    }

    private ObjectNode dataset() throws IOException {
        Dataset dataset = versions.dataset();
        ObjectNode node = JsonNodeFactory.instance
                .objectNode()
                .put("name", dataset.info().name())
                .put("path", dataset.where())
                .put("newest", dataset.latestVersion());
        node.set("version", version(versions.open(first)));
        return node;
    }

    /** Versions, the newest first. */
    private ObjectNode versions(Parameters parameters) throws IOException {
        Dataset dataset = versions.dataset();
        long newest = dataset.latestVersion();
        long from = Math.min(newest, parameters.number("from", newest));
        int limit = parameters.bounded("limit", 20, 1, MOST_VERSIONS);
        ObjectNode node = JsonNodeFactory.instance.objectNode().put("newest", newest);
        ArrayNode array = node.putArray("versions");
        Map<String, Tag> tags = new Tags(dataset).all();
        for (VersionChange change : VersionChange.of(dataset, Math.max(1, from - limit + 1), from, newest)) {
            ArrayNode names = VERSIONS.put(array.addObject(), change).putArray("tags");
            for (Map.Entry<String, Tag> tag : tags.entrySet()) {
                if (tag.getValue().version() == change.version()) {
                    names.add(tag.getKey());
                }
            }
        }
        if (from > limit) {
            node.put("next", from - limit);
        }
        return node;
    }

    private static ObjectNode version(BrowsedVersion version) throws IOException {
        Snapshot snapshot = version.snapshot();
        ObjectNode node = JsonNodeFactory.instance
                .objectNode()
                .put("version", snapshot.version())
                .put("samples", snapshot.table().liveRows())
                .put("chunks", snapshot.table().liveChunks())
                .put("bytes", snapshot.table().liveBytes())
                .put("searchable", version.index().isPresent())
                .put("show", Values.shown(version.fields()));
        ArrayNode splits = node.putArray("splits");
        for (String split : snapshot.splits()) {
            long samples = version.positions(Optional.of(split)).size();
            splits.addObject().put("name", split).put("samples", samples);
        }
        ArrayNode fields = node.putArray("fields");
        for (Field field : version.fields()) {
            ArrayNode classes = fields.addObject()
                    .put("name", field.name())
                    .put("type", field.type().canonical())
                    .put("payload", field.payload())
                    .put("shown", ContentField.hasBytes(field))
                    .put("sortable", SortOrder.canSort(field))
                    .putArray("classes");
            snapshot.classes().names(field.name()).stream().limit(MOST_CLASSES).forEach(classes::add);
        }
        return node;
    }

    private ObjectNode samples(Parameters parameters) throws IOException {
        BrowsedVersion version = open(parameters);
        Filter filter = Filter.of(parameters, version.fields());
        int show = parameters.bounded(
                "show", Values.shown(version.fields()), -1, version.fields().size() - 1);
        SampleSearch search =
                new SampleSearch(version, filter, parameters.bounded("limit", 48, 1, MOST_CARDS), System::nanoTime);
        boolean isByKey = parameters.text("order").filter("key"::equals).isPresent()
                || !filter.prefix().isEmpty();
        Optional<SampleIndex> index = isByKey ? version.index() : Optional.empty();
        SamplePage listing;
        Optional<SortOrder> order = SortOrder.of(parameters, version.fields());
        if (order.isPresent()) {
            listing = search.inSortedOrder(order.get(), parameters.number("from", 0));
        } else if (index.isPresent()) {
            Optional<RowAddress> after = parameters.text("from").map(text -> RowAddress.parse(version.table(), text));
            listing = search.inKeyOrder(index.get(), after);
        } else {
            listing = search.inStoredOrder(parameters.number("from", 0));
        }
        ObjectNode node = JsonNodeFactory.instance
                .objectNode()
                .put("order", listing.order().name().toLowerCase(Locale.ROOT))
                .put("next", listing.next())
                .put("searched", listing.searched())
                .put("total", version.positions(filter.split()).size());
        listing.position().ifPresent(position -> node.put("position", position));
        listing.found().ifPresent(found -> node.put("found", found));
        ArrayNode problems = node.putArray("problems");
        listing.problems().forEach(problems::add);
        node.set("samples", json.cards(version, listing.samples(), show));
        return node;
    }

    /** Counts samples by class; a page asks again for the rest. */
    private ObjectNode classes(Parameters parameters) throws IOException {
        BrowsedVersion version = open(parameters);
        Filter all = new Filter(parameters.text("split"), "", Optional.empty(), Optional.empty());
        return new SampleSearch(version, all, Integer.MAX_VALUE, System::nanoTime)
                .classCounts(parameters.number("from", 0))
                .json();
    }

    private static RowAddress place(BrowsedVersion version, Parameters parameters) throws IOException {
        Optional<String> key = parameters.text("key");
        if (key.isEmpty()) {
            return RowAddress.of(version.table(), parameters.required("chunk"), parameters.required("row"));
        }
        SampleIndex index = version.index()
                .orElseThrow(() -> new IllegalArgumentException("this version has no sample index, so that a key cannot"
                        + " be found quickly; create it with stoker index"));
        SampleStat stat = index.stat(key.get())
                .orElseThrow(() -> new IllegalArgumentException(
                        "version " + version.snapshot().version() + " has no sample with this key"));
        return new RowAddress(version.table().indexOf(stat.ordinal()), stat.row());
    }

    private ObjectNode sample(Parameters parameters) throws IOException {
        BrowsedVersion version = open(parameters);
        return json.full(version, place(version, parameters));
    }

    private ObjectNode content(Parameters parameters) throws IOException {
        BrowsedVersion version = open(parameters);
        RowAddress place = place(version, parameters);
        int field = parameters.bounded("field", 0, 0, version.fields().size() - 1);
        ContentJson.Effort effort = parameters.isSet("large") ? ContentJson.Effort.READ_LARGE : ContentJson.Effort.READ;
        return json.content(version, place, field, effort);
    }

    private ObjectNode diff(Parameters parameters) throws IOException {
        Snapshot from = versions.open(parameters.required("from")).snapshot();
        Snapshot to = versions.open(parameters.required("to")).snapshot();
        Comparisons.Comparison comparison = comparisons.of(from, to);
        ObjectNode node = JsonNodeFactory.instance
                .objectNode()
                .put("from", from.version())
                .put("to", to.version())
                .put("chunks", comparison.chunks())
                .put("read", comparison.read());
        VersionDiff diff = comparison.diff();
        String problem = comparison.problem();
        if (problem != null) {
            return node.put("state", "failed").put("problem", problem);
        }
        if (diff == null) {
            return node.put("state", "running");
        }
        return described(node, diff, parameters).put("state", "done");
    }

    private static ObjectNode described(ObjectNode node, VersionDiff diff, Parameters parameters) {
        DiffJson.addCounts(node, diff, MOST_CLASSES);
        List<VersionDiff.Sample> all = diff.samples();
        int from = parameters.bounded("offset", 0, 0, all.size());
        int to = Math.min(all.size(), from + parameters.bounded("limit", 100, 1, MOST_KEYS));
        node.put("total", all.size()).put("offset", from);
        DiffJson.addSamples(node, all.subList(from, to));
        return node;
    }

    @Override
    public void close() {
        comparisons.close();
    }
}
