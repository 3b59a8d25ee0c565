package dev.stoker.schemas.dataset;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.errors.ForeignFileException;
import dev.stoker.schemas.errors.FormatTooNewException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Instant;
import java.util.HexFormat;
import java.util.Locale;
import java.util.Objects;
import java.util.UUID;

/**
 * Records the version of the dataset that a following feed reads in one epoch of one group. Written once, as UTF-8,
 * compact, with the keys in this order:
 *
 * <pre>
 * {"self":"stoker.crc32c=…","format":1,"feed":…,"stream":…,"group":…,"epoch":…,"dataset":…,"version":…,"chosen":…}
 * </pre>
 *
 * @param pass feed, stream and group of the choice
 * @param epoch the epoch, from 0
 * @param dataset id of the dataset
 * @param version the version, from 1
 * @param chosen time of the choice, in whole milliseconds
 */
public record EpochChoice(Pass pass, long epoch, UUID dataset, long version, Instant chosen) {

    /** The format version that this release writes, and the newest that it reads. */
    public static final int FORMAT = 1;

    /** Maximum length of a choice. */
    public static final int MAX_BYTES = 1 << 14;

    private static final SealedJson FILES = new SealedJson("the choice of an epoch's version", FORMAT, MAX_BYTES);
    private static final int KEY_DIGITS = 32;

    /**
     * Identifies one pass of a group over a stream of a feed.
     *
     * @param feed id of the feed
     * @param stream name of the stream
     * @param group name of the group
     */
    public record Pass(UUID feed, String stream, String group) {
        public Pass {
            Objects.requireNonNull(feed, "feed");
            Objects.requireNonNull(stream, "stream");
            Objects.requireNonNull(group, "group");
        }

        /** Returns the directory of its choices below the directory of feeds, with a slash at the end. */
        public String folder() {
            byte[] text = (stream + "\n" + group).getBytes(StandardCharsets.UTF_8);
            try {
                byte[] digest = MessageDigest.getInstance("SHA-256").digest(text);
                return feed + "/epochs/" + HexFormat.of().formatHex(digest).substring(0, KEY_DIGITS) + "/";
            } catch (NoSuchAlgorithmException e) {
                throw new IllegalStateException("every Java platform has SHA-256", e);
            }
        }

        /** Returns the name of an epoch's choice below the directory of feeds. */
        public String name(long epoch) {
            return folder() + String.format(Locale.ROOT, "%020d.json", epoch);
        }

        /** Adds the keys of the pass to those of a file, and returns them. */
        ObjectNode write(ObjectNode json) {
            return json.put("feed", feed.toString()).put("stream", stream).put("group", group);
        }

        static Pass read(JsonKeys keys) {
            return new Pass(keys.id("feed"), keys.text("stream"), keys.text("group"));
        }

        @Override
        public String toString() {
            return "stream " + stream + ", group " + group;
        }
    }

    public EpochChoice {
        Objects.requireNonNull(pass, "pass");
        Objects.requireNonNull(dataset, "dataset");
        if (epoch < 0 || version < 1) {
            throw new IllegalArgumentException("no choice: epoch " + epoch + ", version " + version);
        }
        SealedJson.requireMillis("The time of the choice", chosen);
    }

    /**
     * Returns the content of the file.
     *
     * @throws IllegalArgumentException if a name contains the mark of the self-checksum
     */
    public byte[] encode() {
        return FILES.encode(json -> pass.write(json)
                .put("epoch", epoch)
                .put("dataset", dataset.toString())
                .put("version", version)
                .put("chosen", SealedJson.time(chosen)));
    }

    /**
     * Reads the content of a choice.
     *
     * @param file its name as the user knows it
     */
    public static EpochChoice decode(byte[] content, String file)
            throws CorruptDataException, ForeignFileException, FormatTooNewException {
        return FILES.decode(
                content,
                file,
                keys -> new EpochChoice(
                        Pass.read(keys),
                        keys.number("epoch"),
                        keys.id("dataset"),
                        keys.number("version"),
                        keys.time("chosen")));
    }
}
