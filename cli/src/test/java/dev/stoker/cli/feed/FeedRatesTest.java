package dev.stoker.cli.feed;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import dev.stoker.cli.running.FeedFile;
import dev.stoker.cli.running.FeedSnapshot;
import dev.stoker.schemas.json.Json;
import java.util.List;
import org.junit.jupiter.api.Test;

class FeedRatesTest {

    private static JsonNode server(String address, long rows, String... groups) throws JsonProcessingException {
        return Json.PLAIN.readTree("{\"address\":\"" + address + "\",\"totals\":{\"used_rows\":" + rows
                + ",\"used_bytes\":" + 100 * rows + ",\"sessions\":1},\"groups\":[" + String.join(",", groups) + "]}");
    }

    private static String group(long run, long epoch, long next, String... ranks) {
        return "{\"stream\":\"train\",\"group\":\"default\",\"run\":" + run + ",\"epoch\":" + epoch + ",\"next\":"
                + next + ",\"batches\":100,\"ranks\":[" + String.join(",", ranks) + "]}";
    }

    private static String rank(int rank, long rows, String trainer) {
        return "{\"rank\":" + rank + ",\"worker\":0,\"workers\":1,\"replica\":0,\"connected\":true,\"used_rows\":"
                + rows + ",\"trainer\":" + trainer + "}";
    }

    private static String trainer(double seconds, double waited, String causes) {
        return "{\"seconds\":" + seconds + ",\"waited\":" + waited + ",\"causes\":{" + causes
                + "},\"waits\":[{\"feeder\":\"a:1\",\"lane\":4,\"cause\":\"disk\",\"seconds\":9},"
                + "{\"feeder\":\"b:2\",\"lane\":3,\"cause\":\"origin\",\"seconds\":1}]}";
    }

    private static FeedSnapshot at(double seconds, JsonNode... servers) {
        return new FeedSnapshot((long) (seconds * 1e9), List.of(servers), List.of());
    }

    @Test
    void ratesAndWaitsAreThoseOfTheTimeBetween() throws Exception {
        FeedSnapshot before = at(
                10, server("a:1", 1000, group(1, 0, 10, rank(0, 1000, trainer(60, 9, "\"disk\":9.0,\"origin\":0.0")))));
        FeedSnapshot now = at(
                12,
                server("a:1", 1600, group(1, 0, 16, rank(0, 1600, trainer(62, 10, "\"disk\":9.1,\"origin\":0.9")))));
        FeedRates rates = FeedRates.between(before, now);
        assertThat(rates.samplesPerSecond()).isEqualTo(300);
        assertThat(rates.bytesPerSecond()).isEqualTo(30_000);
        FeedRates.Rank rank = rates.groups().get(0).ranks().get(0);
        assertThat(rank.samplesPerSecond()).isEqualTo(300);
        assertThat(rank.waitShare()).isEqualTo(0.5);
        assertThat(rank.waitShareOverall()).isEqualTo(10.0 / 62);
        assertThat(rank.cause()).isEqualTo("origin");
        assertThat(rank.where()).isEqualTo("b:2 lane 3");
    }

    @Test
    void aFirstLookShowsTheWaitsSinceTheBeginning() throws Exception {
        FeedSnapshot now = at(12, server("a:1", 1600, group(1, 0, 16, rank(0, 1600, trainer(60, 6, "\"disk\":6")))));
        FeedRates.Rank rank =
                FeedRates.between(now, now).groups().get(0).ranks().get(0);
        assertThat(rank.samplesPerSecond()).isZero();
        assertThat(rank.waitShare()).isEqualTo(0.1);
        assertThat(rank.cause()).isEqualTo("disk");
    }

    @Test
    void aTrainerThatDoesNotTellOrDoesNotWaitHasNoCause() throws Exception {
        FeedSnapshot now = at(
                12,
                server("a:1", 0, group(1, 0, 16, rank(0, 0, "null"), rank(1, 0, trainer(60, 0.1, "\"disk\":0.1")))));
        List<FeedRates.Rank> ranks = FeedRates.between(now, now).groups().get(0).ranks();
        assertThat(ranks.get(0).waitShare()).isNegative();
        assertThat(ranks.get(1).waitShare()).isPositive();
        assertThat(ranks)
                .allMatch(rank -> rank.cause().isEmpty() && rank.where().isEmpty());
    }

