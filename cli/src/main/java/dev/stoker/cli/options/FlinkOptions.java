package dev.stoker.cli.options;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import dev.stoker.cli.output.CommandException;
import dev.stoker.cli.output.Errors;
import dev.stoker.flink.failure.ConnectionText;
import dev.stoker.flink.work.FlinkWorkers;
import dev.stoker.schemas.json.Json;
import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Stream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The options of a verb whose work a Flink cluster can do. */
public final class FlinkOptions {

    private static final int DEFAULT_PORT = 8081;
    private static final Duration ANSWER = Duration.ofSeconds(10);

    @Spec(Spec.Target.MIXEE)
    private CommandSpec spec;

    @Option(
            names = "--flink",
            paramLabel = "HOST[:PORT]",
            description = "Work with the tasks of the Flink cluster with this REST address, instead of threads. Default"
                    + " of the port: 8081.")
    private @Nullable String cluster;

    @Option(
            names = "--parallelism",
            paramLabel = "N",
            description = "With --flink: number of tasks. Default: the free slots of the cluster.")
    private @Nullable Integer parallelism;

    /**
     * Returns the tasks of the cluster; empty without {@code --flink}.
     *
     * @param location directory or URI of the dataset or ledger
     * @param name of the job
     * @param threads the value of {@code --threads}; null if it is not given
     * @param read receives what was read, in proportion to the pieces that are done
     * @param total the amount that all pieces have
     * @throws CommandException if the cluster does not answer or has no free slot
     */
    public Optional<FlinkWorkers> workers(
            String location, String name, @Nullable Integer threads, LongAdder read, long total)
            throws IOException, InterruptedException {
        return workers(location, name, threads, read, total, List.of());
    }

    /** @param more jars that the work needs besides the job jar */
    public Optional<FlinkWorkers> workers(
            String location, String name, @Nullable Integer threads, LongAdder read, long total, List<Path> more)
            throws IOException, InterruptedException {
        if (cluster == null) {
            if (parallelism != null) {
                throw new IllegalArgumentException("--parallelism needs --flink"
                        + (spec.findOption("--threads") == null ? "" : "; threads are set with --threads"));
            }
            return Optional.empty();
        }
        if (threads != null) {
            throw new IllegalArgumentException("--flink and --threads exclude each other; use --parallelism");
        }
        if (parallelism != null && parallelism < 1) {
            throw new IllegalArgumentException("option --parallelism: " + parallelism + " must be positive");
        }
        URI address = address(cluster);
        int tasks = parallelism == null ? freeSlots(address) : parallelism;
        String[] jars = Stream.concat(Stream.of(jobJar()), more.stream())
                .map(Path::toString)
                .toArray(String[]::new);
        return Optional.of(new FlinkWorkers(
                location,
                name,
                tasks,
                () -> StreamExecutionEnvironment.createRemoteEnvironment(address.getHost(), address.getPort(), jars),
                (done, pieces) -> read.add((long) ((double) total * done / pieces) - read.sum())));
    }

    private static URI address(String text) {
        URI uri;
        try {
            uri = new URI("http://" + text);
        } catch (URISyntaxException e) {
            throw notAnAddress(text);
        }
        if (uri.getHost() == null || !uri.getPath().isEmpty()) {
            throw notAnAddress(text);
        }
        return uri.getPort() < 0 ? URI.create("http://" + uri.getHost() + ":" + DEFAULT_PORT) : uri;
    }

    private static IllegalArgumentException notAnAddress(String text) {
        return new IllegalArgumentException("option --flink: '" + text + "' is not an address such as jobmanager:8081");
    }

    private static int freeSlots(URI address) throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(address.resolve("/overview"))
                .timeout(ANSWER)
                .build();
        JsonNode overview;
        try {
            overview = Json.PLAIN.readTree(HttpClient.newBuilder()
                    .connectTimeout(ANSWER)
                    .build()
                    .send(request, HttpResponse.BodyHandlers.ofString())
                    .body());
        } catch (JsonProcessingException e) {
            throw new CommandException(
                    "no Flink cluster answers at " + address.getAuthority()
                            + ": another server does; give the address of the JobManager's REST port",
                    Errors.FAILED,
                    e);
        } catch (IOException e) {
            throw new CommandException(
                    "no Flink cluster answers at " + address.getAuthority() + ": " + ConnectionText.of(e)
                            + "; check the address of the JobManager's REST port, and that the cluster runs",
                    Errors.FAILED,
                    e);
        }
        int free = overview.path("slots-available").asInt();
        if (free < 1) {
            throw new CommandException("the Flink cluster at " + address.getAuthority()
                    + " has no free slot; wait for other jobs, or start TaskManagers");
        }
        return free;
    }

    /** Returns the jar that clusters load. */
    private static Path jobJar() throws IOException {
        Path jar = Path.of(System.getProperty("stoker.dist", "cli/target/dist"), "jobs", "ingest-job.jar");
        if (!Files.isRegularFile(jar)) {
            throw new CommandException(jar + " does not exist; --flink needs a complete installation of stoker");
        }
        return jar;
    }
}
