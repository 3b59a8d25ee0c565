package dev.stoker.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.metadata.Contents;
import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.SampleDatasets;
import dev.stoker.metadata.commit.VersionRequest;
import dev.stoker.metadata.lease.Leases;
import dev.stoker.metadata.ledger.DeliverySign;
import dev.stoker.schemas.chunk.ChunkSummary;
import dev.stoker.storage.LocalObjectStore;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Verbs that start no Flink, in this process. */
class VerbsTest extends DatasetVerbs {

    @Test
    void infoSaysWhatADatasetHolds() throws IOException {
        assertThat(stoker("info", path(), "--chunks")).isZero();
        assertThat(out.toString()).contains("9 in 2 chunks", "label: categorical", "image: binary (payload)", "train");

        assertThat(stoker("info", path(), "--json")).isZero();
        assertThat(json().path("samples").asLong()).isEqualTo(9);
        assertThat(json().at("/splits/train/chunks").asLong()).isEqualTo(2);
        assertThat(json().path("fields")).hasSize(3);
    }

    @Test
    void infoWarnsOfChunksThatAreSortedByClass() throws IOException {
        Path sorted = directory.resolve("sorted");
        try (ObjectStore store = new LocalObjectStore(sorted)) {
            Dataset created = Dataset.create(store, SampleDatasets.info());
            List<ChunkSummary> chunks = new ArrayList<>();
            for (String label : List.of("ant", "bee", "cat", "dog", "emu", "fox")) {
                chunks.add(SampleDatasets.write(
                        store,
                        SampleDatasets.id(chunks.size()),
                        "sorted",
                        "train",
                        label + "/1",
                        label + "/2",
                        label + "/3"));
            }
            SampleDatasets.committer(created)
                    .commit(VersionRequest.append(
                            "sorted",
                            chunks,
                            Map.of("label", List.of("ant", "bee", "cat", "dog", "emu", "fox")),
                            Map.of()));
        }
        assertThat(stoker("info", sorted.toString())).isZero();
        assertThat(out.toString())
                .contains("warning: split train: the chunks are sorted by label", "with stoker.Writer, which shuffles");
        assertThat(stoker("info", sorted.toString(), "--json")).isZero();
        assertThat(json().at("/mixing/train/0/field").asText()).isEqualTo("label");
        assertThat(json().at("/mixing/train/0/poor").asBoolean()).isTrue();
        assertThat(json().at("/mixing/train/0/window_classes").asDouble()).isLessThan(2);
        assertThat(json().at("/mixing/train/0/warning").asText()).contains("sorted by label");
    }

    @Test
    void showPrintsTheFirstSamples() throws IOException {
        assertThat(stoker("show", path(), "--n", "7")).isZero();
        assertThat(out.toString())
                .contains(
                        dataset.samples(0).get(0).key(),
                        dataset.samples(1).get(1).key(),
                        "7 of 9 samples");

        assertThat(stoker("show", path(), "--n", "2", "--json")).isZero();
        assertThat(json()).hasSize(2);
        assertThat(json().at("/0/label").asText())
                .isEqualTo(dataset.samples(0).get(0).label());
        assertThat(json().at("/0/image/bytes").asInt())
                .isEqualTo(dataset.samples(0).get(0).image().length);
    }

    @Test
    void verifyNamesWhatIsDamaged() throws IOException {
        assertThat(stoker("verify", path())).isZero();
        assertThat(out.toString()).contains("no damage found");

        byte[] bytes = Files.readAllBytes(dataset.file(1));
        bytes[(int) dataset.summary(1).headLength() + 3] ^= 1;
        Files.write(dataset.file(1), bytes);

        assertThat(stoker("verify", path())).isEqualTo(1);
        assertThat(out.toString())
                .contains("chunk 1: row 0:", dataset.samples(1).get(0).key());
    }

    @ParameterizedTest
    @ValueSource(strings = {"_stoker/log/00000000000000000001.avro", "_stoker/dataset.json"})
    void aCutFileIsRestoredByTheCommandThatTheErrorNames(String name) throws IOException {
        Path file = dataset.path().resolve(name);
        byte[] bytes = Files.readAllBytes(file);
        Files.write(file, Arrays.copyOf(bytes, 60));

        for (String verb : List.of("info", "verify")) {
            assertThat(stoker(verb, path())).isEqualTo(1);
            assertThat(err.toString())
                    .contains(file + " is corrupt: ", "`stoker recover " + path() + "`")
                    .doesNotContain("stoker verify");
        }
        assertThat(stoker("recover", path(), "--yes")).isZero();
        assertThat(out.toString()).contains(file + " is corrupt").doesNotContain("`stoker");
        assertThat(file).hasBinaryContent(bytes);
        assertThat(stoker("verify", path())).isZero();
    }

