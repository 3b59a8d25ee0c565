package dev.stoker.metadata.follow;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.UnknownVersionException;
import dev.stoker.schemas.dataset.EpochChoice;
import dev.stoker.schemas.errors.StokerException;
import dev.stoker.storage.errors.UnknownOutcomeException;
import java.io.IOException;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.OptionalLong;
import java.util.function.Consumer;

/**
 * Chooses and finds the versions that one pass of a following feed reads, epoch by epoch. The first reader of an epoch
 * makes the choice with one create-if-absent in the dataset's store, so all readers get the same version. A reader that
 * makes a choice also combines the choices of complete earlier blocks of epochs. Thread-safe.
 */
public final class EpochVersions {

    private static final int READ_BACKS = 5;

    private final Dataset dataset;
    private final EpochChoice.Pass pass;
    private final InstantSource clock;
    private final EpochChoiceFiles files;

    /** Checks a version before it is chosen. */
    public interface Check {
        void accept(long version) throws IOException;
    }

    public EpochVersions(Dataset dataset, EpochChoice.Pass pass, InstantSource clock) {
        this.dataset = dataset;
        this.pass = pass;
        this.clock = clock;
        this.files = new EpochChoiceFiles(dataset, pass);
    }

    /**
     * Returns the version of an epoch, if one was chosen.
     *
     * @throws dev.stoker.schemas.errors.StokerException if the choice is damaged, or belongs to another pass
     */
    public OptionalLong find(long epoch) throws IOException {
        return files.find(epoch);
    }

    /**
     * Returns the version of an epoch, and chooses it if necessary. The choice is the wanted version, or else the
     * newest one. If neighbouring epochs have choices, it is no newer than the choice of the next later epoch, and no
     * older than the choice of the next earlier one.
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
            EpochChoiceFiles.Listing listing = files.list();
            long version = wanted.isPresent() ? existing(wanted.getAsLong()) : newest(epoch, listing.epochs());
            check.accept(version);
            known = OptionalLong.of(create(epoch, version));
            files.combine(listing, epoch);
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
        return files.all(damaged);
    }

    private long existing(long version) throws IOException {
        long newest = dataset.latestVersion();
        if (version < 1 || version > newest) {
            throw new UnknownVersionException(dataset.where(), version, newest);
        }
        return version;
    }

    private long newest(long epoch, NavigableSet<Long> chosen) throws IOException {
        long newest = dataset.latestVersion();
        if (newest == 0) {
            throw new UnknownVersionException(dataset.where(), 0, 0);
        }
        Long before = chosen.lower(epoch);
        Long after = chosen.higher(epoch);
        if (after != null) {
            newest = Math.min(newest, find(after).orElse(newest));
        }
        return before == null ? newest : Math.max(newest, find(before).orElse(newest));
    }

    /** Writes the choice, unless another process was faster. Returns the stored choice. */
    private long create(long epoch, long version) throws IOException {
        EpochChoice choice = new EpochChoice(
                pass, epoch, dataset.info().id(), version, clock.instant().truncatedTo(ChronoUnit.MILLIS));
        IOException unknown = null;
        for (int attempt = 0; attempt <= READ_BACKS; attempt++) {
            try {
                files.create(choice);
            } catch (UnknownOutcomeException e) {
                unknown = e;
            }
            OptionalLong known = find(epoch);
            if (known.isPresent()) {
                return known.getAsLong();
            }
        }
        throw new IOException(files.where(epoch) + " was written, but is not there", unknown);
    }
}
