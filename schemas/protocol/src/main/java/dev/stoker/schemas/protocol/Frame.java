package dev.stoker.schemas.protocol;

/** A message of the feed protocol. Immutable. */
public sealed interface Frame
        permits Hello,
                Welcome,
                Subscribe,
                Grant,
                Batch,
                Ack,
                Durable,
                Nack,
                EpochEnd,
                Ping,
                Pong,
                Bye,
                ErrorMessage,
                LaneMap,
                FileAnnouncement,
                BatchRef,
                Release,
                Stats,
                Delay,
                Select,
                Selected,
                GetSamples,
                Samples,
                ListSamples,
                Entries {
    FrameType type();
}
