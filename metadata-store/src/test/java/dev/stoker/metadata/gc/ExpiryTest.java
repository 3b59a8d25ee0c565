package dev.stoker.metadata.gc;

import static dev.stoker.metadata.SampleDatasets.NOW;
import static dev.stoker.metadata.SampleDatasets.id;
import static dev.stoker.metadata.SampleDatasets.info;
import static dev.stoker.metadata.SampleDatasets.write;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.DatasetLayout;
import dev.stoker.metadata.ExpiredVersionException;
import dev.stoker.metadata.Tags;
import dev.stoker.metadata.VersionUses;
import dev.stoker.metadata.commit.Removal;
import dev.stoker.metadata.commit.VersionCommitter;
import dev.stoker.metadata.commit.VersionRequest;
import dev.stoker.metadata.follow.EpochVersions;
import dev.stoker.metadata.ledger.LedgerName;
import dev.stoker.metadata.recovery.Recovery;
import dev.stoker.metadata.verify.Verification;
import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.schemas.dataset.EpochChoice;
import dev.stoker.schemas.ledger.Consumer;
import dev.stoker.schemas.ledger.LedgerWriter;
import dev.stoker.schemas.ledger.Source;
import dev.stoker.schemas.ledger.Subscription;
import dev.stoker.schemas.log.LogEntry;
import dev.stoker.schemas.log.Operation;
import dev.stoker.storage.InMemoryObjectStore;
import dev.stoker.storage.ObjectInfo;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import java.util.UUID;
import java.util.stream.LongStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A dataset of five versions, each of which replaces the chunk of the one before, a day apart. */
class ExpiryTest {

    private static final UUID FEED = new UUID(1, 2);

    private Instant now = NOW;
    private final InstantSource clock = () -> now;
    private final InMemoryObjectStore store = new InMemoryObjectStore(clock);
    private Dataset dataset;

    @BeforeEach
    void create() throws IOException {
        dataset = Dataset.create(store, info());
        for (int version = 1; version <= 5; version++) {
            replace(version);
            now = now.plus(Duration.ofDays(1));
        }
    }

    private void replace(int number) throws IOException {
        new VersionCommitter(dataset, clock, "ada@host")
                .commit(VersionRequest.replace(
                        "v" + number,
                        List.of(write(store, id(number), "v" + number, "train", "cat/" + number)),
                        Map.of("label", List.of("cat")),
                        Map.of()));
    }

    private Expiry plan(Expiry.Rule rule) throws IOException {
        return Expiry.plan(dataset, rule, clock);
    }

    private static Expiry.Rule last(long versions) {
        return new Expiry.Rule(Optional.empty(), OptionalLong.of(versions));
    }

    private static Expiry.Rule days(int days) {
        return new Expiry.Rule(Optional.of(Duration.ofDays(days)), OptionalLong.empty());
    }

    private LogEntry expire(Expiry.Rule rule) throws IOException {
        return plan(rule).commit("expire-" + dataset.latestVersion(), "ada@host");
    }

    private void collect(Duration olderThan) throws IOException {
        GarbageCollection.plan(dataset, olderThan, clock).apply();
    }

    /** The versions whose chunks exist. */
    private List<Long> stored() throws IOException {
        List<String> names = store.list(DatasetLayout.CHUNKS).toList().stream()
                .map(ObjectInfo::name)
                .toList();
        return LongStream.rangeClosed(1, 5)
                .filter(version -> names.contains(ChunkNames.path(id((int) version))))
                .boxed()
                .toList();
    }

    @Test
    void endsAllButTheNewestVersions() throws IOException {
        LogEntry entry = expire(last(2));

        assertThat(entry.operation()).isEqualTo(Operation.EXPIRE);
        assertThat(entry.properties()).containsEntry(LogEntry.EXPIRED, "1-3");
        assertThat(dataset.snapshot().table().liveRows()).isEqualTo(1);
        assertThat(dataset.snapshot(5).table().liveRows()).isEqualTo(1);
        assertThat(dataset.snapshot(4).table().liveRows()).isEqualTo(1);
        assertThatThrownBy(() -> dataset.snapshot(3))
                .isInstanceOf(ExpiredVersionException.class)
                .hasMessageContaining("was expired by version 6; the oldest version that was kept is 4");
        assertThat(dataset.anySnapshot(3).table().liveRows()).isEqualTo(1);
        assertThat(dataset.entry(3).ingest()).as("entries stay").isEqualTo("v3");
        assertThat(stored()).as("nothing is deleted").containsExactly(1L, 2L, 3L, 4L, 5L);
    }

