package dev.stoker.cli.change;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stoker.cli.output.CommandException;
import dev.stoker.cli.output.KeyText;
import dev.stoker.cli.output.ReadProgress;
import dev.stoker.ingest.spec.TargetDataset;
import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.compaction.CompactionRules;
import dev.stoker.metadata.compaction.CompactionThreads;
import dev.stoker.metadata.erasure.ErasureFiles;
import dev.stoker.metadata.erasure.ErasurePlan;
import dev.stoker.metadata.erasure.ErasurePlanner;
import dev.stoker.metadata.erasure.ErasureRun;
import dev.stoker.metadata.erasure.ErasureWork;
import dev.stoker.metadata.erasure.VersionRanges;
import dev.stoker.metadata.index.build.BuildThreads;
import dev.stoker.metadata.removal.SampleRule;
import dev.stoker.metadata.verify.DamagedErasures;
import dev.stoker.metadata.verify.Problem;
import dev.stoker.schemas.dataset.ErasedChunk;
import dev.stoker.schemas.dataset.Erasure;
import dev.stoker.schemas.dataset.ErasureResult;
import dev.stoker.schemas.errors.StokerException;
import dev.stoker.schemas.json.Json;
import dev.stoker.schemas.text.Units;
import dev.stoker.storage.Stores;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.InstantSource;
import java.util.List;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import picocli.CommandLine.Model.CommandSpec;

/** The part of {@code stoker delete --erase} after its arguments. Finishes erasures that were interrupted first. */
final class SampleErasure {

    private static final String ID = "erase-";
    private static final int MOST_PACKERS = 4;
    private static final int MOST_KEYS = 10;

    /**
     * How to run.
     *
     * @param id id of the erasure; empty for a random one
     * @param certificate file for the certificate
     * @param isReal whether to erase, or only to print the plan
     * @param next how to erase what the plan says
     * @param threads number of chunks to read at a time
     * @param isJson whether to print JSON
     */
    public record Request(
            Optional<String> id,
            Optional<Path> certificate,
            boolean isReal,
            String next,
            int threads,
            boolean isJson) {}

    private final CommandSpec spec;
    private final Dataset dataset;
    private final Request request;
    private final ErasureFiles files;
    private final AtomicInteger read = new AtomicInteger();

    SampleErasure(CommandSpec spec, Dataset dataset, Request request) {
        this.spec = spec;
        this.dataset = dataset;
        this.request = request;
        this.files = new ErasureFiles(dataset);
    }

    /** @param rule the samples to erase; empty only finishes interrupted erasures */
    int run(Optional<SampleRule> rule) throws IOException, InterruptedException {
        request.id.ifPresent(ErasureRun::checkId);
        for (Problem damaged : DamagedErasures.find(dataset)) {
            spec.commandLine().getErr().println("stoker: warning: " + damaged.message());
        }
        Optional<Erasure> given = request.id.isPresent() ? files.find(request.id.get()) : Optional.empty();
        requireFreeFile(given);
        if (given.isPresent() && given.get().phase() == Erasure.Phase.DONE) {
            return end(given.get());
        }
        List<Erasure> unfinished = request.id.isPresent() ? given.stream().toList() : files.unfinished();
        if (rule.isEmpty() && unfinished.isEmpty()) {
            throw new IllegalArgumentException(
                    "no sample is selected; give keys, --keys-from, --prefix, --where or --split");
        }
        if (!request.isReal) {
            unfinished.forEach(this::printUnfinished);
            if (rule.isPresent() && given.isEmpty()) {
                print(searching("searching", () -> planner().plan(rule.get(), Optional.empty())));
            }
            return 0;
        }
        Stores.requireAtomicCreate(dataset.store());
        Optional<Erasure> last = Optional.empty();
        for (Erasure erasure : unfinished) {
            if (!request.isJson) {
                spec.commandLine()
                        .getOut()
                        .println("finishing erasure " + erasure.id() + " of " + KeyText.line(erasure.by()) + ", begun "
                                + erasure.began());
            }
            last = Optional.of(finish(erasure));
        }
        if (rule.isEmpty() || given.isPresent()) {
            return end(last.orElseThrow());
        }
        Optional<Erasure> before = last;
        ErasurePlan plan = searching("searching", () -> planner().plan(rule.get(), before));
        if (plan.isEmpty()) {
            if (before.isPresent()) {
                return end(before.get());
            }
            print(plan);
            return 0;
        }
        if (!request.isJson) {
            print(plan);
        }
        return end(finish(run().begin(request.id.orElseGet(() -> ID + UUID.randomUUID()), plan)));
    }

    private interface Step<T> {
        T run() throws IOException, InterruptedException;
    }

    private <T> T searching(String what, Step<T> step) throws IOException, InterruptedException {
        read.set(0);
        try (ReadProgress progress = new ReadProgress(
                spec.commandLine().getErr(), () -> what + ": " + Units.plural(read.get(), "chunk") + " read")) {
            T result = step.run();
            progress.end();
            return result;
        }
    }

    private Erasure finish(Erasure erasure) throws IOException, InterruptedException {
        return searching("erasing", () -> run().finish(erasure));
    }

    private ErasurePlanner planner() {
        return new ErasurePlanner(dataset, work());
    }

    private ErasureRun run() {
        return new ErasureRun(dataset, work());
    }

    private ErasureWork work() {
        int target = TargetDataset.chunkSizeBytes(dataset.info(), OptionalInt.empty());
        // By default direct memory is limited to the size of the heap.
        CompactionThreads compaction = new CompactionThreads(
                request.threads,
                Math.min(MOST_PACKERS, Runtime.getRuntime().availableProcessors()),
                Runtime.getRuntime().maxMemory() / 2);
        return new ErasureWork(
                new CompactionRules(target, target, OptionalLong.empty()),
                compaction,
                BuildThreads.ofCaller(),
                InstantSource.system(),
                System.getProperty("user.name"),
                read::addAndGet);
    }

