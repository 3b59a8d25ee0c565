package dev.stoker.storage.hadoop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.storage.errors.NoSpaceException;
import dev.stoker.storage.errors.StoreUnavailableException;
import dev.stoker.storage.retry.Retries;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.ipc.RemoteException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RetriesTest {
    private static IOException noNode(String why) {
        return new RemoteException(
                IOException.class.getName(),
                "File /data/x could only be written to 0 of the 1 minReplication nodes. " + why);
    }

    /** A name node that just started does not know all data nodes, and clients avoid nodes that did not answer. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "There are 0 datanode(s) running and 0 node(s) are excluded in this operation.",
                "There are 2 datanode(s) running and 1 node(s) are excluded in this operation."
            })
    void dataNodesAreWaitedFor(String why) throws IOException {
        AtomicInteger calls = new AtomicInteger();
        Retries retries = new Retries(HadoopErrors.INSTANCE, Duration.ofMinutes(1), Duration.ofMinutes(1));
        assertThat(retries.<Boolean>call("write", "x", () -> {
                    if (calls.incrementAndGet() < 3) {
                        throw noNode(why);
                    }
                    return true;
                }))
                .isTrue();
        assertThat(calls).hasValue(3);
    }

    @Test
    void thatNoDataNodeTakesABlockIsSaid() {
        Retries retries = new Retries(HadoopErrors.INSTANCE, Duration.ofMillis(1), Duration.ofMillis(1));
        assertThatThrownBy(() -> retries.call("write", "hdfs://nn/data/x", () -> {
                    throw noNode("There are 2 datanode(s) running and 2 node(s) are excluded in this operation.");
                }))
                .isInstanceOf(StoreUnavailableException.class)
                .hasMessage("Cannot write hdfs://nn/data/x: no data node has accepted it within 1 s; start stopped data"
                        + " nodes, or free some space on them, and run the same command again");
    }

    @Test
    void aFullDiskIsNotWaitedFor() {
        AtomicInteger calls = new AtomicInteger();
        Retries retries = new Retries(HadoopErrors.INSTANCE, Duration.ofMinutes(1), Duration.ofMinutes(1));
        assertThatThrownBy(() -> retries.call("write", "x", () -> {
                    calls.incrementAndGet();
                    throw new IOException("No space left on device");
                }))
                .isInstanceOf(NoSpaceException.class);
        assertThat(calls).hasValue(1);
    }
}
