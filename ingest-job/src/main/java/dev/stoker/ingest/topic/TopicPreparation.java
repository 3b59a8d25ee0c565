package dev.stoker.ingest.topic;

import dev.stoker.connectors.dataset.DatasetStore;
import dev.stoker.connectors.dataset.TopicPosition;
import dev.stoker.connectors.dataset.TopicRun;
import dev.stoker.connectors.kafka.SourceRecord;
import dev.stoker.connectors.kafka.source.SourceTopic;
import dev.stoker.ingest.spec.FreeTarget;
import dev.stoker.ingest.spec.InvalidIngestException;
import dev.stoker.ingest.spec.SplitRule;
import dev.stoker.ingest.spec.TargetBase;
import dev.stoker.ingest.spec.TargetDataset;
import dev.stoker.ingest.topic.value.AvroReader;
import dev.stoker.ingest.topic.value.RecordFormat;
import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.Snapshot;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.dataset.DatasetInfo;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Inspects topic and dataset before the job starts, determines the dataset's fields and the start offsets, and finds
 * all problems that would make the ingest fail. Runs on the machine that submits the job.
 *
 * @param info of the dataset, which may not exist yet
 * @param base the state of the dataset
 * @param shape of the topic
 * @param committed the dataset's position in the topic; without offsets if it has no records of it
 * @param reach what is read of it
 * @param value format of the values, with its schema
 * @param splitRule assigns samples to splits
 * @param notes for the user
 */
