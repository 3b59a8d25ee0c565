package dev.stoker.metadata.gc;

import dev.stoker.metadata.DatasetLayout;
import dev.stoker.metadata.index.run.IndexRange;
import dev.stoker.schemas.chunk.ChunkNames;
import java.util.EnumSet;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Pattern;

/** The kinds of files that a collection may delete, in the order in which it lists them. */
enum StoredKind {
    CHUNK(DatasetLayout.CHUNKS, name -> ChunkNames.idOf(name).isPresent()),
    OVERLAY(ChunkNames.OVERLAYS, name -> ChunkNames.idOfOverlay(name).isPresent()),

    /** A list of what an ingest has left out. */
    SKIP_LIST(
            DatasetLayout.SKIP_LISTS,
            name -> DatasetLayout.ingestOfSkipList(name).isPresent()),

    /** A run of the sample index. Only runs that another run supersedes are listed. */
    INDEX_RUN(DatasetLayout.INDEX, name -> IndexRange.ofName(name).isPresent()),

    /** A temporary file of work that several machines do. */
    SCRATCH(DatasetLayout.SCRATCH, name -> name.startsWith(DatasetLayout.SCRATCH)),

    /** The rows that a condition of a feed selects. A feed that needs it again makes it again. */
    SELECTION(DatasetLayout.FILTERS, name -> name.startsWith(DatasetLayout.FILTERS)),

    /** An unfinished file of a writer, anywhere. */
    UNFINISHED("", name -> false),

    /** A file of a feed: of its ledger, a delivery sign or an epoch choice. */
    FEED(
            DatasetLayout.FEEDS,
            Pattern.compile(DatasetLayout.FEEDS + "[0-9a-f-]{36}/.+").asMatchPredicate());

    /** Kinds of files that may belong to no version. */
    static final Set<StoredKind> OF_WRITERS = EnumSet.complementOf(EnumSet.of(FEED));

    /** Kinds of files that log entries name. */
    private static final Set<StoredKind> NAMED = EnumSet.of(CHUNK, OVERLAY, SKIP_LIST);

    private final String folder;

    @SuppressWarnings("ImmutableEnumChecker") // The predicates have no state.
    private final Predicate<String> names;

    StoredKind(String folder, Predicate<String> names) {
        this.folder = folder;
        this.names = names;
    }

    /** Returns the folder of all files of this kind. */
    String folder() {
        return folder;
    }

    /** Returns whether a finished file of this kind can have this name. */
    boolean hasName(String name) {
        return names.test(name);
    }

    /** Returns the kind of a file. An unfinished file may be finished and committed by now, under the same name. */
    static StoredKind of(Orphan file) {
        return (file.unfinished() ? NAMED : EnumSet.allOf(StoredKind.class))
                .stream().filter(kind -> kind.hasName(file.name())).findFirst().orElse(UNFINISHED);
    }
}
