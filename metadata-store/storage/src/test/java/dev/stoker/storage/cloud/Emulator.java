package dev.stoker.storage.cloud;

import com.azure.storage.blob.BlobServiceClientBuilder;
import com.azure.storage.common.StorageSharedKeyCredential;
import com.azure.storage.common.sas.AccountSasPermission;
import com.azure.storage.common.sas.AccountSasResourceType;
import com.azure.storage.common.sas.AccountSasService;
import com.azure.storage.common.sas.AccountSasSignatureValues;
import dev.stoker.schemas.testing.FreePort;
import java.io.Closeable;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;

/**
 * An emulator of a cloud as a separate process on this machine, with its objects in memory. It is installed with the
 * first call, and ends with the process that started it, even if that process is killed.
 */
public final class Emulator implements Closeable {

    /** The bucket that every emulator has. */
    public static final String BUCKET = "stoker-test";

    /** The account of Azure's emulator, and its published key. */
    static final String ACCOUNT = "devstoreaccount1";

    private static final String KEY =
            "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

    private static Emulator google;
    private static Emulator azure;

    private final Process process;
    private final URI endpoint;
    private final Path log;

    private Emulator(Process process, URI endpoint, Path log) {
        this.process = process;
        this.endpoint = endpoint;
        this.log = log;
    }

    /** Google Cloud Storage in this JVM's own process (fake-gcs-server), started with the first call. */
    public static synchronized Emulator google() throws IOException {
        if (google == null) {
            google = start(
                    "google",
                    port -> List.of(
                            "-backend",
                            "memory",
                            "-scheme",
                            "http",
                            "-host",
                            "127.0.0.1",
                            "-port",
                            "" + port,
                            "-external-url",
                            "http://127.0.0.1:" + port,
                            "-public-host",
                            "127.0.0.1:" + port));
            google.put(HttpRequest.newBuilder(google.endpoint.resolve("/storage/v1/b?project=test"))
                    .header("Content-Type", "application/json")
                    .POST(HttpRequest.BodyPublishers.ofString("{\"name\":\"" + BUCKET + "\"}")));
        }
        return google;
    }

    /** Azure Blob Storage (Azurite), as {@link #google}. */
    public static synchronized Emulator azure() throws IOException {
        if (azure == null) {
            azure = start(
                    "azure",
                    port -> List.of(
                            "--blobHost",
                            "127.0.0.1",
                            "--blobPort",
                            "" + port,
                            "--inMemoryPersistence",
                            "--skipApiVersionCheck",
                            "--disableTelemetry",
                            "--silent"));
            URI account = azure.endpoint.resolve("/" + ACCOUNT);
            String query = sharedAccess(OffsetDateTime.now(ZoneOffset.UTC).plusMinutes(5));
            azure.put(HttpRequest.newBuilder(URI.create(account + "/" + BUCKET + "?restype=container&" + query))
                    .PUT(HttpRequest.BodyPublishers.noBody()));
        }
        return azure;
    }

    /** Returns a token for the account of Azure's emulator, with which requests need no signature. */
    static String sharedAccess(OffsetDateTime until) {
        return new BlobServiceClientBuilder()
                .endpoint("http://127.0.0.1:10000/" + ACCOUNT)
                .credential(new StorageSharedKeyCredential(ACCOUNT, KEY))
                .httpClient(new AzureHttp())
                .buildClient()
                .generateAccountSas(new AccountSasSignatureValues(
                        until,
                        AccountSasPermission.parse("rwdlacupx"),
                        AccountSasService.parse("b"),
                        AccountSasResourceType.parse("sco")));
    }

    private static Emulator start(String cloud, IntFunction<List<String>> options) throws IOException {
        List<String> line = new ArrayList<>(List.of(
                // The shell ends the server when its standard input ends, which is this process's to keep open.
                "sh", "-c", "\"$@\" & server=$!; read _; kill $server", "sh"));
        line.addAll(List.of(install(cloud).split("\n")));
        int port = FreePort.find();
        line.addAll(options.apply(port));
        Path log = Files.createTempFile(Path.of(System.getProperty("java.io.tmpdir")), cloud, ".log");
        Process process = new ProcessBuilder(line)
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        return new Emulator(process, URI.create("http://127.0.0.1:" + port), log);
    }

    /** Returns the command and its first arguments, one a line. */
    private static String install(String cloud) throws IOException {
        File script =
                root().resolve("metadata-store/storage/src/test/emulators").toFile();
        Process process = new ProcessBuilder(script.toString(), cloud)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        String printed = new String(process.getInputStream().readAllBytes(), java.nio.charset.StandardCharsets.UTF_8);
        try {
            if (process.waitFor() != 0) {
                throw new IOException("Cannot install the emulator: " + script + " " + cloud + " failed");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException(e);
        }
        return printed.strip();
    }

    private static Path root() {
        Path directory = Path.of("").toAbsolutePath();
        while (!Files.exists(directory.resolve("mvnw"))) {
            directory = directory.getParent();
        }
        return directory;
    }

    private void put(HttpRequest.Builder request) throws IOException {
        HttpClient http = HttpClient.newHttpClient();
        HttpRequest built = request.timeout(Duration.ofSeconds(30)).build();
        long deadline = System.nanoTime() + Duration.ofSeconds(90).toNanos();
        try {
            while (true) {
                try {
                    int status = http.send(built, HttpResponse.BodyHandlers.discarding())
                            .statusCode();
                    if (status / 100 != 2) {
                        throw new IllegalStateException("The emulator answered " + status + "; see " + log);
                    }
                    return;
                } catch (IOException e) {
                    if (!process.isAlive() || System.nanoTime() > deadline) {
                        throw new IOException("The emulator does not start; see " + log, e);
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

    /** Variables of a process that uses this emulator. */
    public Map<String, String> environment() {
        return this == google
                ? Map.of("STORAGE_EMULATOR_HOST", endpoint.toString())
                : Map.of(
                        "AZURE_STORAGE_ACCOUNT_NAME", ACCOUNT,
                        "AZURE_STORAGE_ACCOUNT_KEY", KEY,
                        "AZURE_ENDPOINT", endpoint + "/" + ACCOUNT);
    }

    /** Opens a store or a tree in this process; see {@link #environment}. */
    static CloudObjectStore open(String location, Map<String, String> environment) {
        try {
            return CloudSettings.of(environment, Map.of("fs.stoker.retry.time.first", "2s"))
                    .open(location);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        // The shell's end alone would leave the server running.
        process.descendants().forEach(ProcessHandle::destroy);
        process.destroy();
    }
}
