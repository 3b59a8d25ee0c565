package dev.stoker.cli.feed;

import dev.stoker.cli.options.OwnFlags;
import dev.stoker.cli.output.CommandException;
import dev.stoker.cli.output.Signals;
import dev.stoker.cli.output.Terminal;
import dev.stoker.feeder.plan.FeedOptions;
import dev.stoker.feeder.plan.FeedPlan;
import dev.stoker.schemas.text.Units;
import dev.stoker.server.feed.FeedStatus;
import java.io.File;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code stoker run STREAM … -- COMMAND …}: serves a feed while a trainer runs. */
@Command(
        name = "run",
        header = {
            "Examples:",
            "  stoker run ./data/photos --batch-size 64 -- python train.py",
            "  stoker run train=./data/photos val=./data/photos:val -- python train.py"
        },
        description = {
            "Runs a command that trains from a feed. Starts the feed, and ends it with the command.",
            "Put the command after --, as in: stoker run ./data/photos -- python train.py",
            "The command finds the feed through STOKER_FEED. stoker run returns the command's exit code."
        },
        customSynopsis = "stoker run STREAM… [OPTION]… -- COMMAND…",
        sortOptions = false)
public final class RunVerb implements Callable<Integer> {

    private static final int NOT_FOUND = 127;

    private final List<String> arguments;
    private final List<String> command;
    private final AtomicReference<Process> trainer = new AtomicReference<>();

    @Spec
    private CommandSpec spec;

    /** Only for help: the job parses its own arguments. */
    @Option(
            names = OwnFlags.JSON,
            description = "Print the feed's result as JSON, on one line after the command's output.")
    private boolean json;

    /**
     * @param arguments of the job
     * @param command the words after the first {@code --}
     */
    public RunVerb(List<String> arguments, List<String> command) {
        this.arguments = OwnFlags.without(arguments, OwnFlags.JSON);
        this.json = arguments.contains(OwnFlags.JSON);
        this.command = List.copyOf(command);
    }

    @Override
    public Integer call() throws Exception {
        if (command.isEmpty()) {
            throw new ParameterException(
                    spec.commandLine(),
                    "no command to run: put it after --, as in: stoker run DATASET -- python train.py");
        }
        if (!isThere(command.get(0))) {
            throw new CommandException("command not found: " + command.get(0), NOT_FOUND, null);
        }
        PrintWriter err = spec.commandLine().getErr();
        List<String> args = new ArrayList<>(arguments);
        if (args.stream().noneMatch(arg -> arg.equals("--port") || arg.startsWith("--port="))) {
            // The trainer gets the address, so each run can use any free port.
            args.add("--port=0");
        }
        if (args.stream().noneMatch(arg -> arg.equals("--idle-timeout") || arg.startsWith("--idle-timeout="))) {
            // The feed lives as long as its trainer, even if the trainer connects late.
            args.add("--idle-timeout=0 s");
        }
        FeedPlan resolved = FeedPlan.of(FeedOptions.parse(args.toArray(new String[0])));
        err.println("stoker: starting the feed …");
        long began = System.nanoTime();
        Thread worker = Thread.currentThread();
        int code;
        try (Signals signals = new Signals();
                EmbeddedFeed feed = EmbeddedFeed.start(resolved)) {
            signals.on(name -> {
                Process process = trainer.get();
                if (process == null) {
                    worker.interrupt();
                } else {
                    pass(name, process);
                }
            });
            feed.warn(err);
            String addresses = feed.awaitReady(Duration.ofSeconds(60));
            err.println("stoker: feed " + feed.plan().name() + " is ready at " + addresses + " after "
                    + Units.seconds(Duration.ofNanos(System.nanoTime() - began)));
            feed.status().ifPresent(status -> FeedText.tiers(status).forEach(line -> err.println("stoker: " + line)));
            feed.statusUrl().ifPresent(url -> err.println("stoker: watch it at " + url));
            int train = train(feed);
            code = train;
            Optional<FeedStatus> status = feed.status();
            Duration time = Duration.ofNanos(System.nanoTime() - began);
            feed.end();
            if (json) {
                PrintWriter out = spec.commandLine().getOut();
                status.ifPresent(s -> out.println(
                        FeedText.json(s, time).put("exit_code", train).toString()));
            } else {
                status.ifPresent(s -> FeedText.print(s, time, err));
            }
        } catch (InterruptedException e) {
            err.println("stoker: interrupted");
            return Signals.INTERRUPTED;
        }
        return code;
    }

    /** Searches a program as a shell would, before a feed is started. */
    private static boolean isThere(String program) {
        if (program.indexOf('/') >= 0) {
            return Files.isExecutable(Path.of(program));
        }
        String path = System.getenv("PATH");
        return path == null
                || Arrays.stream(path.split(File.pathSeparator))
                        .anyMatch(directory ->
                                Files.isExecutable(Path.of(directory.isEmpty() ? "." : directory, program)));
    }

    private int train(EmbeddedFeed feed) throws Exception {
        ProcessBuilder builder = new ProcessBuilder(command).inheritIO();
        builder.environment().put("STOKER_FEED", feed.plan().name());
        builder.environment().put("STOKER_RUN", Long.toString(System.currentTimeMillis()));
        Process process;
        try {
            process = builder.start();
        } catch (IOException e) {
            throw new CommandException("cannot run " + command.get(0) + ": " + e.getMessage(), NOT_FOUND - 1, e);
        }
        trainer.set(process);
        try {
            while (!process.waitFor(500, TimeUnit.MILLISECONDS)) {
                // The feed may end before the trainer; only its failure matters.
                feed.ended(Duration.ZERO);
            }
            return process.exitValue();
        } finally {
            end(process);
        }
    }

    /** Ends the trainer when its feed has failed. */
    private static void end(Process process) throws InterruptedException {
        process.destroy();
        if (!process.waitFor(10, TimeUnit.SECONDS)) {
            process.destroyForcibly();
        }
    }

    private static void pass(String signal, Process process) {
        if (signal.equals("INT") && Terminal.isThere()) {
            // The terminal has sent the signal to the trainer as well.
            return;
        }
        try {
            new ProcessBuilder("kill", "-" + signal, Long.toString(process.pid())).start();
        } catch (IOException e) {
            process.destroy();
        }
    }
}
