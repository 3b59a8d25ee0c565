package dev.stoker.metadata;

import dev.stoker.schemas.dataset.EpochChoice;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.errors.ForeignFileException;
import dev.stoker.schemas.errors.FormatTooNewException;
import dev.stoker.schemas.errors.StokerException;
import dev.stoker.storage.NoSuchObjectException;
import dev.stoker.storage.ObjectIterator;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.UnknownOutcomeException;
import java.io.IOException;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.Locale;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Chooses and finds the versions that one pass of a following feed reads, epoch by epoch. The first reader of an epoch
 * makes the choice with one create-if-absent in the dataset's store, so all readers get the same version. Thread-safe.
 */
public final class EpochVersions {

    private static final int READ_BACKS = 5;
    private static final Pattern NAME = Pattern.compile("([0-9]{20})\\.json");
    private static final String LAST = String.format(Locale.ROOT, "%020d", Long.MAX_VALUE);

    private final Dataset dataset;
    private final ObjectStore store;
    private final EpochChoice.Pass pass;
    private final InstantSource clock;

    /** Checks a version before it is chosen. */
    public interface Check {
        void accept(long version) throws IOException;
    }

    public EpochVersions(Dataset dataset, EpochChoice.Pass pass, InstantSource clock) {
        this.dataset = dataset;
        this.store = dataset.store();
        this.pass = pass;
        this.clock = clock;
    }

    /**
     * Returns the version of an epoch, if one was chosen.
     *
     * @throws dev.stoker.schemas.errors.StokerException if the choice is damaged, or belongs to another pass
     */
    public OptionalLong find(long epoch) throws IOException {
        Optional<EpochChoice> choice = read(epoch);
        return choice.isPresent() ? OptionalLong.of(choice.get().version()) : OptionalLong.empty();
    }

    /**
     * Returns the version of an epoch, and chooses it if necessary. The choice is the wanted version, or else the
     * newest one. If neighbouring epochs have choices, it is no newer than that of the next later epoch, and no older
     * than that of the next earlier one.
     *
     * @param wanted the version of this epoch in a trainer's state
     * @param check checks a version before it is chosen
     * @throws OtherVersionException if another version than the wanted one was chosen
     * @throws UnknownVersionException if the dataset has no such version
     * @throws dev.stoker.schemas.errors.StokerException if a choice is damaged, or belongs to another pass
     */
    public long choose(long epoch, OptionalLong wanted, Check check) throws IOException {
        OptionalLong known = find(epoch);
        if (known.isEmpty()) {
            long version = wanted.isPresent() ? existing(wanted.getAsLong()) : newest(epoch);
            check.accept(version);
            known = OptionalLong.of(create(epoch, version));
        }
        if (wanted.isPresent() && wanted.getAsLong() != known.getAsLong()) {
            throw new OtherVersionException(pass, epoch, known.getAsLong(), wanted.getAsLong());
        }
        return known.getAsLong();
    }

    /**
     * Returns all choices of the pass, by epoch.
     *
     * @param damaged receives the errors of choices that are damaged or foreign
     */
    public NavigableMap<Long, Long> all(Consumer<StokerException> damaged) throws IOException {
        NavigableMap<Long, Long> versions = new TreeMap<>();
        for (long epoch : epochs().keySet()) {
            try {
                find(epoch).ifPresent(version -> versions.put(epoch, version));
            } catch (CorruptDataException | ForeignFileException | FormatTooNewException e) {
                damaged.accept(e);
            }
        }
        return versions;
    }

    private long existing(long version) throws IOException {
        long newest = dataset.latestVersion();
        if (version < 1 || version > newest) {
            throw new UnknownVersionException(dataset.where(), version, newest);
        }
        return version;
    }

    private long newest(long epoch) throws IOException {
        long newest = dataset.latestVersion();
        if (newest == 0) {
            throw new UnknownVersionException(dataset.where(), 0, 0);
        }
        NavigableMap<Long, String> epochs = epochs();
        Long before = epochs.lowerKey(epoch);
        Long after = epochs.higherKey(epoch);
        if (after != null) {
            newest = Math.min(newest, find(after).orElse(newest));
        }
        return before == null ? newest : Math.max(newest, find(before).orElse(newest));
    }

    private NavigableMap<Long, String> epochs() throws IOException {
        String folder = DatasetLayout.FEEDS + pass.folder();
        NavigableMap<Long, String> epochs = new TreeMap<>();
        try (ObjectIterator names = store.list(folder)) {
            while (names.hasNext()) {
                String name = names.next().name();
                Matcher matcher = NAME.matcher(name.substring(folder.length()));
                if (matcher.matches() && matcher.group(1).compareTo(LAST) <= 0) {
                    epochs.put(Long.parseLong(matcher.group(1)), name);
                }
            }
        }
        return epochs;
    }

    /** Writes the choice, unless another process was faster. Returns the stored choice. */
    private long create(long epoch, long version) throws IOException {
        EpochChoice choice = new EpochChoice(
                pass, epoch, dataset.info().id(), version, clock.instant().truncatedTo(ChronoUnit.MILLIS));
        byte[] content = choice.encode();
        IOException unknown = null;
        for (int attempt = 0; attempt <= READ_BACKS; attempt++) {
            try {
                store.createIfAbsent(DatasetLayout.FEEDS + pass.name(epoch), content);
            } catch (UnknownOutcomeException e) {
                unknown = e;
            }
            OptionalLong known = find(epoch);
            if (known.isPresent()) {
                return known.getAsLong();
            }
        }
        throw new IOException(
                store.describe(DatasetLayout.FEEDS + pass.name(epoch)) + " was written, but is not there", unknown);
    }

    private Optional<EpochChoice> read(long epoch) throws IOException {
        String name = DatasetLayout.FEEDS + pass.name(epoch);
        byte[] content;
        try {
            content = store.readAll(name, EpochChoice.MAX_BYTES);
        } catch (NoSuchObjectException e) {
            return Optional.empty();
        }
        String file = store.describe(name);
        EpochChoice choice;
        try {
            choice = EpochChoice.decode(content, file);
        } catch (CorruptDataException e) {
            throw new CorruptDataException(
                    e.getMessage() + "; if there is no copy, delete it: a trainer that resumes in the epoch writes it"
                            + " again from its state",
                    e);
        }
        if (!choice.pass().equals(pass)
                || choice.epoch() != epoch
                || !choice.dataset().equals(dataset.info().id())) {
            throw new ForeignFileException(
                    file,
                    "the choice of epoch " + epoch + " of " + pass,
                    "it is that of epoch " + choice.epoch() + " of " + choice.pass() + ", dataset " + choice.dataset());
        }
        return Optional.of(choice);
    }
}
