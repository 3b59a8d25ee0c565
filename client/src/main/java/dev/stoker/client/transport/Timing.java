package dev.stoker.client.transport;

import java.time.Duration;

/**
 * The time limits of a client. {@link #STANDARD} has the protocol's values; tests use shorter ones.
 *
 * @param failover how long the first feeder of a lane may be unreachable until the client asks the next one (with up to
 *     half as much jitter added)
 * @param ping silence of an awaited feeder until the client sends a PING; half of {@code failover} if another feeder
 *     could serve
 * @param dead silence after the PING until the client disconnects; {@code failover} if another feeder could serve
 * @param attempt for one attempt to connect
 * @param greeting for a WELCOME
 * @param admission for the other feeders to answer HELLO, after the first has admitted the client
 * @param forgive until the client tries an avoided feeder again without a newer lane map
 * @param refetch for a rejected piece to arrive again, until the client subscribes again
 * @param ack how long a receipt may wait to be sent with others
 */
public record Timing(
        Duration failover,
        Duration ping,
        Duration dead,
        Duration attempt,
        Duration greeting,
        Duration admission,
        Duration forgive,
        Duration refetch,
        Duration ack) {

    public static final Timing STANDARD = new Timing(
            Duration.ofMillis(500),
            Duration.ofSeconds(5),
            Duration.ofSeconds(30),
            Duration.ofSeconds(2),
            Duration.ofSeconds(10),
            Duration.ofSeconds(3),
            Duration.ofSeconds(30),
            Duration.ofSeconds(5),
            Duration.ofMillis(50));
}
