package dev.stoker.schemas.dataset;

import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.errors.ForeignFileException;
import dev.stoker.schemas.errors.FormatTooNewException;
import java.time.Instant;
import java.util.Locale;
import java.util.Objects;
import java.util.UUID;
import java.util.regex.Pattern;

/**
 * Gives a version of a dataset a name. Each change of a tag is a file with the next number; the file with the greatest
 * number counts. Written once, as UTF-8, compact, with the keys in this order:
 *
 * <pre>
 * {"self":"stoker.crc32c=…","format":1,"dataset":…,"name":…,"number":…,"version":…,"created":…,"by":…}
 * </pre>
 *
 * @param dataset id of the dataset
 * @param name name of the tag
 * @param number number of the change, from 1
 * @param version the version; 0 if the change deleted the tag
 * @param created time of the change, in whole milliseconds
 * @param by user and host, for people
 */
public record Tag(UUID dataset, String name, long number, long version, Instant created, String by) {

    /** The format version that this release writes, and the newest that it reads. */
    public static final int FORMAT = 1;

    /** Maximum length of a file. */
    public static final int MAX_BYTES = 1 << 14;

    /** The syntax of names. A name begins with a letter, so that it is no number of a version. */
    public static final String NAME = "[A-Za-z][A-Za-z0-9._-]{0,127}";

    private static final Pattern NAME_PATTERN = Pattern.compile(NAME);
    private static final SealedJson FILES = new SealedJson("a tag of a version", FORMAT, MAX_BYTES);

    public Tag {
        Objects.requireNonNull(dataset, "dataset");
        Objects.requireNonNull(by, "by");
        checkName(name);
        if (number < 1 || version < 0) {
            throw new IllegalArgumentException("no tag: change " + number + ", version " + version);
        }
        SealedJson.requireMillis("The time of the tag", created);
    }

    /**
     * Returns the name if it is valid.
     *
     * @throws IllegalArgumentException unless it has 1 to 128 letters, digits, {@code .}, {@code _}, {@code -} and
     *     begins with a letter
     */
    public static String checkName(String name) {
        if (!NAME_PATTERN.matcher(name).matches()) {
            throw new IllegalArgumentException("Not the name of a tag: '" + name
                    + "'; use 1 to 128 letters, digits, '.', '_' and '-', beginning with a letter");
        }
        return name;
    }

    /** Returns whether this change deleted the tag. */
    public boolean isDeleted() {
        return version == 0;
    }

    /** Returns the name of the file of a change, below the directory of tags. */
    public static String file(String name, long number) {
        return checkName(name) + "/" + String.format(Locale.ROOT, "%020d.json", number);
    }

    /**
     * Returns the content of the file.
     *
     * @throws IllegalArgumentException if a text contains the mark of the self-checksum
     */
    public byte[] encode() {
        return FILES.encode(json -> json.put("dataset", dataset.toString())
                .put("name", name)
                .put("number", number)
                .put("version", version)
                .put("created", SealedJson.time(created))
                .put("by", by));
    }

    /**
     * Reads the content of a file.
     *
     * @param file its name as the user knows it
     */
    public static Tag decode(byte[] content, String file)
            throws CorruptDataException, ForeignFileException, FormatTooNewException {
        return FILES.decode(
                content,
                file,
                keys -> new Tag(
                        keys.id("dataset"),
                        keys.text("name"),
                        keys.number("number"),
                        keys.number("version"),
                        keys.time("created"),
                        keys.text("by")));
    }
}
