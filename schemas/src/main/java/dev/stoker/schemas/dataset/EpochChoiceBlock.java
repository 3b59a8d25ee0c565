package dev.stoker.schemas.dataset;

import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.errors.ForeignFileException;
import dev.stoker.schemas.errors.FormatTooNewException;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.UUID;

/**
 * Replaces the {@linkplain EpochChoice choices} of {@value #EPOCHS} epochs of one group, so that the number of files
 * stays small however long a feed runs. The content depends only on the choices. Written once, as UTF-8, compact, with
 * the keys in this order:
 *
 * <pre>
 * {"self":"stoker.crc32c=…","format":1,"feed":…,"stream":…,"group":…,"first":…,"dataset":…,"versions":[…]}
 * </pre>
 *
 * @param pass feed, stream and group of the choices
 * @param first the first epoch, a multiple of {@value #EPOCHS}
 * @param dataset id of the dataset
 * @param versions the version of each epoch, from 1
 */
public record EpochChoiceBlock(EpochChoice.Pass pass, long first, UUID dataset, List<Long> versions) {

    /** The number of epochs in a block. */
    public static final int EPOCHS = 64;

    /** The format version that this release writes, and the newest that it reads. */
    public static final int FORMAT = 1;

    /** Maximum length of a block in bytes: the maximum length of a choice, and the versions. */
    public static final int MAX_BYTES = 1 << 15;

    private static final SealedJson FILES = new SealedJson("a block of choices of epochs' versions", FORMAT, MAX_BYTES);

    public EpochChoiceBlock {
        Objects.requireNonNull(pass, "pass");
        Objects.requireNonNull(dataset, "dataset");
        versions = List.copyOf(versions);
        if (first < 0 || first != firstOf(first)) {
            throw new IllegalArgumentException("no block of epochs begins with epoch " + first);
        }
        if (versions.size() != EPOCHS || versions.stream().anyMatch(version -> version < 1)) {
            throw new IllegalArgumentException(
                    "no block: " + versions.size() + " versions, expected " + EPOCHS + " versions from 1");
        }
    }

    /** Returns the first epoch of the block that an epoch belongs to. */
    public static long firstOf(long epoch) {
        return epoch - epoch % EPOCHS;
    }

    /** Returns the name of a block below the directory of feeds. */
    public static String name(EpochChoice.Pass pass, long first) {
        return pass.folder() + String.format(Locale.ROOT, "%020d-%020d.json", first, first + (EPOCHS - 1));
    }

    /** Returns the version of an epoch of this block. */
    public long version(long epoch) {
        return versions.get(Math.toIntExact(epoch - first));
    }

    /**
     * Returns the content of the file.
     *
     * @throws IllegalArgumentException if a name contains the mark of the self-checksum
     */
    public byte[] encode() {
        return FILES.encode(json -> {
            pass.write(json).put("first", first).put("dataset", dataset.toString());
            versions.forEach(json.putArray("versions")::add);
        });
    }

    /**
     * Reads the content of a block.
     *
     * @param file its name as the user knows it
     */
    public static EpochChoiceBlock decode(byte[] content, String file)
            throws CorruptDataException, ForeignFileException, FormatTooNewException {
        return FILES.decode(
                content,
                file,
                keys -> new EpochChoiceBlock(
                        EpochChoice.Pass.read(keys),
                        keys.number("first"),
                        keys.id("dataset"),
                        keys.numbers("versions", "a version")));
    }
}
