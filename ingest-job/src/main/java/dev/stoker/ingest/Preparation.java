package dev.stoker.ingest;

import dev.stoker.connectors.dataset.DatasetStore;
import dev.stoker.connectors.dataset.IngestRun;
import dev.stoker.connectors.files.FileTree;
import dev.stoker.connectors.files.PathPattern;
import dev.stoker.ingest.pack.Splits;
import dev.stoker.ingest.pack.plan.PackPlan;
import dev.stoker.ingest.pack.plan.SampleAccess;
import dev.stoker.ingest.pack.plan.SyncRule;
import dev.stoker.ingest.pack.read.Labels;
import dev.stoker.ingest.spec.FileKind;
import dev.stoker.ingest.spec.IngestTarget;
import dev.stoker.ingest.spec.InvalidIngestException;
import dev.stoker.ingest.spec.LabelRule;
import dev.stoker.ingest.spec.NothingToIngestException;
import dev.stoker.ingest.spec.Sidecar;
import dev.stoker.ingest.spec.SidecarType;
import dev.stoker.ingest.spec.SourceKinds;
import dev.stoker.ingest.spec.SourceLocation;
import dev.stoker.ingest.spec.SplitRule;
import dev.stoker.ingest.spec.TargetBase;
import dev.stoker.ingest.spec.TargetDataset;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.dataset.DatasetInfo;
import dev.stoker.schemas.log.LogEntry;
import dev.stoker.schemas.text.Units;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Inspects source and target before the job starts, determines the dataset's fields, and finds all problems that would
 * make the ingest fail. Runs on the machine that submits the job.
 *
 * @param info of the dataset, which may not exist yet
 * @param base the state of the dataset
 * @param content name of the field of a file's bytes
 * @param splitRule assigns samples to splits
 * @param sample the first samples
 * @param committed the version, if an earlier run of this ingest has committed it
 */
