package dev.stoker.ingest.topic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.connectors.shared.SharedKafka;
import dev.stoker.flink.launch.JobLauncher;
import dev.stoker.ingest.Packed;
import dev.stoker.ingest.spec.IngestListener;
import dev.stoker.ingest.spec.InvalidIngestException;
import dev.stoker.ingest.topic.value.DeadLetters;
import dev.stoker.schemas.errors.StokerException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Topics become datasets, in this process, at a real broker. */
@Timeout(240)
class TopicIngestJobITCase {

    @RegisterExtension
    static final SharedKafka KAFKA = SharedKafka.withTopics("ingest-");

    @TempDir
    private static Path directory;

    private static Map<String, String> sendRaw(Topic topic, String name, int partitions, int from, int count)
            throws Exception {
        Map<String, String> sent = new TreeMap<>();
        List<ProducerRecord<byte[], byte[]>> records = new ArrayList<>();
        for (int i = from; i < from + count; i++) {
            String value = "value " + i + " " + "x".repeat(i % 300);
            records.add(topic.record(i % partitions, null, value));
            sent.put(name + "-" + i % partitions + "-" + i / partitions, value);
        }
        topic.send(records);
        return sent;
    }

    @Test
    void takesEachRecordOnceHoweverOftenItIsBegunAnew() throws Exception {
        Topic topic = Topic.create("ingest-plain", 3);
        Path target = directory.resolve("ingest-plain-data");
        Map<String, String> sent = sendRaw(topic, "ingest-plain", 3, 0, 600);

        TopicIngestResult first = Streams.ingest(topic, target, "--value=raw", "--chunk-size=16kb", "--split=val=0.2");
        assertThat(first.samples()).isEqualTo(600);
        assertThat(Streams.texts(target, "data")).isEqualTo(sent);
        assertThat(Streams.entry(target, first.newestVersion()).properties())
                .containsEntry("kafka.topic", "ingest-plain")
                .containsEntry("kafka.next", "0=200,1=200,2=200");
        assertThat(Packed.read(target).snapshot().splits()).containsExactlyInAnyOrder("train", "val");

        TopicIngestResult nothing = Streams.ingest(topic, target, "--value=raw");
        assertThat(nothing.versions()).isZero();
        assertThat(Packed.latestVersion(target)).isEqualTo(first.newestVersion());

        sent.putAll(sendRaw(topic, "ingest-plain", 3, 600, 31));
        TopicIngestResult second = Streams.ingest(topic, target, "--value=raw");
        assertThat(second.samples()).isEqualTo(31);
        assertThat(Streams.texts(target, "data")).isEqualTo(sent);
        Streams.verify(target);
    }

    @Test
    void stopsWithALastVersionAndGoesOnAfterIt() throws Exception {
        Topic topic = Topic.create("ingest-stopped", 2);
        Path target = directory.resolve("ingest-stopped-data");
        Map<String, String> sent = sendRaw(topic, "ingest-stopped", 2, 0, 200);
        // The interval never ends, so the stop has committed the version.
        TopicIngestOptions options = Streams.options(topic.uri(), target, "--value=raw", "--commit-interval=1 h");
        long[] packed = new long[1];
        IngestListener<TopicIngestProgress> listener = new IngestListener<>() {
            @Override
            public void progressed(TopicIngestProgress progress) {
                packed[0] = progress.samples();
            }
        };
        TopicIngestResult result;
        try (JobLauncher job = Streams.job()) {
            result = TopicIngestJob.run(options, job, listener, () -> packed[0] == 200);
        }
        assertThat(result.versions()).isEqualTo(1);
        assertThat(result.lines()).anyMatch(line -> line.contains("resumes at ingest-stopped 0=100,1=100"));
        assertThat(Streams.texts(target, "data")).isEqualTo(sent);

        sent.putAll(sendRaw(topic, "ingest-stopped", 2, 200, 10));
        assertThat(Streams.ingest(topic, target, "--value=raw").samples()).isEqualTo(10);
        assertThat(Streams.texts(target, "data")).isEqualTo(sent);
    }

