package dev.stoker.ingest.rows.source;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Finds the splits in the names of files and directories: {@code train-00000-of-00008.parquet}, {@code test.csv},
 * {@code val/0001.tar}. Otherwise, the samples of a test would be mixed with those for training.
 */
public final class SplitNames {
    /** Names that always mean a split. */
    private static final Set<String> KNOWN =
            Set.of("train", "training", "validation", "valid", "val", "dev", "test", "testing", "eval", "evaluation");

    /** The {@code datasets} library can write a hash behind the numbers. */
    private static final Pattern SHARD = Pattern.compile("([^/]+)-[0-9]{5}-of-[0-9]{5}(?:-[0-9a-f]{16})?(?:\\.[^/]*)?");

    private static final Pattern ESCAPED = Pattern.compile("%([0-9A-F]{2})");

    private static final String DEFAULT = "train";

    private SplitNames() {}

    /**
     * Returns the split in the name of a shard, such as {@code train-00000-of-00008.parquet}. The name may have the
     * escapes of an export.
     */
    static Optional<String> ofShard(String path) {
        Matcher shard = SHARD.matcher(nameOf(path));
        return shard.matches() ? Optional.of(unescaped(shard.group(1))) : Optional.empty();
    }

    /** Returns whether a name always means a split. */
    public static boolean isKnown(String name) {
        return KNOWN.contains(name);
    }

    private static String nameOf(String path) {
        return path.substring(path.lastIndexOf('/') + 1);
    }

    private static String directoryOf(String path) {
        return path.substring(0, Math.max(0, path.lastIndexOf('/')));
    }

    private static String unescaped(String name) {
        ByteBuffer bytes = ByteBuffer.allocate(3 * name.length());
        Matcher escape = ESCAPED.matcher(name);
        int end = 0;
        while (escape.find()) {
            bytes.put(name.substring(end, escape.start()).getBytes(StandardCharsets.UTF_8));
            bytes.put((byte) Integer.parseInt(escape.group(1), 16));
            end = escape.end();
        }
        bytes.put(name.substring(end).getBytes(StandardCharsets.UTF_8));
        return StandardCharsets.UTF_8.decode(bytes.flip()).toString();
    }

    /**
     * Returns the files in the splits that their names say.
     *
     * @param files the files of all sources; those of which the split is known keep it
     */
    public static List<SourceFile> apply(List<SourceFile> files) {
        List<SourceFile> named = shards(files);
        List<SourceFile> placed = named.stream()
                .map(file -> file.split().isEmpty() ? file.inSplit(known(file.path())) : file)
                .toList();
        // A single file test.csv is probably not meant as a split.
        long splits = placed.stream()
                .map(file -> file.split().isEmpty() ? DEFAULT : file.split())
                .distinct()
                .count();
        return splits > 1 ? placed : named;
    }

    /** Takes the splits of shards, if a directory has a shard whose name always means a split. */
    private static List<SourceFile> shards(List<SourceFile> files) {
        Set<String> directories = new HashSet<>();
        for (SourceFile file : files) {
            if (ofShard(file.path()).filter(KNOWN::contains).isPresent()) {
                directories.add(directoryOf(file.location()));
            }
        }
        List<SourceFile> named = new ArrayList<>();
        for (SourceFile file : files) {
            boolean isShard = file.split().isEmpty() && directories.contains(directoryOf(file.location()));
            named.add(isShard ? file.inSplit(ofShard(file.path()).orElse("")) : file);
        }
        return named;
    }

    /** Returns the split in the name of the file or of the innermost directory; empty if there is none. */
    private static String known(String path) {
        String name = nameOf(path);
        String base = name.contains(".") ? name.substring(0, name.indexOf('.')) : name;
        if (KNOWN.contains(base)) {
            return base;
        }
        for (String above = directoryOf(path); !above.isEmpty(); above = directoryOf(above)) {
            if (KNOWN.contains(nameOf(above))) {
                return nameOf(above);
            }
        }
        return "";
    }
}
