package dev.stoker.metadata.erasure;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.DatasetLayout;
import dev.stoker.metadata.commit.AbandonedException;
import dev.stoker.metadata.commit.Commit;
import dev.stoker.metadata.commit.VersionCommitter;
import dev.stoker.schemas.dataset.ErasedChunk;
import dev.stoker.schemas.dataset.Erasure;
import dev.stoker.schemas.dataset.ErasureResult;
import dev.stoker.schemas.errors.ErrorText;
import dev.stoker.schemas.errors.StokerException;
import dev.stoker.schemas.log.LogEntry;
import dev.stoker.schemas.log.Operation;
import dev.stoker.schemas.table.ChunkTable;
import java.io.IOException;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiConsumer;

/**
 * Compares a certificate with the dataset's own record of the erasure, with the log entry that removed the samples, and
 * with the chunk table. A person who can write the dataset can forge all of them, because a certificate is not signed.
 */
final class CertificateOrigin {

    /** The property of a removal with the number of erased keys. */
    static final String KEYS = "erased.keys";

    private final Dataset dataset;
    private final Erasure certificate;
    private final ErasureResult result;
    private final BiConsumer<String, String> findings;

    /** @param findings takes the name of an object and what is wrong */
    CertificateOrigin(Dataset dataset, Erasure certificate, BiConsumer<String, String> findings) {
        this.dataset = dataset;
        this.certificate = certificate;
        this.result = certificate.result().orElseThrow();
        this.findings = findings;
    }

    void check(ChunkTable newest) throws IOException {
        record();
        removal();
        for (ErasedChunk chunk : result.removed()) {
            for (int i = 0; i < newest.size(); i++) {
                if (newest.id(i).equals(chunk.id())
                        && (newest.length(i) != chunk.length() || newest.crc32c(i) != chunk.crc32c())) {
                    findings.accept(
                            DatasetLayout.LOG,
                            "has another length or checksum of chunk " + chunk.id() + " than the certificate");
                }
            }
        }
    }

    private void record() throws IOException {
        String name = ErasureFiles.name(certificate.id(), Erasure.Phase.DONE);
        Optional<Erasure> found;
        try {
            found = new ErasureFiles(dataset).find(certificate.id());
        } catch (StokerException e) {
            findings.accept(name, "cannot be read, so the certificate cannot be compared with it: " + ErrorText.of(e));
            return;
        }
        if (found.isEmpty()) {
            findings.accept(
                    name,
                    "does not exist: the dataset knows no erasure " + certificate.id()
                            + "; the certificate may be forged, or this is a copy of the dataset");
        } else if (!found.get().equals(certificate)) {
            findings.accept(
                    name,
                    "differs from the certificate, which may be forged, in: "
                            + String.join(", ", differences(found.get())));
        }
    }

    private List<String> differences(Erasure own) {
        Optional<ErasureResult> ownResult = own.result();
        List<String> names = new ArrayList<>();
        Map<String, Boolean> parts = new LinkedHashMap<>();
        parts.put("name", own.name().equals(certificate.name()));
        parts.put("keys", own.keys().equals(certificate.keys()));
        parts.put("began", own.began().equals(certificate.began()));
        parts.put("by", own.by().equals(certificate.by()));
        if (ownResult.isEmpty() || ownResult.get().ended().isEmpty()) {
            parts.put("phase", false);
        } else {
            ErasureResult other = ownResult.get();
            parts.put("versions", other.versions().equals(result.versions()));
            parts.put("removed", other.removed().equals(result.removed()));
            parts.put("rewritten", other.rewritten().equals(result.rewritten()));
            parts.put("files", other.files().equals(result.files()));
            parts.put("classes", other.classes().equals(result.classes()));
            parts.put("ended", other.ended().equals(result.ended()));
            parts.put("not_reached", other.notReached().equals(result.notReached()));
        }
        parts.forEach((part, isSame) -> {
            if (!isSame) {
                names.add(part);
            }
        });
        return names;
    }

    /** An erasure of samples that no version had any more has no removal. */
    private void removal() throws IOException {
        VersionCommitter committer = new VersionCommitter(dataset, InstantSource.system(), "");
        String id = certificate.id();
        Optional<Commit> removal = Optional.empty();
        boolean isAbandoned = true;
        for (int round = 2; isAbandoned; round++) {
            try {
                removal = committer.find(id);
                isAbandoned = false;
            } catch (AbandonedException e) {
                id = certificate.id() + "-remove-" + round;
            }
        }
        if (removal.isEmpty()) {
            return;
        }
        LogEntry entry = removal.get().entry();
        String keys = Integer.toString(certificate.keys().hashes().size());
        if (entry.operation() != Operation.REMOVE
                || !keys.equals(entry.properties().get(KEYS))
                || entry.version() != result.versions().upTo()) {
            findings.accept(
                    DatasetLayout.logEntry(entry.version()),
                    "is not the removal that the certificate describes, of " + keys + " keys in version "
                            + result.versions().upTo() + "; the certificate may be forged");
        }
    }
}
