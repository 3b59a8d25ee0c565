package dev.stoker.cli;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stoker.feeder.registry.StokerHome;
import dev.stoker.flink.failure.Outages;
import dev.stoker.storage.PrivateFiles;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Properties;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.core.LoggerContext;

/**
 * Answers the commands of tests, one after another, from one JVM. Each line of standard input is a request
 * {@code {"args": […]}}. Each line of standard output that begins with {@code {"code":} is an answer: exit code, output
 * and error output in Base64, and {@code retire}, the reason why this process must not answer again, or null. The
 * process ends with its standard input.
 *
 * <p>A command finds what it would find in a new process: the system properties, an empty temporary directory, its own
 * log file and no standard input. Its environment, working directory and JVM options are those of this process.
 */
final class CommandServer {

    /** Small leaks that {@link Footprint} accepts must not add up. */
    private static final int MOST_REQUESTS = 100;

    private static final ObjectMapper JSON = new ObjectMapper();

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();
    private final Path home;
    private final Path temporary;
    private final Command command;
    private final int most;
    private final Footprint first;
    private int requests;

    /** What a request runs. */
    interface Command {
        int run(List<String> args, Path home, Path temporary, PrintStream out, PrintStream err);
    }

    /**
     * Prepares this process. Its temporary directory is the one that all commands use.
     *
     * @param most the number of requests to answer
     */
    CommandServer(Path home, Path temporary, Command command, int most) {
        this.home = home;
        this.temporary = temporary;
        this.command = command;
        this.most = most;
        System.setIn(InputStream.nullInputStream());
        System.setOut(new PrintStream(out, true, Charset.defaultCharset()));
        System.setErr(new PrintStream(err, true, Charset.defaultCharset()));
        this.first = Footprint.now();
    }

    /** @param args the most requests to answer, if they are not as many as usual; the launcher adds others */
    public static void main(String[] args) throws IOException {
        InputStream requests = System.in;
        PrintStream answers = System.out;
        Path home = StokerHome.directory();
        ScratchDirectory.use(home, Path.of(System.getProperty("java.io.tmpdir")));
        Path temporary = Path.of(System.getProperty("java.io.tmpdir"));
        int most = Integer.getInteger("stoker.test.requests", MOST_REQUESTS);
        CommandServer server = new CommandServer(home, temporary, Stoker::run, most);
        answers.println("ready");
        // The end of the input must end the process, even if a command runs meanwhile.
        Thread worker = null;
        BufferedReader lines = new BufferedReader(new InputStreamReader(requests, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            JsonNode request = JSON.readTree(line);
            List<String> words = new ArrayList<>();
            request.get("args").forEach(word -> words.add(word.asText()));
            worker = new Thread(() -> answers.println(server.answer(words)), "stoker-request");
            worker.start();
        }
        System.exit(0);
    }

    /** Runs a command and returns the answer. */
    synchronized ObjectNode answer(List<String> args) {
        requests++;
        out.reset();
        err.reset();
        Properties properties = (Properties) System.getProperties().clone();
        Thread.UncaughtExceptionHandler handler = Thread.getDefaultUncaughtExceptionHandler();
        Run run = new Run(args);
        Thread thread = new Thread(run, "main");
        thread.start();
        try {
            thread.join();
        } catch (InterruptedException e) {
            throw new IllegalStateException("interrupted by a command", e);
        }
        System.setProperties(properties);
        Thread.setDefaultUncaughtExceptionHandler(handler);
        Optional<String> retire = run.retire().or(this::clear).or(() -> first.growth());
        if (requests >= most) {
            retire = Optional.of(requests + " requests");
        }
        ObjectNode answer = JSON.createObjectNode();
        answer.put("code", run.code);
        answer.put("out", out.toByteArray());
        answer.put("err", err.toByteArray());
        answer.put("retire", retire.orElse(null));
        return answer;
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
        private boolean failed;

        Run(List<String> args) {
            this.args = args;
        }

        @Override
        public void run() {
            try {
                // The entry chooses the same file again; a new process would configure its log after that.
                Logs.start(home, args.isEmpty() ? "help" : args.get(0));
                ((LoggerContext) LogManager.getContext(false)).reconfigure();
                code = command.run(args, home, temporary, System.out, System.err);
            } catch (Throwable e) {
                failed = true;
                System.err.print("Exception in thread \"main\" ");
                e.printStackTrace();
            }
        }

        /** Returns the reason why another command must not run after this one, if there is one. */
        Optional<String> retire() {
            if (failed) {
                return Optional.of("uncaught exception");
            }
            if (err.toString(Charset.defaultCharset()).contains("out of memory")) {
                return Optional.of("out of memory");
            }
            List<String> waits = Outages.all();
            return waits.isEmpty() ? Optional.empty() : Optional.of("still waiting: " + waits);
        }
    }
}
