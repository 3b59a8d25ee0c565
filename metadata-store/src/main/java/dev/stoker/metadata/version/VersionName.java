package dev.stoker.metadata.version;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.Tags;
import dev.stoker.schemas.dataset.Tag;
import dev.stoker.schemas.errors.StokerException;
import java.io.IOException;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * A version as people name it: its number or a tag.
 *
 * @param text a number of at most 18 digits, or the name of a tag
 */
public record VersionName(String text) {

    /** The syntax of names. */
    public static final String SYNTAX = "[0-9]{1,18}|" + Tag.NAME;

    private static final Pattern PATTERN = Pattern.compile(SYNTAX);
    private static final Pattern NUMBER = Pattern.compile("[0-9]+");

    public VersionName {
        if (!PATTERN.matcher(text).matches()) {
            throw new IllegalArgumentException(
                    "'" + text + "' is neither the number of a version nor the name of a tag");
        }
    }

    /** Returns the name of a version that has no tag. */
    public static VersionName of(long version) {
        return new VersionName(Long.toString(version));
    }

    /** Returns the number; empty for a tag. */
    public OptionalLong number() {
        return NUMBER.matcher(text).matches() ? OptionalLong.of(Long.parseLong(text)) : OptionalLong.empty();
    }

    /**
     * Returns the version. A number is returned unchanged, whether or not the dataset has such a version.
     *
     * @throws StokerException if the dataset has no such tag
     */
    public long in(Dataset dataset) throws IOException {
        if (number().isPresent()) {
            return number().getAsLong();
        }
        Tags tags = new Tags(dataset);
        Optional<Tag> tag = tags.find(text);
        if (tag.isEmpty()) {
            Set<String> known = tags.all().keySet();
            throw new StokerException("The dataset " + dataset.where() + " has no tag " + text + "; it has "
                    + (known.isEmpty() ? "no tags" : String.join(", ", known)));
        }
        return tag.get().version();
    }

    @Override
    public String toString() {
        return text;
    }
}
