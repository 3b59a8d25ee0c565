package dev.stoker.metadata.ledger;

import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.errors.StokerException;
import dev.stoker.schemas.ledger.LedgerReader;
import dev.stoker.schemas.ledger.LedgerRecord;
import dev.stoker.schemas.ledger.LedgerWriter;
import dev.stoker.storage.ObjectInfo;
import dev.stoker.storage.ObjectOutput;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.ObjectWriter;
import dev.stoker.storage.errors.NoSuchObjectException;
import dev.stoker.storage.errors.StoreErrors;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.random.RandomGenerator;

/**
 * Merges the files of a ledger: all files of a finished hour become one, and all files of a finished day become one. A
 * file is deleted after a file with all of its parts is durable. So several processes may merge a ledger at the same
 * time, and may die at any moment. Not thread-safe. Normative: {@code docs/formats/ledger.md}.
 */
public final class LedgerMerge {

    /** How long after its end an hour is merged. Most files of its last checkpoints are there. */
    static final Duration AFTER_HOUR = Duration.ofMinutes(10);

    /** How long after its end a day is merged. */
    static final Duration AFTER_DAY = Duration.ofHours(1);

    private static final long HOUR_S = 3_600;
    private static final long DAY_S = 86_400;
    private static final int SYNC_BYTES = 16;

    private final RandomGenerator random;
    /** Names of files that are damaged, and stay. */
    private final Set<String> damaged = new HashSet<>();

    /**
     * A merge of one ledger, which can run many times.
     *
     * @param random source of ids; must differ between processes
     */
    public LedgerMerge(RandomGenerator random) {
        this.random = random;
    }

    /** Receives the error of a file that is damaged, and therefore stays. */
    public interface Damage {
        void damaged(StokerException e);
    }

    /**
     * Merges what is finished.
     *
     * @param ledger the store of the ledger's directory
     * @param now the present time
     * @param damage receives each damaged file once
     * @return number of files that were replaced
     */
    public int run(ObjectStore ledger, Instant now, Damage damage) throws IOException {
        TreeMap<Long, List<LedgerName>> days = new TreeMap<>();
        for (LedgerName name : LedgerName.list(ledger)) {
            boolean hasId = name.isMerged() || name.part().isPresent();
            if (hasId && !damaged.contains(name.file().name())) {
                days.computeIfAbsent(name.day(), day -> new ArrayList<>()).add(name);
            }
        }
        int replaced = 0;
        for (List<LedgerName> day : days.values()) {
            Instant start = Instant.ofEpochSecond(day.get(0).day() * DAY_S);
            if (!start.plusSeconds(DAY_S).plus(AFTER_DAY).isAfter(now)) {
                replaced += merge(ledger, day, LedgerName.ofDay(start, id(now)), damage);
            } else {
                replaced += mergeHours(ledger, day, now, damage);
            }
        }
        return replaced;
    }

    private int mergeHours(ObjectStore ledger, List<LedgerName> day, Instant now, Damage damage) throws IOException {
        TreeMap<Long, List<LedgerName>> hours = new TreeMap<>();
        day.forEach(name ->
                hours.computeIfAbsent(name.hour(), hour -> new ArrayList<>()).add(name));
        int replaced = 0;
        for (List<LedgerName> hour : hours.values()) {
            Instant start = Instant.ofEpochSecond(hour.get(0).hour() * HOUR_S);
            if (!start.plusSeconds(HOUR_S).plus(AFTER_HOUR).isAfter(now)) {
                replaced += merge(ledger, hour, LedgerName.ofHour(start, id(now)), damage);
            }
        }
        return replaced;
    }

    private UUID id(Instant now) {
        return ChunkNames.newId(now.toEpochMilli(), random);
    }

    private int merge(ObjectStore ledger, List<LedgerName> candidates, String name, Damage damage) throws IOException {
        if (candidates.size() < 2) {
            return 0;
        }
        List<LedgerName> sources = new ArrayList<>();
        try {
            for (LedgerName candidate : candidates) {
                if (isIntact(ledger, candidate, damage)) {
                    sources.add(candidate);
                }
            }
            if (sources.size() < 2) {
                return 0;
            }
            try (ObjectWriter writer = ledger.write(name)) {
                copy(ledger, sources, writer);
                writer.commit();
            }
        } catch (NoSuchObjectException e) {
            // Another process has merged these files.
            return 0;
        }
        for (LedgerName source : sources) {
            ledger.delete(source.file().name());
        }
        return sources.size();
    }

    private boolean isIntact(ObjectStore ledger, LedgerName source, Damage damage) throws IOException {
        String where = ledger.describe(source.file().name());
        try (InputStream in = open(ledger, source.file())) {
            LedgerReader reader = new LedgerReader(in, where);
            while (reader.next().isPresent()) {
                if (source.isMerged() && reader.part().isEmpty()) {
                    throw CorruptDataException.mismatch(where, "its first record", "a part", "another one");
                }
            }
            return true;
        } catch (NoSuchObjectException e) {
            throw e;
        } catch (StokerException e) {
            StoreErrors.rethrow(e);
            damaged.add(source.file().name());
            damage.damaged(e);
            return false;
        }
    }

    private void copy(ObjectStore ledger, List<LedgerName> sources, ObjectWriter target) throws IOException {
        byte[] sync = new byte[SYNC_BYTES];
        random.nextBytes(sync);
        LedgerWriter writer = new LedgerWriter(new ObjectOutput(target), sync);
        Set<UUID> copied = new HashSet<>();
        for (LedgerName source : sources) {
            try (InputStream in = open(ledger, source.file())) {
                copy(new LedgerReader(in, ledger.describe(source.file().name())), source.part(), copied, writer);
            }
        }
        writer.finish();
    }

    /** Copies the parts that are not there yet. */
    private static void copy(LedgerReader reader, Optional<UUID> only, Set<UUID> copied, LedgerWriter writer)
            throws IOException {
        Optional<UUID> current = Optional.empty();
        boolean isNew = false;
        for (Optional<LedgerRecord> next = reader.next(); next.isPresent(); next = reader.next()) {
            Optional<UUID> part = only.isPresent() ? only : reader.part();
            if (!part.equals(current)) {
                current = part;
                isNew = copied.add(part.orElseThrow());
                if (isNew) {
                    writer.beginPart(part.get());
                }
            }
            if (isNew) {
                writer.write(next.get());
            }
        }
    }

    private static InputStream open(ObjectStore ledger, ObjectInfo file) throws IOException {
        return new LedgerInput(ledger, file, LedgerInput.start(ledger, file));
    }
}
