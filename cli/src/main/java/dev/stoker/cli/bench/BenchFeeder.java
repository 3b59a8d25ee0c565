package dev.stoker.cli.bench;

import dev.stoker.cli.output.CommandException;
import dev.stoker.cli.output.ScratchDirectory;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A feeder for one measurement: {@code stoker feed} as a separate process, so that its processor time is known. Its
 * files, the ledger too, are in a directory that disappears with it. For one thread.
 */
final class BenchFeeder implements AutoCloseable {

    private static final Pattern READY = Pattern.compile("ready at (\\S+):.*");
    private static final int LAST_LINES = 5;

    /** By name: the main class depends on each verb, so no verb can depend on it. */
    private static final String MAIN = "dev.stoker.cli.Stoker";

    /**
     * Starts a command that ignores Ctrl-C and a hang-up, which a terminal sends to all processes: a consumer would
     * otherwise wait for its feeder. {@link #close} ends it.
     */
    static final List<String> DEAF = List.of("/bin/sh", "-c", "trap '' INT HUP; exec \"$@\"", "stoker");

    private final Process process;
    private final Path directory;
    private final String address;
    private final Duration startTime;

    private BenchFeeder(Process process, Path directory, String address, Duration startTime) {
        this.process = process;
        this.directory = directory;
        this.address = address;
        this.startTime = startTime;
    }

    /**
     * Starts a feeder and waits until it serves trainers.
     *
     * @param stream as of {@code stoker feed}
     * @param time of the measurement, in which it can be without a consumer
     */
    static BenchFeeder start(String stream, int batchSize, Duration time, BenchRun run) throws IOException {
        Path directory = Files.createTempDirectory("stoker-bench-");
        long began = System.nanoTime();
        List<String> command = new ArrayList<>(DEAF);
        command.addAll(stoker());
        command.addAll(List.of("feed", stream, "--name", "bench", "--port", "0", "--ui", "off"));
        command.addAll(List.of("--batch-size", Integer.toString(batchSize)));
        command.addAll(List.of("--ledger", directory.resolve("ledger").toString()));
        // It must not outlive a measurement that was killed.
        command.addAll(List.of("--idle-timeout", time.plusSeconds(60).toSeconds() + " s"));
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().put("STOKER_HOME", directory.resolve("home").toString());
        Process process = builder.start();
        run.atStop(process::destroy);
        try {
            String address = awaitReady(process);
            run.atStop(() -> {});
            return new BenchFeeder(process, directory, address, Duration.ofNanos(System.nanoTime() - began));
        } catch (IOException e) {
            process.destroyForcibly().onExit().join();
            ScratchDirectory.remove(directory);
            throw e;
        }
    }

    /** Returns the command by which this process was started. */
    private static List<String> stoker() {
        String distribution = System.getProperty("stoker.dist");
        if (distribution != null && Files.isExecutable(Path.of(distribution, "bin", "stoker"))) {
            return List.of(Path.of(distribution, "bin", "stoker").toString());
        }
        List<String> command = new ArrayList<>(java());
        command.add(MAIN);
        return command;
    }

    /** Returns this process's Java with its class path; a main class follows. */
    static List<String> java() {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
                .filter(argument -> argument.startsWith("--add-opens"))
                .forEach(command::add);
        command.addAll(List.of("-cp", absolute(System.getProperty("java.class.path"))));
        return command;
    }

    private static String absolute(String classPath) {
        return String.join(
                File.pathSeparator,
                Arrays.stream(classPath.split(File.pathSeparator, -1))
                        .map(entry -> new File(entry).getAbsolutePath())
                        .toList());
    }

    private static String awaitReady(Process process) throws IOException {
        BufferedReader lines =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
        List<String> said = new ArrayList<>();
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            Matcher ready = READY.matcher(line);
            if (ready.matches()) {
                discard(lines);
                return ready.group(1);
            }
            said.add(line.replaceFirst("^stoker: ", ""));
        }
        throw new CommandException("the feeder ended before it was ready: "
                + String.join("; ", said.subList(Math.max(0, said.size() - LAST_LINES), said.size())));
    }

    /** Reads the rest of the output, because a full pipe would block the feeder. */
    private static void discard(BufferedReader lines) {
        Thread reader = new Thread(
                () -> {
                    try (lines) {
                        while (lines.readLine() != null) {
                            // Nothing in it is needed.
                        }
                    } catch (IOException e) {
                        // The process has ended.
                    }
                },
                "stoker-bench-feeder");
        reader.setDaemon(true);
        reader.start();
    }

    String address() {
        return address;
    }

    /** The time from the start of the process until it served trainers. */
    Duration startTime() {
        return startTime;
    }

    ProcessHandle process() {
        return process.toHandle();
    }

    @Override
    public void close() throws IOException {
        process.destroy();
        try {
            if (!process.waitFor(20, TimeUnit.SECONDS)) {
                process.destroyForcibly().waitFor();
            }
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
        ScratchDirectory.remove(directory);
    }
}
