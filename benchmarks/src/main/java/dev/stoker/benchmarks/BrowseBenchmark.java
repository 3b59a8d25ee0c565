package dev.stoker.benchmarks;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.sun.management.OperatingSystemMXBean;
import dev.stoker.cli.browse.BrowseServer;
import dev.stoker.metadata.Dataset;
import dev.stoker.storage.LocalObjectStore;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Locale;

/**
 * Measures what a browser waits for on the page of {@code stoker browse}: opening the newest version, the page with its
 * first screen of samples, another screen in the middle, and a search by key.
 *
 * <pre>java -cp … dev.stoker.benchmarks.BrowseBenchmark DIRECTORY</pre>
 *
 * The directory has a dataset of {@link IndexBenchmark}. In the first round, the process is new.
 * For a cold page cache, drop it before.
 */
public final class BrowseBenchmark {

    private static final int ROUNDS = 3;
    private static final OperatingSystemMXBean PROCESS =
            (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

    private final HttpClient client = HttpClient.newHttpClient();
    private final JsonMapper mapper = new JsonMapper();
    private final Path directory;

    private BrowseBenchmark(Path directory) {
        this.directory = directory;
    }

    public static void main(String[] args) throws Exception {
        BrowseBenchmark benchmark = new BrowseBenchmark(Path.of(args[0]));
        for (int round = 0; round < ROUNDS; round++) {
            benchmark.run();
        }
    }

    private void run() throws Exception {
        long[] began = begin();
        try (ObjectStore store = new LocalObjectStore(directory)) {
            Dataset dataset = Dataset.open(store);
            try (BrowseServer server = new BrowseServer(dataset, dataset.snapshot(), 0)) {
                for (String file : new String[] {"", "browse.css", "browse.js"}) {
                    get(server, file);
                }
                JsonNode version = mapper.readTree(get(server, "api/dataset")).get("version");
                String samples = "api/samples?limit=48&version=" + version.get("version").asLong();
                JsonNode page = screen(server, samples);
                print("first screen of " + page.get("total").asLong() + " samples", began);

                began = begin();
                page = screen(
                        server,
                        samples + "&from=" + page.get("total").asLong() / 2);
                print("  a screen in the middle", began);

                String key = page.at("/samples/0/key").asText();
                String prefix = URLEncoder.encode(key.substring(0, key.length() - 5), StandardCharsets.UTF_8);
                began = begin();
                screen(server, samples + "&prefix=" + prefix);
                print("  a screen of a search by key", began);
            }
        }
    }

    /** Reads a screen with all its contents, as the browser does. */
    private JsonNode screen(BrowseServer server, String path) throws IOException, InterruptedException {
        JsonNode page = mapper.readTree(get(server, path));
        String version = path.replaceAll(".*version=([0-9]+).*", "$1");
        for (JsonNode sample : page.get("samples")) {
            get(
                    server,
                    "payload?version=" + version + "&chunk=" + sample.get("chunk").asLong() + "&row="
                            + sample.get("row").asInt() + "&field="
                            + sample.at("/content/field").asInt());
        }
        return page;
    }

    private byte[] get(BrowseServer server, String path) throws IOException, InterruptedException {
        HttpResponse<byte[]> answer = client.send(
                HttpRequest.newBuilder(URI.create(server.url() + path)).build(),
                HttpResponse.BodyHandlers.ofByteArray());
        if (answer.statusCode() != 200) {
            throw new IOException(path + ": " + new String(answer.body(), StandardCharsets.UTF_8));
        }
        return answer.body();
    }

    /** Begins a measurement: the time, and the CPU time of this process. */
    private static long[] begin() {
        return new long[] {System.nanoTime(), PROCESS.getProcessCpuTime()};
    }

    private static void print(String what, long[] began) {
        long[] now = begin();
        System.out.printf(
                Locale.ROOT,
                "%-45s %10.1f ms, CPU time %.1f ms%n",
                what,
                (now[0] - began[0]) / 1e6,
                (now[1] - began[1]) / 1e6);
    }
}
