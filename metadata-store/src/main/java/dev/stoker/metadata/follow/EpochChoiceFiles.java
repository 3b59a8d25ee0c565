package dev.stoker.metadata.follow;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.DatasetLayout;
import dev.stoker.schemas.dataset.EpochChoice;
import dev.stoker.schemas.dataset.EpochChoiceBlock;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.errors.ForeignFileException;
import dev.stoker.schemas.errors.FormatTooNewException;
import dev.stoker.schemas.errors.StokerException;
import dev.stoker.storage.ObjectIterator;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.errors.NoSuchObjectException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The files with the choices of one pass: a choice has a separate file, or it is in the file of its block. If both
 * exist, the block counts. Thread-safe.
 */
final class EpochChoiceFiles {

    private static final Logger LOG = LoggerFactory.getLogger(EpochChoiceFiles.class);
    private static final Pattern NAME = Pattern.compile("([0-9]{20})(-[0-9]{20})?\\.json");
    private static final String LAST = String.format(Locale.ROOT, "%020d", Long.MAX_VALUE);

    private final ObjectStore store;
    private final UUID dataset;
    private final EpochChoice.Pass pass;

    EpochChoiceFiles(Dataset dataset, EpochChoice.Pass pass) {
        this.store = dataset.store();
        this.dataset = dataset.info().id();
        this.pass = pass;
    }

    /**
     * The files that existed at one time.
     *
     * @param single epochs whose choices have separate files
     * @param blocks the first epochs of the blocks
     */
    record Listing(NavigableSet<Long> single, NavigableSet<Long> blocks) {

        /** Returns epochs with choices. Of each block they include at least the first and the last epoch. */
        NavigableSet<Long> epochs() {
            NavigableSet<Long> epochs = new TreeSet<>(single);
            for (long first : blocks) {
                epochs.add(first);
                epochs.add(first + (EpochChoiceBlock.EPOCHS - 1));
            }
            return epochs;
        }
    }

    /** Returns all files, although other processes replace choices by blocks. */
    Listing list() throws IOException {
        Listing listing = new Listing(new TreeSet<>(), new TreeSet<>());
        // A block that replaces choices during the first listing is in the second one.
        list(listing);
        list(listing);
        return listing;
    }

    private void list(Listing listing) throws IOException {
        String folder = DatasetLayout.FEEDS + pass.folder();
        try (ObjectIterator names = store.list(folder)) {
            while (names.hasNext()) {
                Matcher matcher = NAME.matcher(names.next().name().substring(folder.length()));
                if (matcher.matches() && matcher.group(1).compareTo(LAST) <= 0) {
                    long epoch = Long.parseLong(matcher.group(1));
                    if (matcher.group(2) == null) {
                        listing.single().add(epoch);
                    } else {
                        listing.blocks().add(EpochChoiceBlock.firstOf(epoch));
                    }
                }
            }
        }
    }

    /**
     * Returns the version of an epoch, if one was chosen.
     *
     * @throws dev.stoker.schemas.errors.StokerException if the file is damaged, or belongs to another pass
     */
    OptionalLong find(long epoch) throws IOException {
        // A process that has found no choice can write one after another process has replaced the choice by a block.
        // The block is therefore read last, and counts.
        Optional<byte[]> single = read(pass.name(epoch), EpochChoice.MAX_BYTES);
        Optional<EpochChoiceBlock> block = block(EpochChoiceBlock.firstOf(epoch));
        if (block.isPresent()) {
            return OptionalLong.of(block.get().version(epoch));
        }
        return single.isPresent() ? OptionalLong.of(decode(single.get(), epoch)) : OptionalLong.empty();
    }

    /**
     * Returns all versions, by epoch.
     *
     * @param damaged receives the errors of files that are damaged or foreign
     */
    NavigableMap<Long, Long> all(Consumer<StokerException> damaged) throws IOException {
        NavigableMap<Long, Long> versions = new TreeMap<>();
        Listing listing = list();
        for (long first : listing.blocks()) {
            reporting(
                    damaged,
                    () -> block(first).ifPresent(block -> {
                        for (long epoch = first; epoch - first < EpochChoiceBlock.EPOCHS; epoch++) {
                            versions.put(epoch, block.version(epoch));
                        }
                    }));
        }
        for (long epoch : listing.single()) {
            if (!listing.blocks().contains(EpochChoiceBlock.firstOf(epoch))) {
                reporting(damaged, () -> find(epoch).ifPresent(version -> versions.put(epoch, version)));
            }
        }
        return versions;
    }

    private interface Reading {
        void run() throws IOException;
    }

