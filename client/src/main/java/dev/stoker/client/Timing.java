package dev.stoker.client;

import java.time.Duration;

/**
 * How patient a client is. {@link #STANDARD} is the protocol's; tests shorten it.
 *
 * @param failover without reaching the first feeder of a lane, until the next of its list is asked (jittered upwards by half)
 * @param ping silence of an awaited feeder until it is asked whether it lives; half of {@code failover} where another could serve
 * @param dead silence after that until the connection is given up; {@code failover} where another could serve
 * @param attempt for a connection to be made, once
 * @param greeting for a WELCOME
 * @param admission for the other feeders to answer HELLO, once the first has admitted the client
 * @param forgive until an avoided feeder is tried again although no newer map came
 * @param refetch for a refused piece to come again, until the subscription is renewed
 * @param ack that a receipt may wait for others to go with
 */
record Timing(
        Duration failover,
        Duration ping,
        Duration dead,
        Duration attempt,
        Duration greeting,
        Duration admission,
        Duration forgive,
        Duration refetch,
        Duration ack) {

    static final Timing STANDARD = new Timing(
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
