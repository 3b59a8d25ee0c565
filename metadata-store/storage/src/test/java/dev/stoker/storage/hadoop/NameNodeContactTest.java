package dev.stoker.storage.hadoop;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.schemas.testing.FreePort;
import dev.stoker.storage.errors.StoreUnavailableException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** An address of which nobody knows whether it is right. */
@Timeout(120)
class NameNodeContactTest {
    private static Configuration limited() {
        Configuration configuration = new Configuration();
        configuration.set(StoreConfiguration.FIRST_CONTACT_TIME, "1s");
        return configuration;
    }

    /** The client library alone retries for 49 s. */
    @Test
    void aWrongPortFailsWithinTheLimitOfAFirstContact() throws IOException {
        String location = "hdfs://127.0.0.1:" + FreePort.find() + "/photos";
        assertThatThrownBy(() -> HadoopObjectStore.open(location, Map.of(StoreConfiguration.FIRST_CONTACT_TIME, "1s")))
                .isInstanceOf(StoreUnavailableException.class)
                .hasMessageMatching("Cannot reach " + location + ": [0-9]+ attempts? in [0-9]+ s failed, the last with"
                        + " Connection refused; check that the store and the way to it are healthy.*");
    }

    @Test
    void onlySingleNameNodesAreAsked() throws IOException {
        int closed = FreePort.find();
        try (ServerSocket open = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            assertThatCode(() -> require("hdfs://127.0.0.1:" + open.getLocalPort(), limited()))
                    .doesNotThrowAnyException();
        }
        Configuration service = limited();
        service.set("dfs.client.failover.proxy.provider.127.0.0.1", "of several name nodes");
        assertThatCode(() -> require("hdfs://127.0.0.1:" + closed, service)).doesNotThrowAnyException();
        Configuration proxied = limited();
        proxied.set("hadoop.rpc.socket.factory.class.default", "org.apache.hadoop.net.SocksSocketFactory");
        assertThatCode(() -> require("hdfs://127.0.0.1:" + closed, proxied)).doesNotThrowAnyException();
        assertThatCode(() -> require("s3a://127.0.0.1:" + closed, limited())).doesNotThrowAnyException();
    }

    private static void require(String fileSystem, Configuration configuration) throws IOException {
        NameNodeContact.require(URI.create(fileSystem), configuration, fileSystem);
    }
}
