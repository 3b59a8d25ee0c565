package dev.stoker.schemas.protocol;

import dev.stoker.schemas.order.OrderOverlay;
import dev.stoker.schemas.order.delivery.Participant;
import dev.stoker.schemas.order.delivery.SkipList;
import dev.stoker.schemas.protocol.parts.Caller;
import dev.stoker.schemas.protocol.parts.Fields;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Identifies the client and its request; the first frame of a session (client to server).
 *
 * @param token the secret, if the server requires one
 * @param feed id or name of the expected feed; empty for any feed
 * @param stream name of the stream; empty for the feed's first stream
 * @param group name of the group that shares a pass
 * @param order the requested keys of the order; the feed's default applies to the others
 * @param participant its rank and worker
 * @param replica number of the copy, if several copies of one rank receive the same batches
 * @param run the run that the user named; 0 if the server chooses it
 * @param client name and version of the client, for logs
 * @param localFiles number of files that the client can keep open for local reads; 0 for none
 * @param localReadsFrom average payload bytes of a row from which local reads pay off for the client
 * @param epoch the epoch that the client begins or resumes, which determines the version if the stream follows its
 *     dataset; empty for a client that does not support this
 * @param version the version of that epoch in the client's state; empty if it has read nothing of the epoch
 * @param caller the process of the client, and whether it requests a place
 * @param skip the batches that the client leaves out
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
        int localFiles,
        int localReadsFrom,
        OptionalLong epoch,
        OptionalLong version,
        Caller caller,
        SkipList skip)
        implements Frame {
    public static final String DEFAULT_GROUP = "default";

    /** The greatest run that a user may name. Greater numbers are left for the runs that servers choose. */
    public static final long MAX_RUN = 1L << 62;

    private static final int MAX_NAME = 255;

    public Hello {
        feed.ifPresent(name -> Fields.name("feed", name, MAX_NAME));
        stream.ifPresent(name -> Fields.name("stream", name, MAX_NAME));
        Fields.name("group", group, MAX_NAME);
        if (client.length() > MAX_NAME) {
            throw new IllegalArgumentException("client is longer than " + MAX_NAME + " characters");
        }
        requireNatural("local_files", localFiles);
        requireNatural("local_reads_from", localReadsFrom);
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

    /** Creates a HELLO of a client without local reads. */
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
                Caller.UNKNOWN,
                SkipList.NONE);
    }

    /** Returns the same HELLO with an offer of local reads for rows of any size. */
    public Hello withLocalReads(int files) {
        return withLocalReads(files, 0);
    }

    /** Returns the same HELLO with an offer of local reads for rows of at least {@code from} payload bytes. */
    public Hello withLocalReads(int files, int from) {
        return with(files, from, epoch, version, caller);
    }

    /** Returns the same HELLO of a client that leaves out batches. */
    public Hello skipping(SkipList skipped) {
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
                localFiles,
                localReadsFrom,
                epoch,
                version,
                caller,
                skipped);
    }

    /** Returns the same HELLO for an epoch that the client has not started to read. */
    public Hello at(long begun) {
        return at(begun, OptionalLong.empty());
    }

    /** Returns the same HELLO for an epoch that the client begins or resumes. */
    public Hello at(long begun, OptionalLong read) {
        return with(localFiles, localReadsFrom, OptionalLong.of(begun), read, caller);
    }

    /** Returns the same HELLO of a client that looks at a version, or at the newest one. */
    public Hello lookingAt(OptionalLong read) {
        return with(localFiles, localReadsFrom, epoch, read, caller.looking());
    }

    /** Returns the same HELLO from a process. */
    public Hello by(Caller process) {
        return with(localFiles, localReadsFrom, epoch, version, process);
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
                process,
                skip);
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

    /** Omits the token. */
    @Override
    public String toString() {
        return "Hello[" + client + ", feed=" + feed.orElse("any") + ", stream=" + stream.orElse("first") + ", group="
                + group + ", order=" + order + ", " + participant + ", replica=" + replica + ", run=" + run + "]";
    }
}
