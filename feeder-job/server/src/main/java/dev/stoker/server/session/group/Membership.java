package dev.stoker.server.session.group;

import dev.stoker.schemas.protocol.ProtocolException;
import dev.stoker.schemas.protocol.Welcome;
import dev.stoker.schemas.protocol.parts.ErrorCode;
import dev.stoker.schemas.protocol.parts.FieldInfo;
import dev.stoker.server.feed.Identity;
import dev.stoker.server.security.Right;
import dev.stoker.server.session.group.Places.Claim;
import dev.stoker.server.session.group.StreamOrders.AtVersion;
import dev.stoker.server.window.GroupOrder;
import dev.stoker.server.window.PieceBuilder;
import dev.stoker.server.window.ServedStream;
import dev.stoker.server.window.Windows;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalLong;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * What a session was admitted to: a stream in one order, and a place in a group of it, unless the session only looks.
 * Immutable.
 */
public final class Membership {
    private final Admission admission;
    private final GroupOrder order;
    private final SessionWatch watch;
    private final OptionalLong only;
    /** Null for a session that only looks. */
    private final @Nullable Place place;

    /** What has a place in a group: a session. Its methods return at once and may be called by any thread. */
    public interface Occupant {
        /** Asks the peer for a sign of life, because another process wants the place. */
        void ask();

        /** Whether the peer has been asked and has given no sign of life for so long that its machine must be gone. */
        boolean isSilent();

        /** Ends the session. */
        void end(ErrorCode code, String why);
    }

    /** A place that a session has taken. */
    record Place(Group group, Claim claim, Occupant session) {}

    Membership(Admission admission, GroupOrder order, SessionWatch watch, OptionalLong only, @Nullable Place place) {
        this.admission = admission;
        this.order = order;
        this.watch = watch;
        this.only = only;
        this.place = place;
    }

    /**
     * Takes a place in the group that a trainer names, and ends the sessions that lose theirs to it. The session must
     * {@linkplain #leave leave} in the end.
     *
     * @param nowMs wall clock, from which new run numbers are generated
     * @throws ProtocolException if too many groups are open, or the trainer gets no place, order or version
     */
    public static Membership join(Admission admission, Occupant session, LongSupplier nowMs) throws ProtocolException {
        Groups groups = admission.stream().groups();
        String name = admission.hello().pass().group();
        Group group = groups.enter(name);
        Membership joined = null;
        boolean whole = false;
        try {
            Claim claim = Claim.of(admission);
            List<Occupant> displaced = new ArrayList<>();
            joined = join(group, admission, claim, session, nowMs, displaced);
            endAll(displaced, claim, joined.identity());
            whole = true;
            return joined;
        } finally {
            if (!whole && joined != null) {
                joined.leave();
            } else if (!whole) {
                groups.leave(name);
            }
        }
    }

    private static Membership join(
            Group group,
            Admission admission,
            Claim claim,
            Occupant session,
            LongSupplier nowMs,
            List<Occupant> displaced)
            throws ProtocolException {
        if (group.isDisplacing(claim)) {
            admission.rights().require(Right.ADMINISTER, "replacing a connected trainer by run " + claim.run());
        }
        // Before the version of an epoch is chosen, because the choice is permanent.
        group.check(claim);
        AtVersion orders = admission.stream().orders().at(admission.hello());
        return group.join(admission, claim, session, orders, nowMs.getAsLong(), displaced);
    }

    private static void endAll(List<Occupant> displaced, Claim claim, Identity by) {
        for (Occupant session : displaced) {
            session.end(
                    ErrorCode.FENCED,
                    claim.who() + " has replaced this trainer in group " + by.group() + " of stream " + by.stream()
                            + ": end this trainer, or let it read in another group (group=\"…\")");
        }
    }

    /**
     * Finds the order for a client that takes no place. Leaves no state behind.
     *
     * @throws ProtocolException if its order spec does not fit the group's, or the version cannot be opened
     */
    public static Membership look(Admission admission) throws ProtocolException {
        FeedStream stream = admission.stream();
        String name = admission.hello().pass().group();
        AtVersion orders = stream.orders().look(admission.hello());
        Group group = stream.groups()
                .find(name)
                .orElseGet(() -> new Group(stream.stream().name(), name));
        GroupOrder order = group.look(admission.hello(), orders);
        Identity identity = admission.identity(admission.hello().run());
        SessionWatch watch = new SessionWatch(identity, admission.hello().client());
        return new Membership(admission, order, watch, OptionalLong.empty(), null);
    }

    /**
     * Describes the stream to the trainer.
     *
     * @param session the number of the session
     * @param localFiles number of files that the trainer may know
     */
    public Welcome welcome(long session, int localFiles) throws ProtocolException {
        FeedStream to = stream();
        OptionalLong epoch = place == null ? to.orders().begun(admission.hello()) : only;
        boolean readOnly = place != null && !admission.rights().includes(Right.ACKNOWLEDGE);
        ServedStream version = order.stream();
        return new Welcome(
                new Welcome.FeedName(to.feed().id(), to.feed().name()),
                new Welcome.StreamName(
                        version.name(), version.dataset(), version.datasetName(), version.version(), version.split()),
                columns(version),
                new Welcome.PassInfo(
                        order.fingerprint(),
                        order.spec(),
                        Arrays.stream(order.order().laneRows()).boxed().toList(),
                        order.order().size().samples(),
                        order.largestBatchBytes(),
                        to.feed().epochs()),
                to.laneMap().forLanes(order.order().lanes()),
                new Welcome.SessionInfo(identity().run(), session, localFiles, true, to.follows(), epoch, readOnly));
    }

    private static Welcome.StreamColumns columns(ServedStream version) {
        List<FieldInfo> fields = version.fields().stream()
                .map(field -> new FieldInfo(field.name(), field.type().canonical(), field.nullable(), field.payload()))
                .toList();
        return new Welcome.StreamColumns(fields, version.classes().names());
    }

    /** Returns a builder of the pieces that the session is sent. */
    public PieceBuilder builder(Windows windows) {
        return stream().builder(order, windows, only);
    }

    /**
     * Returns the order of an epoch.
     *
     * @throws ProtocolException if the session is bound to another epoch, and this one was not started or cannot be
     *     opened
     */
    public GroupOrder order(long epoch) throws ProtocolException {
        boolean here = !stream().follows() || (only.isPresent() && only.getAsLong() == epoch);
        return here ? order : stream().orders().begun(identity().group(), epoch, order.spec());
    }

    /**
     * The trainer has subscribed, so the order of its group is fixed and its run is the group's.
     *
     * @throws ProtocolException if there are too many places
     */
    public void settle() throws ProtocolException {
        if (place != null) {
            place.group().settle(place.claim(), place.session());
        }
    }

    /** Frees the place, if there is one, and leaves the group. Called once. */
    public void leave() {
        if (place != null) {
            place.group().leave(place.claim(), place.session());
            stream().groups().leave(identity().group());
        }
    }

    public Admission admission() {
        return admission;
    }

    public FeedStream stream() {
        return admission.stream();
    }

    public GroupOrder order() {
        return order;
    }

    /** Returns who the trainer is in its run. */
    public Identity identity() {
        return watch.identity();
    }

    public SessionWatch watch() {
        return watch;
    }

    /** Returns the only epoch that may be subscribed to, if each epoch has a separate version. */
    public OptionalLong only() {
        return only;
    }
}
