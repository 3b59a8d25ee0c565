package dev.stoker.metadata;

import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.storage.ObjectIterator;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.Stores;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Records that a feed has delivered batches, in a small file next to its ledger. The feed writes the file before it
 * reports its first receipts as durable, and Stoker never removes it. If an audit finds the sign but not the ledger
 * file that it names, receipts were lost. Normative: {@code docs/formats/ledger.md}.
 *
 * @param where location of the sign, for messages
 * @param feed id of the feed
 * @param file name of the first ledger file with receipts
 */
public record DeliverySign(String where, UUID feed, String file) {

    private static final int MAX_BYTES = 4096;
    private static final String PREFIX = "delivered-";
    private static final String UUID_TEXT = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}";
    /** The default location of a ledger in the dataset. The sign survives the loss of the ledger's directory. */
    private static final Pattern IN_DATASET = Pattern.compile("(.+/" + DatasetLayout.FEEDS + UUID_TEXT + ")/[^/]+");

    private static final Pattern NAME = Pattern.compile(PREFIX + "(" + UUID_TEXT + ")\\.json");
    private static final Pattern CONTENT =
            Pattern.compile("\\{\"feed\":\"(" + UUID_TEXT + ")\",\"file\":\"(part-[0-9a-zA-Z.-]+\\.avro)\"\\}\n");

    /** Returns the directory or URI of the signs of a ledger's feeds. */
    static String place(String ledger) {
        Matcher matcher = IN_DATASET.matcher(ledger);
        return matcher.matches() ? matcher.group(1) : ledger;
    }

    /**
     * Writes the sign, unless the feed has already written one.
     *
     * @param ledger directory or URI of the ledger
     * @param feed id of the feed
     * @param file name of an existing ledger file with receipts
     */
    public static void leave(String ledger, UUID feed, String file) throws IOException {
        String content = "{\"feed\":\"" + feed + "\",\"file\":\"" + file + "\"}\n";
        try (ObjectStore store = Stores.open(place(ledger))) {
            store.createIfAbsent(PREFIX + feed + ".json", content.getBytes(StandardCharsets.UTF_8));
        }
    }

    /**
     * Finds the signs of a ledger.
     *
     * @param ledger directory or URI of the ledger, which need not exist
     * @param feed id of the feed whose sign is requested; empty for all feeds
     */
    public static List<DeliverySign> find(String ledger, Optional<UUID> feed) throws IOException {
        String place = place(ledger);
        List<DeliverySign> signs = new ArrayList<>();
        if (!Stores.isRemote(place) && !Files.isDirectory(Stores.local(place))) {
            return signs;
        }
        try (ObjectStore store = Stores.open(place);
                ObjectIterator objects = store.list(PREFIX)) {
            while (objects.hasNext()) {
                String name = objects.next().name();
                Matcher matcher = NAME.matcher(name);
                if (matcher.matches()
                        && feed.map(id -> id.toString().equals(matcher.group(1)))
                                .orElse(true)) {
                    signs.add(read(store, name));
                }
            }
        }
        return signs;
    }

    private static DeliverySign read(ObjectStore store, String name) throws IOException {
        String where = store.describe(name);
        String text = new String(store.readAll(name, MAX_BYTES), StandardCharsets.UTF_8);
        Matcher matcher = CONTENT.matcher(text);
        if (!matcher.matches()) {
            throw new CorruptDataException(where + " is damaged: expected the feed's id and the name of a ledger file;"
                    + " restore it from a copy");
        }
        return new DeliverySign(where, UUID.fromString(matcher.group(1)), matcher.group(2));
    }
}
