package dev.stoker.ingest.rows.pack;

import dev.stoker.connectors.dataset.TakenKeyException;
import dev.stoker.connectors.files.FileEntry;
import dev.stoker.ingest.pack.keys.KeyRefusals;
import dev.stoker.ingest.rows.read.PositionKeys;
import dev.stoker.ingest.rows.read.RowMapping;
import dev.stoker.ingest.rows.read.RowRun;
import dev.stoker.ingest.rows.source.SourcePositions;
import dev.stoker.schemas.text.ShellText;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Names the places of rows whose keys cannot be used, and a key with which all rows can be kept.
 *
 * @param key columns of the key; empty for the position in the source
 * @param files paths of the files of the source by their numbers
 */
public record RowRefusals(ArrayList<String> key, ArrayList<String> files) implements KeyRefusals {
    private static final long serialVersionUID = 1;

    /** Keeps the paths of the files only if two rows may have one key. */
    public static RowRefusals of(RowMapping mapping, List<RowRun> runs) {
        ArrayList<String> files = new ArrayList<>();
        if (!mapping.key().isEmpty()) {
            runs.stream().flatMap(run -> run.pieces().stream()).forEach(piece -> {
                while (files.size() <= piece.place()) {
                    files.add(piece.file().path());
                }
            });
        }
        return new RowRefusals(mapping.key(), files);
    }

    /** The entries of rows have their {@linkplain SourcePositions places} instead of times. */
    @Override
    public TakenKeyException twice(FileEntry one, FileEntry other) {
        return twice(one.path(), one.modifiedMs(), other.modifiedMs());
    }

    /** Two rows with these places have one key. */
    TakenKeyException twice(String text, long one, long other) {
        long first = Math.min(one, other);
        long second = Math.max(one, other);
        boolean isInOneFile = SourcePositions.file(first) == SourcePositions.file(second);
        return TakenKeyException.twice(
                text,
                shown(first),
                shown(second),
                isInOneFile
                        ? "keep both with other columns for --key, or without it, which makes the position the key"
                        : withFile().orElse("keep both with other columns for --key"));
    }

    @Override
    public TakenKeyException inDataset(FileEntry file, long chunk) {
        return inDataset(file.path(), chunk);
    }

    TakenKeyException inDataset(String text, long chunk) {
        return TakenKeyException.inDataset(
                text,
                "chunk " + chunk,
                "leave the file or row out or rename it"
                        + withFile().map(step -> ", " + step).orElse(""));
    }

    /** Returns the key that has the file in front of the columns; empty if the key names the file already. */
    private Optional<String> withFile() {
        if (key.isEmpty() || key.contains(RowMapping.FILE)) {
            return Optional.empty();
        }
        List<String> names =
                Stream.concat(Stream.of(RowMapping.FILE), key.stream()).toList();
        return Optional.of("keep both with the path of the file in the key: " + ShellText.names("--key", names));
    }

    private String shown(long place) {
        return PositionKeys.of(files.get(SourcePositions.file(place)), SourcePositions.position(place));
    }
}
