package dev.stoker.cli.bench;

import dev.stoker.bench.feed.FeedResult;
import dev.stoker.bench.measure.Machine;
import dev.stoker.cli.output.CommandException;
import dev.stoker.cli.running.FeedFile;
import dev.stoker.client.FeedClient;
import dev.stoker.storage.Stores;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The feed that a measurement consumes: one that runs, or one of a dataset, which it starts. For one thread. */
final class BenchTarget implements AutoCloseable {

    private static final Pattern ADDRESS = Pattern.compile("unix:.*|[^/]+:[0-9]+(,[^/]+:[0-9]+)*");
    /** A text with other characters is a dataset with a version or a split. */
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9._-]{1,100}");

    private static final Duration PATIENCE = Duration.ofSeconds(20);
    /** Two batches must fit, and usually many do. */
    private static final long USUAL_BUFFER = 256L << 20;
    /** Direct memory for all clients of this process; a quarter of the machine's memory is usual. */
    private static final long ALL_BUFFERS = 2L << 30;

    private final String text;
    private final String address;
    private final Optional<ProcessHandle> process;
    private final @Nullable BenchFeeder feeder;
    private final long keptBytes;

    private BenchTarget(
            String text,
            String address,
            Optional<ProcessHandle> process,
            @Nullable BenchFeeder feeder,
            long keptBytes) {
        this.keptBytes = keptBytes;
        this.text = text;
        this.address = address;
        this.process = process;
        this.feeder = feeder;
    }

    /**
     * Finds the feed, or starts one.
     *
     * @param text name or address of a feed, or a stream of {@code stoker feed}
     * @param time of the measurement
     */
    static BenchTarget open(String text, int batchSize, Duration time, BenchRun run) throws IOException {
        boolean isDirectory = Files.isDirectory(Path.of(text));
        if (!isDirectory && ADDRESS.matcher(text).matches()) {
            return new BenchTarget(text, text, Optional.empty(), null, 0);
        }
        if (!isDirectory && NAME.matcher(text).matches()) {
            Optional<FeedFile> feed = FeedFile.find(text);
            if (feed.isPresent()) {
                if (feed.get().state() != FeedFile.State.RUNNING) {
                    throw new CommandException("the feed " + text + " is not running; start it with stoker feed");
                }
                Optional<ProcessHandle> process =
                        feed.get().embedded() ? feed.get().process() : Optional.empty();
                return new BenchTarget(text, text, process, null, 0);
            }
        }
        run.doing("starting a feeder");
        long keptBytes = keptBytes(FeedResult.dataset(text), Machine.availableBytes(), sharedBytes());
        BenchFeeder feeder = BenchFeeder.start(text, batchSize, time, run);
        return new BenchTarget(text, feeder.address(), Optional.of(feeder.process()), feeder, keptBytes);
    }

    /**
     * Returns how many bytes of chunks memory can keep between epochs at most. Chunks of a directory are in the page
     * cache. Chunks of another file system are in the tier memory:auto, which a feeder has by default.
     *
     * @param availableBytes of the machine's memory, before the feeder starts
     * @param sharedBytes free in {@code /dev/shm}
     */
    static long keptBytes(String dataset, long availableBytes, long sharedBytes) {
        return Stores.isRemote(dataset) ? Math.min(availableBytes / 2, sharedBytes) : availableBytes;
    }

    private static long sharedBytes() {
        try {
            return Files.getFileStore(Path.of("/dev/shm")).getUsableSpace();
        } catch (IOException e) {
            return 0;
        }
    }

    /**
     * Opens a client in a group that no trainer uses.
     *
     * @param transport as in {@code STOKER_TRANSPORT}
     * @param group of the order of this measurement
     * @param batchBytes expected bytes of a batch
     */
    FeedClient client(String transport, String group, int rank, int world, int batchSize, double batchBytes) {
        Map<String, String> environment = new HashMap<>(System.getenv());
        environment.put("STOKER_TRANSPORT", transport);
        return FeedClient.of(address)
                .environment(environment)
                .group(group)
                .rank(rank, world)
                .batchSize(batchSize)
                .bufferBytes(Math.max(Math.min(USUAL_BUFFER, ALL_BUFFERS / world), (long) (2.5 * batchBytes)))
                .timeouts(t -> t.reconnectTimeout(PATIENCE))
                .open();
    }

    String text() {
        return text;
    }

    /** The feeder's process, if it is one process of this machine. */
    Optional<ProcessHandle> process() {
        return process;
    }

    /** How the feeder started, if the measurement has started it. */
    Optional<FeedResult.Start> start() {
        return Optional.ofNullable(feeder)
                .map(started -> new FeedResult.Start(started.startTime().toMillis() / 1e3, keptBytes));
    }

    @Override
    public void close() throws IOException {
        if (feeder != null) {
            feeder.close();
        }
    }
}