    @Test
    void mapsKeyHeadersAndTime() throws Exception {
        Topic topic = Topic.create("ingest-mapped", 1);
        Path target = directory.resolve("ingest-mapped-data");
        ProducerRecord<byte[], byte[]> full = topic.record(0, 1_700_000_000_123L, "a/1.jpg", Topic.bytes("ingest-one"));
        full.headers().add("class", Topic.bytes("ant")).add("class", Topic.bytes("cat"));
        full.headers().add("weight", Topic.bytes("2.5"));
        topic.send(List.of(full, topic.record(0, 1_700_000_000_456L, null, Topic.bytes("ingest-two"))));

        Streams.ingest(
                topic,
                target,
                "--value=raw",
                "--field=image",
                "--key-field=path",
                "--timestamp=time",
                "--header=class=label:categorical",
                "--header=weight=weight:float32");
        Packed packed = Packed.read(target);
        assertThat(packed.keys()).containsExactly("ingest-mapped-0-0", "ingest-mapped-0-1");
        assertThat(packed.samples().get(0).fields())
                .containsEntry("path", "a/1.jpg")
                .containsEntry("time", 1_700_000_000_123L)
                .containsEntry("label", "cat")
                .containsEntry("weight", 2.5);
        assertThat(packed.samples().get(1).fields())
                .containsEntry("time", 1_700_000_000_456L)
                .doesNotContainKeys("path", "label", "weight");
    }

    @Test
    void takesTheRecordsOwnKeysAndBuriesThoseThatComeAgain() throws Exception {
        Topic topic = Topic.create("ingest-keyed", 2);
        Path target = directory.resolve("ingest-keyed-data");
        topic.send(List.of(
                topic.record(0, "a", "1"),
                topic.record(0, "a", "2"),
                topic.record(0, null, "3"),
                topic.record(0, "b", "4")));
        String[] options = {"--value=raw", "--key=record"};
        TopicIngestResult first = Streams.ingest(topic, target, options);
        assertThat(first.deadLetters().count()).isEqualTo(2);
        // In another run, and in another partition.
        topic.send(List.of(topic.record(1, "b", "5"), topic.record(1, "c", "6")));
        Streams.ingest(topic, target, options);

        assertThat(Streams.texts(target, "data")).isEqualTo(Map.of("a", "1", "b", "4", "c", "6"));
        Map<String, String> letters = Streams.letters(target.resolve(DeadLetters.DIRECTORY));
        assertThat(letters.keySet())
                .containsExactlyInAnyOrder(
                        DeadLetters.name("ingest-keyed", 0, 1),
                        DeadLetters.name("ingest-keyed", 0, 2),
                        DeadLetters.name("ingest-keyed", 1, 0));
        assertThat(letters.get(DeadLetters.name("ingest-keyed", 1, 0)))
                .contains("\"reason\":\"duplicate_key\"", "\"key\":\"Yg==\"", "\"value\":\"NQ==\"");
        Streams.verify(target);
    }

    @Test
    void leavesOutTombstonesAndRecordsWhoseKeysAreTaken() throws Exception {
        Topic topic = Topic.create("ingest-changes", 1);
        Path target = directory.resolve("ingest-changes-data");
        List<ProducerRecord<byte[], byte[]>> records = new ArrayList<>();
        for (int i = 0; i < 1100; i++) {
            records.add(topic.record(0, "key-" + i, (String) null));
        }
        records.add(topic.record(0, "key-7", "first"));
        records.add(topic.record(0, "key-7", "second"));
        topic.send(records);
        TopicIngestResult result = Streams.ingest(topic, target, "--value=raw", "--key=record", "--on-duplicate=skip");
        assertThat(Streams.texts(target, "data")).isEqualTo(Map.of("key-7", "first"));
        assertThat(result.deadLetters().count()).isZero();
        assertThat(result.lines())
                .contains(
                        "left out: 1,100 records without a value", "left out: 1 record whose key a sample already has");

        Path strict = directory.resolve("ingest-changes-strict");
        assertThatThrownBy(() -> Streams.ingest(
                        topic, strict, "--value=raw", "--tombstones=dead-letter", "--max-dead-letters=10"))
                .hasMessageContaining("it has no value");
    }

