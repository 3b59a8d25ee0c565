package dev.stoker.metadata.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.ExpiredVersionException;
import dev.stoker.metadata.SampleDatasets;
import dev.stoker.metadata.Snapshot;
import dev.stoker.metadata.Tags;
import dev.stoker.metadata.erasure.ErasureCheck;
import dev.stoker.metadata.erasure.ErasureFiles;
import dev.stoker.metadata.gc.GarbageCollection;
import dev.stoker.metadata.gc.Leftover;
import dev.stoker.metadata.gc.Orphans;
import dev.stoker.metadata.index.SampleIndex;
import dev.stoker.metadata.lease.Leases;
import dev.stoker.metadata.lease.ProcessLeases;
import dev.stoker.metadata.verify.Verification;
import dev.stoker.schemas.dataset.Erasure;
import dev.stoker.storage.FaultyObjectStore;
import dev.stoker.storage.FaultyObjectStore.Fault;
import dev.stoker.storage.InMemoryObjectStore;
import dev.stoker.storage.ObjectInfo;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;

/**
 * One life of a dataset. Commands of users run one after the other. Half of them meet a fault of the store or die at
 * one of their calls, and others run a whole command of another process in the middle. After each command, readers must
 * see exactly the samples of the model, in every version that was not expired, with and without the sample index.
 */
final class DatasetSimulation {

    private static final List<Fault> FAULTS = List.of(
            Fault.CRASH_BEFORE,
            Fault.CRASH_BEFORE,
            Fault.CRASH_AFTER,
            Fault.CRASH_AFTER,
            Fault.FAIL_BEFORE,
            Fault.FAIL_AFTER,
            Fault.UNKNOWN_WITHOUT_EFFECT,
            Fault.UNKNOWN_AFTER_EFFECT,
            Fault.NO_SPACE,
            Fault.AWAY);

    private static final int STEPS = 24;

    /** A reader that was opened at some time and is used much later. */
    private record Reader(long version, SampleIndex index) {}

    private final Random random;
    private final List<String> trace = new ArrayList<>();
    private final Model model = new Model();
    private final Map<String, Set<String>> erasures = new HashMap<>();
    private final List<Reader> readers = new ArrayList<>();
    private Instant now = SampleDatasets.NOW;
    private final InstantSource clock = () -> now;
    private final InMemoryObjectStore store = new InMemoryObjectStore(clock);
    private final Commands commands = new Commands(clock, model);
    private final Set<String> begun = new TreeSet<>();
    private final Draws draws;

    DatasetSimulation(Random random) {
        this.random = random;
        this.draws = new Draws(random, model);
    }

    /** What happened so far, for the report of a failure. */
    List<String> trace() {
        return trace;
    }

    void run() throws Exception {
        Dataset.create(store, SampleDatasets.info());
        step("ingest-0", commands.ingest(id("ingest-0"), draws.newSamples()), false);
        for (int step = 1; step <= STEPS; step++) {
            now = now.plusSeconds(60);
            String id = drawn(step);
            step(id, drawnCommand(id), true);
        }
        end();
    }

    private String id(String ingest) {
        begun.add(ingest);
        return ingest;
    }

    private String drawn(int step) {
        String[] kinds = {
            "ingest",
            "ingest",
            "ingest",
            "remove",
            "label",
            "label",
            "score",
            "compact-",
            "index",
            "index",
            "expire",
            "tag",
            "collect",
            "erase",
            "erase",
            "lose"
        };
        return kinds[random.nextInt(kinds.length)] + "-" + step;
    }

    private Commands.Command drawnCommand(String id) throws IOException {
        return switch (id.substring(0, id.indexOf('-'))) {
            case "ingest" -> commands.ingest(id(id), draws.newSamples());
            case "remove" -> commands.remove(id, draws.someKeys(1 + random.nextInt(4)));
            case "label" -> commands.label(id(id), draws.newLabels());
            case "score" -> commands.score(id(id), draws.newScores());
            case "compact" -> commands.compact(id(id), random.nextLong());
            case "index" -> commands.index(random.nextInt(4) == 0);
            case "expire" -> commands.expire(id, 1 + random.nextInt(4));
            case "tag" -> commands.tag("t" + random.nextInt(2), random.nextInt(3) == 0 ? 0 : keptVersion());
            case "collect" -> commands.collect();
            case "lose" -> {
                lose();
                yield commands.recover();
            }
            default -> {
                Set<String> keys = draws.someKeys(1 + random.nextInt(3));
                erasures.put(id, keys);
                yield commands.erase(id, keys);
            }
        };
    }

