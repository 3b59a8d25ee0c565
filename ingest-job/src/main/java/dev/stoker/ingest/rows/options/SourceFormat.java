package dev.stoker.ingest.rows.options;

import dev.stoker.connectors.files.FileTree;
import dev.stoker.formats.RowFormat;
import dev.stoker.formats.detection.Formats;
import dev.stoker.ingest.rows.source.KindFinder;
import dev.stoker.ingest.rows.source.SourceFile;
import dev.stoker.ingest.rows.source.Unreadable;
import dev.stoker.ingest.spec.InvalidIngestException;
import dev.stoker.ingest.spec.SourceKinds;
import dev.stoker.ingest.spec.SourceKinds.Kind;
import dev.stoker.schemas.errors.ErrorText;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * The format of the files of a source.
 *
 * @param format the user's choice, or the one that the files have
 * @param files the files of this format
 * @param others files that are left out because they have another one
 */
public record SourceFormat(RowFormat format, List<SourceFile> files, List<Unreadable> others) {

    /**
     * Finds the format.
     *
     * @throws InvalidIngestException if it is unknown, or if files have another one and may not be left out
     */
    public static SourceFormat of(RowIngestOptions options, List<SourceFile> files) {
        if (options.format().isPresent()) {
            return new SourceFormat(Formats.named(options.format().get()), files, List.of());
        }
        KindFinder finder = finder(files);
        SourceKinds kinds = finder.kinds();
        if (!kinds.hasContainers()) {
            List<String> ofRows = options.onlyOfRows();
            throw new InvalidIngestException("cannot detect the format of "
                    + files.get(0).location() + "; name it with --format FORMAT"
                    + (ofRows.isEmpty()
                            ? ""
                            : ", or to pack each file as one sample, leave out " + String.join(" and ", ofRows)
                                    + (ofRows.size() == 1 ? ", which is for rows" : ", which are for rows")));
        }
        kinds.requireOneFormat(
                String.join(" ", options.sources()), options.tree().errors());
        RowFormat format = Formats.named(kinds.format().orElseThrow());
        List<SourceFile> kept = new ArrayList<>();
        List<Unreadable> others = new ArrayList<>();
        for (SourceFile file : files) {
            Kind kind = finder.of(file);
            if (kind.isRows(format.name()) || options.tree().errors() == FileTree.Errors.FAIL) {
                kept.add(file);
            } else {
                others.add(new Unreadable(file.path(), file.location(), "is no file of " + format.name()));
            }
        }
        return new SourceFormat(format, List.copyOf(kept), List.copyOf(others));
    }

    /**
     * Returns the format of the files of a table.
     *
     * @throws InvalidIngestException if it is unknown, or if the files have several
     */
    public static RowFormat ofTable(String location, List<SourceFile> files) {
        SourceKinds kinds = finder(files).kinds();
        if (!kinds.hasContainers()) {
            throw new InvalidIngestException(
                    "cannot detect the format of " + files.get(0).location() + "; name it with --format FORMAT");
        }
        kinds.requireTable(location);
        return Formats.named(kinds.format().orElseThrow());
    }

    private static KindFinder finder(List<SourceFile> files) {
        KindFinder finder = new KindFinder();
        try {
            files.forEach(finder::add);
        } catch (UncheckedIOException e) {
            throw new InvalidIngestException(
                    "the source cannot be read: " + ErrorText.of(Objects.requireNonNullElse(e.getCause(), e)));
        }
        return finder;
    }
}
