package dev.stoker.cli;

import com.fasterxml.jackson.databind.node.ArrayNode;
import dev.stoker.schemas.text.Units;
import dev.stoker.server.tiers.CacheDirectory;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code stoker cache ls|clear DIRECTORY}: lists or removes the files of disk tiers in a directory of this machine. */
@Command(
        name = "cache",
        header = {"Examples:", "  stoker cache ls /nvme/stoker", "  stoker cache clear /nvme/stoker --yes"},
        description = {
            "Lists or removes the chunks that disk tiers (feed --tier disk:DIRECTORY:400g) keep in a directory"
                    + " of this machine.",
            "clear prints what it would remove, and removes it with --yes. It keeps chunks that a running feed"
                    + " uses, and all files that do not belong to a tier."
        })
final class CacheVerb implements Callable<Integer> {

    @Spec
    private CommandSpec spec;

    @Parameters(index = "0", paramLabel = "ls|clear", description = "Action.")
    private String action;

    @Parameters(index = "1", paramLabel = "DIRECTORY", description = "The directory of a tier.")
    private Path directory;

    @Option(names = "--yes", description = "With clear: remove the chunks.")
    private boolean yes;

    @Option(names = "--json", description = "Print JSON.")
    private boolean json;

    @Override
    public Integer call() throws IOException {
        if (!action.equals("ls") && !action.equals("clear")) {
            throw new ParameterException(spec.commandLine(), "cache " + action + ": expected ls or clear");
        }
        if (!Files.isDirectory(directory)) {
            throw new CommandException("there is no directory " + directory);
        }
        CacheDirectory cache = new CacheDirectory(directory);
        List<CacheDirectory.Space> spaces = cache.spaces();
        PrintWriter out = spec.commandLine().getOut();
        ArrayNode array = Json.array();
        Table table = new Table("SPACE", "CHUNKS", "BYTES", "CLAIMED", "");
        long bytes = 0;
        for (CacheDirectory.Space space : spaces) {
            boolean goes = action.equals("clear") && !space.used();
            boolean removed = goes && yes && cache.clear(space);
            bytes += goes && (removed || !yes) ? space.bytes() : 0;
            Duration age = Duration.between(space.claimed(), Instant.now());
            table.add(
                    space.name(),
                    Units.count(space.chunks()),
                    Units.bytes(space.bytes()),
                    Units.time(age.isNegative() ? Duration.ZERO : age) + " ago",
                    space.used() ? "in use" : removed ? "removed" : "");
            array.addObject()
                    .put("space", space.name())
                    .put("chunks", space.chunks())
                    .put("bytes", space.bytes())
                    .put("in_use", space.used())
                    .put("claimed_ms", space.claimed().toEpochMilli())
                    .put("removed", removed);
        }
        if (json) {
            out.println(array);
            return 0;
        }
        if (spaces.isEmpty()) {
            out.println("no tier has files in " + directory);
            return 0;
        }
        table.print(out);
        if (action.equals("clear")) {
            out.println(
                    yes
                            ? "removed " + Units.bytes(bytes)
                            : "would remove " + Units.bytes(bytes) + (bytes > 0 ? "; run with --yes to remove" : ""));
        }
        return 0;
    }
}