    @Test
    void theLastRecordOfAKeyReplacesItsSampleAndOneWithoutAValueDeletesIt() throws Exception {
        Topic topic = Topic.create("ingest-changelog", 2);
        Path target = directory.resolve("ingest-changelog-data");
        String[] options = {"--value=raw", "--key=record", "--on-duplicate=replace", "--tombstones=delete"};
        topic.send(List.of(
                topic.record(0, "a", "1"),
                topic.record(0, "b", "1"),
                topic.record(0, "a", "2"),
                topic.record(0, "c", (String) null),
                topic.record(0, "d", "1"),
                topic.record(0, "d", (String) null),
                topic.record(0, "e", (String) null),
                topic.record(0, "e", "1")));
        assertThat(Streams.ingest(topic, target, options).samples()).isEqualTo(3);
        assertThat(Streams.texts(target, "data")).isEqualTo(Map.of("a", "2", "b", "1", "e", "1"));

        topic.send(List.of(
                topic.record(1, "b", "2"),
                topic.record(1, "a", (String) null),
                topic.record(1, "f", "1"),
                topic.record(1, "b", "3")));
        Streams.ingest(topic, target, options);
        assertThat(Streams.texts(target, "data")).isEqualTo(Map.of("b", "3", "e", "1", "f", "1"));

        topic.send(List.of(topic.record(1, "e", (String) null), topic.record(1, "f", "2")));
        TopicIngestResult last = Streams.ingest(topic, target, options);
        assertThat(last.deadLetters().count()).isZero();
        assertThat(Streams.texts(target, "data")).isEqualTo(Map.of("b", "3", "f", "2"));

        topic.send(List.of(topic.record(1, "b", (String) null)));
        Streams.ingest(topic, target, options);
        assertThat(Streams.texts(target, "data")).isEqualTo(Map.of("f", "2"));
        Streams.verify(target);
    }

    @Test
    void readsNothingOfTransactionsThatAreAbortedOrOpen() throws Exception {
        Topic topic = Topic.create("ingest-transactions", 1);
        Path target = directory.resolve("ingest-transactions-data");
        try (KafkaProducer<byte[], byte[]> producer =
                        topic.producer(Map.of("transactional.id", "committed", "transaction.timeout.ms", "60000"));
                KafkaProducer<byte[], byte[]> zombie =
                        topic.producer(Map.of("transactional.id", "zombie", "transaction.timeout.ms", "60000"))) {
            producer.initTransactions();
            zombie.initTransactions();
            zombie.beginTransaction();
            Topic.send(zombie, List.of(topic.record(0, null, "aborted")));
            zombie.abortTransaction();
            producer.beginTransaction();
            Topic.send(producer, List.of(topic.record(0, null, "committed")));
            producer.commitTransaction();
            topic.awaitEnd(4);
            // Ends in a marker, behind which nothing ever comes.
            assertThat(Streams.ingest(topic, target, "--value=raw").samples()).isEqualTo(1);
            assertThat(Streams.texts(target, "data").values()).containsExactly("committed");
            assertThat(Streams.entry(target, 1).properties()).containsEntry("kafka.next", "0=4");

            zombie.beginTransaction();
            Topic.send(zombie, List.of(topic.record(0, null, "open")));
            producer.beginTransaction();
            Topic.send(producer, List.of(topic.record(0, null, "behind")));
            producer.commitTransaction();
            topic.awaitWritten(7);
            TopicIngestResult hidden = Streams.ingest(topic, target, "--value=raw");
            assertThat(hidden.versions()).isZero();
            assertThat(hidden.lines())
                    .contains("no new version: there were no new samples that can be read")
                    .anyMatch(line -> line.contains("open transactions hide offsets: 3 in partition 0 from offset 4"));
            zombie.abortTransaction();
        }
        topic.awaitEnd(8);
        assertThat(Streams.ingest(topic, target, "--value=raw").samples()).isEqualTo(1);
        assertThat(Streams.texts(target, "data").values()).containsExactlyInAnyOrder("committed", "behind");

        // Retention deletes all records of the quiet topic, and the markers behind them.
        topic.deleteBefore(0, 8);
        topic.sendValues(0, "after");
        assertThat(Streams.ingest(topic, target, "--value=raw").samples()).isEqualTo(1);
        assertThat(Streams.texts(target, "data").values()).containsExactlyInAnyOrder("committed", "behind", "after");
    }

