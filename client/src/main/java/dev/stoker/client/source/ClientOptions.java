package dev.stoker.client.source;

import dev.stoker.client.errors.StateMismatchException;
import dev.stoker.client.transport.LocalTransport;
import dev.stoker.client.transport.Security;
import dev.stoker.client.transport.Timing;
import dev.stoker.schemas.batch.View;
import dev.stoker.schemas.order.OrderOverlay;
import dev.stoker.schemas.order.delivery.Participant;
import dev.stoker.schemas.order.delivery.SkipList;
import dev.stoker.schemas.order.delivery.TailPolicy;
import dev.stoker.schemas.protocol.Welcome;
import dev.stoker.schemas.protocol.parts.Caller;
import dev.stoker.schemas.protocol.parts.FieldInfo;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;

/** The settings of a client, created and checked by {@code FeedClientBuilder}. */
public record ClientOptions(
        Optional<String> stream,
        Optional<String> split,
        OptionalLong version,
        String group,
        OrderOverlay order,
        Participant participant,
        int replica,
        long run,
        TailPolicy tail,
        SkipList skip,
        Optional<List<String>> columns,
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
        Timing timing) {

    /**
     * Returns the columns to receive of a stream.
     *
     * @throws IllegalArgumentException if the requested ones are not columns of the stream
     */
    public View view(Welcome welcome) {
        List<String> fields =
                welcome.columns().fields().stream().map(FieldInfo::name).toList();
        return columns.map(names -> View.of(fields, names)).orElseGet(() -> View.whole(fields));
    }

    /** Returns {@link #view}, or all columns if the requested ones are wrong, which {@code FeedClient} reports. */
    public View viewOrWhole(Welcome welcome) {
        try {
            return view(welcome);
        } catch (IllegalArgumentException e) {
            return View.whole(
                    welcome.columns().fields().stream().map(FieldInfo::name).toList());
        }
    }

    /**
     * Checks that a stream is of the split and version that were requested, and has the batches that are left out.
     *
     * @throws StateMismatchException if it is of another split or version
     * @throws IllegalArgumentException if an epoch has none of the batches that are left out
     */
    public void requireMatch(Welcome welcome) {
        Welcome.StreamName found = welcome.stream();
        split.filter(name -> !name.equals(found.split())).ifPresent(name -> {
            throw new StateMismatchException(
                    "stream " + found.name() + ": split " + found.split() + ", asked for " + name);
        });
        if (!welcome.session().follows() || welcome.session().epoch().isPresent()) {
            skip.requireBatches(welcome.session().epoch(), welcome.size().batches());
        }
        if (version.orElse(found.version()) != found.version()) {
            throw new StateMismatchException(
                    "stream " + found.name() + ": version " + found.version() + ", asked for " + version.getAsLong());
        }
    }
}