    @Test
    void recoverSaysAsJsonWhatItWouldDo() throws IOException {
        assertThat(stoker("recover", path(), "--json")).isZero();
        assertThat(json().path("whole").asBoolean()).isTrue();
        assertThat(json().path("done").asBoolean()).isFalse();

        Files.delete(dataset.path().resolve("_stoker/log/00000000000000000001.avro"));
        assertThat(stoker("info", path())).isEqualTo(1);
        assertThat(err.toString()).contains("stoker recover " + path());
        assertThat(stoker("recover", path(), "--json")).isZero();
        assertThat(json().path("whole").asBoolean()).isFalse();
        assertThat(json().path("done").asBoolean()).isFalse();
        assertThat(json().path("steps")).isNotEmpty();
        assertThat(stoker("recover", path(), "--json", "--yes")).isZero();
        assertThat(json().path("done").asBoolean()).isTrue();
        assertThat(stoker("info", path())).isZero();
    }

    @Test
    void helpIsAVerbAsWellAsAnOption() {
        assertThat(stoker("help")).isZero();
        assertThat(out.toString()).contains("Make datasets:");
        assertThat(stoker("help", "ingest")).isZero();
        assertThat(out.toString()).contains("stoker ingest SOURCE… TARGET");
        assertThat(stoker("help", "ingets")).isEqualTo(2);
        assertThat(err.toString()).contains("did you mean");
    }

    @Test
    void logListsTheVersions() throws IOException {
        assertThat(stoker("log", path(), "--json")).isZero();
        assertThat(json().at("/0/version").asLong()).isEqualTo(dataset.version());
        assertThat(json().at("/0/added_samples").asLong()).isEqualTo(9);
    }

    @Test
    void gcDeletesOrphansThatAreOldEnoughAndOnlyWhenToldTo() throws IOException {
        assertThat(stoker("gc", path())).isZero();
        assertThat(out.toString()).contains("nothing to delete");
        Path orphan = dataset.path().resolve("chunks/7f/018f0000-0000-7000-8000-00000000007f.arrow");
        Files.createDirectories(orphan.getParent());
        Files.write(orphan, new byte[10]);

        assertThat(stoker("gc", path(), "--yes")).isZero();
        assertThat(orphan).exists();
        assertThat(stoker("gc", path(), "--older-than", "0")).isZero();
        assertThat(out.toString()).contains("would delete 1 file");
        assertThat(orphan).exists();
        assertThat(stoker("gc", path(), "--older-than", "0", "--yes")).isZero();
        assertThat(orphan).doesNotExist();
        assertThat(dataset.file(0)).exists();
        assertThat(stoker("verify", path())).isZero();
    }

    @Test
    void gcKeepsTheFilesOfALeaseUntilItIsBroken() throws IOException {
        try (ObjectStore store = new LocalObjectStore(dataset.path())) {
            new Leases(Dataset.open(store)).take("slow", Clock.systemUTC(), "ada@host", "");
        }
        assertThat(stoker("gc", path(), "--older-than", "0", "--yes")).isZero();
        assertThat(out.toString()).contains("slow", "kept: lease of ada@host since", "--break ID");
        assertThat(stoker("gc", path(), "--json")).isZero();
        assertThat(json().at("/leases/0/ingest").asText()).isEqualTo("slow");

        assertThat(stoker("gc", path(), "--break", "fast")).isEqualTo(1);
        assertThat(err.toString()).contains("no ingest fast is running");
        assertThat(stoker("gc", path(), "--break", "slow")).isZero();
        assertThat(out.toString()).contains("would end ingest slow of ada@host", "--yes");
        assertThat(stoker("gc", path(), "--break", "slow", "--yes")).isZero();
        assertThat(out.toString()).contains("ended ingest slow (version 2, which changes no sample)");
        assertThat(stoker("log", path())).isZero();
        assertThat(out.toString()).contains(" abandon ");
        assertThat(stoker("gc", path())).isZero();
        assertThat(out.toString()).contains("nothing to delete");
        assertThat(stoker("verify", path())).isZero();
    }

    @Test
    void compactMergesSmallChunksAndOlderVersionsKeepTheirs() throws IOException {
        Map<String, String> samples = Contents.of(path());

        assertThat(stoker("compact", path(), "--dry-run")).isZero();
        assertThat(out.toString()).contains("train", "about 1");
        assertThat(stoker("compact", path(), "--dry-run", "--json")).isZero();
        assertThat(json().at("/splits/0/sources").asInt()).isEqualTo(2);
        assertThat(json().at("/splits/0/targets").asInt()).isEqualTo(1);
        assertThat(stoker("info", path(), "--json")).isZero();
        assertThat(json().path("version").asLong()).isEqualTo(1);

        assertThat(stoker("compact", path(), "--ingest-id", "compact-1")).isZero();
        assertThat(out.toString()).contains("2 chunks became 1, 9 samples", "version 2");
        assertThat(Contents.of(path())).isEqualTo(samples);
        assertThat(stoker("log", path())).isZero();
        assertThat(out.toString()).contains("compact-1", " compact ");
        assertThat(stoker("compact", path(), "--ingest-id", "compact-1", "--json"))
                .isZero();
        assertThat(json().path("repeated").asBoolean()).isTrue();
        assertThat(json().path("version").asLong()).isEqualTo(2);
        assertThat(stoker("compact", path())).isZero();
        assertThat(out.toString()).contains("nothing to compact");

        assertThat(stoker("gc", path(), "--older-than", "0", "--yes")).isZero();
        assertThat(out.toString()).contains("nothing to delete");
        assertThat(dataset.file(0)).exists();
        assertThat(stoker("verify", path() + "@1")).isZero();
        assertThat(stoker("verify", path())).isZero();
    }

