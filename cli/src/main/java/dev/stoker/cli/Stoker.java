package dev.stoker.cli;

import dev.stoker.cli.help.HelpLayout;
import dev.stoker.cli.help.VerbHeadings;
import dev.stoker.cli.output.CommandException;
import dev.stoker.cli.output.Errors;
import dev.stoker.cli.output.Logs;
import dev.stoker.cli.output.SafeOutput;
import dev.stoker.cli.output.ScratchDirectory;
import dev.stoker.cli.output.StandardOutput;
import dev.stoker.feeder.registry.StokerHome;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.slf4j.LoggerFactory;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/**
 * The command {@code stoker}. Exit codes: 0 success, 1 failure, 2 wrong usage; {@code stoker run} returns the trainer's
 * exit code.
 */
@Command(
        name = "stoker",
        header = {
            "Examples:",
            "  stoker ingest ./photos ./data/photos --label-from parent-dir",
            "  stoker run ./data/photos -- python train.py"
        },
        description = "Feeds training data to GPUs: packs samples into chunks and serves them in a reproducible order.",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class,
        synopsisSubcommandLabel = "VERB",
        // Each group of verbs has a heading.
        commandListHeading = "",
        footer = {
            "",
            "stoker VERB --help describes a verb. source <(stoker completion bash) completes",
            "verbs and options. STOKER_HOME sets the directory for feed files and logs."
        })
public final class Stoker implements Runnable, VerbHeadings {

    private static final List<String> HELP = List.of("--help", "-h");

    @Spec
    private CommandSpec spec;

    private Stoker() {}

    public static void main(String[] args) {
        int code = run(
                List.of(args),
                StokerHome.directory(),
                Path.of(System.getProperty("java.io.tmpdir")),
                // Not System.out, which hides failures.
                new FileOutputStream(FileDescriptor.out),
                System.err);
        // Flink leaves non-daemon threads behind.
        System.exit(code);
    }

    /**
     * Runs one command as a process does, with its log and its temporary files.
     *
     * @param args the verb and its arguments
     * @param home the user's Stoker directory
     * @param temporary where the process keeps temporary files
     * @param out receives results
     * @param err receives progress and errors
     * @return the exit code
     */
    public static int run(List<String> args, Path home, Path temporary, OutputStream out, PrintStream err) {
        Logs.start(home, args.isEmpty() ? "help" : args.get(0));
        if (!args.isEmpty() && Verbs.needsScratch(args.get(0))) {
            try {
                ScratchDirectory.use(home, temporary);
            } catch (CommandException e) {
                err.println("stoker: " + e.getMessage());
                return e.code();
            }
        }
        StandardOutput output = new StandardOutput(out);
        PrintWriter results = new PrintWriter(output, true, StandardCharsets.UTF_8);
        PrintWriter messages = new PrintWriter(err, true, StandardCharsets.UTF_8);
        int code = run(args, results, messages);
        results.flush();
        return output.end(code, messages);
    }

    /**
     * Runs one command.
     *
     * @param args the verb and its arguments
     * @param out receives results
     * @param err receives progress and errors
     * @return the exit code
     */
    public static int run(List<String> args, PrintWriter out, PrintWriter err) {
        if (!args.isEmpty() && args.get(0).equals("help")) {
            // As in git and docker: stoker help ingest is stoker ingest --help.
            return run(asked(args.subList(1, args.size())), out, err);
        }
        PrintWriter messages = SafeOutput.of(err);
        CommandLine command = new CommandLine(new Stoker());
        int end = args.indexOf("--");
        List<String> own = end < 0 ? args : args.subList(0, end);
        List<String> job = List.of();
        if (!own.isEmpty() && Verbs.OF_JOBS.contains(own.get(0)) && Collections.disjoint(own, HELP)) {
            job = own.subList(1, own.size());
            own = own.subList(0, 1);
        }
        Verbs.addTo(
                command,
                own.isEmpty() ? "" : own.get(0),
                job,
                end < 0 ? List.of() : args.subList(end + 1, args.size()));
        if (end >= 0 && !(own.size() > 0 && own.get(0).equals("run"))) {
            messages.println("stoker: only stoker run takes a command after --");
            return Errors.USAGE;
        }
        // Help has colours, and no data.
        boolean isHelp = own.isEmpty() || !Collections.disjoint(own, HELP);
        command.setOut(isHelp ? out : SafeOutput.of(out));
        command.setErr(messages);
        command.setCaseInsensitiveEnumValuesAllowed(true);
        command.setParameterExceptionHandler(Errors::wrongUsage);
        command.setExecutionExceptionHandler(Errors::failed);
        HelpLayout.apply(command);
        try {
            return command.execute(own.toArray(new String[0]));
        } catch (UnsatisfiedLinkError | NoClassDefFoundError | ExceptionInInitializerError e) {
            LoggerFactory.getLogger(Stoker.class).error("{} failed", args, e);
            messages.println("stoker: " + Errors.message(e));
            return Errors.FAILED;
        } catch (OutOfMemoryError e) {
            messages.println("stoker: Java is out of memory (" + e.getMessage()
                    + "); give it more, for example with STOKER_JAVA_OPTS=-Xmx8g");
            return Errors.FAILED;
        }
    }

    /** Returns the command with all verbs, as help and completion describe it. */
    public static CommandLine command() {
        CommandLine command = new CommandLine(new Stoker());
        Verbs.addTo(command, List.of(), List.of());
        return command;
    }

    /** Translates {@code stoker help WORD}. A word that is not a verb is refused like any other. */
    private static List<String> asked(List<String> words) {
        if (words.isEmpty()) {
            return List.of(HELP.get(0));
        }
        String word = words.get(0);
        return command().getSubcommands().containsKey(word) ? List.of(word, HELP.get(0)) : List.of(word);
    }

    @Override
    public Map<String, List<String>> namesByHeading() {
        return Verbs.namesByHeading();
    }

    @Override
    public void run() {
        spec.commandLine().usage(spec.commandLine().getOut());
    }
}
