package dev.stoker.storage.hadoop;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;

/** What a {@link FaultProxy} does to a request or its reply. */
public sealed interface Fault {

    /** Answers without the server, which does not see the request. */
    record Status(int status, String code) implements Fault {}

    /** The server executes the request, but the client's connection is closed instead of a reply. */
    record LostReply() implements Fault {}

    /** The connection is reset after this number of bytes of the reply's body. */
    record Cut(long afterBytes) implements Fault {}

    /** The reply is well-formed, but claims to be shorter than it was. */
    record Truncated(double fraction) implements Fault {}

    /** The reply has no length, and the connection ends in good order too early. */
    record EndedEarly(double fraction) implements Fault {}

    /** The range is shifted by this number of bytes; the reply states its true range. */
    record WrongRange(long shift) implements Fault {}

    /** The range is removed from the request, so that the reply is the whole object. */
    record IgnoredRange() implements Fault {}

    /** The reply claims the requested range but has other bytes. */
    record OtherBytes(byte[] object) implements Fault {}

    /** Limits the bytes per second. */
    record Trickle(int bytesPerSecond) implements Fault {}

    /** No reply, and no end. */
    record Hang() implements Fault {}

    /** The reply is delayed. */
    record Late(Duration delay) implements Fault {}

    /** The server hears of it when the latch opens. */
    record Held(CountDownLatch until) implements Fault {}

    /** The condition ({@code If-None-Match}, or {@code ifGenerationMatch} in the query) is removed from the request. */
    record IgnoredCondition() implements Fault {}

    /** S3's answer for throttled requests. */
    static Fault slowDown() {
        return new Status(503, "SlowDown");
    }
}
