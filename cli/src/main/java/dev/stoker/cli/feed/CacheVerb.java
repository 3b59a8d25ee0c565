package dev.stoker.cli.feed;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stoker.cli.output.Columns;
import dev.stoker.cli.output.CommandException;
import dev.stoker.schemas.dataset.Erasure;
import dev.stoker.schemas.json.Json;
import dev.stoker.schemas.text.Units;
import dev.stoker.server.tiers.files.CacheDirectory;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code stoker cache ls|clear|purge DIRECTORY}: lists or removes files of disk tiers in a directory. */
@Command(
        name = "cache",
        header = {
            "Examples:",
            "  stoker cache ls /nvme/stoker",
            "  stoker cache clear /nvme/stoker --yes",
            "  stoker cache purge /nvme/stoker --erased cat-17.json --yes"
        },
        description = {
            "Lists or removes the chunks that disk tiers keep. A feed has one on this machine with --tier"
                    + " disk:DIRECTORY:400g.",
            "clear lists the chunks, and removes them with --yes. It keeps chunks that a running feed"
                    + " uses, and all files that do not belong to a tier.",
            "purge removes the chunks that an erasure has deleted (stoker delete --erase), also while feeds run."
        })
public final class CacheVerb implements Callable<Integer> {

    private static final Columns<Listed> COLUMNS = new Columns<Listed>()
            .text("SPACE", "space", listed -> listed.space().name())
            .count("CHUNKS", "chunks", listed -> listed.space().chunks())
            .bytes("BYTES", "bytes", listed -> listed.space().bytes())
            .cell("CLAIMED", listed -> age(listed.space()) + " ago")
            .cell("", listed -> listed.space().used() ? "in use" : listed.removed() ? "removed" : "")
            .key("in_use", listed -> listed.space().used())
            .key("claimed_ms", listed -> listed.space().claimed().toEpochMilli())
            .key("removed", Listed::removed);

    /** A space, which {@code clear} may have removed. */
    private record Listed(CacheDirectory.Space space, boolean removed) {}

    @Spec
    private CommandSpec spec;

    @Parameters(index = "0", paramLabel = "ls|clear|purge", description = "Action.")
    private String action;

    @Parameters(index = "1", paramLabel = "DIRECTORY", description = "The directory of a tier.")
    private Path directory;

    @Option(names = "--erased", paramLabel = "FILE", description = "With purge: the certificate of the erasure.")
    private @Nullable Path erased;

    @Option(names = "--yes", description = "With clear and purge: remove the chunks.")
    private boolean yes;

    @Option(names = "--json", description = "Print JSON.")
    private boolean json;

    @Override
    public Integer call() throws IOException {
        if (!action.equals("ls") && !action.equals("clear") && !action.equals("purge")) {
            throw new ParameterException(spec.commandLine(), "cache " + action + ": expected ls, clear or purge");
        }
        if ((erased != null) != action.equals("purge")) {
            throw new ParameterException(spec.commandLine(), "cache purge needs --erased, and only purge takes it");
        }
        if (!Files.isDirectory(directory)) {
            throw new CommandException("there is no directory " + directory);
        }
        CacheDirectory cache = new CacheDirectory(directory);
        if (erased != null) {
            return purge(cache, erased);
        }
        List<CacheDirectory.Space> spaces = cache.spaces();
        PrintWriter out = spec.commandLine().getOut();
        List<Listed> listed = new ArrayList<>();
        long bytes = 0;
        for (CacheDirectory.Space space : spaces) {
            boolean goes = action.equals("clear") && !space.used();
            boolean removed = goes && yes && cache.clear(space);
            bytes += goes && (removed || !yes) ? space.bytes() : 0;
            listed.add(new Listed(space, removed));
        }
        if (json) {
            out.println(COLUMNS.add(Json.array(), listed));
            return 0;
        }
        if (spaces.isEmpty()) {
            out.println("no tier has files in " + directory);
            return 0;
        }
        COLUMNS.print(listed, out);
        if (action.equals("clear")) {
            out.println(
                    yes
                            ? "removed " + Units.bytes(bytes)
                            : "would remove " + Units.bytes(bytes) + (bytes > 0 ? "; run with --yes to remove" : ""));
        }
        return 0;
    }

    private static String age(CacheDirectory.Space space) {
        Duration age = Duration.between(space.claimed(), Instant.now());
        return Units.time(age.isNegative() ? Duration.ZERO : age);
    }

    private int purge(CacheDirectory cache, Path file) throws IOException {
        if (!Files.isRegularFile(file)) {
            throw new CommandException("there is no file " + file);
        }
        Erasure erasure = Erasure.decode(Files.readAllBytes(file), file.toString());
        Set<UUID> chunks = erasure.result().stream()
                .flatMap(result -> result.cached().stream())
                .collect(Collectors.toSet());
        List<Path> files = yes ? cache.purge(chunks) : cache.files(chunks);
        PrintWriter out = spec.commandLine().getOut();
        if (json) {
            ObjectNode root = Json.object().put("erasure", erasure.id()).put("removed", yes);
            files.forEach(found -> root.withArray("files").add(found.toString()));
            out.println(root);
            return 0;
        }
        files.forEach(out::println);
        out.println((yes ? "removed " : "would remove ") + Units.plural(files.size(), "file") + " of erasure "
                + erasure.id() + (yes || files.isEmpty() ? "" : "; run with --yes to remove"));
        return 0;
    }
}