    private long keptVersion() throws IOException {
        List<Long> kept = keptVersions(Dataset.open(store));
        return kept.get(random.nextInt(kept.size()));
    }

    private static List<Long> keptVersions(Dataset dataset) throws IOException {
        List<Long> kept = new ArrayList<>();
        Snapshot newest = dataset.latest();
        for (long version = 1; version <= newest.version(); version++) {
            if (!newest.table().expired().contains(version)) {
                kept.add(version);
            }
        }
        return kept;
    }

    /** Loses a file that has a second copy, or that is derived from others. */
    private void lose() throws IOException {
        Dataset dataset = Dataset.open(store);
        List<String> names = new ArrayList<>();
        for (String prefix : List.of("_stoker/tables/", "_stoker/index/")) {
            store.list(prefix).toList().forEach(object -> names.add(object.name()));
        }
        for (long version = 1; version <= dataset.latestVersion(); version++) {
            String entry = String.format("_stoker/log/%020d.avro", version);
            String copy = "_stoker/ingests/" + dataset.entry(version).ingest() + ".avro";
            // All entries but the newest always have a second copy.
            if (version < dataset.latestVersion() || exists(copy)) {
                names.add(random.nextBoolean() ? entry : copy);
            }
        }
        if (exists("_stoker/dataset-copy.json")) {
            names.add("_stoker/dataset.json");
        }
        if (!names.isEmpty()) {
            String lost = names.get(random.nextInt(names.size()));
            store.delete(lost);
            trace.add("lost " + lost);
        }
    }

    private boolean exists(String name) throws IOException {
        return store.list(name).toList().stream()
                .anyMatch(object -> object.name().equals(name));
    }

    private void step(String id, Commands.Command command, boolean mayFail) throws Exception {
        FaultyObjectStore faulty = new FaultyObjectStore(store);
        String what = id;
        if (mayFail && random.nextInt(2) == 0) {
            what += disturb(id, faulty);
        }
        trace.add("version " + model.version() + ": " + what);
        boolean isDone = attempt(faulty, command);
        // A lost file must be recovered before anything else.
        boolean isLost = id.startsWith("lose");
        if (isDone || !isLost) {
            check();
        }
        if (!isDone && (isLost || random.nextBoolean())) {
            trace.add("  again");
            isDone = attempt(store, command);
            if (!isDone && !isBlocked()) {
                throw new AssertionError(id + " fails again without a fault");
            }
            check();
        }
        if (!isDone) {
            Dataset dataset = Dataset.open(store);
            // The user ends the leases of dead processes.
            for (String lease : new Leases(dataset).all().keySet()) {
                if (begun.contains(lease)) {
                    trace.add("  gc --break " + lease);
                    commands.end(lease).run(store);
                }
            }
            for (ProcessLeases.Kind kind : ProcessLeases.Kind.values()) {
                for (String lease : new ProcessLeases(dataset, kind).all().keySet()) {
                    GarbageCollection.endProcess(dataset, lease);
                }
            }
            check();
        }
    }

    /** Whether the last command failed because something must be done first. */
    private boolean isBlocked() {
        String last = trace.get(trace.size() - 1);
        return last.contains("ErasureBlocked") || last.contains("CollectionRunning") || last.contains("Abandoned");
    }

    private String disturb(String id, FaultyObjectStore faulty) throws IOException {
        int at = random.nextInt(random.nextBoolean() ? 30 : 150);
        if (random.nextInt(3) == 0 && !id.startsWith("lose")) {
            String other = "beside-" + id;
            Commands.Command intruder = drawnBeside(other);
            faulty.on(
                    call -> {
                        if (call.number() == at) {
                            boolean isDone = attempt(store, intruder);
                            trace.add("  beside it, at " + call + (isDone ? ": done" : ": failed"));
                        }
                        return false;
                    },
                    Fault.FAIL_BEFORE);
            return ", and beside it at call " + at + ": " + other;
        }
        Fault fault = FAULTS.get(random.nextInt(FAULTS.size()));
        faulty.on(call -> call.number() == at, fault);
        return ", " + fault + " at call " + at;
    }

