package dev.stoker.client;

import dev.stoker.schemas.order.OrderOverlay;
import dev.stoker.schemas.order.Participant;
import dev.stoker.schemas.order.TailPolicy;
import dev.stoker.schemas.protocol.Caller;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;

/** The settings of a client, created and checked by {@link FeedClientBuilder}. */
record FeedOptions(
        Optional<String> stream,
        Optional<String> split,
        OptionalLong version,
        String group,
        OrderOverlay order,
        Participant participant,
        int replica,
        long run,
        TailPolicy tail,
        OptionalLong epochs,
        OptionalInt epochBatches,
        int concat,
        Security security,
        LocalTransport local,
        boolean isReported,
        long bufferBytes,
        Duration connectTimeout,
        Duration reconnectTimeout,
        Duration batchTimeout,
        Duration placeTimeout,
        Caller caller,
        Timing timing) {}