    @Test
    void severalServersMakeOneFeed() throws Exception {
        FeedSnapshot before = at(
                0,
                server("a:1", 0, group(1, 0, 0, rank(0, 0, trainer(1, 0, "")))),
                server("b:2", 0, group(1, 0, 0, rank(0, 0, trainer(1, 0, "")))));
        FeedSnapshot now = at(
                1,
                server("a:1", 10, group(1, 1, 4, rank(0, 10, trainer(2, 0.5, "\"disk\":0.5")))),
                server("b:2", 20, group(1, 0, 90, rank(0, 20, trainer(3, 1, "\"disk\":1.0")))));
        FeedRates rates = FeedRates.between(before, now);
        assertThat(rates.samplesPerSecond()).isEqualTo(30);
        assertThat(rates.sessions()).isEqualTo(2);
        FeedRates.Group group = rates.groups().get(0);
        assertThat(group.epoch()).isEqualTo(1);
        assertThat(group.next()).as("of the greatest epoch").isEqualTo(4);
        assertThat(group.ranks()).singleElement().satisfies(rank -> {
            assertThat(rank.samplesPerSecond()).isEqualTo(30);
            assertThat(rank.waitShare())
                    .as("from the feeder that heard from it last")
                    .isEqualTo(0.5);
        });
    }

    @Test
    void aNewRunReplacesTheOldOneAndIsNotComparedWithIt() throws Exception {
        FeedSnapshot before = at(0, server("a:1", 500, group(1, 7, 50, rank(0, 500, "null"), rank(1, 500, "null"))));
        FeedSnapshot now = at(1, server("a:1", 600, group(2, 7, 60, rank(0, 100, "null"))));
        FeedRates.Group group = FeedRates.between(before, now).groups().get(0);
        assertThat(group.ranks())
                .singleElement()
                .satisfies(rank -> assertThat(rank.samplesPerSecond()).isZero());
    }

    @Test
    void aFeedThatIsNotShownOrDoesNotAnswerSaysSo() throws Exception {
        FeedSnapshot hidden = FeedSnapshot.of(new FeedFile("x", Json.PLAIN.readTree("{\"status\":[]}")));
        assertThat(hidden.problems()).containsExactly("the feed has no status page: start it without --ui off");
        FeedSnapshot gone =
                FeedSnapshot.of(new FeedFile("x", Json.PLAIN.readTree("{\"status\":[\"http://127.0.0.1:1\"]}")));
        assertThat(gone.problems())
                .singleElement()
                .asString()
                .startsWith("http://127.0.0.1:1 does not answer: Connection refused");
        assertThat(FeedRates.between(gone, gone).problems()).isEqualTo(gone.problems());
    }

    @Test
    void aServiceThatAServerWaitsForIsAProblem() throws Exception {
        FeedSnapshot now = at(
                1, Json.PLAIN.readTree("{\"address\":\"a:1\",\"problems\":[\"Cannot read s3a://bucket/\\u001b[2J\"]}"));
        assertThat(FeedRates.between(now, now).problems()).containsExactly("a:1 waits: Cannot read s3a://bucket/?[2J");
    }

    @Test
    void namesFromTrainersCannotSteerTheTerminal() throws Exception {
        String wait = trainer(60, 30, "\"\\u001b[2J\":30");
        FeedSnapshot now = at(1, server("a:1", 0, group(1, 0, 0, rank(0, 0, wait))));
        assertThat(FeedRates.between(now, now).groups().get(0).ranks().get(0).cause())
                .isEqualTo("?[2J");
    }

    @Test
    void tiersAreThoseOfAllServersAndOneThatIsOffIsAProblem() throws Exception {
        String tier = "{\"name\":\"disk:/nvme\",\"used\":10,\"limit\":40,\"hits\":3,\"misses\":1,\"off\":\"%s\"}";
        FeedSnapshot now = at(
                12,
                Json.PLAIN.readTree(
                        "{\"address\":\"a:1\",\"tiers\":[{\"name\":\"open windows\",\"used\":1,\"limit\":2},"
                                + tier.formatted("") + "]}"),
                Json.PLAIN.readTree("{\"address\":\"b:2\",\"tiers\":[" + tier.formatted("the disk is full") + "]}"));
        FeedRates rates = FeedRates.between(now, now);
        assertThat(rates.tiers()).containsExactly(new FeedRates.Tier("disk:/nvme", 20, 80, 6, 2));
        assertThat(rates.problems()).containsExactly("tier disk:/nvme of b:2 is off: the disk is full");
    }
}
