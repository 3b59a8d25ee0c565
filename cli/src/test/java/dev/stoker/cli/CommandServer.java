package dev.stoker.cli;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stoker.cli.output.Logs;
import dev.stoker.cli.output.ScratchDirectory;
import dev.stoker.feeder.registry.StokerHome;
import dev.stoker.flink.failure.Outages;
import dev.stoker.storage.PrivateFiles;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.Field;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.core.LoggerContext;

/**
 * Answers the commands of tests, one after another, from one JVM. Each line of standard input is a request, a JSON
 * object with {@code args}. Each is answered by a line of standard output, a JSON object that begins with {@code code},
 * the exit code. {@code out} and {@code err} are what the command printed, in Base64. {@code retire} is the reason why
 * this process must not answer again, or null. The process ends with its standard input.
 *
 * <p>A command finds what it would find in a new process: the system properties, an empty temporary directory, its own
 * log file and no standard input. Its environment, working directory and JVM options are those of this process.
 */
final class CommandServer {

    /** Small leaks that {@link Footprint} accepts must not add up. */
    private static final int MOST_REQUESTS = 100;

    /** How long the threads of a closed Flink cluster may take to end; half a second if nothing else runs. */
    private static final Duration END = Duration.ofSeconds(10);

    private static final ObjectMapper JSON = new ObjectMapper();

    private final ByteArrayOutputStream outBytes = new ByteArrayOutputStream();
    private final ByteArrayOutputStream errBytes = new ByteArrayOutputStream();
    private final PrintStream out = new PrintStream(outBytes, true, Charset.defaultCharset());
    private final PrintStream err = new PrintStream(errBytes, true, Charset.defaultCharset());
    private final Path home;
    private final Path temporary;
    private final Command command;
    private final int most;
    private final Footprint first = Footprint.now();
    private final int firstRemoteStores = remoteStores();
    /** Guarded by this. */
    private int requests;

    /** The entry of the command. */
    interface Command {
        int run(List<String> args, Path home, Path temporary, PrintStream out, PrintStream err) throws Exception;
    }

    /**
     * @param home the user's Stoker directory
     * @param temporary the temporary directory of this process
     * @param command what the requests run
     * @param most how many requests to answer
     */
    CommandServer(Path home, Path temporary, Command command, int most) {
        this.home = home;
        this.temporary = temporary;
        this.command = command;
        this.most = most;
    }

    /** @param args ignored: what the launcher adds */
    public static void main(String[] args) throws IOException {
        InputStream requests = System.in;
        PrintStream answers = System.out;
        Path home = StokerHome.directory();
        ScratchDirectory.use(home, Path.of(System.getProperty("java.io.tmpdir")));
        CommandServer server = new CommandServer(
                home,
                Path.of(System.getProperty("java.io.tmpdir")),
                Stoker::run,
                Integer.getInteger("stoker.test.requests", MOST_REQUESTS));
        System.setIn(InputStream.nullInputStream());
        System.setOut(server.out);
        System.setErr(server.err);
        answers.println("ready");
        // A thread for each request, so that the end of the input ends the process even while a command runs.
        BufferedReader lines = new BufferedReader(new InputStreamReader(requests, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            List<String> words = new ArrayList<>();
            JSON.readTree(line).get("args").forEach(word -> words.add(word.asText()));
            new Thread(() -> answers.println(server.answer(words)), "stoker-request").start();
        }
        System.exit(0);
    }

    /** Runs a command and returns the answer. */
    synchronized ObjectNode answer(List<String> args) {
        requests++;
        outBytes.reset();
        errBytes.reset();
        Properties properties = (Properties) System.getProperties().clone();
        Thread.UncaughtExceptionHandler handler = Thread.getDefaultUncaughtExceptionHandler();
        Run run = new Run(args);
        Thread thread = new Thread(run, "main");
        thread.start();
        ObjectNode answer = JSON.createObjectNode();
        try {
            thread.join();
            System.setProperties(properties);
            Thread.setDefaultUncaughtExceptionHandler(handler);
            Optional<String> retire =
                    run.reason().or(this::growth).or(this::clear).or(this::used);
            answer.put("code", run.code);
            answer.put("out", outBytes.toByteArray());
            answer.put("err", errBytes.toByteArray());
            return answer.put("retire", retire.orElse(null));
        } catch (InterruptedException e) {
            throw new IllegalStateException("a command interrupted the thread that waited for it", e);
        }
    }

    private Optional<String> used() {
        return requests >= most ? Optional.of(requests + " requests") : Optional.empty();
    }

    private Optional<String> growth() {
        try {
            return first.growth(END);
        } catch (InterruptedException e) {
            throw new IllegalStateException("a command interrupted the thread that waited for it", e);
        }
    }

    /** Removes the command's temporary files, as the end of its process would. */
    private Optional<String> clear() {
        try (DirectoryStream<Path> files = Files.newDirectoryStream(temporary)) {
            for (Path file : files) {
                if (!file.getFileName().toString().equals(ScratchDirectory.LOCK)) {
                    PrivateFiles.delete(file);
                }
            }
            return Optional.empty();
        } catch (IOException e) {
            return Optional.of("temporary files are left: " + e);
        }
    }

    /** One command on its own thread, so that an interrupt or a thread's variable does not outlive it. */
    private final class Run implements Runnable {
        private final List<String> args;
        private int code = 1;
        private boolean isBroken;

        Run(List<String> args) {
            this.args = args;
        }

        @Override
        public void run() {
            try {
                // The entry names the same file again. A new process would read its configuration after that.
                Logs.start(home, args.isEmpty() ? "help" : args.get(0));
                ((LoggerContext) LogManager.getContext(false)).reconfigure();
                code = command.run(args, home, temporary, out, err);
            } catch (Throwable e) {
                // As the JVM prints what leaves main.
                isBroken = true;
                err.print("Exception in thread \"main\" ");
                e.printStackTrace(err);
            }
        }

        /** Returns the reason why no command must run after this one, if there is one. */
        Optional<String> reason() {
            if (isBroken) {
                return Optional.of("an uncaught exception");
            }
            if (errBytes.toString(Charset.defaultCharset()).contains("out of memory")) {
                return Optional.of("out of memory");
            }
            if (!Outages.all().isEmpty()) {
                return Optional.of("still waiting: " + Outages.all());
            }
            return remoteStores() > firstRemoteStores
                    ? Optional.of("remote stores keep logins, connections and threads")
                    : Optional.empty();
        }
    }

    /** Returns how many clients of remote stores are loaded. They live as long as their process. */
    private static int remoteStores() {
        try {
            Field loaders = Class.forName("dev.stoker.storage.RemoteStores").getDeclaredField("LOADERS");
            loaders.setAccessible(true);
            return ((Map<?, ?>) loaders.get(null)).size();
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("cannot look for remote stores", e);
        }
    }
}
