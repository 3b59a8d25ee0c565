package dev.stoker.metadata.erasure;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.DatasetLayout;
import dev.stoker.metadata.gc.Orphan;
import dev.stoker.metadata.index.build.IndexBuild;
import dev.stoker.metadata.index.run.IndexRange;
import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.schemas.chunk.ChunkReader;
import dev.stoker.schemas.dataset.ErasedChunk;
import dev.stoker.schemas.dataset.ErasedClass;
import dev.stoker.schemas.dataset.Erasure;
import dev.stoker.schemas.dataset.KeyHashes;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.errors.ForeignFileException;
import dev.stoker.schemas.errors.FormatTooNewException;
import dev.stoker.schemas.table.ChunkTable;
import dev.stoker.storage.ObjectInfo;
import dev.stoker.storage.ObjectIterator;
import dev.stoker.storage.ObjectRangeReader;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.errors.NoSuchObjectException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.zip.CRC32C;

/**
 * Finds and deletes what other files than chunks contain of erased samples: runs of the sample index, dead letters,
 * lines of lists of skipped samples, and unfinished files of dead writers. Can be repeated. For one thread.
 */
final class Remains {

    /** A list or a dead letter is not longer. */
    private static final long MAX_TEXT = 1L << 30;

    private static final int PART_BYTES = 1 << 20;

    private static final List<String> NOT_REACHED = List.of(
            "Kafka topics: records that samples came from, and topics of feeds",
            "exports, mirrors, copies and backups of the dataset, and places of samples in Redis servers",
            "disk caches of trainers, and files that readers of expired versions have open",
            "tiers of feeders that have not looked for erasures since then, and old versions of objects in the store");

    private final Dataset dataset;
    private final ObjectStore store;
    private final Erasure erasure;
    private final Mentions mentions;

    /** @param classes classes whose names are erased too; lines of lists and dead letters with them are deleted */
    Remains(Dataset dataset, Erasure erasure, List<ErasedClass> classes) {
        this.dataset = dataset;
        this.store = dataset.store();
        this.erasure = erasure;
        Set<String> hashes = classes.stream().map(ErasedClass::name).collect(Collectors.toSet());
        KeyHashes.Hasher hasher = erasure.keys().hasher();
        this.mentions = new Mentions(
                KeyTest.of(erasure.keys()).get(), name -> !hashes.isEmpty() && hashes.contains(hasher.hash(name)));
    }

    /** Returns length and checksum of a chunk file; empty if garbage collection has deleted it. */
    static Optional<ErasedChunk> chunk(ObjectStore store, String name) throws IOException {
        try {
            long length = store.length(name);
            CRC32C crc = new CRC32C();
            for (long at = 0; at < length; at += PART_BYTES) {
                ByteBuffer part = ByteBuffer.allocate((int) Math.min(PART_BYTES, length - at));
                store.read(name, at, part);
                crc.update(part.flip());
            }
            return Optional.of(new ErasedChunk(ChunkNames.idOf(name).orElseThrow(), length, (int) crc.getValue()));
        } catch (NoSuchObjectException e) {
            return Optional.empty();
        }
    }

    /** Returns what no erasure reaches, what this one does not reach, and unfinished files that it has not deleted. */
    static List<String> notReached(List<String> own, List<String> unfinished) {
        List<String> all = new ArrayList<>(NOT_REACHED);
        all.addAll(own);
        unfinished.forEach(name -> all.add("unfinished file of a running writer: " + name));
        return all;
    }

    /**
     * Returns the names of the files that name the samples, or were made from their values.
     *
     * @param adding the versions that had added the deleted chunks
     * @param upTo the version that has removed the samples; samples of later ones may have the same keys
     */
    NavigableSet<String> naming(Set<Long> adding, long upTo) throws IOException {
        NavigableSet<String> names = new TreeSet<>(runs(adding));
        names.addAll(overlays(upTo));
        // Temporary files have sorted keys.
        names.addAll(list(DatasetLayout.SCRATCH));
        // Selections say which values samples had.
        names.addAll(list(DatasetLayout.FILTERS));
        for (String name : list(DatasetLayout.DEAD_LETTERS)) {
            if (lines(name).map(this::isNaming).orElse(false)) {
                names.add(name);
            }
        }
        for (String name : list(DatasetLayout.SKIP_LISTS)) {
            if (lines(name).map(this::isNaming).orElse(false)) {
                names.add(name);
            }
        }
        return names;
    }

    /** A run has the rows of all chunks that its versions have added, if their files existed when it was written. */
    private List<String> runs(Set<Long> adding) throws IOException {
        return list(DatasetLayout.INDEX).stream()
                .filter(name -> IndexRange.ofName(name)
                        .filter(range -> adding.stream().anyMatch(range::contains))
                        .isPresent())
                .toList();
    }

