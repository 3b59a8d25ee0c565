package dev.stoker.connectors.kafka;

import java.util.List;

/**
 * Records of one partition that the consumer returned together. They share the memory of a fetch.
 *
 * @param partition their partition
 * @param records by ascending offset; empty if the consumer passed only markers of transactions and aborted records
 * @param end the consumer's position: each record before this offset was read or is in no committed transaction
 */
public record PartitionFetch(int partition, List<SourceRecord> records, long end) {

    public PartitionFetch {
        records = List.copyOf(records);
        if (!records.isEmpty() && end <= records.get(records.size() - 1).offset()) {
            throw new IllegalArgumentException("partition " + partition + ": a fetch ends behind its records");
        }
    }
}
