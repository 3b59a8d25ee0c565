package dev.stoker.ingest.spec;

import dev.stoker.connectors.files.PathPattern;
import dev.stoker.storage.Stores;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * A source of an ingest: a directory, or a pattern for the files below one. Names of this machine that exist are taken
 * as they are, also if they have characters of a pattern, such as {@code data[2024]}.
 *
 * @param source as the user gave it, in its canonical form
 * @param root the directory
 * @param pattern for the paths below the directory; empty to take all
 */
public record SourceLocation(String source, String root, Optional<PathPattern> pattern) {

    /**
     * Finds the directory of a source.
     *
     * @throws InvalidIngestException if it is a pattern that is not valid
     */
    public static SourceLocation of(String source) {
        int start = Stores.isRemote(source) ? PathPattern.firstWild(source) : firstMissing(source);
        if (PathPattern.firstWild(source.substring(start)) == source.length() - start) {
            return new SourceLocation(source, source, Optional.empty());
        }
        int slash = source.lastIndexOf('/', start + PathPattern.firstWild(source.substring(start)));
        try {
            PathPattern pattern = PathPattern.of(source.substring(slash + 1));
            return new SourceLocation(source, source.substring(0, Math.max(1, slash)), Optional.of(pattern));
        } catch (IllegalArgumentException e) {
            throw new InvalidIngestException("the source " + source + ": " + e.getMessage());
        }
    }

    /** Returns the index of the first name of a path that does not exist, or the length of the path. */
    private static int firstMissing(String path) {
        int start = 0;
        while (start < path.length()) {
            int end = path.indexOf('/', start + 1);
            end = end < 0 ? path.length() : end;
            if (!Files.exists(Path.of(path.substring(0, end)))) {
                return start;
            }
            start = end;
        }
        return start;
    }

    /** Returns the failure for a source without files. */
    public InvalidIngestException withoutFiles() {
        if (pattern.isPresent()) {
            return new InvalidIngestException("no file below " + root + " matches the pattern " + pattern.get()
                    + "; check it, and put it in quotes, so that the shell leaves it as it is");
        }
        return !Stores.isRemote(source) && !Files.exists(Path.of(source))
                ? new InvalidIngestException(
                        "the source " + source + " does not exist; give a file, a directory or a pattern in quotes")
                : new NothingToIngestException("the source " + source + " contains no files");
    }
}
