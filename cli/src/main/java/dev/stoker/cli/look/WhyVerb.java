package dev.stoker.cli.look;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stoker.cli.output.Errors;
import dev.stoker.cli.output.KeyText;
import dev.stoker.cli.output.Table;
import dev.stoker.metadata.explain.BatchSample;
import dev.stoker.metadata.explain.OrderExplanation;
import dev.stoker.metadata.explain.SamplePosition;
import dev.stoker.metadata.index.SampleIndex;
import dev.stoker.metadata.index.SampleStat;
import dev.stoker.schemas.json.Json;
import dev.stoker.schemas.order.EpochSize;
import dev.stoker.schemas.order.delivery.Delivery;
import dev.stoker.schemas.order.delivery.Participant;
import dev.stoker.schemas.order.delivery.SkipList;
import dev.stoker.schemas.order.delivery.SkippedBatches;
import dev.stoker.schemas.order.delivery.TailPolicy;
import dev.stoker.schemas.text.Units;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.Callable;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code stoker why}: names the samples of a step, and the steps of a sample. */
@Command(
        name = "why",
        header = {
            "Examples:",
            "  stoker why --feed photos --epoch 2 --step 1041 --world-size 8",
            "  stoker why --feed photos --epoch 2 --key cats/1.jpg",
            "  stoker why ./data/photos:train --state state.json --step 1041"
        },
        description = {
            "Names the samples of a training step, or the steps of a sample. Computes them from the order of the feed,"
                    + " so it needs neither a ledger nor a running feed.",
            "Steps and batches count from 0. A batch is what one rank receives in one step."
        },
        sortOptions = false)
public final class WhyVerb implements Callable<Integer> {

    private static final Pattern RANGE = Pattern.compile("(\\d{1,18}):(\\d{1,18})-(\\d{1,18})");

    @Spec
    private CommandSpec spec;

    @Mixin
    private OrderedStream stream = new OrderedStream();

    @Option(names = "--epoch", paramLabel = "N", description = "The epoch. Default: the one of --state, or 0.")
    private @Nullable Long epoch;

    @Option(names = "--step", paramLabel = "N", description = "Name the samples of this step.")
    private @Nullable Long step;

    @Option(names = "--batch", paramLabel = "N", description = "Name the samples of this batch of the epoch.")
    private @Nullable Long batch;

    @Option(names = "--key", paramLabel = "KEY", description = "Name the step that has this sample. Can be repeated.")
    private List<String> keys = List.of();

    @Option(
            names = "--epochs",
            paramLabel = "N",
            description = "With --key: number of epochs, from --epoch on. Default: 1.")
    private long epochs = 1;

    @Option(names = "--world-size", paramLabel = "N", description = "Number of ranks of the training. Default: 1.")
    private int worldSize = 1;

    @Option(names = "--rank", paramLabel = "N", description = "With --step: only this rank. Default: all ranks.")
    private @Nullable Integer rank;

    @Option(
            names = "--start",
            paramLabel = "N",
            description = "Batch of the epoch at which the run began or resumed, as in its state; steps count from"
                    + " there. Default: the batch of --state in its epoch, or 0.")
    private @Nullable Long start;

    @Option(
            names = "--skip",
            paramLabel = "EPOCH:FIRST-LAST",
            description = "Batches that the trainers leave out, both included, as with Feed(skip=…). Can be repeated."
                    + " Ranges in --state are known.")
    private List<String> skip = List.of();

    @Option(
            names = "--tail",
            paramLabel = "pad|drop|keep",
            description = "What the trainer does at the end of an epoch. Default: pad.")
    private Tail tail = Tail.PAD;

    @Option(names = "--json", description = "Print JSON, one line for each sample.")
    private boolean json;

    /** As typed and as completed by a shell. */
    enum Tail {
        PAD,
        DROP,
        KEEP;

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    @Override
    public Integer call() throws IOException {
        if ((step == null ? 0 : 1) + (batch == null ? 0 : 1) + (keys.isEmpty() ? 0 : 1) != 1) {
            throw new IllegalArgumentException("give one of --step, --batch and --key");
        }
        if (rank != null && step == null) {
            throw new IllegalArgumentException("--rank needs --step");
        }
        if (epochs < 1 || (epochs > 1 && keys.isEmpty())) {
            throw new IllegalArgumentException("option --epochs: needs --key, and at least 1 epoch");
        }
        Participant.rank(rank == null ? 0 : rank, worldSize); // Checks both.
        if (batch != null && start != null) {
            throw new IllegalArgumentException("--start needs --step or --key");
        }
        long first = epoch == null ? stream.state().map(SavedState::epoch).orElse(0L) : epoch;
        return keys.isEmpty() ? samples(first) : places(first);
    }

    private TailPolicy policy() {
        return TailPolicy.valueOf(tail.name());
    }

    /** Returns the batch of an epoch from which steps count. */
    private long start(long epochNumber) throws IOException {
        if (start != null) {
            return start;
        }
        return stream.state()
                .filter(saved -> saved.epoch() == epochNumber)
                .map(SavedState::batch)
                .orElse(0L);
    }

