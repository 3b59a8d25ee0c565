package dev.stoker.storage.hadoop;

import dev.stoker.schemas.testing.FreePort;
import java.io.Closeable;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

/**
 * An S3 server (s3proxy) as a separate process on this machine, with its objects in memory. The build has put it into
 * the local Maven repository; the system property {@code stoker.s3proxy.jar} has its path. It ends with the process
 * that started it, even if that process is killed.
 */
public final class S3Server implements Closeable {

    /** The bucket that every server has. */
    public static final String BUCKET = "stoker-test";

    private static final String ACCESS_KEY = "local-identity";
    private static final String SECRET_KEY = "local-credential";
    private static S3Server shared;

    private final Process process;
    private final URI endpoint;

    private S3Server(Process process, URI endpoint) {
        this.process = process;
        this.endpoint = endpoint;
    }

    /** The one of this JVM, started with the first call. */
    public static synchronized S3Server shared() throws IOException {
        if (shared == null) {
            shared = start(Map.of());
        }
        return shared;
    }

    /**
     * Starts another server.
     *
     * @param settings settings of s3proxy, which replace the defaults of this class
     */
    public static S3Server start(Map<String, String> settings) throws IOException {
        String jar = System.getProperty("stoker.s3proxy.jar");
        if (jar == null || !Files.isRegularFile(Path.of(jar))) {
            throw new IOException("There is no S3 server at " + jar + "; build the module storage once with its tests");
        }
        int port = FreePort.find();
        URI endpoint = URI.create("http://127.0.0.1:" + port);
        Properties properties = new Properties();
        properties.put("s3proxy.authorization", "none");
        properties.put("s3proxy.endpoint", endpoint.toString());
        // Session tokens; it checks no signatures.
        properties.put("s3proxy.ignore-unknown-headers", "true");
        properties.put("jclouds.provider", "transient-nio2");
        properties.put("jclouds.identity", ACCESS_KEY);
        properties.put("jclouds.credential", SECRET_KEY);
        properties.putAll(settings);
        Path directory = Files.createTempDirectory(Path.of(System.getProperty("java.io.tmpdir")), "s3proxy");
        Path file = directory.resolve("s3proxy.conf");
        try (var out = Files.newOutputStream(file)) {
            properties.store(out, null);
        }
        // The shell ends the server when its standard input ends, which is this process's to keep open.
        String command = "\"$@\" & server=$!; read _; kill $server";
        Path java = Path.of(System.getProperty("java.home"), "bin", "java");
        Process process = new ProcessBuilder(List.of(
                        "sh",
                        "-c",
                        command,
                        "sh",
                        java.toString(),
                        "-Xmx512m",
                        "-XX:+UseSerialGC",
                        "-XX:TieredStopAtLevel=1",
                        "-Djava.io.tmpdir=" + directory,
                        "-jar",
                        jar,
                        "--properties",
                        file.toString()))
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve("s3proxy.log").toFile())
                .start();
        S3Server server = new S3Server(process, endpoint);
        server.createBucket(BUCKET, directory);
        return server;
    }

    private void createBucket(String bucket, Path directory) throws IOException {
        HttpClient http = HttpClient.newHttpClient();
        HttpRequest request = HttpRequest.newBuilder(endpoint.resolve("/" + bucket))
                .PUT(HttpRequest.BodyPublishers.noBody())
                .timeout(Duration.ofSeconds(30))
                .build();
        long deadline = System.nanoTime() + Duration.ofSeconds(90).toNanos();
        try {
            while (true) {
                try {
                    int status = http.send(request, HttpResponse.BodyHandlers.discarding())
                            .statusCode();
                    // If the server checks keys, a user with the key must create the bucket.
                    if (status != 200 && status != 403) {
                        throw new IllegalStateException("The S3 server answered " + status);
                    }
                    return;
                } catch (IOException e) {
                    if (!process.isAlive() || System.nanoTime() > deadline) {
                        throw new IOException("The S3 server does not start; see " + directory, e);
                    }
                    process.waitFor(50, TimeUnit.MILLISECONDS);
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException(e);
        }
    }

    /** Where it listens. */
    public URI endpoint() {
        return endpoint;
    }

    /** Settings of a {@code core-site.xml} for this server, or for a proxy in front of it. */
    public static Map<String, String> settings(URI endpoint) {
        return new TreeMap<>(Map.of(
                "fs.s3a.endpoint", endpoint.toString(),
                "fs.s3a.access.key", ACCESS_KEY,
                "fs.s3a.secret.key", SECRET_KEY));
    }

    /** Settings of a {@code core-site.xml} for this server. */
    public Map<String, String> settings() {
        return settings(endpoint);
    }

    @Override
    public void close() {
        // The shell's end alone would leave the server running.
        process.descendants().forEach(ProcessHandle::destroy);
        process.destroy();
    }
}
