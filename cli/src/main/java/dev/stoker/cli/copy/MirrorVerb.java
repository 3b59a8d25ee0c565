package dev.stoker.cli.copy;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stoker.cli.keep.GcVerb;
import dev.stoker.cli.options.VersionOptions;
import dev.stoker.cli.output.CommandException;
import dev.stoker.cli.output.Errors;
import dev.stoker.cli.output.ReadProgress;
import dev.stoker.cli.output.Signals;
import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.copy.CopyRefusedException;
import dev.stoker.metadata.copy.CopyResult;
import dev.stoker.metadata.copy.CopyRule;
import dev.stoker.metadata.copy.CopyRule.Extra;
import dev.stoker.metadata.copy.DatasetCopy;
import dev.stoker.metadata.copy.Mirror;
import dev.stoker.metadata.gc.GarbageCollection;
import dev.stoker.metadata.gc.Orphan;
import dev.stoker.metadata.lease.WriterProcess;
import dev.stoker.schemas.text.Units;
import dev.stoker.storage.Stores;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.PrintWriter;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code stoker mirror}: makes a copy follow its source. */
@Command(
        name = "mirror",
        header = {
            "Examples:",
            "  stoker mirror ./data/photos s3a://bucket/photos",
            "  stoker mirror s3a://bucket/photos ./data/photos --interval 60s"
        },
        description = {
            "Makes a copy follow its source. Copies new versions, as stoker copy does. Then undoes changes of tags at"
                    + " the target, and deletes there what stoker gc deletes: chunks of expired versions and remains of"
                    + " dead writers.",
            "If the source cannot be read, has no version, or has damaged chunks, nothing is deleted."
        },
        sortOptions = false)
public final class MirrorVerb implements Callable<Integer> {

    @Spec
    private CommandSpec spec;

    @Parameters(paramLabel = "SOURCE", description = "Directory or URI of the dataset.")
    private String source;

    @Parameters(paramLabel = "TARGET", description = "Directory or URI of the mirror.")
    private String target;

    @Option(
            names = "--interval",
            paramLabel = "TIME",
            description = "Look for changes at this interval, such as 60s or 5m, until the command is stopped. Default:"
                    + " copy once.")
    private @Nullable String interval;

    @Option(
            names = "--older-than",
            paramLabel = "TIME",
            description = "Minimum age of files to delete, and minimum time since the expiry of their versions, such as"
                    + " 90m, 24h, 7d. Default: 24h.")
    private String olderThan = "24h";

    @Mixin
    private CopyOptions options = new CopyOptions();

    private final CopyProgress progress = new CopyProgress();

    @Override
    public Integer call() throws Exception {
        Duration limit = Units.parseTime("--older-than", olderThan);
        Optional<Duration> pause =
                interval == null ? Optional.empty() : Optional.of(Units.parseTime("--interval", interval));
        if (pause.isPresent() && pause.get().isZero()) {
            throw new IllegalArgumentException("option --interval: " + interval + " must be positive");
        }
        CountDownLatch end = new CountDownLatch(1);
        try (CopyEnds ends = CopyEnds.open(source, new VersionOptions(), target);
                Signals signals = new Signals()) {
            ends.source().requireNoVersion("stoker mirror");
            signals.onStop(progress::stop);
            signals.onStop(end::countDown);
            CopyRule rule = options.rule(ends, OptionalLong.empty(), Set.of(Extra.TAGS_OF_SOURCE));
            if (options.isDry()) {
                plan(ends, rule, limit);
                return 0;
            }
            copy(ends, rule).check();
            Stores.requireAtomicCreate(ends.target());
            Mirror mirror = new Mirror(
                    ends.dataset(), ends.target(), rule, limit, InstantSource.system(), WriterProcess.user(), progress);
            if (pause.isEmpty()) {
                return once(mirror, ends, signals);
            }
            do {
                round(mirror, ends, signals);
            } while (!end.await(pause.get().toMillis(), TimeUnit.MILLISECONDS));
            return 0;
        }
    }

    private DatasetCopy copy(CopyEnds ends, CopyRule rule) {
        return new DatasetCopy(
                ends.dataset(), ends.target(), rule, InstantSource.system(), WriterProcess.user(), progress);
    }

    private void plan(CopyEnds ends, CopyRule rule, Duration limit) throws IOException {
        PrintWriter out = spec.commandLine().getOut();
        CopyReport report = new CopyReport(ends);
        CopyResult plan = copy(ends, rule).plan();
        Optional<Dataset> mirror = Dataset.find(ends.target());
        List<Orphan> deleted = mirror.isEmpty()
                ? List.of()
                : GcVerb.planned(GarbageCollection.plan(mirror.get(), limit, InstantSource.system()));
        if (options.isJson()) {
            out.println(withDeleted(report.json(plan, Duration.ZERO), deleted));
            return;
        }
        report.planned(plan, out);
        if (!deleted.isEmpty()) {
            out.println("would delete " + files(deleted) + " at the target");
        }
    }

    private static ObjectNode withDeleted(ObjectNode json, List<Orphan> deleted) {
        long bytes = deleted.stream().mapToLong(Orphan::length).sum();
        return json.put("deleted", deleted.size()).put("deleted_bytes", bytes);
    }

    private static String files(List<Orphan> deleted) {
        long bytes = deleted.stream().mapToLong(Orphan::length).sum();
        return Units.plural(deleted.size(), "file") + ", " + Units.bytes(bytes);
    }

    private int once(Mirror mirror, CopyEnds ends, Signals signals) throws IOException {
        try {
            run(mirror, ends);
            return 0;
        } catch (InterruptedIOException e) {
            if (signals.exitCode().isEmpty()) {
                throw e;
            }
            throw new CommandException(
                    String.valueOf(e.getMessage()), signals.exitCode().getAsInt(), e);
        }
    }

    /** A failure may be over in the next round, except if the target is another dataset. */
    private void round(Mirror mirror, CopyEnds ends, Signals signals) throws IOException {
        try {
            run(mirror, ends);
        } catch (CopyRefusedException e) {
            throw e;
        } catch (IOException e) {
            if (signals.exitCode().isEmpty()) {
                spec.commandLine().getErr().println("stoker: " + Errors.message(e) + "; trying again in " + interval);
            }
        }
    }

    private void run(Mirror mirror, CopyEnds ends) throws IOException {
        long began = System.nanoTime();
        Optional<Mirror.Round> round;
        try (ReadProgress line = new ReadProgress(spec.commandLine().getErr(), progress::text)) {
            round = mirror.next();
            line.end();
        }
        if (round.isPresent()) {
            print(round.get(), ends, Duration.ofNanos(System.nanoTime() - began));
        }
    }

    private void print(Mirror.Round round, CopyEnds ends, Duration time) throws CommandException {
        PrintWriter out = spec.commandLine().getOut();
        CopyReport report = new CopyReport(ends);
        List<Orphan> deleted = round.deleted();
        if (options.isJson()) {
            out.println(withDeleted(report.json(round.copy(), time), deleted));
        } else {
            report.print(round.copy(), time, out);
            if (!deleted.isEmpty()) {
                out.println("deleted " + files(deleted));
            }
        }
        out.flush();
        if (!round.copy().isComplete()) {
            throw report.incomplete(round.copy());
        }
    }
}
