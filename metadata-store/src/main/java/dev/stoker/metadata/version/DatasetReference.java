package dev.stoker.metadata.version;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.Snapshot;
import dev.stoker.storage.Stores;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A dataset as it is typed: {@code path[@version][:split]}. A directory of this machine whose own name has this form is
 * a path.
 *
 * @param path directory or URI
 * @param version number or tag of the version, if one is given
 * @param split the split, if one is given
 * @param asOf the time of the version, if an option gives one; not part of the typed text
 */
public record DatasetReference(
        String path, Optional<VersionName> version, Optional<String> split, Optional<Instant> asOf) {

    /** A URI without a path: the number at its end is a port and no split. */
    private static final String HOST_AND_PORT = "[A-Za-z][A-Za-z0-9+.-]+://[^/:@]+:[0-9]+(?=[@:]|$)";

    /** A URI without a path: the text before an {@code @} is a user, and the text behind it is a host. */
    private static final Pattern USER = Pattern.compile("[A-Za-z][A-Za-z0-9+.-]+://[^/:]*");

    private static final Pattern WITHOUT_SPLIT = Pattern.compile("(?<path>.+)@(?<version>" + VersionName.SYNTAX + ")");

    private static final Pattern SYNTAX = Pattern.compile("(?<path>" + HOST_AND_PORT + "|.+?)(?:@(?<version>"
            + VersionName.SYNTAX + "))?(?::(?<split>[A-Za-z0-9_.-]+))?");

    /** A dataset of which no time is given. */
    public DatasetReference(String path, Optional<VersionName> version, Optional<String> split) {
        this(path, version, split, Optional.empty());
    }

    /** Parses a text; empty if it has another form. */
    public static Optional<DatasetReference> parse(String text) {
        Matcher matcher = SYNTAX.matcher(text);
        if (!matcher.matches()) {
            return Optional.empty();
        }
        if (matcher.group("split") != null && isDirectory(text)) {
            return Optional.of(new DatasetReference(text, Optional.empty(), Optional.empty()));
        }
        Optional<VersionName> version =
                Optional.ofNullable(matcher.group("version")).map(VersionName::new);
        return Optional.of(of(matcher.group("path"), version, Optional.ofNullable(matcher.group("split"))));
    }

    /** Parses {@code path[@version]}: a colon belongs to the path. */
    public static DatasetReference withoutSplit(String text) {
        Matcher matcher = WITHOUT_SPLIT.matcher(text);
        return matcher.matches()
                ? of(matcher.group("path"), Optional.of(new VersionName(matcher.group("version"))), Optional.empty())
                : new DatasetReference(text, Optional.empty(), Optional.empty());
    }

    private static DatasetReference of(String path, Optional<VersionName> version, Optional<String> split) {
        if (version.isPresent()) {
            String whole = path + "@" + version.get();
            boolean isTag = version.get().number().isEmpty();
            if ((isTag && USER.matcher(path).matches()) || isDirectory(whole)) {
                return new DatasetReference(whole, Optional.empty(), split);
            }
        }
        return new DatasetReference(path, version, split);
    }

    private static boolean isDirectory(String path) {
        try {
            return !Stores.isRemote(path) && Files.isDirectory(Path.of(path));
        } catch (InvalidPathException e) {
            return false;
        }
    }

    /** Returns the same dataset as of a time. A version that is named stays. */
    public DatasetReference asOf(Instant time) {
        return new DatasetReference(path, version, split, version.isPresent() ? Optional.empty() : Optional.of(time));
    }

    /** Returns the same dataset in a version. A version that is named stays. */
    public DatasetReference in(VersionName name) {
        return version.isPresent() ? this : new DatasetReference(path, Optional.of(name), split);
    }

    /** Returns the version that is named or that was the newest at the given time, or else the newest one. */
    public Snapshot open(Dataset dataset) throws IOException {
        if (version.isPresent()) {
            return dataset.snapshot(version.get().in(dataset));
        }
        return asOf.isPresent() ? dataset.snapshot(VersionTimes.find(dataset, asOf.get())) : dataset.snapshot();
    }
}
