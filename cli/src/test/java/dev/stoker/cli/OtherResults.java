package dev.stoker.cli;

import com.fasterxml.jackson.databind.JsonNode;
import dev.stoker.bench.feed.FeedResult;
import dev.stoker.bench.measure.Rounds;
import dev.stoker.cli.feed.FeedText;
import dev.stoker.cli.feed.TopTextTest;
import dev.stoker.cli.feed.TopicRates;
import dev.stoker.cli.ingest.IngestReport;
import dev.stoker.connectors.dataset.TopicPosition;
import dev.stoker.ingest.topic.RecordsLeftOut;
import dev.stoker.ingest.topic.TopicIngestResult;
import dev.stoker.schemas.json.Json;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** Results as JSON that commands print after work with trainers, brokers and other processes, made without them. */
final class OtherResults {

    private OtherResults() {}

    /** Returns the results by their commands. */
    static Map<String, JsonNode> of(RunningFeed feed) {
        Map<String, JsonNode> results = new LinkedHashMap<>();
        results.put(
                "stoker run STREAM --json -- COMMAND, after a trainer has read",
                FeedText.json(feed.statusWithTrainer(), Duration.ofSeconds(1)).put("exit_code", 0));
        results.put(
                "stoker top --once --json, while a trainer reads",
                Json.array()
                        .add(TopTextTest.rates(List.of(TopTextTest.rank(0, 0.5, "disk")))
                                .json("photos")));
        results.put(
                "stoker top --once --json, of a feed to a topic", Json.array().add(new TopicRates(1).json("photos")));
        results.put("stoker ingest kafka://HOST/TOPIC TARGET --json", IngestReport.json(topicIngest()));
        results.put("stoker bench feed FEED --json", benchOfAFeed().json(Instant.EPOCH, 0.1));
        return results;
    }

    private static TopicIngestResult topicIngest() {
        Map<RecordsLeftOut, Long> leftOut = new TreeMap<>();
        for (RecordsLeftOut kind : RecordsLeftOut.values()) {
            leftOut.put(kind, 1L);
        }
        return new TopicIngestResult(
                1,
                1,
                10,
                1000,
                new TopicIngestResult.DeadLetterCount(1, "/data/dead"),
                new TreeMap<>(leftOut),
                Optional.of(new TopicPosition("photos", "id", "cluster", new TreeMap<>(Map.of(0, 10L)))),
                Optional.of("an open transaction"),
                Duration.ofSeconds(1));
    }

    private static FeedResult benchOfAFeed() {
        Rounds rounds = new Rounds(List.of(1.0));
        return new FeedResult(
                "photos",
                new FeedResult.Stream("photos", 10, 4, 100),
                new FeedResult.First(Optional.of(new FeedResult.Start(1, 1000)), 10, 1000, 1, true),
                List.of(new FeedResult.Measured(FeedResult.FEED, "tcp", rounds, rounds, rounds, rounds)),
                rounds,
                List.of());
    }
}
