package dev.stoker.schemas.testing;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Ports for servers that tests start in other processes. They are below those that Linux gives to connections ({@code
 * net.ipv4.ip_local_port_range} begins at 32,768), so a connection cannot take the port before the server listens, or
 * while a killed server is down.
 */
public final class FreePort {
    private static final int FIRST = 10_000;
    private static final int LAST = 32_000;
    private static final int TRIES = 100;

    private FreePort() {}

    /** Returns a port of 127.0.0.1 that nothing listens at now. */
    public static int find() {
        return find("127.0.0.1");
    }

    /** Returns a port of an address of this machine that nothing listens at now. */
    public static int find(String address) {
        for (int i = 0; i < TRIES; i++) {
            int port = ThreadLocalRandom.current().nextInt(FIRST, LAST);
            if (isFree(address, port)) {
                return port;
            }
        }
        throw new IllegalStateException(
                TRIES + " ports of " + address + " between " + FIRST + " and " + LAST + " are in use");
    }

    private static boolean isFree(String address, int port) {
        try (ServerSocket socket = new ServerSocket()) {
            socket.bind(new InetSocketAddress(address, port), 1);
            return true;
        } catch (IOException e) {
            return false;
        }
    }
}
