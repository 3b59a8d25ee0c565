package dev.stoker.feeder.plan;

import dev.stoker.metadata.version.DatasetReference;
import dev.stoker.metadata.version.VersionName;
import java.time.Instant;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A stream as it is typed: {@code [name=]path[@version][:split]}. The name is the split unless given, the split is
 * {@code train}, the version the newest.
 *
 * @param name name of the stream
 * @param dataset the dataset and its version; has a split
 */
public record StreamArgument(String name, DatasetReference dataset) {

    private static final Pattern SYNTAX = Pattern.compile("(?:(?<name>[A-Za-z0-9_][A-Za-z0-9_.-]*)=)?(?<dataset>.+)");

    private static final String USUAL_SPLIT = "train";

    /**
     * Parses a stream argument.
     *
     * @throws IllegalArgumentException if it has another form
     */
    public static StreamArgument parse(String text) {
        Matcher matcher = SYNTAX.matcher(text);
        Optional<DatasetReference> found =
                matcher.matches() ? DatasetReference.parse(matcher.group("dataset")) : Optional.empty();
        DatasetReference dataset = found.orElseThrow(() -> new IllegalArgumentException("'" + text
                + "' is not a stream: expected [name=]path[@version][:split], such as val=./data/photos:val"));
        String split = dataset.split().orElse(USUAL_SPLIT);
        String name = matcher.group("name") == null ? split : matcher.group("name");
        return new StreamArgument(name, new DatasetReference(dataset.path(), dataset.version(), Optional.of(split)));
    }

    /** Returns the same stream as of a time. A version that is named stays. */
    StreamArgument asOf(Instant time) {
        return new StreamArgument(name, dataset.asOf(time));
    }

    /** Returns the same stream in a version. A version that is named stays. */
    StreamArgument in(VersionName version) {
        return new StreamArgument(name, dataset.in(version));
    }

    /** Returns the directory or URI of the dataset. */
    public String path() {
        return dataset.path();
    }

    /** Returns the split. */
    public String split() {
        return dataset.split().orElse(USUAL_SPLIT);
    }
}