record Preparation(
        DatasetInfo info,
        TargetBase base,
        String content,
        SplitRule splitRule,
        SourceSample sample,
        Optional<LogEntry> committed) {

    static Preparation of(IngestOptions options, DatasetStore stores) throws IOException {
        IngestTarget.State target = options.into(stores).inspect(options.ingestId());
        if (target.committed().isPresent()) {
            return new Preparation(
                    target.info().orElseThrow(),
                    TargetBase.of(target.version()),
                    "",
                    new SplitRule.TopDirectory(),
                    SourceSample.none(new Splits(new SplitRule.TopDirectory())),
                    target.committed());
        }
        Optional<DatasetInfo> begun = target.begun(options.effect());
        SplitRule rule = target.info().isPresent() && begun.isEmpty()
                ? ruleOf(target.info().get(), options)
                : options.splitRule().orElse(new SplitRule.Shares(new LinkedHashMap<>()));
        SourceSample sample = sample(options, rule);
        if (sample.files().isEmpty()) {
            throw withoutSamples(options, sample);
        }
        requireFiles(options, sample);
        requireClasses(options, sample);
        if (begun.isPresent()) {
            Preparation fresh = created(options, rule, sample);
            if (!TargetDataset.isSame(begun.get(), fresh.info())) {
                return new Preparation(
                        fresh.info(), new TargetBase(false, 0, begun), fresh.content(), rule, sample, Optional.empty());
            }
        }
        if (target.info().isPresent()) {
            DatasetInfo info = target.info().get();
            if (target.isEmpty()) {
                requireAdoptable(info, options, sample);
            }
            return new Preparation(
                    info,
                    TargetBase.of(target.version()),
                    contentOf(info, options, sample),
                    rule,
                    sample,
                    Optional.empty());
        }
        return created(options, rule, sample);
    }

    private static SourceSample sample(IngestOptions options, SplitRule rule) throws IOException {
        Optional<LabelRule> label = options.content().label();
        SourceSample.Rules rules = new SourceSample.Rules(
                label.isPresent() ? Optional.of(Labels.of(label.get())) : Optional.empty(), new Splits(rule));
        if (options.walk().limit().isPresent()) {
            return SourceSample.list(options.tree(), options.walk().limit().getAsLong(), rules)
                    .withKeys(options.tree(), rules);
        }
        return options.effect() == IngestRun.Effect.SYNC
                ? SourceSample.first(options.tree(), rules).withKeys(options.tree(), rules)
                : SourceSample.all(options.tree(), rules);
    }

    private static InvalidIngestException withoutSamples(IngestOptions options, SourceSample sample) {
        PathPattern pattern = options.walk().names().source();
        if (pattern != null) {
            return new SourceLocation(options.source() + "/" + pattern, options.source(), Optional.of(pattern))
                    .withoutFiles();
        }
        return new NothingToIngestException("the source " + options.source() + " contains no samples"
                + (sample.skipped().isEmpty() ? "" : ", only skipped files: " + skippedText(sample))
                + "; give the directory that contains them" + NextSteps.skipped(sample.skipped()));
    }

    /** Refuses a tree whose names say that it has rows, unless the user asked for files. */
    private static void requireFiles(IngestOptions options, SourceSample sample) {
        if (options.walk().choice() == IngestOptions.Choice.GIVEN || options.effect() == IngestRun.Effect.SYNC) {
            return;
        }
        SourceKinds kinds = new SourceKinds();
        sample.names()
                .endings()
                .values()
                .forEach(files -> kinds.add(SourceKinds.Kind.ofName(files.example()), files.example(), files.count()));
        if (kinds.choose(options.source(), FileTree.Errors.FAIL) == SourceKinds.Choice.ROWS) {
            throw new InvalidIngestException("the source " + options.source() + " has files with rows by their names,"
                    + " but not by their content; name their format with --format FORMAT, or pack each file as one"
                    + " sample with --format files");
        }
    }

    /** Refuses a rule for classes that gives no sample a class. */
    private static void requireClasses(IngestOptions options, SourceSample sample) throws IOException {
        Optional<LabelRule> label = options.content().label();
        if (label.isPresent()
                && sample.names().unlabelled() == sample.names().total()
                && options.walk().errors() == FileTree.Errors.FAIL) {
            throw new InvalidIngestException(
                    "none of " + Units.plural(sample.names().total(), "sample") + " gets a class: "
                            + Labels.of(label.get()).missing(sample.names().unlabelledExample()));
        }
    }

    /**
     * Checks a dataset without samples that another ingest created: its fields apply, so other requested fields are
     * refused.
     */
    private static void requireAdoptable(DatasetInfo info, IngestOptions options, SourceSample sample) {
        List<String> problems = new ArrayList<>();
        try {
            contentOf(info, options, sample);
        } catch (InvalidIngestException e) {
            problems.addAll(e.problems());
        }
        options.content().payload().ifPresent(asked -> {
            Set<String> found = info.payloadFields().stream().map(Field::name).collect(Collectors.toSet());
            if (!found.equals(Set.copyOf(asked))) {
                problems.add("option --payload: the dataset's payload fields are " + found + ", not " + asked);
            }
        });
        if (!problems.isEmpty()) {
            problems.add(TargetDataset.begunByAnother(options.target()));
            throw new InvalidIngestException(problems);
        }
    }

    private static String skippedText(SourceSample sample) {
        List<String> parts = new ArrayList<>();
        sample.skipped().byReason().forEach((reason, count) -> parts.add(reason.text(count)));
        return String.join(", ", parts.stream().sorted().toList());
    }

    private static Preparation created(IngestOptions options, SplitRule rule, SourceSample sample) {
        IngestOptions.Content content = options.content();
        FileKind kind = sample.names().kind();
        String contentField = content.field().orElse(kind.field());
        String contentType = content.type().orElse(content.field().isPresent() ? "binary" : kind.type());
        List<String> problems = new ArrayList<>();
        Map<String, Field> small = new LinkedHashMap<>();
        Map<String, Field> payload = new LinkedHashMap<>();
        List<String> asked = content.payload().orElse(List.of());
        boolean isAsked = content.payload().isPresent();
        if (content.label().isPresent()) {
            small.put(content.labelField(), Field.small(content.labelField(), FieldType.parse("categorical")));
        }
        for (int i = 0; i < content.sidecars().size(); i++) {
            Sidecar sidecar = content.sidecars().get(i);
            FieldType type = FieldType.parse(sidecar.type());
            boolean isPayload = isAsked
                    ? asked.contains(sidecar.field())
                    : SidecarType.isBytes(sidecar.type()) && sample.isSidecarBig(i);
            if (isPayload && !type.mayBePayload()) {
                problems.add("option --payload: the field " + sidecar.field() + " of type " + sidecar.type()
                        + " cannot be payload; only utf8 and binary can");
            } else if (isPayload) {
                payload.put(sidecar.field(), Field.payload(sidecar.field(), type));
            } else {
                small.put(sidecar.field(), Field.nullable(sidecar.field(), type));
            }
        }
        boolean isPayload = isAsked ? asked.contains(contentField) : sample.isContentBig();
        Field contentOwn = new Field(contentField, FieldType.parse(contentType), false, isPayload);
        Field clash = (isPayload ? payload : small).put(contentField, contentOwn);
        if (clash != null || (small.containsKey(contentField) && payload.containsKey(contentField))) {
            problems.add("two fields are named " + contentField + "; give the field of the files another"
                    + " name with --field NAME");
        }
        for (String name : asked) {
            if (!payload.containsKey(name)) {
                problems.add("option --payload: no field " + name + " can be payload; possible are "
                        + String.join(", ", small.keySet()) + ", " + String.join(", ", payload.keySet()));
            }
        }
        if (!problems.isEmpty()) {
            throw new InvalidIngestException(problems);
        }
        List<Field> fields = new ArrayList<>(small.values());
        fields.addAll(payload.values());
        DatasetInfo info = TargetDataset.describe(
                options.name(), fields, Map.of(), options.work().chunkSizeBytes(), rule);
        return new Preparation(info, TargetBase.none(), contentField, rule, sample, Optional.empty());
    }

    /** Returns the field of an existing dataset that takes a file's bytes, and checks the other fields. */
    private static String contentOf(DatasetInfo info, IngestOptions options, SourceSample sample) {
        IngestOptions.Content content = options.content();
        List<String> problems = new ArrayList<>();
        List<String> set = new ArrayList<>();
        content.label().ifPresent(rule -> {
            set.add(content.labelField());
            require(info, content.labelField(), "categorical", "--label-from", problems);
        });
        for (Sidecar sidecar : content.sidecars()) {
            set.add(sidecar.field());
            require(info, sidecar.field(), sidecar.type(), "--sidecar", problems);
        }
        String name = content.field().orElseGet(() -> {
            List<String> left = info.fields().stream()
                    .filter(field -> !set.contains(field.name()))
                    .filter(field -> SidecarType.isBytes(field.type().canonical()))
                    .map(Field::name)
                    .toList();
            return left.contains(sample.names().kind().field()) || left.isEmpty()
                    ? sample.names().kind().field()
                    : left.get(0);
        });
        set.add(name);
        Optional<Field> field = info.field(name);
        if (field.isEmpty() || !SidecarType.isBytes(field.get().type().canonical())) {
            problems.add("the dataset has no field " + name + " for the files' bytes; it has "
                    + TargetDataset.names(info) + "; " + NextSteps.content(info, set));
        }
        for (Field other : info.fields()) {
            if (!other.nullable() && !set.contains(other.name())) {
                problems.add("the dataset's field " + other.name() + " ("
                        + other.type().canonical() + ") requires a value; " + NextSteps.value(other));
            }
        }
        if (!problems.isEmpty()) {
            throw new InvalidIngestException(problems);
        }
        return name;
    }

    private static void require(DatasetInfo info, String name, String type, String option, List<String> problems) {
        TargetDataset.misfit(info, name, type).ifPresent(problem -> problems.add("option " + option + ": " + problem));
    }

    /** The requested rule, or else the one with which the dataset was created. */
    private static SplitRule ruleOf(DatasetInfo info, IngestOptions options) {
        if (options.splitRule().isPresent()) {
            return options.splitRule().get();
        }
        return SplitRule.kept(info);
    }

    /**
     * Creates the dataset if it does not exist, so that its chunks belong to a dataset.
     *
     * @param process the packing process; empty if there are several
     */
    Preparation create(IngestOptions options, DatasetStore stores, String ingest, String process) throws IOException {
        return base.create(options.target(), stores, info, ingest, process) ? this : of(options, stores);
    }

    /** The length of a chunk: as requested, or as set when the dataset was created. */
    int chunkSizeBytes(IngestOptions options) {
        return TargetDataset.chunkSizeBytes(info, options.work().chunkSizeBytes());
    }

    /**
     * Returns the plan of the ingest.
     *
     * @param ingest its id
     */
    IngestPlan plan(IngestOptions options, String ingest, SampleAccess access) throws IOException {
        return plan(options, ingest, access, null);
    }

    /**
     * Returns the plan of an ingest or a sync.
     *
     * @param ingest its id
     * @param sync what a sync compares; null for an ingest
     */
    IngestPlan plan(IngestOptions options, String ingest, SampleAccess access, @Nullable SyncRule sync)
            throws IOException {
        return new IngestPlan(
                pack(options, ingest, access, sync),
                run(options, ingest, access.store()),
                new IngestPlan.Reading(
                        options.work().parallelism().orElse(0),
                        options.walk().limit().orElse(Long.MAX_VALUE),
                        options.into(access.store()).taken(base.version())),
                sample.keys(),
                PlanText.of(options, this));
    }

    private PackPlan pack(IngestOptions options, String ingest, SampleAccess access, @Nullable SyncRule sync) {
        return new PackPlan(
                options.tree(),
                options.order(),
                options.target(),
                info.encode(),
                ingest,
                System.currentTimeMillis(),
                content,
                options.content()
                        .label()
                        .map(rule -> new PackPlan.Label(rule, options.content().labelField()))
                        .orElse(null),
                new ArrayList<>(options.content().sidecars()),
                splitRule,
                options.onDuplicate(),
                sync,
                chunkSizeBytes(options),
                options.work().readThreads(),
                options.work().readAhead(),
                access);
    }

    private IngestRun run(IngestOptions options, String ingest, DatasetStore stores) {
        return options.into(stores).run(info, ingest, options.onDuplicate(), base.version(), options.source());
    }
}
