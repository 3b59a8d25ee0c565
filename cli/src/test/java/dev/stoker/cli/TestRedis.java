package dev.stoker.cli;

import dev.stoker.schemas.testing.FreePort;
import java.io.IOException;
import redis.embedded.RedisServer;

/** A real Redis server on a free port of this machine. It stores nothing on disk. */
public final class TestRedis implements AutoCloseable {

    private final RedisServer server;
    private final String url;

    private TestRedis(RedisServer server, int port) {
        this.server = server;
        this.url = "redis://127.0.0.1:" + port;
    }

    public static TestRedis start() throws IOException {
        int port = FreePort.find();
        RedisServer server = RedisServer.newRedisServer()
                .port(port)
                .bind("127.0.0.1")
                .setting("save \"\"")
                .build();
        server.start();
        return new TestRedis(server, port);
    }

    public String url() {
        return url;
    }

    /** Stops the server. Does nothing if it is stopped. */
    @Override
    public void close() throws IOException {
        server.stop();
    }
}
