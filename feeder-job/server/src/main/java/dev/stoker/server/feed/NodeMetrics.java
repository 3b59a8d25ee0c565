package dev.stoker.server.feed;

/**
 * Totals of a node since it started; gauges where noted.
 *
 * @param batches pieces written to trainers
 * @param bytes bytes of those, headers included
 * @param rows rows of those
 * @param used rows that trainers have acknowledged, and their bytes
 * @param originReads reads of chunk heads and chunks from the origin
 * @param originBytes bytes of those
 * @param originMetadata other calls of datasets' stores: listings, lengths, reads of the log and its tables
 * @param trainerWaitRatio gauge: share of the subscribed time of all sessions in which a trainer had consumed all it
 *     had been sent while it had asked for more; between 0 and 1
 * @param sessions gauge: open sessions
 * @param rejected connections closed before WELCOME
 * @param nacks pieces that trainers reported as damaged
 * @param refetches pieces read again and sent again
 * @param corrupt rows or chunks found damaged at the origin
 * @param openWindows gauge: windows in memory
 * @param workingBytes gauge: bytes of those
 * @param mappings gauge: mapped chunk files
 * @param pendingReceipts gauge: receipts not yet durable
 * @param lookedUp requests for single samples
 * @param lanes gauge: lanes that readers of this process have registered
 */
public record NodeMetrics(
        long batches,
        long bytes,
        long rows,
        Used used,
        long originReads,
        long originBytes,
        long originMetadata,
        double trainerWaitRatio,
        long sessions,
        long rejected,
        long nacks,
        long refetches,
        long corrupt,
        long openWindows,
        long workingBytes,
        long mappings,
        long pendingReceipts,
        LookedUp lookedUp,
        long lanes) {}
