package dev.stoker.storage.hadoop;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;

/** What a {@link FaultProxy} does to a request or its reply. */
public sealed interface Fault {

    /** Answers by itself; the server sees nothing. */
    record Status(int status, String code) implements Fault {}

    /** The server does what it is asked; the client's connection is closed in place of a reply. */
    record LostReply() implements Fault {}

    /** The connection is reset after so many bytes of the reply's body. */
    record Cut(long afterBytes) implements Fault {}

    /** The reply is well-formed and says that it is shorter than it was. */
    record Truncated(double fraction) implements Fault {}

    /** The reply has no length, and the connection ends in good order too early. */
    record EndedEarly(double fraction) implements Fault {}

    /** The range is shifted by so many bytes; the reply says truthfully which it is. */
    record WrongRange(long shift) implements Fault {}

    /** The server is not told of the range, so that the reply is the whole object. */
    record IgnoredRange() implements Fault {}

    /** The reply claims the range that was asked for and has other bytes. */
    record OtherBytes(byte[] object) implements Fault {}

    /** So many bytes a second. */
    record Trickle(int bytesPerSecond) implements Fault {}

    /** No reply, and no end. */
    record Hang() implements Fault {}

    /** The reply comes so much later. */
    record Late(Duration delay) implements Fault {}

    /** The server hears of it when the latch opens. */
    record Held(CountDownLatch until) implements Fault {}

    /** The server is not told of a condition ({@code If-None-Match}). */
    record IgnoredCondition() implements Fault {}

    /** Throttled, as S3 says it. */
    static Fault slowDown() {
        return new Status(503, "SlowDown");
    }
}
