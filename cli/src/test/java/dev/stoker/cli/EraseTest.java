package dev.stoker.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.stoker.metadata.Contents;
import dev.stoker.schemas.dataset.Erasure;
import dev.stoker.server.TestDataset;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** {@code stoker delete --erase} and {@code stoker verify --erased}. */
class EraseTest extends DatasetVerbs {

    @BeforeEach
    void create() throws IOException {
        assertThat(stoker("index", path())).isZero();
    }

    private List<String> filesWith(byte[]... parts) throws IOException {
        List<String> found = new ArrayList<>();
        try (Stream<Path> files = Files.walk(dataset.path())) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                String content = new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1);
                for (byte[] part : parts) {
                    if (content.contains(new String(part, StandardCharsets.ISO_8859_1))) {
                        found.add(file.toString());
                    }
                }
            }
        }
        return found;
    }

    @Test
    void erasesSamplesAndVerifiesTheCertificate() throws IOException {
        TestDataset.Sample sample = dataset.samples(0).get(1);
        byte[] key = sample.key().getBytes(StandardCharsets.UTF_8);
        assertThat(filesWith(key, sample.image())).hasSize(3);
        Map<String, String> others = Contents.of(path());
        others.remove(sample.key());
        Path certificate = directory.resolve("proof.json");

        assertThat(stoker("delete", path(), sample.key(), "--erase", "--certificate", certificate.toString()))
                .isZero();
        assertThat(out.toString())
                .contains(
                        "would erase 1 key: 1 sample of version 1 and 0 earlier samples",
                        "would delete 1 chunk file, whose other samples are rewritten; would expire 1 version: 1-1,",
                        "run with --yes to erase; this cannot be undone");
        assertThat(certificate).doesNotExist();

        assertThat(stoker("delete", path(), sample.key(), "--erase", "--certificate", certificate.toString(), "--yes"))
                .as(err.toString())
                .isZero();
        assertThat(out.toString())
                .contains(
                        "version 4: erased 1 key; deleted 1 chunk file of ",
                        "wrote 1 chunk, expired versions 1-2, purged 1 other file",
                        "not reached: exports, mirrors, copies and backups of the dataset",
                        "certificate: " + certificate);
        assertThat(Contents.of(path())).isEqualTo(others);
        assertThat(filesWith(key, sample.image())).isEmpty();
        assertThat(stoker("info", path() + "@1")).isEqualTo(1);

        assertThat(stoker("verify", path(), "--erased", certificate.toString())).isZero();
        assertThat(out.toString()).contains("nothing of them is left");
        assertThat(stoker("verify", path())).isZero();
        assertThat(stoker("index", path(), "--check")).isZero();
        // No file has the key any more, and the dataset has the same certificate.
        assertThat(stoker("delete", path(), sample.key(), "--erase", "--yes")).isEqualTo(1);
        assertThat(err.toString()).contains("No chunk file of dataset ", "has a sample '" + sample.key() + "'");
        try (Stream<Path> own = Files.walk(dataset.path().resolve("_stoker/erasures"))) {
            assertThat(own.filter(Files::isRegularFile))
                    .singleElement()
                    .satisfies(file -> assertThat(file).hasSameBinaryContentAs(certificate));
        }
    }

    @Test
    void aFindingFailsTheVerification() throws IOException {
        Path certificate = directory.resolve("proof.json");
        Path chunk = dataset.path().resolve("chunks");
        List<Path> before;
        try (Stream<Path> files = Files.walk(chunk)) {
            before = files.filter(Files::isRegularFile).toList();
        }
        List<byte[]> contents = new ArrayList<>();
        for (Path file : before) {
            contents.add(Files.readAllBytes(file));
        }
        assertThat(stoker("delete", path(), key(0, 1), "--erase", "--certificate", certificate.toString(), "--yes"))
                .isZero();
        for (int i = 0; i < before.size(); i++) {
            Files.write(before.get(i), contents.get(i));
        }

        assertThat(stoker("verify", path(), "--erased", certificate.toString(), "--json"))
                .isEqualTo(1);
        assertThat(json().path("clean").asBoolean()).isFalse();
        assertThat(json().at("/findings/0/message").asText()).contains("it is there again");
    }

    @Test
    void wrongUseIsRefused() throws IOException {
        assertThat(stoker("delete", path(), key(0, 1), "--certificate", "x.json"))
                .isEqualTo(2);
        assertThat(err.toString()).contains("option --certificate needs --erase");
        assertThat(stoker("delete", path(), "--erase", "--yes")).isEqualTo(2);
        assertThat(err.toString()).contains("no sample is selected");
        assertThat(stoker("delete", path(), key(0, 1), "--erase", "--ingest-id", "compact-1", "--yes"))
                .isEqualTo(2);
        assertThat(err.toString()).contains("do not begin with compact-");
        Path file = Files.writeString(directory.resolve("notes.txt"), "mine");
        assertThat(stoker("delete", path(), key(0, 1), "--erase", "--certificate", file.toString(), "--yes"))
                .isEqualTo(1);
        assertThat(err.toString()).contains(file + " exists; give the certificate another name");
        assertThat(stoker("verify", path(), "--erased", file.toString())).isEqualTo(1);
        assertThat(stoker("verify", path(), "--erased", "nosuch.json")).isEqualTo(1);
        assertThat(err.toString()).contains("there is no file nosuch.json");
        assertThat(stoker("verify", path() + "@1", "--erased", file.toString())).isEqualTo(2);
        assertThat(stoker("verify", path(), "--version", "1", "--erased", file.toString()))
                .isEqualTo(2);
        assertThat(Contents.of(path())).hasSize(9);
        assertThat(Files.readString(file)).isEqualTo("mine");
    }

    @Test
    void aTagBlocksAndTheMessageNamesTheNextStep() throws IOException {
        assertThat(stoker("tag", path(), "best")).isZero();
        assertThat(stoker("delete", path(), key(0, 1), "--erase")).isZero();
        assertThat(out.toString()).contains("blocked: version 1 has the samples and is protected by tag best");
        assertThat(stoker("delete", path(), key(0, 1), "--erase", "--yes")).isEqualTo(1);
        assertThat(err.toString())
                .contains("stoker tag " + path() + " best --delete", "Then run the same command again");
        assertThat(Contents.of(path())).hasSize(9);
    }

    @Test
    void anIdErasesOnce() throws IOException {
        assertThat(stoker("delete", path(), key(0, 1), "--erase", "--ingest-id", "case-17", "--yes", "--json"))
                .isZero();
        JsonNode first = json();
        assertThat(first.path("erasure").asText()).isEqualTo("case-17");
        assertThat(first.path("expired").asText()).isEqualTo("1-2");
        assertThat(stoker("delete", path(), key(0, 1), "--erase", "--ingest-id", "case-17", "--yes", "--json"))
                .isZero();
        assertThat(json()).isEqualTo(first);
        assertThat(stoker("log", path())).isZero();
        assertThat(out.toString()).contains("case-17", "compact-case-17-1", "case-17-expire-1");
    }

    @Test
    void anInterruptedErasureIsFinishedByTheNextOne() throws IOException {
        // A feeder's use makes the erasure fail after it has begun.
        Path certificate = directory.resolve("proof.json");
        assertThat(stoker("delete", path(), key(0, 1), "--erase", "--ingest-id", "one", "--yes"))
                .isZero();
        Path own = dataset.path().resolve("_stoker/erasures/one");
        String done = Files.readString(own.resolve("certificate.json"));
        assertThat(done).contains("\"ended\":");
        Files.delete(own.resolve("certificate.json"));
        Erasure erasure = Erasure.decode(done.getBytes(StandardCharsets.UTF_8), "certificate");
        Files.write(
                own.resolve("begun.json"),
                new Erasure(
                                erasure.dataset(),
                                erasure.name(),
                                erasure.id(),
                                erasure.keys(),
                                erasure.began(),
                                erasure.by(),
                                Optional.empty())
                        .encode());

        assertThat(stoker("delete", path(), "--erase")).isZero();
        assertThat(out.toString()).contains("unfinished: erasure one of 1 key, begun ", "--yes finishes it first");
        assertThat(stoker("delete", path(), key(0, 1), "--erase", "--yes", "--certificate", certificate.toString()))
                .as(err.toString())
                .isZero();
        assertThat(out.toString()).contains("finishing erasure one of ");
        assertThat(stoker("verify", path(), "--erased", certificate.toString())).isZero();
    }

    @Test
    void aDamagedCertificateIsNamed() throws IOException {
        assertThat(stoker("delete", path(), key(0, 1), "--erase", "--ingest-id", "one", "--yes"))
                .isZero();
        Path certificate = dataset.path().resolve("_stoker/erasures/one/certificate.json");
        byte[] content = Files.readAllBytes(certificate);
        content[100] ^= 1;
        Files.delete(certificate);
        Files.write(certificate, content);
        String named = certificate + " is corrupt: ";

        assertThat(stoker("verify", path())).isEqualTo(1);
        assertThat(out.toString()).contains(named, "put your copy of the certificate in its place");
        assertThat(stoker("gc", path())).isZero();
        assertThat(err.toString()).startsWith("stoker: warning: " + named);
        assertThat(stoker("delete", path(), key(0, 2), "--erase", "--yes"))
                .as(err.toString())
                .isZero();
        assertThat(err.toString()).contains("stoker: warning: " + named);
    }
}
