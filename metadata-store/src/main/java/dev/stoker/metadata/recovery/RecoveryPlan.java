package dev.stoker.metadata.recovery;

import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/** Describes the changes of a recovery. Created by {@link Recovery#plan}. */
public final class RecoveryPlan {

    /**
     * Describes a file to write.
     *
     * @param name name relative to the dataset
     * @param content bytes of the file
     * @param reason purpose, in a few words
     */
    record Write(String name, byte[] content, String reason) {}

    private final ObjectStore store;
    private final List<String> damaged;
    private final List<String> staleTables;
    private final List<Write> writes;
    private final List<String> notes;

    RecoveryPlan(
            ObjectStore store, List<String> damaged, List<String> staleTables, List<Write> writes, List<String> notes) {
        this.store = store;
        this.damaged = damaged.stream()
                .filter(name -> writes.stream().anyMatch(write -> write.name().equals(name)))
                .toList();
        this.staleTables = staleTables;
        this.writes = List.copyOf(writes);
        this.notes = notes.stream().map(CorruptDataException::withoutFileAdvice).toList();
    }

    /** Returns whether there is nothing to do. */
    public boolean isEmpty() {
        return writes.isEmpty();
    }

    /** Returns whether the plan deletes a file to write it again. */
    boolean isReplacing() {
        return !damaged.isEmpty() || !staleTables.isEmpty();
    }

    /** Returns the planned changes, one line each. */
    public List<String> steps() {
        return Stream.concat(
                        staleTables.stream().map(name -> "delete " + store.describe(name) + ", which is derived data"),
                        writes.stream()
                                .map(write -> (damaged.contains(write.name) ? "replace " : "write ")
                                        + store.describe(write.name) + ": " + write.reason))
                .toList();
    }

    /**
     * Returns notes for the user, one line each: damaged files, content that cannot be restored, and content that may
     * be superfluous.
     */
    public List<String> notes() {
        return notes;
    }

    /**
     * Applies the plan. After an interrupted recovery, plan and apply again.
     *
     * @throws CorruptDataException if another process wrote to the log in the meantime
     */
    public void apply() throws IOException {
        for (String table : staleTables) {
            store.delete(table);
        }
        for (Write write : writes) {
            if (damaged.contains(write.name)) {
                store.delete(write.name);
            }
            if (!store.createIfAbsent(write.name, write.content)
                    && !Arrays.equals(store.readAll(write.name, Integer.MAX_VALUE), write.content)) {
                throw new CorruptDataException(store.describe(write.name)
                        + " was written by someone else during the recovery; let all ingests end and plan again");
            }
        }
    }
}
