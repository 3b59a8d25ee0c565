package dev.stoker.ingest.rows;

import dev.stoker.connectors.dataset.IngestRun;
import dev.stoker.connectors.files.WalkOrder;
import dev.stoker.ingest.pack.plan.SampleAccess;
import dev.stoker.ingest.rows.options.RowIngestOptions;
import dev.stoker.ingest.rows.pack.HeldRows;
import dev.stoker.ingest.rows.read.RowReading;
import dev.stoker.ingest.rows.read.RowRun;
import dev.stoker.ingest.rows.read.RowWork;
import dev.stoker.ingest.rows.source.SourceFile;
import dev.stoker.ingest.spec.IngestTarget;
import dev.stoker.ingest.spec.InvalidIngestException;
import dev.stoker.ingest.spec.NothingToIngestException;
import dev.stoker.ingest.spec.SplitRule;
import dev.stoker.ingest.spec.TargetBase;
import dev.stoker.ingest.spec.TargetDataset;
import dev.stoker.schemas.dataset.DatasetInfo;
import dev.stoker.schemas.log.LogEntry;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.Stores;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * Inspects source and target before the job starts, and finds all problems that would make the ingest fail. Runs on the
 * machine that submits the job.
 */
public final class RowPreparation {
    /** A run has at least this number of chunks, so that few chunks are smaller than they should be. */
    private static final int CHUNKS_PER_RUN = 8;

    private final RowIngestOptions options;
    private final SampleAccess access;
    private final Optional<LogEntry> committed;
    private final TargetBase base;
    private final SplitRule rule;
    private final @Nullable RowInspection source;
    private final @Nullable FieldPlan plan;
    private final List<String> hints;

    private RowPreparation(
            RowIngestOptions options,
            SampleAccess access,
            Optional<LogEntry> committed,
            TargetBase base,
            SplitRule rule,
            @Nullable RowInspection source,
            @Nullable FieldPlan plan,
            List<String> hints) {
        this.options = options;
        this.access = access;
        this.committed = committed;
        this.base = base;
        this.rule = rule;
        this.source = source;
        this.plan = plan;
        this.hints = hints;
    }

    private RowInspection source() {
        return Objects.requireNonNull(source, "nothing was committed before");
    }

    private FieldPlan fieldPlan() {
        return Objects.requireNonNull(plan, "nothing was committed before");
    }

    /**
     * Inspects source and target. Writes nothing.
     *
     * @throws InvalidIngestException if the ingest is not possible
     */
    public static RowPreparation of(RowIngestOptions options, SampleAccess access) throws IOException {
        IngestTarget.State target = options.into(access.store()).inspect(options.ingestId());
        if (target.committed().isPresent()) {
            SplitRule kept = SplitRule.kept(target.info().orElseThrow());
            return new RowPreparation(
                    options, access, target.committed(), TargetBase.of(target.version()), kept, null, null, List.of());
        }
        Optional<DatasetInfo> begun = target.begun(options.effect());
        SplitRule rule = options.splitRule()
                .or(() -> target.info().filter(info -> begun.isEmpty()).map(SplitRule::kept))
                .orElseGet(() -> new SplitRule.Shares(new LinkedHashMap<>()));
        RowInspection source = RowInspection.of(options);
        if (options.columns().where().isEmpty() && !source.hasRows()) {
            throw new NothingToIngestException(
                    "the source " + String.join(" ", options.sources()) + " is empty: it has no rows");
        }
        FieldPlan fresh = FieldPlan.of(options, source, begun.isPresent() ? Optional.empty() : target.info(), rule);
        Optional<DatasetInfo> before = begun.filter(info -> !TargetDataset.isSame(info, fresh.info()));
        FieldPlan plan =
                begun.isPresent() && before.isEmpty() ? FieldPlan.of(options, source, target.info(), rule) : fresh;
        if (options.columns().where().isPresent() && !source.hasRows()) {
            throw new NothingToIngestException("no row of the source satisfies --where "
                    + options.columns().where().get() + "; correct the expression");
        }
        return new RowPreparation(
                options,
                access,
                Optional.empty(),
                new TargetBase(target.info().isEmpty(), target.version(), before),
                rule,
                source,
                plan,
                TableHints.of(options, source));
    }

