package dev.stoker.ingest.rows.source;

import dev.stoker.formats.DamagedFileException;
import dev.stoker.formats.UnsupportedFileException;
import dev.stoker.formats.huggingface.SavedDataset;
import dev.stoker.formats.mds.MdsIndex;
import dev.stoker.ingest.spec.InvalidIngestException;
import dev.stoker.schemas.errors.ErrorText;
import dev.stoker.schemas.text.Units;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Applies the descriptions that other systems write beside their data to the files of a tree: the splits of Hugging
 * Face, the files of such a split in their order, and the shards of MDS. Exports of Stoker have their splits in the
 * names of their files. For one thread.
 */
public final class SourceNotes {
    /** Larger descriptions are refused. */
    private static final int MAX_BYTES = 64 << 20;

    /** The file that Stoker writes last at the target of an export, and a key at its beginning. */
    private static final String EXPORT_FILE = "_SUCCESS";

    private static final String EXPORT_KEY = "\"stoker_export\"";
    private static final int EXPORT_HEAD_BYTES = 4096;

    private static final String NEXT_STEP = "; restore the directory, or name the files to ingest with a pattern";

    private final List<String> warnings;
    private final Map<String, SourceFile> splitNotes = new HashMap<>();
    private final Map<String, SourceFile> stateNotes = new HashMap<>();
    private final Map<String, SourceFile> indexNotes = new HashMap<>();
    private final Map<String, SourceFile> exportNotes = new HashMap<>();
    private final List<String> documents = new ArrayList<>();

    /** @param warnings gets a line for each directory with files that its description does not name */
    public SourceNotes(List<String> warnings) {
        this.warnings = warnings;
    }

    /** Takes a file if it is a description. */
    public void add(SourceFile file) {
        String name = file.path().substring(file.path().lastIndexOf('/') + 1);
        switch (name) {
            case SavedDataset.SPLITS_FILE -> splitNotes.put(directory(file.path()), file);
            case SavedDataset.STATE_FILE -> stateNotes.put(directory(file.path()), file);
            case MdsIndex.NAME -> indexNotes.put(directory(file.path()), file);
            case EXPORT_FILE -> exportNotes.put(directory(file.path()), file);
            default -> {
                // Other notes say nothing about files.
            }
        }
    }

    /** Takes a text about the data, which is left out. */
    public void addDocument(String path) {
        documents.add(path);
    }

    /** Returns the directory of a path with a slash at the end; empty for the root. */
    private static String directory(String path) {
        return path.substring(0, path.lastIndexOf('/') + 1);
    }

    /**
     * Returns the files that the descriptions name, and the files of directories without a description.
     *
     * @param files of one tree, in their order
     */
    public List<SourceFile> apply(List<SourceFile> files) throws IOException {
        List<SourceFile> kept = files;
        try {
            for (Map.Entry<String, SourceFile> note : splitNotes.entrySet()) {
                kept = inSplits(kept, note.getKey(), note.getValue());
            }
            for (Map.Entry<String, SourceFile> note : stateNotes.entrySet()) {
                kept = ofState(kept, note.getKey(), note.getValue());
            }
            for (Map.Entry<String, SourceFile> note : indexNotes.entrySet()) {
                kept = ofIndex(kept, note.getKey(), note.getValue());
            }
            for (Map.Entry<String, SourceFile> note : exportNotes.entrySet()) {
                kept = ofExport(kept, note.getKey(), note.getValue());
            }
        } catch (DamagedFileException | UnsupportedFileException e) {
            throw new InvalidIngestException(ErrorText.of(e));
        }
        if (!documents.isEmpty()) {
            warnings.add("left out: " + Units.plural(documents.size(), "text") + " beside the data, such as "
                    + documents.get(0));
        }
        return kept;
    }

    private static List<SourceFile> ofExport(List<SourceFile> files, String directory, SourceFile note)
            throws IOException {
        // Other systems write files of this name, too.
        if (!head(note).contains(EXPORT_KEY)) {
            return files;
        }
        return files.stream()
                .map(file -> directory(file.path()).equals(directory)
                        ? SplitNames.ofShard(file.path()).map(file::inSplit).orElse(file)
                        : file)
                .toList();
    }