record TopicPreparation(
        DatasetInfo info,
        TargetBase base,
        SourceTopic.Shape shape,
        TopicPosition committed,
        Reach reach,
        RecordFormat value,
        SplitRule splitRule,
        List<String> notes) {

    private static final int FIRST_RECORDS = 1000;
    private static final long FIRST_BYTES = 32 << 20;

    /**
     * What is read of a topic.
     *
     * @param start the start offset by partition
     * @param end the present end of what can be read, by partition
     * @param hidden what open transactions hide behind it
     */
    record Reach(SortedMap<Integer, Long> start, SortedMap<Integer, Long> end, Optional<String> hidden) {}

    SortedMap<Integer, Long> start() {
        return reach.start();
    }

    SortedMap<Integer, Long> end() {
        return reach.end();
    }

    static TopicPreparation of(TopicIngestOptions options, DatasetStore stores) throws IOException {
        try (SourceTopic topic = new SourceTopic(options.topic());
                ObjectStore store = stores.open(options.target())) {
            Optional<Dataset> dataset = Dataset.find(store);
            if (dataset.isEmpty()) {
                FreeTarget.require(options.target(), store);
            }
            return of(options, dataset, topic);
        }
    }

    /** Refuses to add a topic to the samples of others, unless the user asks for it. */
    static void requireAppend(TopicIngestOptions options, long version) {
        if (options.mode() == TopicIngestOptions.Mode.CREATE) {
            throw new InvalidIngestException("the target " + options.target() + " has version " + version
                    + " but no records of the topic " + options.topic().topic()
                    + "; add the topic to it with --append");
        }
    }

    private static TopicPreparation of(TopicIngestOptions options, Optional<Dataset> dataset, SourceTopic topic)
            throws IOException {
        SourceTopic.Shape shape = topic.shape();
        Optional<Snapshot> newest =
                dataset.isPresent() ? Optional.of(dataset.get().latest()) : Optional.empty();
        long version = newest.map(Snapshot::version).orElse(0L);
        String name = options.topic().topic();
        Optional<TopicPosition> position =
                version == 0 ? Optional.empty() : TopicPosition.find(dataset.get(), newest.get(), name);
        if (position.isPresent() && !position.get().topicId().equals(shape.id())) {
            throw TopicGuard.otherTopic(options.topic(), position.get().topicId(), shape.id());
        }
        boolean isEmpty = dataset.isEmpty() || TargetDataset.isEmpty(dataset.get());
        if (!isEmpty && position.isEmpty()) {
            requireAppend(options, version);
        }
        List<String> notes = new ArrayList<>();
        // In this order: what is written between the two answers is not taken for hidden.
        SortedMap<Integer, Long> written = topic.written(shape.partitions());
        SortedMap<Integer, Long> end = topic.ends(shape.partitions());
        OpenTransactions open = new OpenTransactions();
        open.look(end, written, System.nanoTime());
        open.now().ifPresent(notes::add);
        SortedMap<Integer, Long> start = new TopicStart(options, position, notes).offsets(topic, shape, end);
        Reach reach = new Reach(start, end, open.now());
        RecordFormat value = NewFields.withRegistrySchema(
                options.value(), name, options.topic().clients());
        TopicPosition committed =
                position.orElseGet(() -> new TopicPosition(name, shape.id(), shape.cluster(), new TreeMap<>()));
        Optional<DatasetInfo> found = newest.map(Snapshot::info);
        Optional<DatasetInfo> begun = found.filter(info -> options.mode() == TopicIngestOptions.Mode.CREATE
                && version == 0
                && TargetDataset.isBegunByIngest(info));
        if (found.isEmpty() || begun.isPresent()) {
            List<SourceRecord> first = topic.first(start, end, FIRST_RECORDS, FIRST_BYTES);
            SplitRule rule = options.shape().splitRule().orElseGet(() -> new SplitRule.Shares(new LinkedHashMap<>()));
            List<Field> fields = new NewFields(options, value, first, notes).decide();
            DatasetInfo fresh = TargetDataset.describe(
                    options.shape().name(), fields, Map.of(), options.work().chunkSizeBytes(), rule);
            if (begun.isEmpty() || !TargetDataset.isSame(begun.get(), fresh)) {
                TargetBase base = new TargetBase(begun.isEmpty(), 0, begun);
                return new TopicPreparation(fresh, base, shape, committed, reach, value, rule, notes);
            }
        }
        DatasetInfo info = found.get();
        requireFit(info, options, value, isEmpty);
        SplitRule rule = options.shape().splitRule().orElseGet(() -> SplitRule.kept(info));
        return new TopicPreparation(info, TargetBase.of(version), shape, committed, reach, value, rule, notes);
    }

    /**
     * Checks the fields against the dataset's, which are fixed when it is created, even if no version has a sample yet.
     */
    static void requireFit(DatasetInfo info, TopicIngestOptions options, RecordFormat value, boolean isEmpty)
            throws IOException {
        List<String> problems = new ArrayList<>();
        List<Field> wanted = new ArrayList<>(options.mapping().fields());
        wanted.addAll(options.shape().fields());
        for (Field field : wanted) {
            TargetDataset.misfit(info, field.name(), field.type().canonical()).ifPresent(problems::add);
        }
        List<String> mapped =
                options.mapping().fields().stream().map(Field::name).toList();
        if (value.kind() == RecordFormat.Kind.AVRO) {
            List<Field> own = info.fields().stream()
                    .filter(field -> !mapped.contains(field.name()))
                    .toList();
            AvroReader.misfits(value, own, options.topic().clients())
                    .forEach(misfit -> problems.add(misfit + "; give a schema that fits with --avro-schema FILE"));
        }
        if (value.kind() == RecordFormat.Kind.RAW) {
            TargetDataset.misfit(info, value.field(), "binary").ifPresent(problems::add);
            for (Field field : info.fields()) {
                if (!field.nullable()
                        && !mapped.contains(field.name())
                        && !field.name().equals(value.field())) {
                    problems.add("the dataset's field " + field.name() + " ("
                            + field.type().canonical() + ") requires a value, but raw records do not provide it");
                }
            }
        }
        if (!problems.isEmpty()) {
            if (isEmpty) {
                problems.add(TargetDataset.begunByAnother(options.target()));
            }
            throw new InvalidIngestException(problems);
        }
    }

    /**
     * Creates the dataset if it does not exist, so that its chunks belong to a dataset.
     *
     * @param process the packing process; empty if there are several
     */
    TopicPreparation create(TopicIngestOptions options, DatasetStore stores, String run, String process)
            throws IOException {
        return base.create(options.target(), stores, info, run, process) ? this : of(options, stores);
    }

    /** The length of a chunk: as requested, or as set when the dataset was created. */
    int chunkSizeBytes(TopicIngestOptions options) {
        return TargetDataset.chunkSizeBytes(info, options.work().chunkSizeBytes());
    }

    /**
     * Returns the plan of the ingest.
     *
     * @param run id of this start of the job
     */
    TopicIngestPlan plan(TopicIngestOptions options, DatasetStore stores, String run) {
        TopicPackPlan pack = new TopicPackPlan(
                options.topic(),
                shape.id(),
                new TopicPackPlan.Place(stores, options.target(), info.encode(), base.version(), run),
                value,
                options.mapping(),
                splitRule,
                chunkSizeBytes(options),
                new TopicPackPlan.Letters(
                        options.deadLetters().location(),
                        options.deadLetters().most(),
                        options.deadLetters().leftOut()));
        TopicRun committing = new TopicRun(
                stores,
                options.target(),
                info.id().toString(),
                run,
                committed,
                new TreeMap<>(start()),
                new TopicRun.Limits(
                        new TopicGuard(options.topic(), shape.id(), run),
                        options.mapping().keys(),
                        base.version(),
                        options.deadLetters().most()));
        TopicIngestPlan.Reading reading = new TopicIngestPlan.Reading(
                new TreeMap<>(start()),
                options.reach().until() == TopicIngestOptions.Until.LATEST ? new TreeMap<>(end()) : null,
                shape.partitions(),
                options.work().parallelism().orElse(0),
                options.work().commitInterval().toMillis());
        return new TopicIngestPlan(pack, committing, reading, TopicPlanText.of(options, this));
    }

    /** Records between start and end, counted by offsets. Transaction markers count. */
    long waiting() {
        return lag(start(), end());
    }

    static long lag(SortedMap<Integer, Long> at, SortedMap<Integer, Long> end) {
        long sum = 0;
        for (Map.Entry<Integer, Long> entry : end.entrySet()) {
            sum += Math.max(0, entry.getValue() - at.getOrDefault(entry.getKey(), 0L));
        }
        return sum;
    }
}
