package dev.stoker.ingest;

import dev.stoker.connectors.files.FileEntry;
import dev.stoker.ingest.pack.Splits;
import dev.stoker.ingest.pack.read.Labels;
import dev.stoker.ingest.spec.FileKind;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/** Counts the names of a tree: their endings, kinds, splits and classes. Threads may share it; its lock is this. */
final class NameCensus {
    private static final int MOST_TOP = 100;

    /** Files with one ending. */
    static final class Ending {
        private final Set<FileKind> beside = EnumSet.noneOf(FileKind.class);
        private String example = "";
        private long count;

        String example() {
            return example;
        }

        long count() {
            return count;
        }

        /** Returns whether files of a kind are in the same directories. */
        boolean isBeside(FileKind kind) {
            return beside.contains(kind);
        }

        FileKind kind() {
            return FileKind.of(example);
        }
    }

    private final Optional<Labels> labels;
    private final Splits splits;
    private final Map<String, Ending> endings = new TreeMap<>();
    private final Map<String, Long> inSplits = new TreeMap<>();
    private final Set<String> classes = new TreeSet<>();
    private final Set<String> top = new TreeSet<>();
    private long total;
    private long directories;
    private long atRoot;
    private long unlabelled;
    private String unlabelledExample = "";

    /** @param labels the rule for classes, if the ingest has one */
    NameCensus(Optional<Labels> labels, Splits splits) {
        this.labels = labels;
        this.splits = splits;
    }

    /** The files of one directory. For one thread. */
    final class Directory {
        private final Set<String> seen = new TreeSet<>();
        private final Set<FileKind> kinds = EnumSet.noneOf(FileKind.class);

        void add(String path) {
            String ending = FileKind.extension(path);
            seen.add(ending);
            kinds.add(FileKind.of(path));
            count(path, ending);
        }

        /** Called when the directory is complete. */
        void end() {
            synchronized (NameCensus.this) {
                directories += seen.isEmpty() ? 0 : 1;
                seen.forEach(ending -> endings.computeIfAbsent(ending, e -> new Ending())
                        .beside
                        .addAll(kinds));
            }
        }
    }

    private synchronized void count(String path, String ending) {
        total++;
        Ending files = endings.computeIfAbsent(ending, e -> new Ending());
        files.count++;
        // The first in the order of names, so that runs agree.
        files.example = files.example.isEmpty() || path.compareTo(files.example) < 0 ? path : files.example;
        int slash = path.indexOf('/');
        atRoot += slash < 0 ? 1 : 0;
        if (slash > 0 && top.size() < MOST_TOP) {
            top.add(path.substring(0, slash));
        }
        inSplits.merge(splits.of(path), 1L, Long::sum);
        if (labels.isPresent()) {
            Optional<String> name = labels.get().of(path);
            name.ifPresent(classes::add);
            if (name.isEmpty()) {
                unlabelled++;
                unlabelledExample =
                        unlabelledExample.isEmpty() || path.compareTo(unlabelledExample) < 0 ? path : unlabelledExample;
            }
        }
    }

    /** Returns a census of some files. */
    static NameCensus of(Iterable<FileEntry> files, Optional<Labels> labels, Splits splits) {
        NameCensus census = new NameCensus(labels, splits);
        Map<String, Directory> directories = new TreeMap<>();
        for (FileEntry file : files) {
            String path = file.path();
            String directory = path.substring(0, path.lastIndexOf('/') + 1);
            directories.computeIfAbsent(directory, d -> census.new Directory()).add(path);
        }
        directories.values().forEach(Directory::end);
        return census;
    }

    synchronized long total() {
        return total;
    }

    /** Returns the endings without dots, and their files. */
    synchronized Map<String, Ending> endings() {
        return new TreeMap<>(endings);
    }

    synchronized Map<String, Long> inSplits() {
        return new TreeMap<>(inSplits);
    }

    synchronized Set<String> classes() {
        return new TreeSet<>(classes);
    }

    /** Returns the names of directories in the root; not all of them if there are many. */
    synchronized Set<String> top() {
        return new TreeSet<>(top);
    }

    /** Returns the number of directories that have files. */
    synchronized long directories() {
        return directories;
    }

    synchronized boolean hasFilesAtRoot() {
        return atRoot > 0;
    }

    synchronized long unlabelled() {
        return unlabelled;
    }

    synchronized String unlabelledExample() {
        return unlabelledExample;
    }

    /** The kind of most files; but text beside files that are not text is data, because bytes hold both. */
    FileKind kind() {
        FileKind most = kindOfMost();
        return most == FileKind.TEXT && endings().entrySet().stream().anyMatch(e -> isNoText(e.getKey(), e.getValue()))
                ? FileKind.DATA
                : most;
    }

    /** Returns whether files have the ending of something else than text. */
    static boolean isNoText(String ending, Ending files) {
        return !ending.isEmpty() && files.kind() != FileKind.TEXT;
    }

    /** The kind of most files. */
    FileKind kindOfMost() {
        Map<FileKind, Long> counts = new EnumMap<>(FileKind.class);
        endings().values().forEach(files -> counts.merge(files.kind(), files.count(), Long::sum));
        FileKind most = FileKind.DATA;
        long count = 0;
        for (Map.Entry<FileKind, Long> entry : counts.entrySet()) {
            if (entry.getValue() > count) {
                most = entry.getKey();
                count = entry.getValue();
            }
        }
        return most;
    }
}
