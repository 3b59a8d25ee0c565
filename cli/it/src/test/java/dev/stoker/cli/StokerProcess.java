package dev.stoker.cli;

import dev.stoker.flink.embedded.ListeningSockets;
import java.io.File;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/** The command as a separate process, from the jars of the distribution. Every wait is limited to two minutes. */
public final class StokerProcess implements AutoCloseable {

    private static final long LIMIT_SECONDS = 120;
    /**
     * For processes of a few seconds: starting takes half the processor time without the full compiler. The heap is
     * limited because a feeder does not start if its heap could take all free memory.
     */
    static final List<String> QUICK = List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx2g");

    private static final Path DISTRIBUTION =
            Path.of("..", "target", "dist").toAbsolutePath().normalize();
    /** The launcher's archive of loaded classes, which the build makes before these tests. */
    private static final Path ARCHIVE = DISTRIBUTION.resolve("classes-" + System.getProperty("java.version") + ".jsa");

    private static final List<String> OPENED =
            List.of("lang", "net", "io", "nio", "lang.reflect", "text", "time", "util", "util.concurrent");

    private final Process process;
    private final Path output;

    private StokerProcess(Process process, Path output) {
        this.process = process;
        this.output = output;
    }

    public static StokerProcess start(Path directory, String... args) throws IOException {
        return start(directory, directory, Map.of(), args);
    }

    /** Starts the command with additional environment variables. */
    public static StokerProcess start(Path directory, Map<String, String> variables, String... args)
            throws IOException {
        return start(directory, directory, variables, args);
    }

    /** Starts the command with a umask that gives others all rights, and with additional environment variables. */
    public static StokerProcess startCareless(
            Path directory, Path temporary, Map<String, String> variables, String... args) throws IOException {
        return start(directory, temporary, variables, args, "sh", "-c", "umask 000; exec \"$@\"", "sh");
    }

    private static StokerProcess start(
            Path directory, Path temporary, Map<String, String> variables, String[] args, String... before)
            throws IOException {
        List<String> command = new ArrayList<>(List.of(before));
        // A shell without job control starts background commands deaf to Ctrl-C, and so would be all below them.
        command.addAll(List.of("env", "--default-signal=INT"));
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(QUICK);
        command.add("--add-opens=java.base/sun.nio.ch=ALL-UNNAMED");
        OPENED.forEach(name -> command.add("--add-opens=java.base/java." + name + "=ALL-UNNAMED"));
        command.add("-Djava.io.tmpdir=" + temporary);
        if (Files.exists(ARCHIVE)) {
            // As the launcher does; it saves a third of the processor time of a start.
            command.addAll(List.of("-XX:SharedArchiveFile=" + ARCHIVE, "-Xlog:disable"));
        }
        command.add("-Dstoker.dist=" + DISTRIBUTION);
        // The class path of the launcher; the archive is of no use with another one.
        Path lib = DISTRIBUTION.resolve("lib");
        command.addAll(List.of("-cp", lib + "/*" + File.pathSeparator + lib.resolve("rpc") + "/*"));
        command.add("dev.stoker.cli.Stoker");
        command.addAll(Arrays.asList(args));
        Path output = Files.createTempFile(directory, "stoker", ".log");
        ProcessBuilder builder =
                new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile());
        // For the SQL client, which the command starts.
        builder.environment().put("STOKER_JAVA_OPTS", String.join(" ", QUICK));
        builder.environment().putAll(variables);
        return new StokerProcess(builder.start(), output);
    }

    public String output() throws IOException {
        return Files.readString(output);
    }

    /** Waits until the output contains a text. */
    public StokerProcess await(String text) throws IOException, InterruptedException {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(LIMIT_SECONDS);
        while (!output().contains(text)) {
            boolean ended = process.waitFor(50, TimeUnit.MILLISECONDS);
            if ((ended && !output().contains(text)) || System.nanoTime() > end) {
                throw new AssertionError("no '" + text + "' in: " + output());
            }
        }
        return this;
    }

    public boolean isAlive() {
        return process.isAlive();
    }

    /** The processes that it has started. */
    List<ProcessHandle> children() {
        return process.children().toList();
    }

    /** The sockets on which it listens just now; none after its end. */
    Set<ListeningSockets.Socket> sockets() throws IOException, InterruptedException {
        try {
            return ListeningSockets.of(process.pid());
        } catch (IOException e) {
            // The files of a process disappear shortly before its end.
            if (!process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)) {
                throw e;
            }
            return Set.of();
        }
    }

    /** Names of its threads, cut off by the kernel after 15 characters. */
    public Set<String> threads() {
        Set<String> names = new HashSet<>();
        try (DirectoryStream<Path> tasks = Files.newDirectoryStream(Path.of("/proc/" + process.pid() + "/task"))) {
            for (Path task : tasks) {
                names.add(Files.readString(task.resolve("comm")).strip());
            }
        } catch (IOException e) {
            // A thread or the process ended meanwhile.
        }
        return names;
    }

    /** Waits until a thread's name begins so. */
    StokerProcess awaitThread(String name) throws IOException, InterruptedException {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(LIMIT_SECONDS);
        while (threads().stream().noneMatch(thread -> thread.startsWith(name))) {
            if (process.waitFor(20, TimeUnit.MILLISECONDS) || System.nanoTime() > end) {
                throw new AssertionError("no thread '" + name + "': " + output());
            }
        }
        return this;
    }

    public void signal(String name) throws IOException, InterruptedException {
        new ProcessBuilder("kill", "-" + name, Long.toString(process.pid()))
                .start()
                .waitFor();
    }

    /** Waits for the end and returns the exit code. */
    public int code() throws IOException, InterruptedException {
        if (!process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)) {
            throw new AssertionError("still running: " + output());
        }
        return process.exitValue();
    }

    @Override
    public void close() {
        process.destroyForcibly().onExit().join();
    }
}
