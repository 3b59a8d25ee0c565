package dev.stoker.storage.hadoop;

import dev.stoker.storage.retry.Retries;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.time.Duration;
import org.apache.hadoop.conf.Configuration;

/**
 * Connects to a name node before its first use. The client library retries a call in two loops, for the time in which a
 * name node restarts. This is too long for an address that is probably wrong, and no setting tells the two apart.
 */
final class NameNodeContact {
    private static final int DEFAULT_PORT = 8020;
    private static final int CONNECT_MS = 5000;

    private NameNodeContact() {}

    /**
     * Makes sure that something listens at the address of a file system. Does nothing for other file systems than HDFS,
     * for name services of several name nodes, and if connections need a proxy.
     *
     * @param fileSystem its URI
     * @param location for messages
     * @throws dev.stoker.storage.errors.StoreUnavailableException if nothing listens within the limit
     */
    static void require(URI fileSystem, Configuration configuration, String location) throws IOException {
        String host = fileSystem.getHost();
        boolean isOne = host != null && configuration.get("dfs.client.failover.proxy.provider." + host) == null;
        if (!"hdfs".equals(fileSystem.getScheme()) || !isOne || isProxied(configuration)) {
            return;
        }
        Duration limit = StoreConfiguration.duration(
                configuration, StoreConfiguration.FIRST_CONTACT_TIME, Duration.ofSeconds(20));
        int port = fileSystem.getPort() < 0 ? DEFAULT_PORT : fileSystem.getPort();
        new Retries(HadoopErrors.INSTANCE, limit, limit).call("reach", location, () -> {
            try (Socket socket = new Socket()) {
                socket.connect(new InetSocketAddress(host, port), (int) Math.min(CONNECT_MS, limit.toMillis()));
                return true;
            }
        });
    }

    private static boolean isProxied(Configuration configuration) {
        String factory = configuration.get("hadoop.rpc.socket.factory.class.default", "");
        return !factory.isEmpty() && !factory.endsWith(".StandardSocketFactory");
    }
}
