package dev.stoker.client.feeder;

import dev.stoker.schemas.protocol.Frame.Bye;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The end of a client: delivers its last receipts, and says goodbye to the feeders. Guarded by the client's lock. */
final class Farewell {
    private final FeederPool pool;
    private final Subscriptions subscriptions;
    private final LivenessCheck liveness;
    /** The number of the PING that followed the last receipts of a connection. */
    private final Map<FeederConnection, Long> asked = new HashMap<>();

    Farewell(FeederPool pool, Subscriptions subscriptions, LivenessCheck liveness) {
        this.pool = pool;
        this.subscriptions = subscriptions;
        this.liveness = liveness;
    }

    /** Sends the last receipts. Called repeatedly; returns true once the feeders have read them. */
    boolean deliver() {
        subscriptions.end();
        subscriptions.flush();
        for (FeederConnection connection : pool.live()) {
            if (!connection.undurable.isEmpty() && !asked.containsKey(connection)) {
                asked.put(connection, liveness.ping(connection));
            }
        }
        // A feeder that answers a PING has read the receipts before it.
        return !subscriptions.isUndelivered()
                && pool.live().stream().allMatch(connection -> connection.ponged >= asked.getOrDefault(connection, 0L));
    }

    /** Says goodbye to all feeders. Returns the connections whose remaining input has to be read. */
    List<FeederConnection> sayGoodbye() {
        List<FeederConnection> left = new ArrayList<>();
        for (FeederConnection connection : pool.live()) {
            connection.send(new Bye());
            connection.shutdownOutput();
            left.add(connection);
        }
        return left;
    }
}