    private Commands.Command drawnBeside(String id) throws IOException {
        return switch (random.nextInt(6)) {
            case 0 -> commands.ingest(id(id), draws.newSamples());
            case 1 -> commands.remove(id, draws.someKeys(2));
            case 2 -> commands.label(id(id), draws.newLabels());
            case 3 -> commands.compact(id("compact-" + id), 1);
            case 4 -> commands.index(false);
            default -> commands.collect();
        };
    }

    private boolean attempt(ObjectStore given, Commands.Command command) {
        try {
            command.run(given);
            return true;
        } catch (IOException | FaultyObjectStore.SimulatedCrash e) {
            trace.add("  " + e.getClass().getSimpleName() + ": " + e.getMessage());
            return false;
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private void check() throws Exception {
        Dataset dataset = Dataset.open(store);
        model.observe(dataset);
        for (Erasure erasure : new ErasureFiles(dataset).all()) {
            if (erasure.phase() == Erasure.Phase.DONE && erasures.containsKey(erasure.id())) {
                model.erased(erasures.remove(erasure.id()));
            }
        }
        List<Long> kept = keptVersions(dataset);
        assertThat(kept).contains(model.version());
        compare(dataset, model.version());
        compare(dataset, kept.get(random.nextInt(kept.size())));
        expiredVersionsStayClosed(dataset, kept);
        readers.add(new Reader(model.version(), SampleIndex.open(dataset, dataset.snapshot(model.version()))));
        Reader old = readers.get(random.nextInt(readers.size()));
        if (kept.contains(old.version())) {
            Contents.compare(old.index(), model.version(old.version()), List.of());
        }
    }

    private void compare(Dataset dataset, long version) throws IOException {
        Snapshot snapshot = dataset.snapshot(version);
        assertThat(Contents.scan(dataset, snapshot)).as("version " + version).isEqualTo(model.version(version));
        Contents.compare(
                SampleIndex.open(dataset, snapshot),
                model.version(version),
                model.newest().keySet().stream()
                        .filter(key -> !model.version(version).containsKey(key))
                        .toList());
    }

    private void expiredVersionsStayClosed(Dataset dataset, List<Long> kept) throws IOException {
        long version = 1L + random.nextInt((int) model.version());
        boolean isTagged = new Tags(dataset).all().values().stream().anyMatch(tag -> tag.version() == version);
        if (kept.contains(version) || isTagged) {
            return;
        }
        try {
            dataset.snapshot(version);
        } catch (ExpiredVersionException e) {
            return;
        }
        throw new AssertionError("version " + version + " was expired and opens");
    }

    /** Finishes open erasures. Then no file is damaged or contains an erased key. */
    private void end() throws Exception {
        trace.add("the end");
        Dataset dataset = Dataset.open(store);
        for (String tag : new Tags(dataset).all().keySet()) {
            commands.tag(tag, 0).run(store);
        }
        for (String lease : new Leases(dataset).all().keySet()) {
            if (begun.contains(lease)) {
                commands.end(lease).run(store);
            }
        }
        commands.finishErasures(dataset);
        commands.collect().run(store);
        check();
        assertThat(new ErasureFiles(dataset).unfinished()).isEmpty();
        assertThat(new Leases(dataset).all()).isEmpty();
        for (long version : keptVersions(dataset)) {
            compare(dataset, version);
        }
        for (Erasure erasure : new ErasureFiles(dataset).all()) {
            assertThat(new ErasureCheck(dataset, erasure, "certificate.json", 1, clock, chunk -> {})
                            .run()
                            .findings())
                    .isEmpty();
        }
        assertThat(containingErased()).isEmpty();
        assertThat(new Verification(dataset, Runnable::run, 1, bytes -> {})
                        .run(dataset.snapshot())
                        .problems())
                .isEmpty();
        assertThat(GarbageCollection.plan(dataset, Duration.ZERO, clock).leftovers())
                .filteredOn(leftover -> leftover.fate() != Leftover.Fate.YOUNG)
                .isEmpty();
        assertThat(Orphans.find(dataset, clock)).isEmpty();
    }

    private List<String> containingErased() throws IOException {
        List<String> found = new ArrayList<>();
        for (ObjectInfo object : store.list("").toList()) {
            String content = new String(store.readAll(object.name(), Integer.MAX_VALUE), StandardCharsets.ISO_8859_1);
            model.erased().stream()
                    .filter(content::contains)
                    .forEach(key -> found.add(object.name() + " contains " + key));
        }
        return found;
    }
}
