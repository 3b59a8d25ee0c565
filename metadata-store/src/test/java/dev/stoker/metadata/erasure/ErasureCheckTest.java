package dev.stoker.metadata.erasure;

import static dev.stoker.metadata.SampleDatasets.CLOCK;
import static dev.stoker.metadata.SampleDatasets.id;
import static dev.stoker.metadata.SampleDatasets.write;
import static dev.stoker.metadata.erasure.ErasableDataset.ANN;
import static dev.stoker.metadata.erasure.ErasableDataset.BOB;
import static dev.stoker.metadata.erasure.ErasableDataset.check;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.DatasetLayout;
import dev.stoker.metadata.VersionUses;
import dev.stoker.metadata.verify.DamagedErasures;
import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.schemas.dataset.ErasedChunk;
import dev.stoker.schemas.dataset.Erasure;
import dev.stoker.schemas.dataset.ErasureResult;
import dev.stoker.schemas.dataset.KeyHashes;
import dev.stoker.schemas.dataset.VersionUse;
import dev.stoker.schemas.errors.ForeignFileException;
import dev.stoker.storage.InMemoryObjectStore;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class ErasureCheckTest {

    private InMemoryObjectStore before;
    private InMemoryObjectStore store;
    private Erasure certificate;

    @BeforeEach
    void create() throws Exception {
        store = ErasableDataset.create();
        before = store.copy();
        certificate = ErasableDataset.erase(store, ANN, BOB);
        assertThat(check(store, certificate).findings()).isEmpty();
        assertThat(check(store, certificate).again()).isEmpty();
    }

    private List<String> findings() throws IOException {
        return check(store, certificate).findings().stream()
                .map(finding -> finding.file() + " " + finding.message())
                .toList();
    }

    private void restore(String name) throws IOException {
        store.createIfAbsent(name, before.readAll(name, Integer.MAX_VALUE));
    }

    @Test
    void aRestoredChunkFileIsFound() throws Exception {
        restore(ChunkNames.path(id(3)));

        assertThat(findings())
                .containsExactly("/memory/" + ChunkNames.path(id(3))
                        + " is a chunk file that the erasure has deleted; it is there again");
    }

    @Test
    void anotherChunkFileWithASampleIsFound() throws Exception {
        write(store, id(9), "old", "train", BOB);

        assertThat(findings())
                .containsExactly("/memory/" + ChunkNames.path(id(9)) + " contains a sample with an erased key, added"
                        + " before the erasure by ingest old, which has committed no version with it");
    }

    @Test
    void unreadableAndUnknownChunkFilesAreFound() throws Exception {
        store.createIfAbsent(ChunkNames.path(id(9)), new byte[100]);
        store.createIfAbsent("chunks/copy-of-a-chunk", new byte[100]);

        assertThat(findings())
                .hasSize(2)
                .anyMatch(line -> line.contains(ChunkNames.path(id(9)) + " cannot be read, so it may contain"))
                .anyMatch(line -> line.contains("chunks/copy-of-a-chunk is not a chunk file of Stoker"));
    }

    @Test
    void anIndexRunWithAKeyIsFound() throws Exception {
        for (var run : before.list(DatasetLayout.INDEX).toList()) {
            restore(run.name());
        }

        assertThat(findings())
                .isNotEmpty()
                .allMatch(line -> line.contains(
                        "names erased samples; write it again with: stoker index /memory" + " --rebuild"));
    }

    @Test
    void aVersionThatCanBeOpenedAgainIsFound() throws Exception {
        VersionUse use = new VersionUse(
                certificate.dataset(), 3, UUID.randomUUID(), CLOCK.instant().truncatedTo(ChronoUnit.MILLIS), "eve");
        store.createIfAbsent(DatasetLayout.USES + VersionUse.file(3, use.feed()), use.encode());

        assertThat(findings()).singleElement().asString().contains("version 3 has erased samples and can be opened");
        new VersionUses(Dataset.open(store)).release(use.feed());
        assertThat(findings()).isEmpty();
    }

    @Test
    void lostExpiriesAreFound() throws Exception {
        for (var object : store.list(DatasetLayout.LOG).toList()) {
            if (object.name().endsWith("7.avro")) {
                store.delete(object.name());
            }
        }
        store.delete("_stoker/versions/00000000000000000007.txt");

        assertThat(findings())
                .anyMatch(line -> line.contains("version 1 has erased samples and is not expired"))
                .anyMatch(line -> line.contains("version 5 has erased samples and is not expired"));
    }

    @Test
    void deadLettersAndUnfinishedFilesAreFound() throws Exception {
        store.createIfAbsent(
                "_stoker/dead-letters/t/0/1.json", "{\"key\":\"Y2F0L2Fubg==\"}\n".getBytes(StandardCharsets.UTF_8));
        store.write("chunks/x").write(ByteBuffer.wrap(new byte[1]));

        assertThat(findings())
                .hasSize(2)
                .anyMatch(line -> line.contains("_stoker/dead-letters/t/0/1.json names an erased sample"))
                .anyMatch(line -> line.contains("is an unfinished file from before the erasure"));
    }

    @Test
    void aCertificateOfAnotherDatasetOrPhaseIsForeign() {
        Erasure other = new Erasure(
                UUID.randomUUID(),
                "birds",
                "erase-1",
                certificate.keys(),
                certificate.began(),
                "eve",
                certificate.result());
        assertThatThrownBy(() -> check(store, other))
                .isInstanceOf(ForeignFileException.class)
                .hasMessageContaining("certificate.json is not a certificate of dataset 5e0c8c1e-")
                .hasMessageContaining(", birds");
        Erasure begun = new Erasure(
                certificate.dataset(),
                "photos",
                "erase-1",
                certificate.keys(),
                certificate.began(),
                "eve",
                Optional.empty());
        assertThatThrownBy(() -> check(store, begun))
                .isInstanceOf(ForeignFileException.class)
                .hasMessageContaining(
                        "erasure erase-1 has not finished; finish it with: stoker delete /memory --erase" + " --yes");
    }

    @Test
    void filesWrittenAfterTheErasureAreNoFindings() throws Exception {
        InstantSource later = InstantSource.fixed(CLOCK.instant().plus(Duration.ofHours(1)));
        ErasableDataset.append(Dataset.open(store), "later", write(store, id(9), "later", "train", ANN, "dog/9"));

        ErasureCheck.Report report =
                new ErasureCheck(Dataset.open(store), certificate, "certificate.json", 2, later, chunk -> {}).run();

        assertThat(report.findings()).isEmpty();
        assertThat(report.again()).hasSize(1);
        assertThat(report.rows()).isEqualTo(6);
    }

    private Erasure with(ErasureResult result) {
        return certificate.with(result);
    }

    private List<String> findingsOf(Erasure other) throws Exception {
        return check(store, other).findings().stream()
                .map(finding -> finding.file() + " " + finding.message())
                .toList();
    }

    @Test
    void aForgedCertificateIsNotConfirmed() throws Exception {
        ErasureResult own = certificate.result().orElseThrow();
        ErasureResult.Versions versions = own.versions();
        KeyHashes invented = KeyHashes.of("00".repeat(32), List.of("a key that never was"));
        Instant later = certificate.began().plusSeconds(86_400);
        UUID chunk = UUID.randomUUID();
        List<ErasedChunk> removed = new ArrayList<>(own.removed());
        removed.add(new ErasedChunk(chunk, 17, 1));

        assertThat(findingsOf(certificate)).isEmpty();
        assertThat(findingsOf(new Erasure(
                        certificate.dataset(),
                        certificate.name(),
                        "never-was",
                        invented,
                        certificate.began(),
                        "eve",
                        certificate.result())))
                .anyMatch(line -> line.contains("_stoker/erasures/never-was/certificate.json does not exist:"
                        + " the dataset knows no erasure never-was; the certificate may be forged"));
        assertThat(findingsOf(new Erasure(
                        certificate.dataset(),
                        certificate.name(),
                        certificate.id(),
                        invented,
                        later,
                        "mallory",
                        certificate.result())))
                .anyMatch(line -> line.endsWith("may be forged, in: keys, began, by"))
                .anyMatch(line -> line.contains("/memory/_stoker/log/")
                        && line.contains("is not the removal that the certificate describes, of 1 keys"));
        assertThat(findingsOf(with(new ErasureResult(
                        new ErasureResult.Versions(99, 99, versions.expired()),
                        own.removed(),
                        own.rewritten(),
                        own.files(),
                        own.classes(),
                        own.ended(),
                        own.notReached()))))
                .anyMatch(line -> line.endsWith("in: versions"))
                .anyMatch(line -> line.contains("in version 99; the certificate may be forged"));
        assertThat(findingsOf(with(new ErasureResult(
                        versions, removed, List.of(), List.of(), own.classes(), Optional.of(later), List.of()))))
                .anyMatch(line -> line.contains("in: removed, rewritten, files, ended, not_reached"));
    }

    @Test
    void aDamagedRecordIsNamedAndBlocksNoErasure() throws Exception {
        String name = ErasureFiles.name(certificate.id(), Erasure.Phase.DONE);
        byte[] content = store.readAll(name, 1 << 20);
        content[content.length / 2] ^= 1;
        store.delete(name);
        store.createIfAbsent(name, content);

        assertThat(findingsOf(certificate))
                .singleElement()
                .asString()
                .contains("certificate.json cannot be read, so the certificate cannot be compared with it");
        assertThat(DamagedErasures.find(Dataset.open(store)))
                .singleElement()
                .satisfies(problem -> assertThat(problem.message())
                        .contains(name + " is corrupt", "put your copy of the certificate in its place"));
        assertThat(new DeletedChunks(Dataset.open(store)).next()).isEmpty();
        Erasure next = ErasableDataset.erase(store, "dog/1");
        assertThat(check(store, next).findings()).isEmpty();
        assertThat(new DeletedChunks(Dataset.open(store)).next())
                .containsAll(next.result().orElseThrow().cached());
    }

    @Test
    void anErasureWhoseRecordIsDamagedBeforeItsEndCanBeRepeated() throws Exception {
        String name = ErasureFiles.name("cut", Erasure.Phase.BEGUN);
        store.createIfAbsent(name, "{".getBytes(StandardCharsets.UTF_8));

        assertThat(DamagedErasures.find(Dataset.open(store)))
                .singleElement()
                .satisfies(problem -> assertThat(problem.message())
                        .contains(name, "has not finished: delete the file, and erase the samples again"));
        assertThat(check(store, ErasableDataset.erase(store, "dog/1")).findings())
                .isEmpty();
    }
}
