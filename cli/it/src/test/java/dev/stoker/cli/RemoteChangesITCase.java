package dev.stoker.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.metadata.Contents;
import dev.stoker.storage.ObjectInfo;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.Stores;
import dev.stoker.storage.hadoop.HadoopSettings;
import dev.stoker.storage.hadoop.HdfsCluster;
import dev.stoker.storage.hadoop.S3Server;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Updates and erasures of a dataset on a real HDFS and a real S3 server. */
@Timeout(300)
@Tag("full-stores")
class RemoteChangesITCase {

    @TempDir
    static Path directory;

    private static List<String> stores;

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    @BeforeAll
    static void start() throws IOException {
        HadoopSettings.use(S3Server.shared().settings());
        stores = List.of(
                "s3a://" + S3Server.BUCKET + "/" + UUID.randomUUID(),
                HdfsCluster.shared().uri() + "/" + UUID.randomUUID());
        for (int i = 0; i < 24; i++) {
            Path file = directory.resolve("raw/c" + i % 3 + "/secret " + i + ".txt");
            Files.createDirectories(file.getParent());
            Files.writeString(file, "the words of sample " + i + " end here" + "!".repeat(700));
        }
    }

    @AfterAll
    static void clear() {
        HadoopSettings.clear();
    }

    private void stoker(String... args) {
        out.getBuffer().setLength(0);
        err.getBuffer().setLength(0);
        assertThat(Stoker.run(List.of(args), new PrintWriter(out, true), new PrintWriter(err, true)))
                .as(() -> out + "\n" + err)
                .isZero();
    }

    private static List<String> filesWith(String location, String text) throws IOException {
        List<String> found = new ArrayList<>();
        try (ObjectStore store = Stores.open(location)) {
            for (ObjectInfo file : store.list("").toList()) {
                if (new String(store.readAll(file.name(), Integer.MAX_VALUE), UTF_8).contains(text)) {
                    found.add(file.name());
                }
            }
        }
        return found;
    }

    @Test
    void updatesAndErasesWhereTheDatasetLies() throws IOException {
        for (String location : stores) {
            String dataset = location + "/photos";
            stoker(
                    "ingest",
                    directory.resolve("raw").toString(),
                    dataset,
                    "--label-from",
                    "parent-dir",
                    "--payload",
                    "text",
                    "--chunk-size",
                    "4kb",
                    "--parallelism",
                    "1");
            try (ObjectStore store = Stores.open(location)) {
                store.createIfAbsent("labels.csv", "key,label\nc1/secret 4.txt,rare\n".getBytes(UTF_8));
            }
            stoker("update", dataset, location + "/labels.csv", "--yes");
            Map<String, String> updated = Contents.of(dataset);
            assertThat(updated).hasSize(24);
            assertThat(updated.get("c1/secret 4.txt")).contains("label=rare");
            assertThat(updated.get("c1/secret 7.txt")).contains("label=c1");

            Path certificate = directory.resolve(UUID.randomUUID() + ".json");
            assertThat(filesWith(dataset, "secret 4.txt")).isNotEmpty();
            stoker("delete", dataset, "c1/secret 4.txt", "--erase", "--certificate", certificate.toString(), "--yes");
            assertThat(filesWith(dataset, "secret 4.txt")).isEmpty();
            assertThat(filesWith(dataset, "the words of sample 4 end")).isEmpty();
            stoker("verify", dataset, "--erased", certificate.toString());
            stoker("verify", dataset);
            updated.remove("c1/secret 4.txt");
            assertThat(Contents.of(dataset)).isEqualTo(updated);
        }
    }
}