    private int samples(long epochNumber) throws IOException {
        try (OrderedStream.Opened opened = stream.open(epochNumber)) {
            OrderExplanation order = opened.order();
            SkippedBatches skipped = skipped(epochNumber, order.size());
            PrintWriter out = spec.commandLine().getOut();
            Table table = new Table("RANK", "BATCH", "INDEX", "KEY", "CHUNK", "ROW", "");
            if (batch != null) {
                add(table, epochNumber, -1, batch, order.batch(epochNumber, policy(), batch));
            } else {
                addStep(table, order, epochNumber, skipped);
            }
            if (!json) {
                table.print(out);
            }
            return 0;
        }
    }

    private SkippedBatches skipped(long epochNumber, EpochSize size) throws IOException {
        List<SkipList.Range> ranges =
                new ArrayList<>(stream.state().map(SavedState::skip).orElse(List.of()));
        for (String text : skip) {
            Matcher range = RANGE.matcher(text);
            if (!range.matches()) {
                throw new IllegalArgumentException(
                        "option --skip: expected EPOCH:FIRST-LAST such as 2:100-119, found " + text);
            }
            ranges.add(new SkipList.Range(
                    Long.parseLong(range.group(1)), Long.parseLong(range.group(2)), Long.parseLong(range.group(3))));
        }
        SkipList list = SkipList.of(ranges);
        list.requireBatches(OptionalLong.of(epochNumber), size.batches());
        return list.in(epochNumber, size);
    }

    private void addStep(Table table, OrderExplanation order, long epochNumber, SkippedBatches skipped)
            throws IOException {
        long wanted = Objects.requireNonNull(step);
        int[] ranks = rank == null ? IntStream.range(0, worldSize).toArray() : new int[] {rank};
        long most = 0;
        long begin = start(epochNumber);
        for (int r : ranks) {
            Delivery delivery = new Delivery(order.size(), policy(), Participant.rank(r, worldSize), begin, skipped);
            most = Math.max(most, delivery.steps());
            if (wanted < delivery.steps()) {
                long number = delivery.number(wanted);
                add(table, epochNumber, r, number, order.batch(epochNumber, policy(), number));
            }
        }
        if (wanted >= most) {
            throw new IllegalArgumentException("option --step: the epoch has " + Units.plural(most, "step")
                    + (rank == null ? "" : " for rank " + rank) + (begin == 0 ? "" : ", from batch " + begin + " on"));
        }
    }

    private void add(Table table, long epochNumber, int r, long number, List<BatchSample> samples) {
        for (int i = 0; i < samples.size(); i++) {
            BatchSample sample = samples.get(i);
            if (json) {
                ObjectNode node = Json.object().put("epoch", epochNumber).put("batch", number);
                if (r >= 0) {
                    node.put("rank", r);
                }
                node.put("index", i).put("key", sample.key());
                node.put("chunk", sample.ordinal()).put("row", sample.row()).put("repeated", sample.repeated());
                spec.commandLine().getOut().println(node);
            } else {
                table.add(
                        r < 0 ? "" : Integer.toString(r),
                        Long.toString(number),
                        Integer.toString(i),
                        KeyText.line(sample.key()),
                        Long.toString(sample.ordinal()),
                        Integer.toString(sample.row()),
                        sample.repeated() ? "repeated" : "");
            }
        }
    }

    private int places(long first) throws IOException {
        Table table = new Table("KEY", "EPOCH", "STEP", "RANK", "BATCH", "INDEX");
        boolean isComplete = true;
        for (long e = first; e < first + epochs; e++) {
            try (OrderedStream.Opened opened = stream.open(e)) {
                SampleIndex index = SampleIndex.open(opened.dataset(), opened.snapshot());
                EpochSize size = opened.order().size();
                Delivery delivery =
                        new Delivery(size, policy(), Participant.rank(0, worldSize), start(e), skipped(e, size));
                for (String key : keys) {
                    Optional<SampleStat> sample = opened.order().stat(index, key);
                    isComplete &= sample.isPresent();
                    long number = e;
                    add(
                            table,
                            delivery,
                            key,
                            e,
                            sample.map(found -> opened.order().place(number, found)));
                }
            }
        }
        if (!json) {
            table.print(spec.commandLine().getOut());
        }
        return isComplete ? 0 : Errors.FAILED;
    }

    /** @param delivery of rank 0 */
    private void add(Table table, Delivery delivery, String key, long e, Optional<SamplePosition> found) {
        ObjectNode node = Json.object().put("key", key).put("epoch", e).put("found", found.isPresent());
        if (found.isEmpty()) {
            table.add(KeyText.line(key), Long.toString(e), "not in the stream", "", "", "");
        } else {
            SamplePosition place = found.get();
            int owner = delivery.rankOf(place.batch());
            OptionalLong at = delivery.of(owner).stepOf(place.batch());
            table.add(
                    KeyText.line(key),
                    Long.toString(e),
                    at.isPresent() ? Long.toString(at.getAsLong()) : reason(delivery, place.batch()),
                    at.isPresent() ? Integer.toString(owner) : "",
                    Long.toString(place.batch()),
                    Integer.toString(place.index()));
            node.put("batch", place.batch()).put("index", place.index());
            if (at.isPresent()) {
                node.put("rank", owner).put("step", at.getAsLong());
            }
        }
        if (json) {
            spec.commandLine().getOut().println(node);
        }
    }

    /** Returns why no step has a batch. */
    private String reason(Delivery delivery, long number) {
        if (delivery.skipped().contains(number)) {
            return "left out by --skip";
        }
        if (number < delivery.start()) {
            return start == null ? "before the position of --state" : "before --start";
        }
        return "left out by --tail drop";
    }
}