    /** Returns the version, if an earlier run of this ingest has committed it. */
    public Optional<LogEntry> committed() {
        return committed;
    }

    /**
     * Creates the dataset if it does not exist, and takes the ingest's lease.
     *
     * @param process the packing process; empty if there are several
     * @return this, or another preparation if another writer has created the dataset meanwhile
     */
    public RowPreparation begin(String ingest, String process) throws IOException {
        if (Stores.isRemote(options.target())) {
            try (ObjectStore store = access.store().open(options.target())) {
                // Checked before anything is packed: a commit must have exactly one winner.
                Stores.requireAtomicCreate(store);
            }
        }
        RowPreparation created =
                base.create(options.target(), access.store(), fieldPlan().info(), ingest, process)
                        ? this
                        : of(options, access);
        options.into(access.store()).lease(created.fieldPlan().info(), ingest, process);
        return created;
    }

    /** Describes the ingest, with the first rows and an estimate of the size. Reads the first rows. */
    public List<String> preview() throws IOException {
        List<String> lines = lines();
        OptionalLong total = source().rows() < 0 ? OptionalLong.empty() : OptionalLong.of(source().rows());
        lines.addAll(new RowPreview(work("")).lines(source().pieces(), total));
        return lines;
    }

    private RowWork work(String ingest) {
        int chunkSizeBytes =
                TargetDataset.chunkSizeBytes(fieldPlan().info(), options.work().chunkSizeBytes());
        List<String> declared = new ArrayList<>(options.columns().types().keySet());
        declared.removeAll(source().reading().path().types().keySet());
        declared.removeAll(options.columns().contents().fields());
        RowReading reading = new RowReading(
                source().format().name(),
                fieldPlan().types(),
                source().reading().path(),
                options.columns().contents(),
                new ArrayList<>(declared),
                options.columns().taken().isEmpty(),
                options.work().memoryBytes(),
                options.tree().errors());
        return new RowWork(
                reading,
                fieldPlan().mapping(),
                source().omitted(),
                options.target(),
                fieldPlan().info().encode(),
                ingest,
                options.order() instanceof WalkOrder.Shuffled shuffled ? shuffled.seed() : 0,
                rule,
                options.onDuplicate(),
                chunkSizeBytes,
                access);
    }

    /**
     * Returns the memory for the rows that a sort in this process may hold. It is 0 if the order needs no sort, and if
     * the files are larger, because the sort then writes to disk anyway.
     */
    public long sortMemoryBytes() {
        if (options.order() instanceof WalkOrder.Listed) {
            return 0;
        }
        long limit = options.work().sortMemoryBytes().orElseGet(HeldRows::defaultLimitBytes);
        long bytes = source().files().stream().mapToLong(SourceFile::length).sum();
        return bytes > limit ? 0 : limit;
    }

    /** Returns the plan of the job. */
    public RowIngestPlan plan(String ingest) throws IOException {
        RowWork work = work(ingest);
        IngestTarget target = options.into(access.store());
        IngestRun run = target.run(
                fieldPlan().info(), ingest, options.onDuplicate(), base.version(), String.join(" ", options.sources()));
        return new RowIngestPlan(
                work,
                run,
                new ArrayList<>(RowRun.join(source().pieces(), (long) CHUNKS_PER_RUN * work.chunkSizeBytes())),
                options.order(),
                options.work().parallelism().orElse(0),
                target.taken(base.version()),
                new ArrayList<>(lines()));
    }

    /** Describes the ingest. */
    public List<String> lines() {
        return new RowPlanText(options, source()).lines(base.version(), fieldPlan(), hints);
    }
}
