package dev.stoker.cli.look;

import dev.stoker.cli.output.Columns;
import dev.stoker.cli.output.Errors;
import dev.stoker.cli.output.ResultPrinter;
import dev.stoker.metadata.explain.BatchSample;
import dev.stoker.metadata.explain.OrderExplanation;
import dev.stoker.metadata.explain.SamplePosition;
import dev.stoker.metadata.index.SampleIndex;
import dev.stoker.metadata.index.SampleStat;
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

    /** A sample of a batch; a batch that is named by its number belongs to no rank. */
    private record StepSample(long epoch, long batch, Optional<Integer> rank, int index, BatchSample sample) {}

    private static final Columns<StepSample> SAMPLES = new Columns<StepSample>()
            .key("epoch", StepSample::epoch)
            .cell("RANK", found -> found.rank().map(Object::toString).orElse(""))
            .number("BATCH", "batch", StepSample::batch)
            .key("rank", StepSample::rank)
            .number("INDEX", "index", StepSample::index)
            .text("KEY", "key", found -> found.sample().key())
            .number("CHUNK", "chunk", found -> found.sample().ordinal())
            .number("ROW", "row", found -> found.sample().row())
            .column("", "repeated", found -> found.sample().repeated(), repeated -> repeated ? "repeated" : "");

    /** A step of a rank. */
    private record Step(int rank, long number) {}

    /** @param reason why no step has the sample of the key; empty if one has */
    private record KeyStep(
            String key, long epoch, Optional<SamplePosition> place, Optional<Step> step, String reason) {}

    private static final Columns<KeyStep> STEPS = new Columns<KeyStep>()
            .text("KEY", "key", KeyStep::key)
            .number("EPOCH", "epoch", KeyStep::epoch)
            .key("found", found -> found.place().isPresent())
            .cell(
                    "STEP",
                    found -> found.step()
                            .map(step -> Long.toString(step.number()))
                            .orElse(found.reason()))
            .cell(
                    "RANK",
                    found -> found.step()
                            .map(step -> Integer.toString(step.rank()))
                            .orElse(""))
            .optional("BATCH", "batch", found -> found.place().map(SamplePosition::batch), Object::toString)
            .optional("INDEX", "index", found -> found.place().map(SamplePosition::index), Object::toString)
            .key("rank", found -> found.step().map(Step::rank))
            .key("step", found -> found.step().map(Step::number));

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
            ResultPrinter<StepSample> printer = new ResultPrinter<>(SAMPLES, json, out);
            if (batch != null) {
                add(printer, epochNumber, Optional.empty(), batch, order.batch(epochNumber, policy(), batch));
            } else {
                addStep(printer, order, epochNumber, skipped);
            }
            printer.end();
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

    private void addStep(
            ResultPrinter<StepSample> printer, OrderExplanation order, long epochNumber, SkippedBatches skipped)
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
                add(printer, epochNumber, Optional.of(r), number, order.batch(epochNumber, policy(), number));
            }
        }
        if (wanted >= most) {
            throw new IllegalArgumentException("option --step: the epoch has " + Units.plural(most, "step")
                    + (rank == null ? "" : " for rank " + rank) + (begin == 0 ? "" : ", from batch " + begin + " on"));
        }
    }

    private static void add(
            ResultPrinter<StepSample> printer, long e, Optional<Integer> rank, long number, List<BatchSample> samples) {
        for (int i = 0; i < samples.size(); i++) {
            printer.add(new StepSample(e, number, rank, i, samples.get(i)));
        }
    }

    private int places(long first) throws IOException {
        ResultPrinter<KeyStep> printer =
                new ResultPrinter<>(STEPS, json, spec.commandLine().getOut());
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
                    printer.add(stepOf(
                            delivery, key, e, sample.map(found -> opened.order().place(number, found))));
                }
            }
        }
        printer.end();
        return isComplete ? 0 : Errors.FAILED;
    }

    /** @param delivery of rank 0 */
    private KeyStep stepOf(Delivery delivery, String key, long e, Optional<SamplePosition> found) {
        if (found.isEmpty()) {
            return new KeyStep(key, e, found, Optional.empty(), "not in the stream");
        }
        long number = found.get().batch();
        int owner = delivery.rankOf(number);
        OptionalLong at = delivery.of(owner).stepOf(number);
        return at.isPresent()
                ? new KeyStep(key, e, found, Optional.of(new Step(owner, at.getAsLong())), "")
                : new KeyStep(key, e, found, Optional.empty(), reason(delivery, number));
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
