package dev.stoker.storage.hadoop;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Test;

/** A name node that is away for a while. Run by the profile soak. */
class HdfsRestartSoak {

    @Test
    void commitsWaitForTheNameNode() throws IOException {
        try (HdfsCluster cluster = HdfsCluster.start();
                HadoopObjectStore store = HadoopObjectStore.open(cluster.uri() + "/" + UUID.randomUUID())) {
            store.createIfAbsent("log/0", new byte[] {0});
            cluster.killNameNode();
            CompletableFuture<Boolean> created = CompletableFuture.supplyAsync(() -> {
                try {
                    return store.createIfAbsent("log/1", new byte[] {1});
                } catch (IOException e) {
                    throw new CompletionException(e);
                }
            });
            cluster.restartNameNode();

            assertThat(created.join()).isTrue();
            assertThat(store.createIfAbsent("log/1", new byte[] {2})).isFalse();
            assertThat(store.listUnfinished("").toList()).isEmpty();
        }
    }
}
