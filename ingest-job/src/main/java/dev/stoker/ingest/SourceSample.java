package dev.stoker.ingest;

import dev.stoker.connectors.files.FileEntry;
import dev.stoker.connectors.files.FileSkip;
import dev.stoker.connectors.files.FileTree;
import dev.stoker.connectors.files.SkipCounts;
import dev.stoker.connectors.files.listing.DirectoryLister;
import dev.stoker.connectors.files.source.split.DirectorySplit;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * The first samples of a tree, in the order of its listing. They determine the dataset's fields.
 *
 * @param files the first samples
 * @param skipped files that were left out
 * @param total number of listed samples
 * @param totalBytes their size
 */
record SourceSample(List<FileEntry> files, SkipCounts skipped, long total, long totalBytes) {

    /** A field with a larger average size is payload. */
    static final long PAYLOAD_BYTES = 1024;
    /** The number of samples that determine the fields. */
    static final int SAMPLES = 1000;

    /** Lists only the first samples. */
    static SourceSample first(FileTree tree) throws IOException {
        return list(tree, SAMPLES);
    }

    /** Lists at most {@code limit} samples, and keeps the first ones. */
    static SourceSample list(FileTree tree, long limit) throws IOException {
        Collector collector = new Collector(limit);
        Deque<DirectorySplit> pending = new ArrayDeque<>(List.of(DirectorySplit.ROOT));
        try (DirectoryLister lister = DirectoryLister.open(tree.inOrder())) {
            while (!pending.isEmpty() && collector.total < limit) {
                DirectorySplit directory = pending.pop();
                collector.directory = directory;
                collector.found.clear();
                lister.list(directory, collector);
                for (int i = collector.found.size() - 1; i >= 0; i--) {
                    pending.push(collector.found.get(i));
                }
            }
        }
        return new SourceSample(List.copyOf(collector.files), collector.skipped, collector.total, collector.totalBytes);
    }

    /** The kind of most files; but text beside files that are not text is data, because bytes hold both. */
    FileKind kind() {
        FileKind most = kindOfMost();
        return most == FileKind.TEXT && files.stream().anyMatch(SourceSample::isNoText) ? FileKind.DATA : most;
    }

    /** Returns whether a file has the extension of something else than text. */
    static boolean isNoText(FileEntry file) {
        String path = file.path();
        boolean hasExtension = path.lastIndexOf('.') > path.lastIndexOf('/') + 1;
        return hasExtension && FileKind.of(path) != FileKind.TEXT;
    }

    /** The kind of most files. */
    FileKind kindOfMost() {
        Map<FileKind, Integer> counts = new EnumMap<>(FileKind.class);
        files.forEach(file -> counts.merge(FileKind.of(file.path()), 1, Integer::sum));
        FileKind most = FileKind.DATA;
        int count = 0;
        for (Map.Entry<FileKind, Integer> entry : counts.entrySet()) {
            if (entry.getValue() > count) {
                most = entry.getKey();
                count = entry.getValue();
            }
        }
        return most;
    }

    /** Whether the files are large enough to be payload. */
    boolean isContentBig() {
        return files.stream().mapToLong(FileEntry::size).sum() > PAYLOAD_BYTES * files.size();
    }

    /** Whether every file has this sidecar and the sidecars are large enough to be payload. */
    boolean isSidecarBig(int sidecar) {
        return files.stream().allMatch(file -> file.sidecars()[sidecar] >= 0)
                && files.stream().mapToLong(file -> file.sidecars()[sidecar]).sum() > PAYLOAD_BYTES * files.size();
    }

    /** Collects the listed files. */
    private static final class Collector implements DirectoryLister.Visitor {

        private final List<FileEntry> files = new ArrayList<>();
        private final List<DirectorySplit> found = new ArrayList<>();
        private final SkipCounts skipped = new SkipCounts();
        private final long limit;
        private DirectorySplit directory = DirectorySplit.ROOT;
        private long total;
        private long totalBytes;

        Collector(long limit) {
            this.limit = limit;
        }

        @Override
        public void file(String name, long size, long modifiedMs, long[] sidecars) {
            if (total == limit) {
                return;
            }
            total++;
            totalBytes += size;
            if (files.size() < SAMPLES) {
                String path = directory.path().isEmpty() ? name : directory.path() + "/" + name;
                files.add(new FileEntry(path.getBytes(StandardCharsets.UTF_8), size, modifiedMs, sidecars));
            }
        }

        @Override
        public void directory(DirectorySplit child) {
            found.add(child);
        }

        @Override
        public void skip(FileSkip reason, String path) {
            skipped.add(reason, path);
        }
    }
}