    private static void reporting(Consumer<StokerException> damaged, Reading reading) throws IOException {
        try {
            reading.run();
        } catch (CorruptDataException | ForeignFileException | FormatTooNewException e) {
            damaged.accept(e);
        }
    }

    private Optional<byte[]> read(String name, int limit) throws IOException {
        try {
            return Optional.of(store.readAll(DatasetLayout.FEEDS + name, limit));
        } catch (NoSuchObjectException e) {
            return Optional.empty();
        }
    }

    private String describe(String name) {
        return store.describe(DatasetLayout.FEEDS + name);
    }

    private long decode(byte[] content, long epoch) throws IOException {
        String file = describe(pass.name(epoch));
        EpochChoice choice;
        try {
            choice = EpochChoice.decode(content, file);
        } catch (CorruptDataException e) {
            throw lost(e, "the epoch writes it");
        }
        if (!choice.pass().equals(pass)
                || choice.epoch() != epoch
                || !choice.dataset().equals(dataset)) {
            throw new ForeignFileException(
                    file,
                    "the choice of epoch " + epoch + " of " + pass,
                    "it is the choice of epoch " + choice.epoch() + " of " + choice.pass() + ", dataset "
                            + choice.dataset());
        }
        return choice.version();
    }

    private Optional<EpochChoiceBlock> block(long first) throws IOException {
        String name = EpochChoiceBlock.name(pass, first);
        Optional<byte[]> content = read(name, EpochChoiceBlock.MAX_BYTES);
        if (content.isEmpty()) {
            return Optional.empty();
        }
        EpochChoiceBlock block;
        try {
            block = EpochChoiceBlock.decode(content.get(), describe(name));
        } catch (CorruptDataException e) {
            throw lost(e, "one of its epochs writes the choice of that epoch");
        }
        if (!block.pass().equals(pass)
                || block.first() != first
                || !block.dataset().equals(dataset)) {
            throw new ForeignFileException(
                    describe(name),
                    "the choices of " + EpochChoiceBlock.EPOCHS + " epochs from " + first + " of " + pass,
                    "it has the choices from epoch " + block.first() + " of " + block.pass() + ", dataset "
                            + block.dataset());
        }
        return Optional.of(block);
    }

    private static CorruptDataException lost(CorruptDataException e, String writes) {
        return new CorruptDataException(
                e.getMessage() + "; if there is no copy, delete it: a trainer that resumes in " + writes
                        + " again from its state",
                e);
    }

    /** Writes a choice, unless there is one. {@link #find} returns the choice that exists then. */
    void create(EpochChoice choice) throws IOException {
        store.createIfAbsent(DatasetLayout.FEEDS + pass.name(choice.epoch()), choice.encode());
    }

    /** Returns where the choice of an epoch is, or would be. */
    String where(long epoch) {
        return describe(pass.name(epoch));
    }

    /**
     * Replaces the choices of each complete block by one file, except for the block of the given epoch. A failure
     * leaves the choices as they are; a later call repeats the work.
     */
    void combine(Listing listing, long epoch) {
        long present = EpochChoiceBlock.firstOf(epoch);
        NavigableSet<Long> firsts = new TreeSet<>();
        listing.single().forEach(single -> firsts.add(EpochChoiceBlock.firstOf(single)));
        firsts.remove(present);
        for (long first : firsts) {
            NavigableSet<Long> epochs =
                    listing.single().subSet(first, true, first + (EpochChoiceBlock.EPOCHS - 1), true);
            try {
                if (listing.blocks().contains(first)
                        || (epochs.size() == EpochChoiceBlock.EPOCHS && write(first, epochs))) {
                    remove(first, epochs);
                }
            } catch (IOException e) {
                LOG.warn("{}: the choices of the epochs from {} stay in separate files: {}", pass, first, e.toString());
            }
        }
    }

    /** Returns whether the block could be written, or was there. */
    private boolean write(long first, NavigableSet<Long> epochs) throws IOException {
        List<Long> versions = new ArrayList<>();
        for (long epoch : epochs) {
            Optional<byte[]> single = read(pass.name(epoch), EpochChoice.MAX_BYTES);
            if (single.isEmpty()) {
                return false;
            }
            versions.add(decode(single.get(), epoch));
        }
        EpochChoiceBlock block = new EpochChoiceBlock(pass, first, dataset, versions);
        store.createIfAbsent(DatasetLayout.FEEDS + EpochChoiceBlock.name(pass, first), block.encode());
        return true;
    }

    private void remove(long first, NavigableSet<Long> epochs) throws IOException {
        if (block(first).isPresent()) {
            for (long epoch : epochs) {
                store.delete(DatasetLayout.FEEDS + pass.name(epoch));
            }
        }
    }
}
