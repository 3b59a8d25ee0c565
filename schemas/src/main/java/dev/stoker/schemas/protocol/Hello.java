package dev.stoker.schemas.protocol;

import dev.stoker.schemas.order.OrderOverlay;
import dev.stoker.schemas.order.Participant;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Client to server, the first frame: who it is and what it wants.
 *
 * @param token the secret, where the server wants one
 * @param feed id or name of the feed it expects; empty for whichever is served
 * @param stream the stream's name; empty for the feed's first
 * @param group the group that shares a pass
 * @param order what it asks of the order; the rest is the feed's default
 * @param participant its rank and worker
 * @param replica copies of one rank that receive the same batches
 * @param run the run that the user named; 0 to be told by the server
 * @param client name and version of the client, for logs
 * @param handover files that it is willing to keep open, so as to read payload out of them itself; 0 for none
 * @param handoverFrom bytes of payload a row, on average of a batch, from which that is worth it to the client
 * @param epoch the epoch that it begins or goes on with, which decides the version where a stream follows its dataset; empty of
 *     a client that does not know of that
 * @param version the version of that epoch that its state names; empty if it has read nothing of the epoch
 * @param caller the process behind the client, and whether it wants a place
 */
public record Hello(
        Optional<String> token,
        Optional<String> feed,
        Optional<String> stream,
        String group,
        OrderOverlay order,
        Participant participant,
        int replica,
        long run,
        String client,
        int handover,
        int handoverFrom,
        OptionalLong epoch,
        OptionalLong version,
        Caller caller)
        implements Frame {
    public static final String DEFAULT_GROUP = "default";

    /** The greatest run that a user may name: above it there is room for the runs that servers choose. */
    public static final long MAX_RUN = 1L << 62;

    private static final int MAX_NAME = 255;

    public Hello {
        feed.ifPresent(name -> Fields.name("feed", name, MAX_NAME));
        stream.ifPresent(name -> Fields.name("stream", name, MAX_NAME));
        Fields.name("group", group, MAX_NAME);
        if (client.length() > MAX_NAME) {
            throw new IllegalArgumentException("client is longer than " + MAX_NAME + " characters");
        }
        requireNatural("handover", handover);
        requireNatural("handover_from", handoverFrom);
        requireNatural("replica", replica);
        if (run < 0 || run > MAX_RUN) {
            throw new IllegalArgumentException("run is " + run + ": expected 0 … 2^62");
        }
        if (epoch.isPresent()) {
            Fields.u32("epoch", epoch.getAsLong());
        }
        if (version.isPresent()) {
            Fields.natural("version", version.getAsLong());
        }
    }

    /** Of a client that takes payload over the connection. */
    public Hello(
            Optional<String> token,
            Optional<String> feed,
            Optional<String> stream,
            String group,
            OrderOverlay order,
            Participant participant,
            int replica,
            long run,
            String client) {
        this(
                token,
                feed,
                stream,
                group,
                order,
                participant,
                replica,
                run,
                client,
                0,
                0,
                OptionalLong.empty(),
                OptionalLong.empty(),
                Caller.UNKNOWN);
    }

    /** The same, offering to keep files open whatever the size of rows. */
    public Hello withHandover(int files) {
        return withHandover(files, 0);
    }

    /** The same, offering to keep files open for rows of so many bytes of payload. */
    public Hello withHandover(int files, int from) {
        return with(files, from, epoch, version, caller);
    }

    /** The same, beginning with an epoch of which it has read nothing. */
    public Hello at(long begun) {
        return at(begun, OptionalLong.empty());
    }

    /** The same, beginning or going on with an epoch. */
    public Hello at(long begun, OptionalLong read) {
        return with(handover, handoverFrom, OptionalLong.of(begun), read, caller);
    }

    /** The same, said by a process. */
    public Hello by(Caller process) {
        return with(handover, handoverFrom, epoch, version, process);
    }

    private Hello with(int files, int from, OptionalLong begun, OptionalLong read, Caller process) {
        return new Hello(
                token,
                feed,
                stream,
                group,
                order,
                participant,
                replica,
                run,
                client,
                files,
                from,
                begun,
                read,
                process);
    }

    private static void requireNatural(String what, int value) {
        if (value < 0) {
            throw new IllegalArgumentException(what + " is " + value + ": expected 0 … 2^31-1");
        }
    }

    @Override
    public FrameType type() {
        return FrameType.HELLO;
    }

    /** Without the token. */
    @Override
    public String toString() {
        return "Hello[" + client + ", feed=" + feed.orElse("any") + ", stream=" + stream.orElse("first") + ", group="
                + group + ", order=" + order + ", " + participant + ", replica=" + replica + ", run=" + run + "]";
    }
}
