package dev.stoker.cli.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import com.sun.management.ThreadMXBean;
import dev.stoker.cli.redis.HostileRedis.Answer;
import dev.stoker.metadata.index.AddressHints.Place;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Whatever a server answers, a lookup continues without it: soon, and with little memory. */
@Timeout(20)
class HostileRedisTest {
    private static final List<String> KEYS = List.of("a", "b");
    private static final UUID DATASET = UUID.fromString("01990000-0000-7000-8000-000000000001");
    private static final long MAX_ALLOCATED = 64L << 20;

    static Stream<Arguments> answers() {
        return Stream.of(
                arguments("null list", Answer.text("*-1\r\n")),
                arguments("null value", Answer.text("$-1\r\n")),
                arguments("null of version 3", Answer.text("_\r\n")),
                arguments("integer", Answer.text(":7\r\n")),
                arguments("text", Answer.text("+OK\r\n")),
                arguments("one value", Answer.text("$3\r\n0 0\r\n")),
                arguments("error", Answer.text("-ERR no\r\n")),
                arguments("error of another server", Answer.text("-MOVED somewhere\r\n")),
                arguments("empty list", Answer.text("*0\r\n")),
                arguments("too few values", Answer.text("*1\r\n$3\r\n0 0\r\n")),
                arguments("too many values", Answer.text("*3\r\n$-1\r\n$-1\r\n$-1\r\n")),
                arguments("integers in the list", Answer.text("*2\r\n:1\r\n:2\r\n")),
                arguments("errors in the list", Answer.text("*2\r\n-ERR a\r\n-MOVED b\r\n")),
                arguments("lists in the list", Answer.text("*2\r\n*1\r\n$3\r\n0 0\r\n*0\r\n")),
                arguments("a map", Answer.text("%1\r\n$1\r\na\r\n$3\r\n0 0\r\n")),
                arguments("huge value", Answer.text("$2147483647\r\n0 0")),
                arguments("huge value in the list", Answer.text("*2\r\n$2147483647\r\n0 0")),
                arguments("more than huge value", Answer.text("$99999999999999999999\r\n0 0")),
                arguments("huge list", Answer.text("*2147483647\r\n$-1\r\n")),
                arguments("huge map", Answer.text("%1073741824\r\n$-1\r\n")),
                arguments("nested lists", Answer.text("*1\r\n".repeat(100_000))),
                arguments("nested maps", Answer.text("%1\r\n".repeat(100_000))),
                arguments("endless line", Answer.endless("+", "a".repeat(8192))),
                arguments("endless values", Answer.endless("*2\r\n$65536\r\n", "a".repeat(8192))),
                arguments("endless lists", Answer.endless("*4096\r\n", "*4096\r\n$-1\r\n")),
                arguments("no type", Answer.text("0 0\r\n")),
                arguments("zeros", Answer.endless("", "\0".repeat(8192))),
                arguments("nothing", Answer.text("")),
                arguments("the end", (Answer) client -> client.close()),
                arguments("dripping value", Answer.dripping("*2\r\n$50\r\n" + "0".repeat(200))),
                arguments("dripping line", Answer.dripping("+" + "O".repeat(200))));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("answers")
    void aLookupContinuesWithoutTheServer(String name, Answer answer) throws IOException {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        try (HostileRedis server = new HostileRedis(answer);
                RedisAddresses places = RedisAddresses.open(server.url(), DATASET)) {
            long before = threads.getCurrentThreadAllocatedBytes();
            long began = System.nanoTime();
            assertThat(places.find(KEYS)).as(name).containsExactly(Optional.empty(), Optional.empty());
            assertThat(System.nanoTime() - began).as("time").isLessThan(10_000_000_000L);
            assertThat(threads.getCurrentThreadAllocatedBytes() - before)
                    .as("memory")
                    .isLessThan(MAX_ALLOCATED);
        }
    }

    /** Bad values beside a good one do not hide it. */
    @Test
    void aGoodPlaceBesideGarbageIsUsed() throws IOException {
        try (HostileRedis server = new HostileRedis(Answer.text("*2\r\n:1\r\n$3\r\n7 8\r\n"));
                RedisAddresses places = RedisAddresses.open(server.url(), DATASET)) {
            assertThat(places.find(KEYS)).containsExactly(Optional.empty(), Optional.of(new Place(7, 8)));
        }
    }
}
