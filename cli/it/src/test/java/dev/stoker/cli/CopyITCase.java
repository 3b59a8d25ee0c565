package dev.stoker.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.metadata.Contents;
import dev.stoker.metadata.Dataset;
import dev.stoker.schemas.json.Json;
import dev.stoker.server.TestDataset;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.Stores;
import dev.stoker.storage.hadoop.HadoopSettings;
import dev.stoker.storage.hadoop.HdfsCluster;
import dev.stoker.storage.hadoop.S3Server;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Copies between a directory, a real HDFS and a real S3 server, and copies by a real process that is killed. */
@Timeout(300)
@Tag("full-stores")
class CopyITCase {

    @TempDir
    private Path directory;

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    private int stoker(String... args) {
        out.getBuffer().setLength(0);
        err.getBuffer().setLength(0);
        return Stoker.run(List.of(args), new PrintWriter(out, true), new PrintWriter(err, true));
    }

    private void run(String... args) {
        assertThat(stoker(args)).as(() -> out + "\n" + err).isZero();
    }

    @Test
    void fromADirectoryOverS3AndHdfsAndBack() throws IOException {
        HadoopSettings.use(S3Server.shared().settings());
        try {
            TestDataset dataset = TestDataset.create(directory.resolve("photos"), 3, 1000, 5, 4, 8);
            String source = dataset.path().toString();
            String s3 = "s3a://" + S3Server.BUCKET + "/" + UUID.randomUUID();
            String hdfs = HdfsCluster.shared().uri() + "/" + UUID.randomUUID();
            String back = directory.resolve("back").toString();
            List<String> ends = List.of(source, s3, hdfs, back);
            for (int round = 0; round < 2; round++) {
                for (int i = 1; i < ends.size(); i++) {
                    run(round == 0 ? "copy" : "mirror", ends.get(i - 1), ends.get(i));
                    assertThat(Contents.of(ends.get(i))).isEqualTo(Contents.of(source));
                    run("verify", ends.get(i));
                    run("copy", ends.get(i - 1), ends.get(i));
                    assertThat(out.toString()).contains("already: nothing was copied");
                }
                run("tag", source, "before", "1");
                run("compact", source);
                run("expire", source, "--keep-last", "1", "--yes");
            }
            run("mirror", source, s3, "--older-than", "0");
            run("verify", s3 + "@before");
            run("gc", s3, "--older-than", "0");
            assertThat(out.toString()).contains("nothing to delete");
        } finally {
            HadoopSettings.clear();
        }
    }

    @Test
    void aKilledProcessLeavesATargetThatTheNextOneCompletes() throws Exception {
        int[] rows = new int[600];
        Arrays.fill(rows, 2);
        String source = TestDataset.create(directory.resolve("photos"), 3, 100, rows)
                .path()
                .toString();
        Path target = directory.resolve("copy");
        try (StokerProcess copy = StokerProcess.start(directory, "copy", source, target.toString(), "--threads", "1")) {
            while (chunks(target) < 5) {
                assertThat(copy.isAlive()).as(copy.output()).isTrue();
            }
            copy.signal("KILL");
            assertThat(copy.code()).isEqualTo(137);
        }
        assertThat(chunks(target)).isBetween(5L, 599L);
        try (ObjectStore store = Stores.open(target.toString())) {
            assertThat(Dataset.open(store).latestVersion()).isZero();
        }
        run("gc", target.toString(), "--older-than", "0", "--yes");
        assertThat(out.toString()).contains("whose process has ended", "deleted 0 files");

        run("copy", source, target.toString(), "--json");
        assertThat(Json.PLAIN.readTree(out.toString()).path("present").asLong()).isGreaterThanOrEqualTo(5);
        assertThat(Contents.of(target.toString()))
                .isEqualTo(Contents.of(source))
                .hasSize(1200);
        run("verify", target.toString());
        run("gc", target.toString(), "--older-than", "0", "--yes");
        assertThat(chunks(target)).isEqualTo(600);
    }

    @Test
    void aMirrorFollowsUntilItIsStopped() throws Exception {
        String source = TestDataset.create(directory.resolve("photos"), 3, 100, 5, 4)
                .path()
                .toString();
        String target = directory.resolve("copy").toString();
        try (StokerProcess mirror = StokerProcess.start(directory, "mirror", source, target, "--interval", "1s")) {
            mirror.await("has version 1: copied 1 version and 2 chunks");
            run("compact", source);
            mirror.await("has version 2: copied 1 version and 1 chunk");
            run("tag", source, "best");
            mirror.await("has version 2: copied 0 versions and 0 chunks");
            mirror.signal("TERM");
            assertThat(mirror.code()).as(mirror.output()).isZero();
        }
        run("verify", target + "@best");
        assertThat(directory.resolve("copy/_stoker/copies")).isEmptyDirectory();
    }

    private static long chunks(Path dataset) throws IOException {
        if (!Files.isDirectory(dataset.resolve("chunks"))) {
            return 0;
        }
        try (Stream<Path> files = Files.walk(dataset.resolve("chunks"))) {
            return files.filter(file -> file.toString().endsWith(".arrow")
                            && !file.getFileName().toString().startsWith(".tmp-"))
                    .count();
        } catch (UncheckedIOException e) {
            // A temporary file was renamed while it was listed.
            return 0;
        }
    }
}
