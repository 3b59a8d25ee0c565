package dev.stoker.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.schemas.order.delivery.Participant;
import dev.stoker.schemas.order.delivery.TailPolicy;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A method that only looks moves nothing, wherever the trainer is in an epoch. */
@Timeout(60)
class LooksTest {
    private static final FakeStream STREAM = FakeStream.of(4, 23, 17, 9);

    private static final Map<String, Function<FeedClient, Object>> LOOKS = Map.of(
            "info", FeedClient::info,
            "batches", FeedClient::batches,
            "state", FeedClient::state,
            "repeats", FeedClient::repeats,
            "steps", FeedClient::steps,
            "stats", FeedClient::stats,
            "report", FeedClient::report,
            "prometheus", FeedClient::prometheus,
            "toString", FeedClient::toString);

    private static final Set<String> ACTS = Set.of("epoch", "load", "setEpoch", "close");

    @Test
    void eachMethodIsKnown() {
        Set<String> methods = new TreeSet<>();
        for (Method method : FeedClient.class.getDeclaredMethods()) {
            if (Modifier.isPublic(method.getModifiers()) && !Modifier.isStatic(method.getModifiers())) {
                methods.add(method.getName());
            }
        }
        Set<String> known = new TreeSet<>(LOOKS.keySet());
        known.addAll(ACTS);
        assertThat(methods).as("a new method looks or acts").isEqualTo(known);
    }

    @Test
    void looksMoveNothing() {
        List<String> expected = STREAM.expected(0, TailPolicy.PAD, Participant.rank(0, 1), 0);
        try (FakeFeeder feeder = new FakeFeeder(STREAM);
                FeedClient feed = feeder.client().open()) {
            look(feed);
            Iteration iteration = feed.epoch();
            List<String> got = new ArrayList<>();
            while (iteration.hasNext()) {
                look(feed);
                try (Batch batch = iteration.next()) {
                    got.add(FakeStream.text(batch));
                }
                look(feed);
            }
            assertThat(got).isEqualTo(expected);
            assertThat(FakeStream.read(feed)).isEqualTo(STREAM.expected(1, TailPolicy.PAD, Participant.rank(0, 1), 0));
        }
    }

    private static void look(FeedClient feed) {
        String state = feed.state();
        LOOKS.forEach((name, look) -> {
            assertThat(look.apply(feed)).as(name).isNotNull();
            assertThat(feed.state()).as(name).isEqualTo(state);
        });
        Iterator<Batch> unused = feed.batches().iterator();
        assertThat(unused).isNotNull();
        assertThat(feed.state()).isEqualTo(state);
    }
}
