package dev.stoker.hadoop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A dataset on another file system of Hadoop. */
class RemoteDatasetTest {

    @TempDir
    private Path directory;

    /** The files of this machine as {@code demo://here/…}. */
    public static final class DemoFileSystem extends RawLocalFileSystem {

        @Override
        public URI getUri() {
            return URI.create("demo://here");
        }
    }

    @Test
    void theSettingsOfTheProgramReachTheStore() throws IOException {
        new FileDataset(directory).append("train", "a/1", "a/2").close();
        Configuration conf = new Configuration();
        conf.set("fs.stoker.dataset.photos", "demo://here" + directory);

        assertThatThrownBy(() -> FileSystem.newInstance(URI.create("stoker://photos"), conf))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("demo");

        conf.set("fs.demo.impl", DemoFileSystem.class.getName());
        try (FileSystem files = FileSystem.newInstance(URI.create("stoker://photos"), conf)) {
            assertThat(files.open(new org.apache.hadoop.fs.Path("/a/2")).readAllBytes())
                    .isEqualTo("a/2".getBytes(StandardCharsets.UTF_8));
            assertThat(files.listStatus(new org.apache.hadoop.fs.Path("/a"))).hasSize(2);
        }
    }
}
