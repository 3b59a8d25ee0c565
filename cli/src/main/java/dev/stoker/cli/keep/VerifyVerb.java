package dev.stoker.cli.keep;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stoker.cli.options.FlinkOptions;
import dev.stoker.cli.options.ReadThreads;
import dev.stoker.cli.options.VersionOptions;
import dev.stoker.cli.output.Errors;
import dev.stoker.cli.output.ProgressLine;
import dev.stoker.cli.samples.OpenDataset;
import dev.stoker.metadata.Snapshot;
import dev.stoker.metadata.verify.Problem;
import dev.stoker.metadata.verify.Verification;
import dev.stoker.metadata.verify.VerificationReport;
import dev.stoker.schemas.json.Json;
import dev.stoker.schemas.text.Units;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code stoker verify}: reads every byte of a version and checks it. */
@Command(
        name = "verify",
        header = {"Examples:", "  stoker verify ./data/photos", "  stoker verify ./data/photos --erased cat-17.json"},
        description = {
            "Reads every byte of a version and verifies its checksums.",
            "Exits with 1 if anything is damaged, or if something erased is left."
        })
public final class VerifyVerb implements Callable<Integer> {

    @Spec
    private CommandSpec spec;

    @Parameters(
            paramLabel = "DATASET",
            description = "Directory or URI of the dataset; DATASET@3 names version 3, DATASET@best a tag.")
    private String path;

    @Mixin
    private VersionOptions version = new VersionOptions();

    @Option(
            names = "--erased",
            paramLabel = "FILE",
            description = "Check a certificate of stoker delete --erase instead: read all files, and report samples,"
                    + " files and versions that should be gone.")
    private @Nullable Path erased;

    @Option(
            names = "--threads",
            paramLabel = "N",
            description = "Chunks to read at a time. Default: number of processors; at least 16 for HDFS, S3, ….")
    private @Nullable Integer threads;

    @Mixin
    private FlinkOptions flink = new FlinkOptions();

    @Option(names = "--json", description = "Print JSON.")
    private boolean json;

    @Override
    public Integer call() throws Exception {
        int parallelism = ReadThreads.of(threads, path);
        if (erased != null) {
            version.requireNone("--erased");
            try (OpenDataset open = OpenDataset.open(path)) {
                open.requireNoVersion("stoker verify --erased");
                return CertificateCheck.run(spec, open.dataset(), erased, parallelism, json);
            }
        }
        ExecutorService pool = Executors.newFixedThreadPool(parallelism + 1);
        try (OpenDataset open = OpenDataset.open(path, version)) {
            Snapshot snapshot = open.snapshot();
            LongAdder read = new LongAdder();
            Verification verification = flink.workers(
                            open.location(),
                            "stoker verify",
                            threads,
                            read,
                            snapshot.table().liveBytes())
                    .map(workers -> new Verification(open.dataset(), workers, bytes -> {}))
                    .orElseGet(() -> new Verification(open.dataset(), pool, parallelism, read::add));
            CompletableFuture<VerificationReport> result = new CompletableFuture<>();
            long began = System.nanoTime();
            pool.execute(() -> {
                try {
                    result.complete(verification.run(snapshot));
                } catch (Throwable e) {
                    result.completeExceptionally(e);
                }
            });
            VerificationReport report = await(result, read, snapshot.table().liveBytes(), began);
            print(
                    report,
                    Duration.ofNanos(System.nanoTime() - began),
                    open.dataset().where());
            return report.isClean() ? 0 : Errors.FAILED;
        } finally {
            pool.shutdownNow();
        }
    }

    private VerificationReport await(
            CompletableFuture<VerificationReport> result, LongAdder read, long total, long began) throws Exception {
        try (ProgressLine line = new ProgressLine(spec.commandLine().getErr())) {
            while (true) {
                try {
                    return result.get(500, TimeUnit.MILLISECONDS);
                } catch (TimeoutException e) {
                    long bytes = read.sum();
                    double rate = bytes / ((System.nanoTime() - began) / 1e9);
                    line.show("verifying: " + Units.bytes(bytes) + " of " + Units.bytes(total) + ", "
                            + Units.rate(rate)
                            + (bytes == 0
                                    ? ""
                                    : ", " + Units.time(Duration.ofSeconds((long) ((total - bytes) / rate)))
                                            + " left"));
                } catch (ExecutionException e) {
                    throw e.getCause() instanceof Exception cause ? cause : e;
                }
            }
        }
    }

    private void print(VerificationReport report, Duration time, String where) {
        PrintWriter out = spec.commandLine().getOut();
        if (json) {
            ObjectNode root = Json.object();
            root.put("path", where).put("version", report.version());
            root.put("clean", report.isClean()).put("chunks", report.chunks());
            root.put("samples", report.samples()).put("bytes", report.bytes()).put("seconds", time.toMillis() / 1e3);
            root.putArray("problems");
            for (Problem problem : report.problems()) {
                ObjectNode node = root.withArray("problems").addObject();
                node.put("file", problem.file()).put("message", problem.message());
                if (problem.chunk() >= 0) {
                    node.put("chunk", problem.chunk());
                }
                if (problem.row() >= 0) {
                    node.put("row", problem.row()).put("key", problem.key());
                }
            }
            out.println(root);
            return;
        }
        for (Problem problem : report.problems()) {
            out.println((problem.chunk() < 0 ? "" : "chunk " + problem.chunk() + ": ")
                    + (problem.row() < 0 ? "" : "row " + problem.row() + ": ")
                    + (problem.message().contains(problem.file()) ? "" : problem.file() + ": ")
                    + problem.message());
        }
        out.println("version " + report.version() + ": " + Units.plural(report.samples(), "sample") + " in "
                + Units.plural(report.chunks(), "chunk") + ", " + Units.bytes(report.bytes()) + " read in "
                + Units.seconds(time) + ": "
                + (report.isClean()
                        ? "no damage found"
                        : Units.plural(report.problems().size(), "problem")));
    }
}