    @Test
    void keepsVersionsThatWereTheNewestWithinADuration() throws IOException {
        // Version 5 was committed a day ago, version 4 two days ago: it was the newest until version 5.
        assertThat(plan(days(1)).ranges()).hasToString("[Range[first=1, last=4, by=6]]");
        now = now.minusSeconds(1);
        assertThat(plan(days(1)).ranges()).hasToString("[Range[first=1, last=3, by=6]]");
        assertThat(plan(days(30)).ranges()).isEmpty();
        assertThat(plan(new Expiry.Rule(Optional.of(Duration.ZERO), OptionalLong.of(3)))
                        .ranges())
                .as("both keep")
                .hasToString("[Range[first=1, last=2, by=6]]");
    }

    @Test
    void collectionDeletesWhatOnlyExpiredVersionsHave() throws IOException {
        expire(last(2));
        collect(Duration.ofHours(1));
        assertThat(stored()).as("too early for readers").containsExactly(1L, 2L, 3L, 4L, 5L);

        now = now.plus(Duration.ofHours(1));
        collect(Duration.ofHours(1));
        assertThat(stored()).containsExactly(4L, 5L);

        expire(last(1));
        collect(Duration.ZERO);
        assertThat(stored()).as("version 6 has the chunk of version 5").containsExactly(5L);
        assertThat(dataset.snapshot().table().expired()).hasToString("1-3@6,4-5@7");
        assertThat(plan(last(1)).ranges()).hasToString("[Range[first=6, last=6, by=8]]");
        assertThat(plan(last(2)).ranges()).isEmpty();
    }

    /** A feed that has read these versions and has ended. */
    private void feed(UUID feed, long... versions) throws IOException {
        String folder = DatasetLayout.FEEDS + feed + "/";
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        LedgerWriter writer = new LedgerWriter(out, new byte[16]);
        for (long version : versions) {
            Source source = new Source(dataset.info().id().toString(), version, "train", "{}");
            Consumer consumer = new Consumer(feed.toString(), "train", "default", "00", 1, 0, 1, 0, 1, 0);
            writer.write(new Subscription(0, consumer, 0, 0, 1, 1, "pad", source, "{}"));
        }
        writer.finish();
        store.createIfAbsent(
                folder + "ledger/" + LedgerName.ofPart(ChunkNames.newId(clock.millis(), new Random())),
                out.toByteArray());
        store.createIfAbsent(folder + "delivered-" + feed + "-0-x.json", new byte[] {1});
    }

    private List<String> files(UUID feed) throws IOException {
        return store.list(DatasetLayout.FEEDS + feed).toList().stream()
                .map(ObjectInfo::name)
                .toList();
    }

    @Test
    void collectionDeletesTheLedgersOfEndedFeedsWhoseVersionsAreAllExpired() throws IOException {
        UUID kept = UUID.fromString("6f1d2c3b-4a59-5687-8000-000000000002");
        UUID running = UUID.fromString("6f1d2c3b-4a59-5687-8000-000000000003");
        UUID damaged = UUID.fromString("6f1d2c3b-4a59-5687-8000-000000000004");
        feed(FEED, 1, 2);
        feed(kept, 2, 5);
        feed(running, 1);
        feed(damaged, 1);
        String ledger = files(damaged).stream()
                .filter(name -> name.endsWith(".avro"))
                .findFirst()
                .orElseThrow();
        byte[] bytes = store.readAll(ledger, 1 << 20);
        bytes[bytes.length - 30] ^= 4;
        store.corrupt(ledger, bytes);
        new VersionUses(dataset).take(5, running, clock, "ada@host");
        now = now.plus(Duration.ofHours(1));
        collect(Duration.ofHours(1));
        assertThat(files(FEED)).as("its versions exist").hasSize(2);

        expire(last(1));
        collect(Duration.ofHours(1));
        assertThat(files(FEED)).as("too early for an audit").hasSize(2);

        now = now.plus(Duration.ofHours(1));
        collect(Duration.ofHours(1));
        assertThat(files(FEED)).isEmpty();
        assertThat(files(kept)).hasSize(2);
        assertThat(files(running)).hasSize(2);
        assertThat(files(damaged)).hasSize(2);
    }

