package dev.stoker.ingest.topic;

import dev.stoker.schemas.errors.StokerException;
import java.util.List;

/** The brokers no longer have records that a dataset lacks, or that it has. */
final class LostRecordsException extends StokerException {

    private static final long serialVersionUID = 1;

    LostRecordsException(List<String> partitions) {
        super(String.join("; ", partitions));
    }
}