    /** Returns the overlays with erased keys. The chunks that they belong to had them too. */
    private List<String> overlays(long upTo) throws IOException {
        ChunkTable newest = dataset.latest().table();
        Set<UUID> later = new HashSet<>();
        for (int i = 0; i < newest.size(); i++) {
            if (newest.addedIn(i) > upTo) {
                later.add(newest.id(i));
            }
        }
        KeyTest test = KeyTest.of(erasure.keys()).get();
        List<String> names = new ArrayList<>();
        for (String name : list(ChunkNames.OVERLAYS + "/")) {
            try {
                ChunkHead head = ChunkReader.open(new ObjectRangeReader(store, name));
                boolean isLater =
                        head.identity().overlaid().filter(later::contains).isPresent();
                if (!isLater && ErasedRows.rows(head.keys(), test).length > 0) {
                    names.add(name);
                }
            } catch (NoSuchObjectException e) {
                // Garbage collection has deleted it.
            } catch (CorruptDataException | ForeignFileException | FormatTooNewException e) {
                // A damaged file may contain any sample.
                names.add(name);
            }
        }
        return names;
    }

    private List<String> list(String directory) throws IOException {
        List<String> names = new ArrayList<>();
        try (ObjectIterator objects = store.list(directory)) {
            while (objects.hasNext()) {
                ObjectInfo object = objects.next();
                names.add(object.name());
            }
        }
        return names;
    }

    private Optional<List<String>> lines(String name) throws IOException {
        try {
            return Optional.of(new String(store.readAll(name, MAX_TEXT), StandardCharsets.UTF_8)
                    .lines()
                    .toList());
        } catch (NoSuchObjectException e) {
            return Optional.empty();
        }
    }

    private boolean isNaming(List<String> lines) {
        return lines.stream().anyMatch(mentions::in);
    }

    /**
     * Deletes the files that name the samples. Lists of skipped samples lose single lines. The sample index is built
     * again from the heads of the chunks that are left.
     *
     * @param adding the versions that had added the deleted chunks
     * @return the names of the deleted and replaced files
     */
    NavigableSet<String> purge(Set<Long> adding, ErasureWork work) throws IOException, InterruptedException {
        long upTo = erasure.result().orElseThrow().versions().upTo();
        NavigableSet<String> names = naming(adding, upTo);
        for (String name : names) {
            if (name.startsWith(DatasetLayout.SKIP_LISTS)) {
                shorten(name);
            } else {
                store.delete(name);
            }
        }
        boolean isIndexed = names.stream().anyMatch(name -> name.startsWith(DatasetLayout.INDEX))
                || erasure.result().stream()
                        .flatMap(result -> result.files().stream())
                        .anyMatch(name -> name.startsWith(DatasetLayout.INDEX));
        if (isIndexed) {
            new IndexBuild(dataset, work.index(), rows -> {}).update();
        }
        return names;
    }

    private void shorten(String name) throws IOException {
        Optional<List<String>> lines = lines(name);
        if (lines.isEmpty()) {
            return;
        }
        String left = lines.get().stream()
                .filter(line -> !mentions.in(line))
                .map(line -> line + "\n")
                .collect(Collectors.joining());
        store.delete(name);
        if (!left.isEmpty()) {
            store.createIfAbsent(name, left.getBytes(StandardCharsets.UTF_8));
        }
    }

    /**
     * Deletes unfinished files, unless another writer is running. They cannot be read. A writer of chunks takes its
     * lease before it creates a file. Other files are deleted only if they are older than the erasure or than this
     * attempt to finish it: a process that died during an earlier attempt may have left a run of the index.
     *
     * @param began when this process began to finish the erasure
     * @return the names of the files that may contain erased samples and were not deleted
     */
    List<String> deleteUnfinished(LooseFiles loose, InstantSource clock, Instant began) throws IOException {
        List<String> left = new ArrayList<>();
        Instant now = clock.instant();
        Duration sinceErasure = Duration.between(erasure.began(), now);
        Duration sinceAttempt = Duration.between(began, now);
        for (Orphan file : loose.unfinished()) {
            boolean isOld =
                    file.age().compareTo(sinceErasure) >= 0 || file.age().compareTo(sinceAttempt) > 0;
            if (loose.writers().isEmpty() && (isOld || file.name().startsWith(DatasetLayout.CHUNKS))) {
                store.delete(file.name());
            } else if (isOld) {
                left.add(file.name());
            }
        }
        return left;
    }
}
