package dev.stoker.cli.sql;

import dev.stoker.cli.output.CommandException;
import dev.stoker.cli.output.Terminal;
import dev.stoker.metadata.DatasetLayout;
import dev.stoker.schemas.text.ShellText;
import dev.stoker.storage.Stores;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code stoker sql}: Flink's SQL client with a catalog of datasets. */
@Command(
        name = "sql",
        header = {
            "Examples:",
            "  stoker sql ./data",
            "  stoker sql ./data -e \"SELECT label, COUNT(*) FROM photos GROUP BY label\"",
            "  stoker sql ./data -f report.sql"
        },
        description = {
            "Starts Flink's SQL client with datasets as tables. Each dataset in the directory is a table.",
            "Without -e and -f, it reads statements from the terminal, or from a pipe. Statements run in this process"
                    + " unless FLINK_CONF_DIR names the configuration of a cluster. The exit code is 1 if a statement"
                    + " fails; the statements after it are not run."
        },
        sortOptions = false)
public final class SqlVerb implements Callable<Integer> {
    @Spec
    private CommandSpec spec;

    @Parameters(
            arity = "0..1",
            paramLabel = "DIRECTORY",
            description = "Directory or URI that contains datasets. Default: the current directory.")
    private String directory = ".";

    @ArgGroup
    private @Nullable Source source;

    @Option(
            names = {"-D", "--set"},
            paramLabel = "KEY=VALUE",
            description = "Set an option of Flink. Can be repeated.")
    private List<String> settings = List.of();

    /** Where the statements come from. */
    private static final class Source {
        @Option(
                names = {"-e", "--execute"},
                paramLabel = "STATEMENTS",
                description = "Run these statements, separated by semicolons, and exit.")
        private @Nullable String statements;

        @Option(
                names = {"-f", "--file"},
                paramLabel = "FILE",
                description = "Run the statements of this file, and exit.")
        private @Nullable Path file;
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        String location = Stores.normalize(directory);
        if (!Stores.isRemote(location)) {
            requireDatasets(Stores.local(location));
        }
        for (String setting : settings) {
            if (setting.indexOf('=') < 1) {
                throw new IllegalArgumentException("-D " + setting + " is not KEY=VALUE");
            }
        }
        String script = script();
        try (SqlClientProcess client = SqlClientProcess.prepare(location, settings)) {
            return script == null
                    ? client.interactive()
                    : client.run(
                            SqlScript.statements(script), spec.commandLine().getOut());
        }
    }

    private static void requireDatasets(Path directory) throws CommandException {
        if (!Files.isDirectory(directory)) {
            throw new CommandException(directory + " is not a directory");
        }
        if (Files.exists(directory.resolve(DatasetLayout.DATASET_JSON))) {
            throw new CommandException(directory + " is a dataset; give the directory that contains it: stoker sql "
                    + ShellText.word(String.valueOf(directory.toAbsolutePath().getParent())));
        }
    }

    /** Returns the statements, or null if a user types them. */
    private @Nullable String script() throws IOException {
        if (source != null && source.statements != null) {
            return source.statements;
        }
        if (source != null && source.file != null) {
            return Files.readString(source.file);
        }
        return Terminal.isThere() ? null : new String(System.in.readAllBytes(), StandardCharsets.UTF_8);
    }
}
