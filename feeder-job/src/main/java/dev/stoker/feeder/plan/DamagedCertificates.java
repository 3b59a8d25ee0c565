package dev.stoker.feeder.plan;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.verify.DamagedErasures;
import java.io.IOException;
import java.util.List;

/** Finds damaged records of erasures, because feeders cannot remove the chunks of such an erasure from their tiers. */
final class DamagedCertificates {

    private DamagedCertificates() {}

    /** Returns a warning for each damaged record of a dataset. */
    static List<String> warnings(Dataset dataset) throws IOException {
        return DamagedErasures.find(dataset).stream()
                .map(problem -> problem.message() + "; until then, tiers may keep copies of the erased chunks")
                .toList();
    }
}