    @Test
    void readsCompressedRecords() throws Exception {
        Topic topic = Topic.create("ingest-compressed", 1);
        Path target = directory.resolve("ingest-compressed-data");
        List<String> codecs = List.of("gzip", "snappy", "lz4", "zstd");
        for (String codec : codecs) {
            try (KafkaProducer<byte[], byte[]> producer = topic.producer(Map.of("compression.type", codec))) {
                Topic.send(producer, List.of(topic.record(0, null, codec + " " + "z".repeat(5000))));
            }
        }
        assertThat(Streams.ingest(topic, target, "--value=raw").samples()).isEqualTo(4);
        assertThat(Streams.texts(target, "data").values())
                .allMatch(text -> text.endsWith("z".repeat(5000)))
                .extracting(text -> text.substring(0, text.indexOf(' ')))
                .containsExactlyElementsOf(codecs);
    }

    @Test
    void refusesATopicThatWasCreatedAgain() throws Exception {
        Topic topic = Topic.create("ingest-again", 1);
        Path target = directory.resolve("ingest-again-data");
        topic.sendValues(0, "old 0", "old 1");
        Streams.ingest(topic, target, "--value=raw");
        topic.delete();
        Topic.create("ingest-again", 1).sendValues(0, "new 0", "new 1", "new 2");

        assertThatThrownBy(() -> Streams.ingest(topic, target, "--value=raw"))
                .isInstanceOf(StokerException.class)
                .hasMessageContaining("was deleted and recreated");
        assertThat(Streams.texts(target, "data").values()).containsExactly("old 0", "old 1");
    }

    @Test
    void leapsOverDeletedRecordsOnlyIfItIsTold() throws Exception {
        Topic topic = Topic.create("ingest-deleted", 1);
        Path target = directory.resolve("ingest-deleted-data");
        topic.sendValues(0, "0", "1");
        Streams.ingest(topic, target, "--value=raw");
        topic.sendValues(0, "2", "3", "4");
        topic.deleteBefore(0, 4);

        assertThatThrownBy(() -> Streams.ingest(topic, target, "--value=raw"))
                .isInstanceOf(StokerException.class)
                .hasMessageContaining("deleted the offsets 2 to 3 of partition 0")
                .hasMessageContaining("--allow-gap");
        Streams.ingest(topic, target, "--value=raw", "--allow-gap");
        assertThat(Streams.texts(target, "data").values()).containsExactly("0", "1", "4");
    }

    @Test
    void beginsWhereItIsTold() throws Exception {
        Topic topic = Topic.create("ingest-from", 2);
        long then = 1_700_000_000_000L;
        topic.send(List.of(
                topic.record(0, then, null, Topic.bytes("early")),
                topic.record(0, then + 1000, null, Topic.bytes("late"))));
        Path timed = directory.resolve("ingest-from-time");
        Streams.ingest(topic, timed, "--value=raw", "--from=" + Instant.ofEpochMilli(then + 500));
        assertThat(Streams.texts(timed, "data").values()).containsExactly("late");
        Path latest = directory.resolve("ingest-from-latest");
        TopicIngestResult nothing = Streams.ingest(topic, latest, "--value=raw", "--from=latest");
        assertThat(nothing.versions()).isZero();
    }

    @Test
    void refusesADatasetOfSomethingElseUnlessToldToAppend() throws Exception {
        Topic one = Topic.create("ingest-one", 1);
        Topic two = Topic.create("ingest-two", 1);
        Path target = directory.resolve("both-data");
        one.sendValues(0, "of one");
        two.sendValues(0, "of two");
        Streams.ingest(one, target, "--value=raw");
        assertThatThrownBy(() -> Streams.ingest(two, target, "--value=raw"))
                .isInstanceOf(InvalidIngestException.class)
                .hasMessageContaining("--append");
        Streams.ingest(two, target, "--value=raw", "--append");
        one.sendValues(0, "more of one");
        Streams.ingest(one, target, "--value=raw");
        assertThat(Streams.texts(target, "data"))
                .isEqualTo(Map.of(
                        "ingest-one-0-0", "of one", "ingest-one-0-1", "more of one", "ingest-two-0-0", "of two"));
    }

    @Test
    void writesNothingInADryRun() throws Exception {
        Topic topic = Topic.create("ingest-dry", 1);
        Path target = directory.resolve("ingest-dry-data");
        topic.sendValues(0, "0");
        List<String> plan = TopicIngestJob.plan(Streams.options(topic.uri(), target, "--value=raw", "--dry-run"));
        assertThat(plan).anyMatch(line -> line.contains("data: binary")).anyMatch(line -> line.contains("1 to read"));
        assertThat(Files.exists(target)).isFalse();
    }
}
