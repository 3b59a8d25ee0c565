package dev.stoker.cli.look;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stoker.cli.output.Columns;
import dev.stoker.cli.output.KeyText;
import dev.stoker.cli.output.ReadProgress;
import dev.stoker.cli.output.Table;
import dev.stoker.cli.samples.OpenDataset;
import dev.stoker.metadata.Snapshot;
import dev.stoker.metadata.mixing.LabelMix;
import dev.stoker.metadata.mixing.SampleCensus;
import dev.stoker.schemas.json.Json;
import dev.stoker.schemas.order.OrderSpec;
import dev.stoker.schemas.order.ShufflePolicy;
import dev.stoker.schemas.table.ChunkTable;
import dev.stoker.schemas.text.Units;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/**
 * The classes and sizes of all samples, and how a feed mixes the classes, as {@code stoker info --samples} prints them.
 *
 * @param snapshot the version
 * @param census of the version
 * @param mixes by split and field
 */
record CensusText(Snapshot snapshot, SampleCensus census, Map<String, List<LabelMix>> mixes) {

    private static final int CLASSES_SHOWN = 20;
    private static final int BAR = 40;

    /** @param err shows the progress */
    static CensusText of(OpenDataset open, Snapshot snapshot, int threads, PrintWriter err) throws IOException {
        SampleCensus census;
        LongAdder read = new LongAdder();
        int chunks = snapshot.table().liveChunks();
        try (ReadProgress progress = new ReadProgress(
                err, () -> "reading heads: " + Units.count(read.sum()) + " of " + Units.plural(chunks, "chunk"))) {
            census = SampleCensus.of(open.dataset().store(), snapshot, threads, read::increment);
            progress.end();
        }
        Map<String, List<LabelMix>> mixes = new LinkedHashMap<>();
        OrderSpec spec = OrderSpec.defaults();
        for (String split : snapshot.splits()) {
            for (String field : spec.shuffle() == ShufflePolicy.WINDOW ? census.fields() : List.<String>of()) {
                Optional<LabelMix> mix = census.mix(split, field, spec);
                if (mix.isPresent()) {
                    mixes.computeIfAbsent(split, s -> new ArrayList<>()).add(mix.get());
                }
            }
        }
        return new CensusText(snapshot, census, mixes);
    }

    private long headBytes() {
        ChunkTable table = snapshot.table();
        return IntStream.range(0, table.size())
                .filter(table::isLive)
                .mapToLong(table::headLength)
                .sum();
    }

    void print(PrintWriter out) {
        out.println();
        out.println("read the heads of " + Units.plural(snapshot.table().liveChunks(), "chunk") + ", "
                + Units.bytes(headBytes()));
        census.fields().forEach(field -> printClasses(field, out));
        out.println();
        sizes().print(census.sizes(), out);
        mixes.forEach((split, fields) -> fields.forEach(mix -> out.printf(
                Locale.ROOT,
                "%nsplit %s: a batch of %d has %.3f bits of %s on average, and %.3f bits after a full shuffle"
                        + " (%.1f %%)%n",
                split,
                mix.batchSize(),
                mix.batchBits(),
                mix.field(),
                mix.shuffledBits(),
                100 * mix.quality())));
    }

    private Columns<SampleCensus.SizeRange> sizes() {
        long most = census.sizes().stream()
                .mapToLong(SampleCensus.SizeRange::samples)
                .max()
                .orElse(1);
        return new Columns<SampleCensus.SizeRange>()
                .bytes("SIZE FROM", "from", SampleCensus.SizeRange::from)
                .bytes("BELOW", "below", SampleCensus.SizeRange::below)
                .count("SAMPLES", "samples", SampleCensus.SizeRange::samples)
                .cell("", range -> "#".repeat((int) Math.max(1, range.samples() * BAR / most)));
    }

    private void printClasses(String field, PrintWriter out) {
        List<String> names = snapshot.classes().names(field);
        long[] counts = census.classCounts(field);
        List<Integer> order = largestFirst(counts);
        out.println();
        Table table = new Table(field, "SAMPLES");
        order.stream().limit(CLASSES_SHOWN).forEach(n -> table.add(KeyText.line(names.get(n)), Units.count(counts[n])));
        table.print(out);
        if (order.size() > CLASSES_SHOWN) {
            long rest =
                    order.stream().skip(CLASSES_SHOWN).mapToLong(n -> counts[n]).sum();
            out.println("and " + (order.size() - CLASSES_SHOWN) + " more with " + Units.plural(rest, "sample")
                    + " (all of them: --json)");
        }
        long missing = snapshot.table().liveRows() - LongStream.of(counts).sum();
        if (missing > 0) {
            out.println(Units.plural(missing, "sample") + " without " + field);
        }
    }

    private static List<Integer> largestFirst(long[] counts) {
        return IntStream.range(0, counts.length)
                .boxed()
                .sorted(Comparator.comparingLong((Integer n) -> counts[n]).reversed())
                .toList();
    }

    ObjectNode json() {
        ObjectNode root = Json.object();
        root.putObject("heads_read")
                .put("chunks", snapshot.table().liveChunks())
                .put("bytes", headBytes());
        ObjectNode classes = root.putObject("class_samples");
        for (String field : census.fields()) {
            List<String> names = snapshot.classes().names(field);
            long[] counts = census.classCounts(field);
            ObjectNode ofField = classes.putObject(field);
            IntStream.range(0, counts.length).forEach(n -> ofField.put(names.get(n), counts[n]));
        }
        census.sizes().forEach(range -> sizes().put(root.withArray("sizes").addObject(), range));
        ObjectNode mixing = root.putObject("label_mix");
        mixes.forEach((split, fields) -> fields.forEach(mix -> mixing.withArray(split)
                .addObject()
                .put("field", mix.field())
                .put("batch_size", mix.batchSize())
                .put("batches", mix.batches())
                .put("batch_bits", mix.batchBits())
                .put("shuffled_bits", mix.shuffledBits())));
        return root;
    }
}
