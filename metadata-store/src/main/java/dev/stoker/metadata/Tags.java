package dev.stoker.metadata;

import dev.stoker.schemas.dataset.Tag;
import dev.stoker.schemas.errors.ForeignFileException;
import dev.stoker.storage.ObjectIterator;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.errors.NoSuchObjectException;
import dev.stoker.storage.errors.UnknownOutcomeException;
import java.io.IOException;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Manages the tags of a dataset. Each change of a tag creates the file with the next number with one create-if-absent.
 * Of two changes at a time, one fails. If a process dies during a change, the tag has its old or its new version.
 * Normative: {@code docs/formats/dataset.md}, "Tags". Thread-safe.
 */
public final class Tags {

    private static final Logger LOG = LoggerFactory.getLogger(Tags.class);
    private static final int READ_BACKS = 5;
    private static final Pattern FILE =
            Pattern.compile(Pattern.quote(DatasetLayout.TAGS) + "(" + Tag.NAME + ")/0([0-9]{19})\\.json");

    /** Says whether a tag may name another version before it is set. */
    public enum Mode {
        /** The tag does not exist, or names the same version. */
        CREATE,
        /** The tag may name another version. */
        MOVE
    }

    private final Dataset dataset;
    private final ObjectStore store;

    public Tags(Dataset dataset) {
        this.dataset = dataset;
        this.store = dataset.store();
    }

    /**
     * Returns all tags, by name.
     *
     * @throws dev.stoker.schemas.errors.StokerException if a file is damaged, foreign or too new
     */
    public NavigableMap<String, Tag> all() throws IOException {
        NavigableMap<String, Tag> tags = new TreeMap<>();
        for (String name : numbers(DatasetLayout.TAGS).keySet()) {
            find(name).ifPresent(tag -> tags.put(name, tag));
        }
        return tags;
    }

    /**
     * Returns the newest change of each tag, by name. The change may have deleted the tag.
     *
     * @throws dev.stoker.schemas.errors.StokerException if a file is damaged, foreign or too new
     */
    public NavigableMap<String, Tag> changes() throws IOException {
        NavigableMap<String, Tag> changes = new TreeMap<>();
        for (String name : numbers(DatasetLayout.TAGS).keySet()) {
            newest(name).ifPresent(tag -> changes.put(name, tag));
        }
        return changes;
    }

    /**
     * Makes a change that was made at the source of this copy. The caller keeps the version's chunks.
     *
     * @param change the change at the source; the number is greater here if other changes were made here
     * @throws TagExistsException if another process has just made another change
     */
    public void adopt(Tag change) throws IOException {
        long number =
                Math.max(change.number(), newest(change.name()).map(Tag::number).orElse(0L) + 1);
        Tag own = new Tag(change.dataset(), change.name(), number, change.version(), change.created(), change.by());
        try {
            create(own);
        } catch (TagExistsException e) {
            // Another copy may have been faster.
            if (!newest(own.name()).filter(own::equals).isPresent()) {
                throw e;
            }
        }
        deleteBefore(own);
    }

    /**
     * Returns a tag, if it exists.
     *
     * @throws dev.stoker.schemas.errors.StokerException if its file is damaged, foreign or too new
     */
    public Optional<Tag> find(String name) throws IOException {
        return newest(name).filter(tag -> !tag.isDeleted());
    }

    /**
     * Gives a version a name.
     *
     * @param by user and host, for people
     * @return the tag, which may have existed before
     * @throws TagExistsException if the tag names another version and may not be moved, or another process has just
     *     changed it
     * @throws UnknownVersionException if the dataset has no such version
     * @throws ExpiredVersionException if the version was expired
     */
    public Tag set(String name, long version, Mode mode, InstantSource clock, String by) throws IOException {
        // Throws an exception if there is no such version.
        dataset.entry(version);
        dataset.log().requireNewest(dataset.latestVersion());
        Optional<Tag> before = newest(name);
        if (before.isPresent() && before.get().version() == version) {
            return before.get();
        }
        if (mode == Mode.CREATE && before.isPresent() && !before.get().isDeleted()) {
            throw new TagExistsException(dataset.where(), before.get());
        }
        return change(name, before, version, clock, by);
    }

    /**
     * Deletes a tag. Its version stays.
     *
     * @return the tag before; empty if it does not exist
     * @throws TagExistsException if another process has just changed it
     */
    public Optional<Tag> delete(String name, InstantSource clock, String by) throws IOException {
        Optional<Tag> before = newest(name);
        if (before.isEmpty() || before.get().isDeleted()) {
            return Optional.empty();
        }
        change(name, before, 0, clock, by);
        return before;
    }

