package dev.stoker.storage.hadoop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.storage.ObjectWriter;
import dev.stoker.storage.Stores;
import dev.stoker.storage.errors.UnsupportedStoreException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Random;
import java.util.UUID;
import org.apache.hadoop.hdfs.MiniDFSCluster;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A real name node, and data nodes that die. */
class HdfsFaultTest {

    private static byte[] random(int length) {
        byte[] bytes = new byte[length];
        new Random(7).nextBytes(bytes);
        return bytes;
    }

    private static byte[] read(HadoopObjectStore store, String name, int offset, int length) throws IOException {
        ByteBuffer target = ByteBuffer.allocate(length);
        store.read(name, offset, target);
        return target.array();
    }

    @Test
    void aDataNodeMayDieWhileObjectsAreRead() throws IOException {
        HdfsCluster cluster = HdfsCluster.shared();
        byte[] content = random(300_000);
        try (HadoopObjectStore store = HadoopObjectStore.open(cluster.uri() + "/" + UUID.randomUUID())) {
            // As many as make it all but certain that some are read from the node that dies.
            for (int i = 0; i < 10; i++) {
                try (ObjectWriter writer = store.write("chunks/" + i)) {
                    writer.write(ByteBuffer.wrap(content));
                    writer.commit();
                }
                read(store, "chunks/" + i, 0, 1000);
            }
            MiniDFSCluster.DataNodeProperties dead = cluster.killDataNode(0);

            for (int i = 0; i < 10; i++) {
                assertThat(read(store, "chunks/" + i, 1000, content.length - 1000))
                        .isEqualTo(Arrays.copyOfRange(content, 1000, content.length));
            }

            cluster.restartDataNode(dead);
        }
    }

    @Test
    void aDataNodeMayDieWhileAnObjectIsWritten() throws IOException {
        HdfsCluster cluster = HdfsCluster.shared();
        byte[] content = random(3 << 20);
        try (HadoopObjectStore store = HadoopObjectStore.open(cluster.uri() + "/" + UUID.randomUUID())) {
            MiniDFSCluster.DataNodeProperties dead;
            try (ObjectWriter writer = store.write("chunks/ab/x")) {
                writer.write(ByteBuffer.wrap(content, 0, 1 << 20));
                dead = cluster.killDataNode(0);
                writer.write(ByteBuffer.wrap(content, 1 << 20, 2 << 20));
                writer.commit();
            }
            assertThat(store.readAll("chunks/ab/x", 1 << 24)).isEqualTo(content);
            cluster.restartDataNode(dead);
        }
    }

    @Test
    @Tag("full-stores")
    void anObjectThatWasReadIsReadAgainWithoutTheNameNode() throws IOException {
        HdfsCluster cluster = HdfsCluster.shared();
        try (HadoopObjectStore store = HadoopObjectStore.open(cluster.uri() + "/" + UUID.randomUUID())) {
            byte[] content = random(100_000);
            store.createIfAbsent("a", content);
            read(store, "a", 0, 10);

            cluster.killNameNode();
            try {
                assertThat(read(store, "a", 0, content.length)).isEqualTo(content);
            } finally {
                cluster.restartNameNode();
            }
        }
    }

    @Test
    void anObjectThatIsDeletedIsGoneForItsReaders() throws IOException {
        try (HadoopObjectStore store =
                HadoopObjectStore.open(HdfsCluster.shared().uri() + "/" + UUID.randomUUID())) {
            store.createIfAbsent("a", random(1000));
            read(store, "a", 0, 10);

            store.delete("a");

            assertThatThrownBy(() -> read(store, "a", 0, 10)).hasMessage("There is no " + store.describe("a"));
        }
    }

    @Test
    void aNameNodeRefusesASecondCreation() throws IOException {
        try (HadoopObjectStore store =
                HadoopObjectStore.open(HdfsCluster.shared().uri() + "/" + UUID.randomUUID())) {
            Stores.requireAtomicCreate(store);

            assertThat(store.list("").toList()).isEmpty();
            assertThat(store.listUnfinished("").toList()).isEmpty();
        }
    }

    @Test
    void aFileSystemThatIsNotKnownToCreateOnceIsReadOnly() throws IOException {
        try (HadoopObjectStore store = HadoopObjectStore.open("http://127.0.0.1:1/x")) {
            assertThatThrownBy(() -> store.createIfAbsent("a", new byte[1]))
                    .isInstanceOf(UnsupportedStoreException.class)
                    .hasMessageContaining("http://127.0.0.1:1/x/a")
                    .hasMessageContaining("hdfs, viewfs over it, s3a");
            assertThatThrownBy(() -> store.write("a")).isInstanceOf(UnsupportedStoreException.class);
            assertThatThrownBy(() -> Stores.requireAtomicCreate(store)).isInstanceOf(UnsupportedStoreException.class);
        }
    }

    @Test
    void anUnknownSchemeIsNamed() {
        assertThatThrownBy(() -> Stores.open("nosuch://host/x"))
                .isInstanceOf(UnsupportedStoreException.class)
                .hasMessageContaining("nosuch://host/x")
                .hasMessageContaining("does not know the scheme nosuch");
    }
}