    private static String head(SourceFile file) throws IOException {
        try (SourceReader reader = SourceReader.open(file)) {
            ByteBuffer content = ByteBuffer.allocate((int) Math.min(file.length(), EXPORT_HEAD_BYTES));
            reader.readFully(0, content);
            return new String(content.array(), StandardCharsets.UTF_8);
        }
    }

    private static List<SourceFile> inSplits(List<SourceFile> files, String directory, SourceFile note)
            throws IOException {
        Set<String> splits = new HashSet<>(SavedDataset.splits(text(note), note.location()));
        List<SourceFile> named = new ArrayList<>();
        for (SourceFile file : files) {
            int slash = file.path().startsWith(directory) ? file.path().indexOf('/', directory.length()) : -1;
            String split = slash < 0 ? "" : file.path().substring(directory.length(), slash);
            named.add(splits.contains(split) ? file.inSplit(split) : file);
        }
        return named;
    }

    private List<SourceFile> ofState(List<SourceFile> files, String directory, SourceFile note) throws IOException {
        List<String> wanted = SavedDataset.files(text(note), note.location());
        return only(files, directory, note, wanted, file -> file);
    }

    private interface Change {
        SourceFile of(SourceFile file);
    }

    /** Replaces the files of a directory by the files that its description names, in its order. */
    private List<SourceFile> only(
            List<SourceFile> files, String directory, SourceFile note, List<String> wanted, Change change) {
        Map<String, SourceFile> found = new HashMap<>();
        files.forEach(file -> found.put(file.path(), file));
        List<SourceFile> named = new ArrayList<>();
        for (String name : wanted) {
            SourceFile file = found.get(directory + name);
            if (file == null) {
                throw new InvalidIngestException(
                        note.location() + " names the file " + name + ", which is missing" + NEXT_STEP);
            }
            named.add(change.of(file));
        }
        Set<String> names = new HashSet<>();
        named.forEach(file -> names.add(file.path()));
        List<SourceFile> kept = new ArrayList<>();
        List<String> others = new ArrayList<>();
        boolean isPlaced = false;
        for (SourceFile file : files) {
            boolean isInside = directory(file.path()).equals(directory) || names.contains(file.path());
            if (isInside && !isPlaced) {
                kept.addAll(named);
                isPlaced = true;
            }
            if (!isInside) {
                kept.add(file);
            } else if (!names.contains(file.path())) {
                others.add(file.path());
            }
        }
        if (!others.isEmpty()) {
            warnings.add("warning: " + note.location() + " does not name "
                    + Units.plural(others.size(), "file") + " beside it, such as " + others.get(0)
                    + "; left out. To take all files, name them with a pattern in quotes");
        }
        return kept;
    }

    private List<SourceFile> ofIndex(List<SourceFile> files, String directory, SourceFile note) throws IOException {
        byte[] json = bytes(note, MdsIndex.MAX_BYTES);
        if (!MdsIndex.recognises(json)) {
            return files;
        }
        Map<String, Long> lengths = new HashMap<>();
        files.forEach(file -> lengths.put(file.path(), file.length()));
        List<String> wanted = new ArrayList<>();
        for (MdsIndex.Shard shard : MdsIndex.parse(note.location(), json).shards()) {
            // The writer of MDS can keep both files.
            boolean isRaw = shard.zip() == null
                    || !lengths.containsKey(directory + shard.zip().name());
            MdsIndex.StoredFile stored = isRaw ? shard.raw() : shard.stored();
            Long found = lengths.get(directory + stored.name());
            if (found != null && stored.bytes() >= 0 && found != stored.bytes()) {
                throw new InvalidIngestException(note.location() + " says that " + stored.name() + " has "
                        + Units.plural(stored.bytes(), "byte") + ", but it has " + found + NEXT_STEP);
            }
            wanted.add(stored.name());
        }
        return only(files, directory, note, wanted, file -> file.inIndex(note.location()));
    }

    private static String text(SourceFile file) throws IOException {
        return new String(bytes(file, MAX_BYTES), StandardCharsets.UTF_8);
    }

    /** Reads a whole file. */
    public static byte[] bytes(SourceFile file, int limit) throws IOException {
        if (file.length() > limit) {
            throw new UnsupportedFileException(file.location() + " has " + Units.plural(file.length(), "byte")
                    + "; a description may have " + limit);
        }
        try (SourceReader reader = SourceReader.open(file)) {
            ByteBuffer content = ByteBuffer.allocate((int) file.length());
            reader.readFully(0, content);
            return content.array();
        }
    }
}
