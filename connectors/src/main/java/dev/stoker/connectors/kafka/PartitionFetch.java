package dev.stoker.connectors.kafka;

import java.util.List;

/**
 * Records of one partition that the consumer returned together. They share the memory of a fetch.
 *
 * @param partition their partition
 * @param records at least one, by ascending offset
 */
public record PartitionFetch(int partition, List<SourceRecord> records) {

    public PartitionFetch {
        records = List.copyOf(records);
        if (records.isEmpty()) {
            throw new IllegalArgumentException("partition " + partition + ": a fetch has at least one record");
        }
    }

    /** The offset after the last record. */
    public long end() {
        return records.get(records.size() - 1).offset() + 1;
    }
}
