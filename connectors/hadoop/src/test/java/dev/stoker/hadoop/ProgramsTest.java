package dev.stoker.hadoop;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.connector.file.src.FileSource;
import org.apache.flink.connector.file.src.reader.TextLineInputFormat;
import org.apache.flink.core.fs.FileSystem;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.hadoop.fs.FsShell;
import org.apache.hadoop.util.ToolRunner;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Programs that know Hadoop's file systems, but not this one. */
class ProgramsTest {

    @TempDir
    private Path directory;

    private FileDataset texts() throws IOException {
        return new FileDataset(directory.resolve("texts"))
                .append("train", Map.of("de/1.txt", "eins\nzwei\n".getBytes(StandardCharsets.UTF_8)))
                .append("val", Map.of("en/a:b.txt", "one\n".getBytes(StandardCharsets.UTF_8)));
    }

    private String shell(FileDataset dataset, String... args) throws Exception {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        PrintStream before = System.out;
        System.setOut(new PrintStream(out, true, StandardCharsets.UTF_8));
        try {
            int status =
                    ToolRunner.run(dataset.conf("dfs.checksum.combine.mode", "COMPOSITE_CRC"), new FsShell(), args);
            assertThat(status).isZero();
        } finally {
            System.setOut(before);
        }
        return out.toString(StandardCharsets.UTF_8);
    }

    @Test
    void theShellOfHadoopReadsAndCopies() throws Exception {
        try (FileDataset dataset = texts()) {
            assertThat(shell(dataset, "-ls", "-R", "-C", "stoker://photos/"))
                    .hasLineCount(4)
                    .contains("stoker://photos/de/1.txt", "stoker://photos/en/a%3Ab.txt");
            assertThat(shell(dataset, "-ls", "stoker://photos/de")).contains("-r--r--r--", " 10 ");
            assertThat(shell(dataset, "-cat", "stoker://photos/*/*.txt"))
                    .isEqualToNormalizingNewlines("eins\nzwei\none\n");
            assertThat(shell(dataset, "-checksum", "stoker://photos/en/a%3Ab.txt"))
                    .contains("COMPOSITE-CRC32C");
            shell(dataset, "-cp", "stoker://photos/de", directory.toUri() + "copy");
            assertThat(directory.resolve("copy/1.txt")).hasContent("eins\nzwei\n");
        }
    }

    @Test
    void flinkReadsFiles() throws Exception {
        texts().close();
        Files.createDirectories(directory.resolve("conf"));
        Configuration settings = new Configuration();
        settings.setString(
                "flink.hadoop.fs.stoker.dataset.photos",
                directory.resolve("texts").toString());
        FileSystem.initialize(settings, null);
        try {
            StreamExecutionEnvironment env = StreamExecutionEnvironment.createLocalEnvironment(1, settings);
            FileSource<String> source = FileSource.forRecordStreamFormat(
                            new TextLineInputFormat(), new org.apache.flink.core.fs.Path("stoker://photos/"))
                    .build();

            List<String> lines = env.fromSource(source, WatermarkStrategy.noWatermarks(), "files")
                    .executeAndCollect(10);

            assertThat(lines).containsExactlyInAnyOrder("eins", "zwei", "one");
        } finally {
            FileSystem.initialize(new Configuration(), null);
        }
    }
}