    /** Rejects a file for the certificate that has other content. */
    private void requireFreeFile(Optional<Erasure> given) throws IOException {
        if (request.certificate.isEmpty() || !Files.exists(request.certificate.get())) {
            return;
        }
        Path file = request.certificate.get();
        try {
            Erasure found = Erasure.decode(Files.readAllBytes(file), file.toString());
            if (found.equals(given.orElse(null))) {
                return;
            }
        } catch (StokerException e) {
            // Any other file.
        }
        throw new CommandException(file + " exists; give the certificate another name");
    }

    private int end(Erasure done) throws IOException {
        if (request.certificate.isPresent()) {
            Path file = request.certificate.get();
            Path unfinished = file.resolveSibling(file.getFileName() + ".tmp");
            Files.write(unfinished, done.encode());
            Files.move(unfinished, file, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
        }
        print(done);
        return 0;
    }

    private void printUnfinished(Erasure erasure) {
        PrintWriter out = spec.commandLine().getOut();
        if (!request.isJson) {
            out.println("unfinished: erasure " + erasure.id() + " of "
                    + Units.plural(erasure.keys().hashes().size(), "key") + ", begun " + erasure.began() + " by "
                    + KeyText.line(erasure.by()) + "; --yes finishes it first");
        }
    }

    private void print(ErasurePlan plan) {
        PrintWriter out = spec.commandLine().getOut();
        if (request.isJson) {
            ObjectNode root = ChangeText.json(dataset, plan.version());
            root.put("keys", plan.keys().selected().size()).put("samples", plan.samples());
            root.put("earlier_samples", plan.others())
                    .put("missing", plan.keys().missing());
            root.put("kept", plan.keys().kept());
            root.put("chunks", plan.files()).put("rewritten", plan.rewritten());
            root.put("expired", VersionRanges.text(plan.versions()));
            plan.blockers().forEach(root.putArray("blockers")::add);
            plan.keys().selected().stream().limit(MOST_KEYS).forEach(root.putArray("first_keys")::add);
            out.println(root);
            return;
        }
        if (plan.keys().kept() > 0) {
            out.println("kept: " + Units.plural(plan.keys().kept(), "key")
                    + " of which only earlier samples are selected; name the keys to erase them");
        }
        if (plan.isEmpty()) {
            out.println("nothing to erase: no chunk file of the dataset has one of the samples");
            return;
        }
        NavigableSet<String> keys = plan.keys().selected();
        keys.stream().limit(MOST_KEYS).forEach(key -> out.println("  " + KeyText.line(key)));
        if (keys.size() > MOST_KEYS) {
            out.println("  and " + Units.count(keys.size() - MOST_KEYS) + " more");
        }
        out.println((request.isReal ? "erasing " : "would erase ") + Units.plural(keys.size(), "key") + ": "
                + Units.plural(plan.samples(), "sample") + " of version " + plan.version() + " and "
                + Units.plural(plan.others(), "earlier sample"));
        out.println((request.isReal ? "deleting " : "would delete ")
                + Units.plural(plan.files(), "chunk file")
                + others(plan)
                + (request.isReal ? "; expiring " : "; would expire ")
                + (plan.versions().isEmpty()
                        ? "no version"
                        : Units.plural(plan.versions().size(), "version") + ": "
                                + VersionRanges.text(plan.versions())
                                + (plan.samples() > 0 ? ", and the version that removes the samples" : "")));
        plan.blockers().forEach(blocker -> out.println("blocked: " + blocker));
        if (!request.isReal) {
            out.println(request.next + "; this cannot be undone");
        }
    }

    private static String others(ErasurePlan plan) {
        long rewritten = plan.rewritten();
        if (rewritten == 0) {
            return "";
        }
        return plan.files() == 1
                ? ", whose other samples are rewritten"
                : ", " + (rewritten == plan.files() ? "all" : Units.count(rewritten) + " of them")
                        + " with other samples, which are rewritten";
    }

    private void print(Erasure done) {
        PrintWriter out = spec.commandLine().getOut();
        ErasureResult result = done.result().orElseThrow();
        String where = dataset.store().describe(ErasureFiles.name(done.id(), Erasure.Phase.DONE));
        long bytes = result.removed().stream().mapToLong(ErasedChunk::length).sum();
        if (request.isJson) {
            ObjectNode root = Json.object();
            root.put("path", dataset.where()).put("erasure", done.id());
            root.put("version", result.versions().newest())
                    .put("up_to", result.versions().upTo());
            root.put("keys", done.keys().hashes().size())
                    .put("expired", result.versions().expired());
            root.put("removed_chunks", result.removed().size()).put("removed_bytes", bytes);
            root.put("rewritten_chunks", result.rewritten().size());
            result.files().forEach(root.putArray("files")::add);
            result.notReached().forEach(root.putArray("not_reached")::add);
            out.println(root.put("certificate", where));
            return;
        }
        out.println("version " + result.versions().newest() + ": erased "
                + Units.plural(done.keys().hashes().size(), "key") + "; deleted "
                + Units.plural(result.removed().size(), "chunk file") + " of " + Units.bytes(bytes) + ", wrote "
                + Units.plural(result.rewritten().size(), "chunk") + ", "
                + (result.versions().expired().isEmpty()
                        ? "expired no version"
                        : "expired versions " + result.versions().expired())
                + ", purged " + Units.plural(result.files().size(), "other file"));
        result.notReached().forEach(line -> out.println("not reached: " + line));
        out.println("certificate: " + request.certificate.map(Path::toString).orElse(where));
    }
}
