package dev.stoker.client.feeder;

import dev.stoker.client.source.ClientOptions;
import dev.stoker.schemas.batch.View;
import dev.stoker.schemas.order.EpochNumbering;
import dev.stoker.schemas.order.Fingerprint;
import dev.stoker.schemas.protocol.Welcome;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What the client and its feeders have agreed on: feed, stream, version, order and run. The first WELCOME says it, and
 * later ones agree with it. The client's lock guards it.
 */
final class Agreement {
    private final ClientOptions options;

    /** Null before the first WELCOME, and while the client switches to another epoch. */
    private @Nullable Welcome welcome;
    /** The columns that the client receives; known with the WELCOME. */
    private @Nullable View view;
    /** The first WELCOME: it fixes the client's feed, stream and run. */
    private @Nullable Welcome first;

    private long joined;
    private boolean tookPart;

    Agreement(ClientOptions options) {
        this.options = options;
    }

    /**
     * The WELCOME of the first feeder since the client was opened or switched to another epoch. Later ones agree with
     * it.
     */
    Optional<Welcome> welcome() {
        return Optional.ofNullable(welcome);
    }

    /** Returns what {@link #welcome} has, after a feeder has sent it. */
    Welcome agreed() {
        return Objects.requireNonNull(welcome, "batches follow WELCOME");
    }

    /** The first WELCOME of all. */
    Optional<Welcome> first() {
        return Optional.ofNullable(first);
    }

    View view() {
        return Objects.requireNonNull(view, "WELCOME sets it");
    }

    /** The client's run; 0 before the first WELCOME. */
    long joined() {
        return joined;
    }

    /** Whether the client only looks: it has not said yet which epoch it reads of a stream that follows its dataset. */
    boolean isLooking() {
        return welcome != null
                && welcome.session().follows()
                && welcome.session().epoch().isEmpty();
    }

    /** Notes that every feeder that answers has admitted this client. */
    void tookPart() {
        tookPart = true;
    }

    /**
     * Called when all connections were closed before the client asked for a batch. The client forgets a run that only a
     * feeder that it has left named.
     *
     * @return whether the client has taken part in a run
     */
    boolean beginAgain() {
        if (!tookPart) {
            joined = 0;
        }
        forget();
        return tookPart;
    }

    /** Forgets the version: the next epoch can have another. */
    void forget() {
        welcome = null;
    }

    /** Returns whether a WELCOME is from another feed than the first one. */
    boolean isOfAnotherFeed(Welcome found) {
        return first != null && !found.feed().id().equals(first.feed().id());
    }

    /** Adopts a WELCOME if there is none yet. Returns whether it was adopted. */
    boolean adopt(Welcome found) {
        if (welcome != null) {
            return false;
        }
        welcome = found;
        joined = isLooking() ? joined : Math.max(joined, found.session().run());
        first = first == null ? found : first;
        view = options.viewOrWhole(found);
        return true;
    }

    /** Returns how a WELCOME differs from the agreed one; empty if it has the same data and order. */
    Optional<String> difference(Welcome found) {
        return found.pass().fingerprint().equals(agreed().pass().fingerprint())
                ? Optional.empty()
                : Optional.of(difference(agreed(), found));
    }

    private static String difference(Welcome mine, Welcome theirs) {
        List<String> differing = new ArrayList<>();
        if (!mine.stream().dataset().equals(theirs.stream().dataset())) {
            differing.add("dataset was " + mine.stream().dataset() + ", is "
                    + theirs.stream().dataset());
        }
        if (mine.stream().version() != theirs.stream().version()) {
            differing.add("version was " + mine.stream().version() + ", is "
                    + theirs.stream().version());
        }
        if (!mine.stream().split().equals(theirs.stream().split())) {
            differing.add("split was " + mine.stream().split() + ", is "
                    + theirs.stream().split());
        }
        if (!mine.pass().order().equals(theirs.pass().order())) {
            differing.add("order was " + mine.pass().order().toJson() + ", is "
                    + theirs.pass().order().toJson());
        }
        Fingerprint was = mine.pass().fingerprint();
        return differing.isEmpty()
                ? "fingerprint was " + was.text() + ", is "
                        + theirs.pass().fingerprint().text()
                : String.join("; ", differing);
    }

    EpochNumbering numbering(long epoch) {
        long[] rows =
                agreed().pass().laneRows().stream().mapToLong(Long::longValue).toArray();
        return new EpochNumbering(agreed().pass().order(), rows, epoch);
    }
}
