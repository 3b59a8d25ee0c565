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
 * @param run the launch; 0 to be told by the server
 * @param client name and version of the client, for logs
 * @param handover files that it is willing to keep open, so as to read payload out of them itself; 0 for none
 * @param handoverFrom bytes of payload a row, on average of a batch, from which that is worth it to the client
 * @param epoch the epoch that it begins or goes on with, which decides the version where a stream follows its dataset; empty of
 *     a client that does not know of that
 * @param version the version of that epoch that its state names; empty if it has read nothing of the epoch
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
        OptionalLong version)
        implements Frame {
    public static final String DEFAULT_GROUP = "default";

    private static final int MAX_NAME = 255;

    public Hello {
        feed.ifPresent(name -> requireName("feed", name));
        stream.ifPresent(name -> requireName("stream", name));
        requireName("group", group);
        if (client.length() > MAX_NAME) {
            throw new IllegalArgumentException("client is longer than " + MAX_NAME + " characters");
        }
        requireNatural("handover", handover);
        requireNatural("handover_from", handoverFrom);
        requireNatural("replica", replica);
        Fields.natural("run", run);
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
                OptionalLong.empty());
    }

    /** The same, offering to keep files open whatever the size of rows. */
    public Hello withHandover(int files) {
        return withHandover(files, 0);
    }

    /** The same, offering to keep files open for rows of so many bytes of payload. */
    public Hello withHandover(int files, int from) {
        return new Hello(
                token, feed, stream, group, order, participant, replica, run, client, files, from, epoch, version);
    }

    /** The same, beginning with an epoch of which it has read nothing. */
    public Hello at(long begun) {
        return at(begun, OptionalLong.empty());
    }

    /** The same, beginning or going on with an epoch. */
    public Hello at(long begun, OptionalLong read) {
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
                handover,
                handoverFrom,
                OptionalLong.of(begun),
                read);
    }

    private static void requireNatural(String what, int value) {
        if (value < 0) {
            throw new IllegalArgumentException(what + " is " + value + ": expected 0 … 2^31-1");
        }
    }

    private static void requireName(String what, String name) {
        boolean isText = name.codePoints().noneMatch(c -> Character.isISOControl(c) || isSurrogate(c));
        if (name.isEmpty() || name.length() > MAX_NAME || !isText) {
            throw new IllegalArgumentException(
                    what + ": expected 1 to " + MAX_NAME + " characters without control characters or half surrogates");
        }
    }

    /** Half of a surrogate pair: UTF-8 cannot encode it, so two such names would be one name in the ledger. */
    private static boolean isSurrogate(int codePoint) {
        return codePoint >= Character.MIN_SURROGATE && codePoint <= Character.MAX_SURROGATE;
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