    private Tag change(String name, Optional<Tag> before, long version, InstantSource clock, String by)
            throws IOException {
        long number = before.map(Tag::number).orElse(0L) + 1;
        Tag tag = new Tag(
                dataset.info().id(), name, number, version, clock.instant().truncatedTo(ChronoUnit.MILLIS), by);
        create(tag);
        if (!tag.isDeleted()) {
            // Check after the tag exists: garbage collection reads the tags after the log.
            try {
                dataset.requireNeverExpired(version);
            } catch (ExpiredVersionException e) {
                store.delete(file(name, number));
                throw e;
            }
        }
        deleteBefore(tag);
        return tag;
    }

    /** Deletes the files of earlier changes. The file before stays, so that a listing during a change finds a file. */
    private void deleteBefore(Tag tag) throws IOException {
        NavigableSet<Long> numbers = own(tag.name());
        Long before = numbers.lower(tag.number());
        for (long old : before == null ? numbers.headSet(0L) : numbers.headSet(before)) {
            try {
                store.delete(file(tag.name(), old));
            } catch (IOException e) {
                LOG.warn(
                        "An old file of tag {} was not deleted; the next change deletes it: {}",
                        tag.name(),
                        e.toString());
            }
        }
    }

    /** Creates the file of a change, unless another process has made a change of this number. */
    private void create(Tag tag) throws IOException {
        String file = file(tag.name(), tag.number());
        IOException unknown = null;
        for (int attempt = 0; attempt <= READ_BACKS; attempt++) {
            try {
                if (store.createIfAbsent(file, tag.encode())) {
                    return;
                }
            } catch (UnknownOutcomeException e) {
                unknown = e;
            }
            try {
                Tag found = read(tag.name(), tag.number());
                if (unknown != null && found.equals(tag)) {
                    return;
                }
                throw new TagExistsException(dataset.where(), found);
            } catch (NoSuchObjectException e) {
                LOG.debug("{} is not there yet", store.describe(file));
            }
        }
        throw new IOException(store.describe(file) + " was written, but is not there", unknown);
    }

    /** Returns the newest change of a tag. */
    private Optional<Tag> newest(String name) throws IOException {
        for (int attempt = 0; attempt <= READ_BACKS; attempt++) {
            NavigableSet<Long> numbers = own(name);
            if (numbers.isEmpty()) {
                return Optional.empty();
            }
            try {
                return Optional.of(read(name, numbers.last()));
            } catch (NoSuchObjectException e) {
                LOG.debug("Tag {} was changed twice while it was read", name);
            }
        }
        throw new IOException("Tag " + name + " of " + dataset.where() + " changes too often to be read");
    }

    private Tag read(String name, long number) throws IOException {
        String file = store.describe(file(name, number));
        Tag tag = Tag.decode(store.readAll(file(name, number), Tag.MAX_BYTES), file);
        if (!tag.dataset().equals(dataset.info().id()) || !tag.name().equals(name) || tag.number() != number) {
            throw new ForeignFileException(
                    file,
                    "change " + number + " of tag " + name + " of dataset "
                            + dataset.info().id(),
                    "it is change " + tag.number() + " of tag " + tag.name() + " of dataset " + tag.dataset());
        }
        return tag;
    }

    private static String file(String name, long number) {
        return DatasetLayout.TAGS + Tag.file(name, number);
    }

    private NavigableSet<Long> own(String name) throws IOException {
        return numbers(DatasetLayout.TAGS + Tag.checkName(name) + "/").getOrDefault(name, new TreeSet<>());
    }

    /** Returns the numbers of the changes by tag. Lists twice, in case changes are made during the first listing. */
    private NavigableMap<String, NavigableSet<Long>> numbers(String prefix) throws IOException {
        NavigableMap<String, NavigableSet<Long>> numbers = new TreeMap<>();
        for (int pass = 0; pass < 2; pass++) {
            try (ObjectIterator objects = store.list(prefix)) {
                while (objects.hasNext()) {
                    Matcher matcher = FILE.matcher(objects.next().name());
                    if (matcher.matches()) {
                        numbers.computeIfAbsent(matcher.group(1), name -> new TreeSet<>())
                                .add(Long.parseLong(matcher.group(2)));
                    }
                }
            }
        }
        return numbers;
    }
}
