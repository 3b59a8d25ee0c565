package dev.stoker.ingest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.ingest.BesideOperations.Line;
import dev.stoker.ingest.BesideOperations.Slot;
import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.recovery.Recovery;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.storage.InMemoryObjectStore;
import dev.stoker.storage.Interleaving;
import dev.stoker.storage.Interleaving.Outcome;
import dev.stoker.storage.Interleaving.Schedule;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Each operation on a dataset that has lost its newest log entry. */
class LostVersionBesideTest {

    private static final Set<String> READERS = Set.of("recover", "read", "follow", "feed");

    @TempDir
    private Path directory;

    private final Interleaving interleaving = new Interleaving();
    private List<Line> table;

    @BeforeEach
    void prepare() throws IOException {
        Trees.file(directory, "a/a/1.jpg", "one");
        Trees.file(directory, "b/b/1.jpg", "two");
        table = new BesideOperations(directory).table();
    }

    @AfterEach
    void close() {
        interleaving.close();
    }

    @Test
    void noOperationTakesTheNumberOfTheLostVersion() throws Exception {
        for (Line line : table) {
            if (READERS.contains(line.name())) {
                continue;
            }
            InMemoryObjectStore store = BesideState.lostNewest();

            Outcome outcome = run(store, line);

            assertThat(outcome.failures().get(0)).as(line.name()).isPresent();
            assertThatThrownBy(() -> {
                        throw outcome.failures().get(0).orElseThrow();
                    })
                    .as(line.name())
                    .satisfiesAnyOf(
                            // A writer of a new dataset sees samples, whatever the newest version is.
                            failure -> assertThat(line.mayEndWith(failure)).isTrue(),
                            failure -> assertThat(root(failure))
                                    .isInstanceOf(CorruptDataException.class)
                                    .hasMessageContaining("has lost its newest version 2"));
            assertThat(Dataset.open(store).latestVersion()).as(line.name()).isEqualTo(1);
            Recovery.plan(store, "eve").apply();
            assertThat(BesideState.check(store)).containsOnlyKeys("base-1", "base-2");
            assertThat(store.list("chunks/").toList())
                    .as(line.name() + " deletes no chunk")
                    .hasSizeGreaterThanOrEqualTo(5);
        }
    }

    private Outcome run(InMemoryObjectStore store, Line line) throws InterruptedException {
        return interleaving.run(
                store,
                List.of(BesideOperations.program(line, Slot.BOTH.get(0))),
                new Schedule(0, List.of()),
                Optional.empty());
    }

    private static Throwable root(Throwable failure) {
        Throwable root = failure;
        while (root.getCause() != null) {
            root = root.getCause();
        }
        return root;
    }
}
