package dev.stoker.schemas.protocol;

import dev.stoker.schemas.protocol.parts.Fields;

/** A message of the feed protocol. Immutable. The messages of one or a few numbers are nested here. */
public sealed interface Frame
        permits Hello,
                Welcome,
                Subscribe,
                Frame.Grant,
                Batch,
                Ack,
                Frame.Durable,
                Frame.Nack,
                Frame.EpochEnd,
                Frame.Ping,
                Frame.Pong,
                Frame.Bye,
                ErrorMessage,
                LaneMap,
                FileAnnouncement,
                BatchRef,
                Frame.Release,
                Stats,
                Delay,
                Select,
                Frame.Selected,
                GetSamples,
                Samples,
                ListSamples,
                Entries {
    FrameType type();

    /**
     * Permits the server to send batches up to a number (client to server).
     *
     * @param subscription the subscription it belongs to; the server ignores a grant for an earlier one
     * @param through the greatest virtual number that may be sent, inclusive
     */
    record Grant(long subscription, long through) implements Frame {
        public Grant {
            Fields.u32("subscription", subscription);
            Fields.natural("through", through);
        }

        @Override
        public FrameType type() {
            return FrameType.GRANT;
        }
    }

    /**
     * Reports how many acknowledgements of this session are durable in the ledger (server to client).
     *
     * @param entries number of ACK entries of this session, counted from its first
     */
    record Durable(long entries) implements Frame {
        public Durable {
            Fields.natural("entries", entries);
        }

        @Override
        public FrameType type() {
            return FrameType.DURABLE;
        }
    }

    /**
     * Reports a piece whose checksum does not match; the server verifies it and sends it again (client to server).
     *
     * @param subscription the subscription it was sent for
     * @param epoch its epoch
     * @param number its virtual number
     * @param piece its index within the delivered batch
     * @param crc the checksum that the client computed
     */
    record Nack(long subscription, long epoch, long number, int piece, int crc) implements Frame {
        public Nack {
            Fields.u32("subscription", subscription);
            Fields.u32("epoch", epoch);
            Fields.natural("number", number);
            Fields.u16("piece", piece);
        }

        @Override
        public FrameType type() {
            return FrameType.NACK;
        }
    }

    /**
     * Reports that the server has processed every number of the subscription: it was sent, or the client had received
     * it before (server to client).
     *
     * @param subscription the subscription that ends
     * @param epoch its epoch
     * @param batches number of batch numbers that were sent or already past
     * @param rows number of rows sent
     */
    record EpochEnd(long subscription, long epoch, long batches, long rows) implements Frame {
        public EpochEnd {
            Fields.u32("subscription", subscription);
            Fields.u32("epoch", epoch);
            Fields.natural("batches", batches);
            Fields.natural("rows", rows);
        }

        @Override
        public FrameType type() {
            return FrameType.EPOCH_END;
        }
    }

    /**
     * Requests a PONG with the same number (both directions).
     *
     * @param opaque any 64 bits
     */
    record Ping(long opaque) implements Frame {
        @Override
        public FrameType type() {
            return FrameType.PING;
        }
    }

    /**
     * Answers a PING (both directions).
     *
     * @param opaque the bits of the PING
     */
    record Pong(long opaque) implements Frame {
        @Override
        public FrameType type() {
            return FrameType.PONG;
        }
    }

    /** Ends the session normally; the sender closes the connection afterwards (both directions). */
    record Bye() implements Frame {
        @Override
        public FrameType type() {
            return FrameType.BYE;
        }
    }

    /**
     * Reports how many {@link BatchRef}s of this session the client has read, so that the server can release their
     * files (client to server).
     *
     * @param references number of references, counted from the session's first
     */
    record Release(long references) implements Frame {
        public Release {
            Fields.natural("references", references);
        }

        @Override
        public FrameType type() {
            return FrameType.RELEASE;
        }
    }

    /**
     * Answers {@link Select} (server to client).
     *
     * @param largestBatchBytes upper bound of the message bytes of a delivered batch with the selected columns
     * @param viewTag identifies the selected columns in BATCH headers
     */
    record Selected(long largestBatchBytes, long viewTag) implements Frame {
        public Selected {
            Fields.natural("largest_batch", largestBatchBytes);
        }

        @Override
        public FrameType type() {
            return FrameType.SELECTED;
        }
    }
}
