package dev.stoker.ingest;

import dev.stoker.connectors.files.FileEntry;
import dev.stoker.ingest.spec.SplitRule;
import dev.stoker.schemas.text.Units;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** Warns if the first files of a source are likely to be packed differently from what the user expects. */
final class SourceWarnings {
    /** Endings of files that contain many samples, and the kind of such a file. */
    private static final Map<String, String> CONTAINERS = Map.ofEntries(
            Map.entry("parquet", "Parquet"),
            Map.entry("arrow", "Arrow"),
            Map.entry("feather", "Arrow"),
            Map.entry("avro", "Avro"),
            Map.entry("tar", "tar"),
            Map.entry("tgz", "tar"),
            Map.entry("gz", "gzip"),
            Map.entry("zst", "Zstandard"),
            Map.entry("zip", "zip"),
            Map.entry("tfrecord", "TFRecord"),
            Map.entry("tfrecords", "TFRecord"),
            Map.entry("mds", "MDS"),
            Map.entry("h5", "HDF5"),
            Map.entry("hdf5", "HDF5"));

    /** The value of --format for the kinds whose files have rows. */
    private static final Map<String, String> FORMATS = Map.of(
            "Parquet", "parquet",
            "Arrow", "arrow",
            "Avro", "avro",
            "tar", "webdataset",
            "TFRecord", "tfrecord",
            "MDS", "mds");

    private static final int ENDINGS_SHOWN = 5;
    /** If directories have fewer files on average, they are probably not classes. */
    private static final int FILES_OF_A_CLASS = 3;

    private SourceWarnings() {}

    /** One line for each probable mistake. */
    static List<String> of(IngestOptions options, Preparation preparation) {
        List<FileEntry> files = preparation.sample().files();
        List<String> warnings = new ArrayList<>();
        addContainers(options.source(), files, warnings);
        if (preparation.sample().kindOfMost() == FileKind.TEXT
                && preparation.sample().kind() == FileKind.DATA) {
            addMixedText(files, warnings);
        } else {
            addOthers(files, preparation.sample().kind(), warnings);
        }
        boolean isUnlabelled = options.content().label().isEmpty();
        if (isUnlabelled && !(preparation.splitRule() instanceof SplitRule.TopDirectory)) {
            addClasses(files, warnings);
        }
        return warnings;
    }

    private static void addContainers(String source, List<FileEntry> files, List<String> warnings) {
        Map<String, List<FileEntry>> found = files.stream()
                .filter(file -> CONTAINERS.containsKey(ending(file)))
                .collect(
                        Collectors.groupingBy(file -> CONTAINERS.get(ending(file)), TreeMap::new, Collectors.toList()));
        found.forEach((kind, those) -> warnings.add("warning: " + count(those.size(), files.size())
                + (those.size() == 1 ? " is a " : " are ") + kind
                + (those.size() == 1 ? " file" : " files") + " (" + those.get(0).path()
                + "): each becomes one sample of opaque bytes; " + advice(source, kind, ending(those.get(0)))));
    }

    private static String advice(String source, String kind, String ending) {
        String format = FORMATS.get(kind);
        return format == null
                ? "unpack such files first"
                : "to make samples of their rows, ingest them alone: stoker ingest '" + source + "/**." + ending
                        + "' TARGET --format " + format;
    }

    /** Text whose field is binary because of other files. */
    private static void addMixedText(List<FileEntry> files, List<String> warnings) {
        List<FileEntry> others = files.stream().filter(SourceSample::isNoText).toList();
        warnings.add("warning: " + count(others.size(), files.size())
                + (others.size() == 1 ? " is not text (" : " are not text (") + endings(others)
                + "), so the field is binary; if all are UTF-8, give --field text:utf8");
    }

    /** Captions, thumbnails and the like next to the majority of files. */
    private static void addOthers(List<FileEntry> files, FileKind kind, List<String> warnings) {
        if (kind == FileKind.DATA) {
            return;
        }
        List<FileEntry> others = files.stream()
                .filter(file -> FileKind.of(file.path()) != kind && !CONTAINERS.containsKey(ending(file)))
                .toList();
        if (others.isEmpty()) {
            return;
        }
        warnings.add("warning: " + count(others.size(), files.size()) + (others.size() == 1 ? " has" : " have") + " no "
                + kind.field() + " extension (" + endings(others) + "), but will be packed as samples; "
                + sidecarAdvice(others) + "move unrelated files out of the source");
    }

    /** Names the option for files that describe others, such as captions. */
    private static String sidecarAdvice(List<FileEntry> others) {
        return others.stream()
                .filter(file -> FileKind.of(file.path()) == FileKind.TEXT)
                .findFirst()
                .map(file -> "declare files that belong to other files with --sidecar, such as --sidecar ."
                        + ending(file) + "=caption:utf8; ")
                .orElse("");
    }

    /** Returns the most frequent endings with their numbers. */
    private static String endings(List<FileEntry> files) {
        Map<String, Integer> endings = new TreeMap<>();
        for (FileEntry file : files) {
            endings.merge(ending(file).isEmpty() ? "no ending" : "." + ending(file), 1, Integer::sum);
        }
        return endings.entrySet().stream()
                .sorted(Map.Entry.<String, Integer>comparingByValue(Comparator.reverseOrder())
                        .thenComparing(Map.Entry.comparingByKey()))
                .limit(ENDINGS_SHOWN)
                .map(entry -> entry.getKey() + " " + entry.getValue())
                .collect(Collectors.joining(", "));
    }

    private static void addClasses(List<FileEntry> files, List<String> warnings) {
        Set<String> directories = new TreeSet<>();
        for (FileEntry file : files) {
            int slash = file.path().lastIndexOf('/');
            if (slash < 0) {
                return;
            }
            directories.add(file.path().substring(0, slash));
        }
        if (directories.size() > 1 && files.size() >= FILES_OF_A_CLASS * directories.size()) {
            warnings.add("warning: the first " + files.size() + " files are in "
                    + Units.plural(directories.size(), "directory")
                    + ", but the dataset gets no label; if the directories are classes, give --label-from"
                    + " parent-dir");
        }
    }

    private static String count(int some, int all) {
        return some + " of the first " + Units.plural(all, "file");
    }

    private static String ending(FileEntry file) {
        String name = file.path().substring(file.path().lastIndexOf('/') + 1);
        int dot = name.lastIndexOf('.');
        return dot <= 0 ? "" : name.substring(dot + 1).toLowerCase(Locale.ROOT);
    }
}
