package dev.stoker.storage.hadoop;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.ObjectStoreContract;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.Map;
import java.util.UUID;
import javax.management.JMException;
import javax.management.ObjectName;
import org.junit.jupiter.api.Test;

class HdfsObjectStoreTest extends ObjectStoreContract {

    @Override
    protected int rounds() {
        return 4;
    }

    @Override
    protected int manyObjects() {
        return 50;
    }

    @Override
    protected ObjectStore createStore() throws IOException {
        return HadoopObjectStore.open(HdfsCluster.shared().uri() + "/" + UUID.randomUUID());
    }

    @Test
    void aListingBeginsBehindTheNameThatIsGiven() throws Exception {
        try (ObjectStore store = createStore()) {
            for (int i = 10; i < 60; i++) {
                store.createIfAbsent("log/" + i + ".avro", new byte[1]);
            }
            long before = listed();

            assertThat(store.list("log/", "log/57.avro").toList()).hasSize(2);
            assertThat(listed() - before)
                    .as("names that the name node has sent")
                    .isLessThan(5);
        }
    }

    @Test
    void aLocationWithoutANameNodeIsDecodedOnce() throws IOException {
        String path = "/" + UUID.randomUUID() + "/my%20photos%2520";
        Map<String, String> settings =
                Map.of("fs.defaultFS", HdfsCluster.shared().uri().toString());
        try (ObjectStore ofDefault = HadoopObjectStore.open("hdfs://" + path, settings);
                ObjectStore named = HadoopObjectStore.open(HdfsCluster.shared().uri() + path)) {
            assertThat(ofDefault.createIfAbsent("a", new byte[] {1})).isTrue();
            assertThat(ofDefault.describe("a")).isEqualTo(named.describe("a")).endsWith("/my photos%20/a");
            assertThat(named.readAll("a", 10)).containsExactly(1);
        }
    }

    private static long listed() throws JMException {
        return (Long) ManagementFactory.getPlatformMBeanServer()
                .getAttribute(new ObjectName("Hadoop:service=NameNode,name=NameNodeActivity"), "FilesInGetListingOps");
    }
}
