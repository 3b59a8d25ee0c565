package dev.stoker.cli.copy;

import dev.stoker.cli.options.VersionOptions;
import dev.stoker.cli.output.CommandException;
import dev.stoker.cli.output.ReadProgress;
import dev.stoker.cli.output.Signals;
import dev.stoker.metadata.copy.CopyResult;
import dev.stoker.metadata.copy.DatasetCopy;
import dev.stoker.metadata.lease.WriterProcess;
import dev.stoker.storage.Stores;
import java.io.InterruptedIOException;
import java.io.PrintWriter;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code stoker copy}: copies a dataset to another store, incrementally. */
@Command(
        name = "copy",
        header = {
            "Examples:",
            "  stoker copy ./data/photos s3a://backup/photos",
            "  stoker copy s3a://backup/photos ./data/photos --dry-run"
        },
        description = {
            "Copies a dataset with versions and tags to another store. Each chunk is verified on the way. Run it"
                    + " again to copy later versions, or to complete an interrupted copy.",
            "Writers and feeds may work on the source meanwhile. A version appears at the target after all of its"
                    + " chunks."
        },
        sortOptions = false)
public final class CopyVerb implements Callable<Integer> {

    @Spec
    private CommandSpec spec;

    @Parameters(
            paramLabel = "SOURCE",
            description = "Directory or URI of the dataset; SOURCE@7 copies up to version 7, SOURCE@best up to a tag.")
    private String source;

    @Parameters(paramLabel = "TARGET", description = "Directory or URI of the copy.")
    private String target;

    @Mixin
    private VersionOptions version = new VersionOptions();

    @Mixin
    private CopyOptions options = new CopyOptions();

    @Override
    public Integer call() throws Exception {
        PrintWriter out = spec.commandLine().getOut();
        CopyProgress progress = new CopyProgress();
        try (CopyEnds ends = CopyEnds.open(source, version, target);
                Signals signals = new Signals()) {
            signals.onStop(progress::stop);
            DatasetCopy copy = new DatasetCopy(
                    ends.dataset(),
                    ends.target(),
                    options.rule(ends, ends.source().requested(), Set.of()),
                    InstantSource.system(),
                    WriterProcess.user(),
                    progress);
            CopyReport report = new CopyReport(ends);
            if (options.isDry()) {
                CopyResult plan = copy.plan();
                if (options.isJson()) {
                    out.println(report.json(plan, Duration.ZERO));
                } else {
                    report.planned(plan, out);
                }
                return 0;
            }
            copy.check();
            Stores.requireAtomicCreate(ends.target());
            long began = System.nanoTime();
            CopyResult result;
            try (ReadProgress line = new ReadProgress(spec.commandLine().getErr(), progress::text)) {
                result = copy.run();
                line.end();
            } catch (InterruptedIOException e) {
                if (signals.exitCode().isEmpty()) {
                    throw e;
                }
                throw new CommandException(
                        String.valueOf(e.getMessage()), signals.exitCode().getAsInt(), e);
            }
            Duration time = Duration.ofNanos(System.nanoTime() - began);
            if (options.isJson()) {
                out.println(report.json(result, time));
            } else {
                report.print(result, time, out);
            }
            if (!result.isComplete()) {
                throw report.incomplete(result);
            }
            return 0;
        }
    }
}