    @Test
    void recoverBringsALostLogEntryBackWhenToldTo() throws IOException {
        assertThat(stoker("recover", path())).isZero();
        assertThat(out.toString()).contains("nothing to recover");
        Path entry = dataset.path().resolve(String.format("_stoker/log/%020d.avro", dataset.version()));
        byte[] content = Files.readAllBytes(entry);
        Files.delete(entry);

        assertThat(stoker("recover", path())).isZero();
        assertThat(out.toString()).contains("write ", "with --yes");
        assertThat(entry).doesNotExist();
        assertThat(stoker("recover", path(), "--yes")).isZero();
        assertThat(entry).hasBinaryContent(content);
        assertThat(stoker("verify", path())).isZero();
    }

    @Test
    void anAuditOfADeliveredFeedFailsWithoutItsLedgerFiles() throws IOException {
        UUID feed = UUID.fromString("6f1d2c3b-4a59-5687-8000-000000000001");
        Path place = directory.resolve("photos/_stoker/feeds/" + feed);
        Path ledger = Files.createDirectories(place.resolve("ledger"));
        assertThat(stoker("audit", "--ledger", ledger.toString())).isZero();
        assertThat(out.toString()).contains("nothing was delivered yet");
        DeliverySign.leave(ledger.toString(), feed, 0, "part-a.avro");
        String sign = place + "/delivered-" + feed + "-0-a.json";
        assertThat(stoker("audit", "--ledger", ledger.toString())).isEqualTo(1);
        assertThat(out.toString()).contains("audit failed", "part-a.avro", sign);
        Files.delete(ledger);
        assertThat(stoker("audit", "--ledger", ledger.toString())).isEqualTo(1);
        assertThat(err.toString()).contains("audit failed", sign);
    }

    @Test
    void anAuditTakesANumberOfEpochsForEachGroup() throws IOException {
        String ledger = Files.createDirectories(directory
                        .resolve("photos/_stoker/feeds")
                        .resolve(UUID.randomUUID().toString())
                        .resolve("ledger"))
                .toString();
        assertThat(stoker("audit", "--ledger", ledger, "--epochs", "2", "--epochs", "val/a=1", "--epochs", "b=0"))
                .isEqualTo(1);
        assertThat(out.toString())
                .contains("missing: the ledger has no subscription" + System.lineSeparator())
                .contains("missing: the ledger has no subscription of group val/a")
                .doesNotContain("of group b");
        for (String wrong : List.of("0", "-1", "x", "a=", "=1", "a=-1", "")) {
            assertThat(stoker("audit", "--ledger", ledger, "--epochs", wrong)).isEqualTo(2);
            assertThat(err.toString()).contains("option --epochs: " + wrong + " is not a number of epochs");
        }
        assertThat(stoker("audit", "--ledger", ledger, "--epochs", "a=1", "--epochs", "a=2"))
                .isEqualTo(2);
        assertThat(err.toString()).contains("there are two numbers for group a");
    }

    @Test
    void cacheListsWhatTiersKeepAndRemovesItWhenToldTo() throws IOException {
        Path tier = directory.resolve("tier");
        String feed = UUID.randomUUID().toString();
        String chunk = UUID.randomUUID().toString();
        Path file = tier.resolve(feed).resolve(chunk.substring(34)).resolve(chunk + ".arrow");
        Files.createDirectories(file.getParent());
        Files.write(file, new byte[1000]);
        Files.write(tier.resolve(feed).resolve("loads.lock"), new byte[0]);
        Path mine = Files.createDirectories(tier.resolve("mine"));

        assertThat(stoker("cache", "ls", tier.toString(), "--json")).isZero();
        assertThat(json()).hasSize(1);
        assertThat(json().at("/0/space").asText()).isEqualTo(feed);
        assertThat(json().at("/0/chunks").asInt()).isEqualTo(1);
        assertThat(json().at("/0/bytes").asInt()).isEqualTo(1000);
        assertThat(json().at("/0/in_use").asBoolean()).isFalse();

        assertThat(stoker("cache", "clear", tier.toString())).isZero();
        assertThat(out.toString()).contains("would remove 1.00 kB", "--yes");
        assertThat(file).exists();

        assertThat(stoker("cache", "clear", tier.toString(), "--yes")).isZero();
        assertThat(out.toString()).contains("removed 1.00 kB");
        assertThat(tier.resolve(feed)).doesNotExist();
        assertThat(mine).exists();

        assertThat(stoker("cache", "ls", tier.toString())).isZero();
        assertThat(out.toString()).contains("no tier has files");
        assertThat(stoker("cache", "rm", tier.toString())).isEqualTo(2);
        assertThat(err.toString()).contains("expected ls, clear or purge");
        assertThat(stoker("cache", "ls", directory.resolve("nowhere").toString()))
                .isEqualTo(1);
    }
}
