package dev.stoker.schemas.protocol;

import dev.stoker.schemas.protocol.parts.Fields;

/**
 * Reports where the server spent the time before and while it wrote a slow piece (server to client, after the BATCH).
 * Sent only on a session that has sent {@link Stats}.
 *
 * @param subscription the subscription that requested the piece
 * @param epoch epoch of the batch
 * @param number virtual number of the batch
 * @param piece index within the delivered batch
 * @param originUs microseconds spent on reading from a remote store
 * @param diskUs microseconds spent on reading from a disk of the feeder's machine
 * @param feederUs microseconds spent on the feeder's own work
 */
public record Delay(long subscription, long epoch, long number, int piece, long originUs, long diskUs, long feederUs)
        implements Frame {
    public Delay {
        Fields.u32("subscription", subscription);
        Fields.u32("epoch", epoch);
        Fields.natural("number", number);
        Fields.u16("piece", piece);
        Fields.u32("origin", originUs);
        Fields.u32("disk", diskUs);
        Fields.u32("feeder", feederUs);
    }

    @Override
    public FrameType type() {
        return FrameType.DELAY;
    }
}
