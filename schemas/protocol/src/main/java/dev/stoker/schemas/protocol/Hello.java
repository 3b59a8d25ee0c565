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
 * @param client name and version of the client, for logs
 * @param pass the pass that the client joins
 * @param participant its rank and worker
 * @param replica number of the copy, if several copies of one rank receive the same batches
 * @param run the run that the user named; 0 if the server chooses it
 * @param caller the process of the client, and whether it requests a place
 * @param reading how it reads
 */
public record Hello(
        Optional<String> token,
        String client,
        PassRequest pass,
        Participant participant,
        int replica,
        long run,
        Caller caller,
        ReadRequest reading)
        implements Frame {
    public static final String DEFAULT_GROUP = "default";

    /** The greatest run that a user may name. Greater numbers are left for the runs that servers choose. */
    public static final long MAX_RUN = 1L << 62;

    private static final int MAX_NAME = 255;

    /**
     * Names a pass over a stream, and the order in which its group reads.
     *
     * @param feed id or name of the expected feed; empty for any feed
     * @param stream name of the stream; empty for the feed's first stream
     * @param group name of the group that shares the pass
     * @param order the requested keys of the order; the feed's default applies to the others
     */
    public record PassRequest(Optional<String> feed, Optional<String> stream, String group, OrderOverlay order) {
        public PassRequest {
            feed.ifPresent(name -> Fields.name("feed", name, MAX_NAME));
            stream.ifPresent(name -> Fields.name("stream", name, MAX_NAME));
            Fields.name("group", group, MAX_NAME);
        }
    }

    /**
     * Describes what a client reads of its pass, and how.
     *
     * @param epoch the epoch that the client begins or resumes, which determines the version if the stream follows its
     *     dataset; empty for a client that does not support this
     * @param version the version of that epoch in the client's state; empty if it has read nothing of the epoch
     * @param skip the batches that the client leaves out
     * @param localFiles number of files that the client can keep open for local reads; 0 for none
     * @param localReadsFrom average payload bytes of a row from which local reads pay off for the client
     */
    public record ReadRequest(
            OptionalLong epoch, OptionalLong version, SkipList skip, int localFiles, int localReadsFrom) {
        /** Reads any epoch, skips no batch, and takes all bytes from the server. */
        public static final ReadRequest PLAIN =
                new ReadRequest(OptionalLong.empty(), OptionalLong.empty(), SkipList.NONE, 0, 0);

        public ReadRequest {
            requireNatural("local_files", localFiles);
            requireNatural("local_reads_from", localReadsFrom);
            if (epoch.isPresent()) {
                Fields.u32("epoch", epoch.getAsLong());
            }
            if (version.isPresent()) {
                Fields.natural("version", version.getAsLong());
            }
        }
    }

    public Hello {
        if (client.length() > MAX_NAME) {
            throw new IllegalArgumentException("client is longer than " + MAX_NAME + " characters");
        }
        requireNatural("replica", replica);
        if (run < 0 || run > MAX_RUN) {
            throw new IllegalArgumentException("run is " + run + ": expected 0 … 2^62");
        }
    }

    /** Creates a HELLO of an unknown process that requests a place, without local reads. */
    public Hello(
            Optional<String> token, String client, PassRequest pass, Participant participant, int replica, long run) {
        this(token, client, pass, participant, replica, run, Caller.UNKNOWN, ReadRequest.PLAIN);
    }

    /** Returns the same HELLO with an offer of local reads for rows of any size. */
    public Hello withLocalReads(int files) {
        return withLocalReads(files, 0);
    }

    /** Returns the same HELLO with an offer of local reads for rows of at least {@code from} payload bytes. */
    public Hello withLocalReads(int files, int from) {
        return with(caller, new ReadRequest(reading.epoch, reading.version, reading.skip, files, from));
    }

    /** Returns the same HELLO of a client that leaves out batches. */
    public Hello skipping(SkipList skipped) {
        return with(
                caller,
                new ReadRequest(reading.epoch, reading.version, skipped, reading.localFiles, reading.localReadsFrom));
    }

    /** Returns the same HELLO for an epoch that the client has not started to read. */
    public Hello at(long begun) {
        return at(begun, OptionalLong.empty());
    }

    /** Returns the same HELLO for an epoch that the client begins or resumes. */
    public Hello at(long begun, OptionalLong read) {
        return with(caller, at(OptionalLong.of(begun), read));
    }

    /** Returns the same HELLO of a client that looks at a version, or at the newest one. */
    public Hello lookingAt(OptionalLong read) {
        return with(caller.looking(), at(reading.epoch, read));
    }

    private ReadRequest at(OptionalLong begun, OptionalLong read) {
        return new ReadRequest(begun, read, reading.skip, reading.localFiles, reading.localReadsFrom);
    }

    /** Returns the same HELLO from a process. */
    public Hello by(Caller process) {
        return with(process, reading);
    }

    private Hello with(Caller process, ReadRequest request) {
        return new Hello(token, client, pass, participant, replica, run, process, request);
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
        return "Hello[" + client + ", feed=" + pass.feed.orElse("any") + ", stream=" + pass.stream.orElse("first")
                + ", group=" + pass.group + ", order=" + pass.order + ", " + participant + ", replica=" + replica
                + ", run=" + run + "]";
    }
}
