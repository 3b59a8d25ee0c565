package dev.stoker.metadata.verify;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.DatasetLayout;
import dev.stoker.schemas.dataset.Erasure;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.errors.ErrorText;
import dev.stoker.schemas.errors.StokerException;
import dev.stoker.storage.ObjectInfo;
import dev.stoker.storage.errors.NoSuchObjectException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** Finds records of erasures that cannot be read. Stateless. */
public final class DamagedErasures {

    private DamagedErasures() {}

    /** Returns a problem for each damaged record, with the next step. */
    public static List<Problem> find(Dataset dataset) throws IOException {
        List<Problem> problems = new ArrayList<>();
        for (ObjectInfo record : dataset.store().list(DatasetLayout.ERASURES).toList()) {
            String file = dataset.store().describe(record.name());
            try {
                Erasure.decode(dataset.store().readAll(record.name(), Erasure.MAX_BYTES), file);
            } catch (NoSuchObjectException e) {
                // The erasure has written its next record since the listing.
            } catch (StokerException e) {
                boolean isDone = record.name().endsWith("/" + Erasure.Phase.DONE.file());
                problems.add(Problem.ofFile(
                        file,
                        CorruptDataException.withoutFileAdvice(ErrorText.of(e))
                                + (isDone
                                        ? "; the erasure has finished: put your copy of the certificate in its place,"
                                                + " or delete the file"
                                        : "; the erasure has not finished: delete the file, and erase the samples"
                                                + " again")));
            }
        }
        return problems;
    }
}
