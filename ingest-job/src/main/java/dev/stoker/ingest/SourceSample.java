package dev.stoker.ingest;

import dev.stoker.connectors.files.FileEntry;
import dev.stoker.connectors.files.FileSkip;
import dev.stoker.connectors.files.FileTree;
import dev.stoker.connectors.files.SkipCounts;
import dev.stoker.connectors.files.listing.DirectoryLister;
import dev.stoker.connectors.files.source.split.DirectorySplit;
import dev.stoker.ingest.pack.Splits;
import dev.stoker.ingest.pack.read.Labels;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;

/**
 * The samples of a tree before the job reads them. Their sizes are those of the first ones in the order of the listing;
 * their names are all of them, except for a sync, whose dataset has its fields already.
 *
 * @param files the first samples
 * @param names the names of all samples, or of the first ones
 * @param isWhole whether these are all names
 * @param skipped files that were left out for their names
 * @param total number of these samples
 * @param totalBytes their size
 * @param keys the keys that were given to be left out; of a part of the names, more of them match no file
 */
record SourceSample(
        List<FileEntry> files,
        NameCensus names,
        boolean isWhole,
        SkipCounts skipped,
        long total,
        long totalBytes,
        ExcludedKeys keys) {

    /** A field with a larger average size is payload. */
    static final long PAYLOAD_BYTES = 1024;
    /** The number of samples whose sizes count. */
    static final int SAMPLES = 1000;

    /** What is counted in a tree. */
    record Rules(Optional<Labels> labels, Splits splits) {}

    static SourceSample none(Splits splits) {
        return new SourceSample(
                List.of(), new NameCensus(Optional.empty(), splits), true, new SkipCounts(), 0, 0, ExcludedKeys.NONE);
    }

    /** Lists only the first samples. */
    static SourceSample first(FileTree tree, Rules rules) throws IOException {
        return list(tree, SAMPLES, rules);
    }

    /** Lists all samples. */
    static SourceSample all(FileTree tree, Rules rules) throws IOException {
        SourceSample first = first(tree, rules);
        if (first.isWhole()) {
            return first;
        }
        NameCensus names = new NameCensus(rules.labels(), rules.splits());
        TreeCount count = TreeCount.of(tree, names);
        return new SourceSample(
                first.files(), names, true, count.skipped(), count.files(), count.bytes(), count.excludedKeys());
    }

    /** Lists at most {@code limit} samples in order, and keeps the first ones. */
    static SourceSample list(FileTree tree, long limit, Rules rules) throws IOException {
        NameCensus names = new NameCensus(rules.labels(), rules.splits());
        Collector collector = new Collector(limit, names, new UnmatchedKeys(tree));
        Deque<DirectorySplit> pending = new ArrayDeque<>(List.of(DirectorySplit.ROOT));
        try (DirectoryLister lister = DirectoryLister.open(tree.inOrder())) {
            while (!pending.isEmpty() && collector.total < limit) {
                collector.begin(pending.pop());
                lister.list(collector.directory, collector);
                collector.names.end();
                for (int i = collector.found.size() - 1; i >= 0; i--) {
                    pending.push(collector.found.get(i));
                }
            }
        }
        boolean isWhole = pending.isEmpty() && !collector.isCut;
        return new SourceSample(
                List.copyOf(collector.files),
                names,
                isWhole,
                collector.skipped,
                collector.total,
                collector.totalBytes,
                collector.keys.result());
    }

    /** Returns this sample with the keys of the whole tree; lists the tree if it has found only a part of it. */
    SourceSample withKeys(FileTree tree, Rules rules) throws IOException {
        if (isWhole || keys.unmatched() == 0) {
            return this;
        }
        ExcludedKeys all = TreeCount.of(tree, new NameCensus(rules.labels(), rules.splits()))
                .excludedKeys();
        return new SourceSample(files, names, false, skipped, total, totalBytes, all);
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
        private final NameCensus census;
        private final UnmatchedKeys keys;
        private NameCensus.Directory names;
        private DirectorySplit directory = DirectorySplit.ROOT;
        private long total;
        private long totalBytes;
        private boolean isCut;

        Collector(long limit, NameCensus census, UnmatchedKeys keys) {
            this.limit = limit;
            this.census = census;
            this.keys = keys;
            this.names = census.new Directory();
        }

        void begin(DirectorySplit next) {
            directory = next;
            names = census.new Directory();
            found.clear();
        }

        @Override
        public void file(String name, long size, long modifiedMs, long[] sidecars) {
            if (total == limit) {
                isCut = true;
                return;
            }
            total++;
            totalBytes += size;
            String path = directory.child(name);
            names.add(path);
            keys.find(path, false);
            if (files.size() < SAMPLES) {
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
            keys.find(path, true);
        }
    }
}
