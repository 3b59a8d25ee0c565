package dev.stoker.storage.hadoop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.storage.ObjectWriter;
import dev.stoker.storage.errors.UnknownOutcomeException;
import dev.stoker.storage.retry.Retries;
import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.UUID;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FilterFileSystem;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A name node that executes requests, but whose replies are lost. */
class LostReplyTest {

    private static final byte[] OWN = bytes("own");
    private static final byte[] OTHER = bytes("other's");

    private FileSystem hdfs;
    private ObjectPaths paths;
    private boolean losesDelete;
    private boolean losesRename;
    private Step beforeRename = () -> {};

    private interface Step {
        void run() throws IOException;
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    @BeforeEach
    void connect() throws IOException {
        URI root = URI.create(HdfsCluster.shared().uri() + "/" + UUID.randomUUID());
        hdfs = FileSystem.newInstance(root, new Configuration());
        paths = new ObjectPaths(root);
    }

    @AfterEach
    void disconnect() throws IOException {
        hdfs.close();
    }

    private RenamingCreator creator() throws IOException {
        FileSystem lossy = new FilterFileSystem(hdfs) {
            @Override
            public boolean delete(Path path, boolean recursive) throws IOException {
                boolean deleted = super.delete(path, recursive);
                if (losesDelete) {
                    losesDelete = false;
                    throw new IOException("the reply was lost");
                }
                return deleted;
            }
        };
        Retries retries = new Retries(HadoopErrors.INSTANCE, Duration.ofSeconds(20), Duration.ofSeconds(20));
        return new RenamingCreator(new HadoopObjectStore.Connection(lossy, paths, retries), names -> (from, to) -> {
            beforeRename.run();
            names.rename(from, to);
            if (losesRename) {
                losesRename = false;
                throw new IOException("the reply was lost");
            }
        });
    }

    private void put(String name, byte[] content) throws IOException {
        try (var out = hdfs.create(paths.path(name), false)) {
            out.write(content);
        }
    }

    private byte[] content(String name) throws IOException {
        try (var in = hdfs.open(paths.path(name))) {
            return in.readAllBytes();
        }
    }

    private int files() throws IOException {
        return hdfs.listStatus(paths.path("log")).length;
    }

    /** Removes a writer's file before it gets its name, as a user who cleans up might. */
    private void removeTemporaries() throws IOException {
        for (FileStatus file : hdfs.listStatus(paths.path("log"))) {
            if (ObjectPaths.isTemporary(file.getPath().getName())) {
                hdfs.delete(file.getPath(), false);
            }
        }
    }

    @Test
    void aLostRaceStaysLostThoughTheReplyToTheCleanUpIsLost() throws IOException {
        beforeRename = () -> put("log/1", OTHER);
        losesDelete = true;

        assertThat(creator().createIfAbsent("log/1", OWN)).isFalse();

        assertThat(content("log/1")).isEqualTo(OTHER);
        assertThat(files()).isEqualTo(1);
    }

    @Test
    void aRenameWhoseReplyIsLostHasCreatedTheObject() throws IOException {
        losesRename = true;

        assertThat(creator().createIfAbsent("log/1", OWN)).isTrue();

        assertThat(content("log/1")).isEqualTo(OWN);
        assertThat(files()).isEqualTo(1);
    }

    @Test
    void aTemporaryFileThatSomeoneRemovedHasCreatedNothing() throws IOException {
        beforeRename = this::removeTemporaries;

        assertThatThrownBy(() -> creator().createIfAbsent("log/1", OWN))
                .isInstanceOf(UnknownOutcomeException.class)
                .hasMessageContaining("log/1")
                .hasMessageContaining("temporary file was removed");

        assertThat(files()).isZero();
    }

    @Test
    void aTemporaryFileThatSomeoneRemovedIsNotTheOthersObject() throws IOException {
        beforeRename = () -> {
            removeTemporaries();
            put("log/1", OTHER);
        };

        assertThat(creator().createIfAbsent("log/1", OWN)).isFalse();

        assertThat(content("log/1")).isEqualTo(OTHER);
    }

    @Test
    void aWriterWhoseFileSomeoneRemovedDoesNotCommit() throws IOException {
        beforeRename = this::removeTemporaries;

        try (ObjectWriter writer = creator().write("log/1")) {
            writer.write(ByteBuffer.wrap(OWN));
            assertThatThrownBy(writer::commit).hasMessageContaining("temporary file was removed");
        }

        assertThat(files()).isZero();
    }

    @Test
    void aWriterCommitsThoughTheReplyIsLost() throws IOException {
        losesRename = true;

        try (ObjectWriter writer = creator().write("log/1")) {
            writer.write(ByteBuffer.wrap(OWN));
            writer.commit();
        }

        assertThat(content("log/1")).isEqualTo(OWN);
    }
}
