package dev.stoker.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;

/** One command line for each verb that prints and ends, for tests of what all verbs have in common. */
final class EveryVerb {

    /** Verbs that serve until they are stopped, that need a running feed or mount, or that start another program. */
    private static final Set<String> OTHERS = Set.of(
            "sql", "browse", "mount", "unmount", "run", "feed", "stop", "wait", "audit", "mirror", "top", "bench");

    private static final String ORDER = "{\"seed\":7,\"batch_size\":4}";

    private EveryVerb() {}

    /**
     * Returns the command lines of all verbs, also those with {@code --json}. None of them changes the dataset.
     *
     * @param dataset a dataset of two versions or more
     * @param key of one of its samples
     * @param source a directory of files
     * @param updates a table of updates for the dataset
     * @param work an empty directory
     */
    static List<List<String>> of(Path dataset, String key, Path source, Path updates, Path work) throws IOException {
        String path = dataset.toString();
        Map<String, List<String>> arguments = new LinkedHashMap<>();
        arguments.put("ingest", List.of(source.toString(), work.resolve("new").toString(), "--dry-run"));
        arguments.put("sync", List.of(source.toString(), path, "--dry-run", "--label-from", "parent-dir"));
        arguments.put("export", List.of(path, work.resolve("out").toString(), "--format", "parquet", "--dry-run"));
        arguments.put("info", List.of(path, "--samples", "--chunks"));
        arguments.put("show", List.of(path));
        arguments.put("ls", List.of(path, "--recursive"));
        arguments.put("stat", List.of(path, key));
        arguments.put("get", List.of(path, key, "--json"));
        arguments.put("cat", List.of(path, key));
        arguments.put("log", List.of(path));
        arguments.put("verify", List.of(path));
        arguments.put("ps", List.of("--all"));
        arguments.put("why", List.of(path + ":train", "--order", ORDER, "--epoch", "0", "--step", "0"));
        arguments.put("tag", List.of(path));
        arguments.put("diff", List.of(path, "1", "2", "--keys"));
        arguments.put("delete", List.of(path, key, "--dry-run"));
        arguments.put("update", List.of(path, updates.toString(), "--dry-run"));
        arguments.put("compact", List.of(path, "--dry-run"));
        arguments.put("index", List.of(path, "--check"));
        arguments.put("copy", List.of(path, work.resolve("copy").toString(), "--dry-run"));
        arguments.put("expire", List.of(path, "--keep-last", "1", "--dry-run"));
        arguments.put("gc", List.of(path));
        arguments.put("cache", List.of("ls", work.toString()));
        arguments.put("recover", List.of(path));
        arguments.put("rebuild", List.of(chunksOnly(dataset, work).toString(), "--dry-run"));
        arguments.put("completion", List.of("bash"));
        arguments.put("man", List.of(work.resolve("man").toString()));
        CommandLine all = Stoker.command();
        Set<String> known = new TreeSet<>(arguments.keySet());
        known.addAll(OTHERS);
        if (!known.equals(new TreeSet<>(all.getSubcommands().keySet()))) {
            throw new IllegalStateException(
                    "add the new verbs: " + all.getSubcommands().keySet());
        }
        List<List<String>> commands = new ArrayList<>();
        arguments.forEach((verb, words) -> {
            List<String> command = new ArrayList<>(List.of(verb));
            command.addAll(words);
            commands.add(command);
            CommandSpec spec = all.getSubcommands().get(verb).getCommandSpec();
            if (!words.contains("--json") && spec.findOption("--json") != null) {
                List<String> json = new ArrayList<>(command);
                json.add("--json");
                commands.add(json);
            }
        });
        return commands;
    }

    /** Returns a copy of a dataset that has lost its metadata. */
    static Path chunksOnly(Path dataset, Path work) throws IOException {
        Path copy = work.resolve("chunks-only");
        try (Stream<Path> files = Files.walk(dataset)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                Path to = copy.resolve(dataset.relativize(file).toString());
                if (!to.startsWith(copy.resolve("_stoker"))) {
                    Files.createDirectories(to.getParent());
                    Files.copy(file, to);
                }
            }
        }
        return copy;
    }
}