    @Test
    void aTaggedVersionIsKept() throws IOException {
        new Tags(dataset).set("paper", 2, Tags.Mode.CREATE, clock, "ada@host");

        Expiry plan = plan(last(1));
        assertThat(plan.kept()).containsExactly(Map.entry(2L, "tag paper"));
        assertThat(plan.versions()).isEqualTo(3);
        assertThat(expire(last(1)).properties()).containsEntry(LogEntry.EXPIRED, "1-1,3-4");
        collect(Duration.ZERO);

        assertThat(stored()).containsExactly(2L, 5L);
        assertThat(dataset.snapshot(2).table().liveRows()).isEqualTo(1);
        new Tags(dataset).delete("paper", clock, "ada@host");
        assertThat(expire(last(1)).properties()).containsEntry(LogEntry.EXPIRED, "2-2,5-5");
        collect(Duration.ZERO);
        assertThat(stored()).containsExactly(5L);
    }

    @Test
    void anExpiredVersionGetsNoTag() throws IOException {
        new Tags(dataset).set("paper", 5, Tags.Mode.CREATE, clock, "ada@host");
        expire(last(1));

        assertThatThrownBy(() -> new Tags(dataset).set("paper", 2, Tags.Mode.MOVE, clock, "ada@host"))
                .isInstanceOf(ExpiredVersionException.class);
        assertThat(new Tags(dataset).find("paper").orElseThrow().version()).isEqualTo(5);
    }

    /** The tag is created after the expiry has read the tags, and before it commits. */
    @Test
    void aTagThatIsCreatedDuringTheExpiryProtectsItsVersion() throws IOException {
        Expiry plan = plan(last(1));
        VersionRequest late = new VersionRequest(
                "expire-late",
                Operation.EXPIRE,
                List.of(),
                Removal.NOTHING,
                Map.of(),
                base -> {
                    new Tags(dataset).set("paper", 2, Tags.Mode.CREATE, clock, "ada@host");
                    return Map.of(LogEntry.EXPIRED, "1-4");
                },
                List.of());
        assertThat(plan.versions()).isEqualTo(4);
        new VersionCommitter(dataset, clock, "ada@host").commit(late);
        collect(Duration.ZERO);

        assertThat(stored()).containsExactly(2L, 5L);
        assertThat(dataset.snapshot(2).table().liveRows()).isEqualTo(1);
    }

    @Test
    void versionsOfARunningFeedAreKept() throws IOException {
        VersionUses uses = new VersionUses(dataset);
        uses.take(4, FEED, clock, "feeder@host");
        EpochChoice.Pass pass = new EpochChoice.Pass(FEED, "train", "default");
        new EpochVersions(dataset, pass, clock).choose(0, OptionalLong.of(3), version -> {});
        new EpochVersions(dataset, new EpochChoice.Pass(new UUID(3, 4), "train", "default"), clock)
                .choose(0, OptionalLong.of(1), version -> {});

        assertThat(plan(last(1)).kept().keySet()).containsExactly(3L, 4L);
        expire(last(1));
        collect(Duration.ZERO);
        assertThat(stored()).containsExactly(3L, 4L, 5L);
        assertThat(dataset.snapshot(4).table().liveRows()).isEqualTo(1);

        assertThat(uses.release(FEED)).isEqualTo(1);
        expire(last(1));
        collect(Duration.ZERO);
        assertThat(stored()).containsExactly(5L);
        assertThatThrownBy(() -> uses.take(4, FEED, clock, "feeder@host")).isInstanceOf(ExpiredVersionException.class);
        assertThat(uses.all()).isEmpty();
    }

    @Test
    void aVersionThatCommitsMeanwhileIsKept() throws IOException {
        Expiry plan = plan(last(1));
        replace(6);

        assertThat(plan.commit("expire-1", "ada@host").properties()).containsEntry(LogEntry.EXPIRED, "1-4");
        assertThatThrownBy(() -> plan(last(3)).commit("expire-2", "ada@host"))
                .isInstanceOf(NothingToExpireException.class);
        assertThat(dataset.latestVersion()).isEqualTo(7);
    }

    @Test
    void recoveryAndVerificationAcceptMissingChunksOfExpiredVersions() throws IOException, InterruptedException {
        expire(last(1));
        collect(Duration.ZERO);

        assertThat(Recovery.plan(store, "eve").isEmpty()).isTrue();
        assertThat(new Verification(dataset, Runnable::run, 1, bytes -> {})
                        .run(dataset.snapshot())
                        .problems())
                .isEmpty();
    }
}
