package dev.stoker.metadata.ledger;

import dev.stoker.metadata.DatasetLayout;
import dev.stoker.storage.ObjectIterator;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.Stores;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Records that a feed has delivered batches of an epoch, in a small file next to its ledger. The feed writes the file
 * before it reports the first receipts of the epoch as durable, and Stoker never removes it. If an audit finds the sign
 * but not the ledger file that it names, receipts were lost. A reader uses only the name of the sign. Normative:
 * {@code docs/formats/ledger.md}.
 *
 * @param where location of the sign, for messages
 * @param feed id of the feed
 * @param epoch epoch of the receipts in the file
 * @param file name of the ledger file
 */
public record DeliverySign(String where, UUID feed, long epoch, String file) {

    private static final String PREFIX = "delivered-";
    private static final String FILE_PREFIX = "part-";
    private static final String FILE_SUFFIX = ".avro";
    private static final String UUID_TEXT = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}";
    /** The default location of a ledger in the dataset. The sign survives the loss of the ledger's directory. */
    private static final Pattern IN_DATASET = Pattern.compile("(.+/" + DatasetLayout.FEEDS + UUID_TEXT + ")/[^/]+");

    private static final Pattern NAME =
            Pattern.compile(PREFIX + "(" + UUID_TEXT + ")-([0-9]{1,18})-([0-9a-zA-Z.-]+)\\.json");

    /** Returns the directory or URI of the signs of a ledger's feeds. */
    static String place(String ledger) {
        Matcher matcher = IN_DATASET.matcher(ledger);
        return matcher.matches() ? matcher.group(1) : ledger;
    }

    /**
     * Writes the sign, unless it exists.
     *
     * @param ledger directory or URI of the ledger
     * @param feed id of the feed
     * @param epoch the epoch that the file has receipts of
     * @param file name of an existing ledger file
     */
    public static void leave(String ledger, UUID feed, long epoch, String file) throws IOException {
        if (!file.startsWith(FILE_PREFIX) || !file.endsWith(FILE_SUFFIX)) {
            throw new IllegalArgumentException("Not the name of a ledger file: " + file);
        }
        String part = file.substring(FILE_PREFIX.length(), file.length() - FILE_SUFFIX.length());
        String content = "{\"feed\":\"" + feed + "\",\"epoch\":" + epoch + ",\"file\":\"" + file + "\"}\n";
        try (ObjectStore store = Stores.open(place(ledger))) {
            store.createIfAbsent(
                    PREFIX + feed + "-" + epoch + "-" + part + ".json", content.getBytes(StandardCharsets.UTF_8));
        }
    }

    /**
     * Finds the signs of a ledger.
     *
     * @param ledger directory or URI of the ledger, which need not exist
     * @param feed id of the feed whose signs are requested; empty for all feeds
     */
    public static List<DeliverySign> find(String ledger, Optional<UUID> feed) throws IOException {
        String place = place(ledger);
        List<DeliverySign> signs = new ArrayList<>();
        if (!Stores.isRemote(place) && !Files.isDirectory(Stores.local(place))) {
            return signs;
        }
        try (ObjectStore store = Stores.open(place);
                ObjectIterator objects =
                        store.list(PREFIX + feed.map(UUID::toString).orElse(""))) {
            while (objects.hasNext()) {
                String name = objects.next().name();
                Matcher matcher = NAME.matcher(name);
                if (matcher.matches()) {
                    signs.add(new DeliverySign(
                            store.describe(name),
                            UUID.fromString(matcher.group(1)),
                            Long.parseLong(matcher.group(2)),
                            FILE_PREFIX + matcher.group(3) + FILE_SUFFIX));
                }
            }
        }
        signs.sort(Comparator.comparingLong(DeliverySign::epoch).thenComparing(DeliverySign::where));
        return signs;
    }
}
