package dev.stoker.feeder.topic;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.metadata.Dataset;
import dev.stoker.schemas.kafka.RecordHeader;
import dev.stoker.schemas.kafka.RecordKind;
import dev.stoker.schemas.kafka.RecordPosition;
import dev.stoker.schemas.kafka.RecordValue;
import dev.stoker.schemas.order.EpochOrder;
import dev.stoker.schemas.order.Fingerprint;
import dev.stoker.schemas.order.OrderSpec;
import dev.stoker.schemas.order.Piece;
import dev.stoker.schemas.order.StreamOrder;
import dev.stoker.schemas.order.Window;
import dev.stoker.schemas.order.WindowSlice;
import dev.stoker.server.NaiveBatch;
import dev.stoker.server.TestDataset;
import dev.stoker.storage.LocalObjectStore;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ListTransactionsOptions;
import org.apache.kafka.clients.admin.TransactionState;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** The actual and the expected content of a topic. Implements the descriptions of the formats directly. */
final class Topic {
    private Topic() {}

    /** A checked record. */
    record Found(RecordHeader header, byte[] value) {}

    /** All committed records by partition, in their order. */
    static Map<Integer, List<Found>> read(String bootstrap, String topic, int partitions) throws IOException {
        awaitMarkers(bootstrap);
        Map<String, Object> settings = Map.of("bootstrap.servers", bootstrap, "isolation.level", "read_committed");
        Map<Integer, List<Found>> records = new TreeMap<>();
        try (KafkaConsumer<byte[], byte[]> consumer =
                new KafkaConsumer<>(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            List<TopicPartition> places = new ArrayList<>();
            for (int p = 0; p < partitions; p++) {
                places.add(new TopicPartition(topic, p));
                records.put(p, new ArrayList<>());
            }
            consumer.assign(places);
            consumer.seekToBeginning(places);
            Map<TopicPartition, Long> ends = consumer.endOffsets(places);
            while (places.stream().anyMatch(p -> consumer.position(p) < ends.get(p))) {
                for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofMillis(200))) {
                    Map<String, byte[]> headers = new HashMap<>();
                    for (Header header : record.headers()) {
                        headers.put(header.key(), header.value());
                    }
                    RecordHeader header = RecordHeader.read(
                            headers, record.value(), "partition " + record.partition() + " offset " + record.offset());
                    assertThat(header.lane()).isEqualTo(record.partition());
                    records.get(record.partition()).add(new Found(header, record.value()));
                }
            }
        }
        return records;
    }

    /**
     * Waits until the broker has ended all transactions that producers committed or aborted. It answers a producer
     * before it writes the markers, and consumers see the records only after that.
     */
    private static void awaitMarkers(String bootstrap) throws IOException {
        ListTransactionsOptions ending = new ListTransactionsOptions()
                .filterStates(Set.of(TransactionState.PREPARE_COMMIT, TransactionState.PREPARE_ABORT));
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", bootstrap))) {
            while (!admin.listTransactions(ending).all().get().isEmpty()) {
                Thread.onSpinWait();
            }
        } catch (ExecutionException | InterruptedException e) {
            throw new IOException(e);
        }
    }

    /** The first record of each position; fails where one is missing before another. */
    static List<Found> firsts(List<Found> records) {
        List<Found> firsts = new ArrayList<>();
        for (Found record : records) {
            RecordPosition at = record.header().position();
            if (firsts.isEmpty()
                    || at.compareTo(firsts.get(firsts.size() - 1).header().position()) > 0) {
                firsts.add(record);
            }
        }
        return firsts;
    }

    /** Fails unless the partitions hold these epochs, each sample once, in the order's batches and byte for byte. */
    static void verify(TestDataset dataset, OrderSpec spec, int epochs, Map<Integer, List<Found>> partitions)
            throws IOException {
        try (LocalObjectStore store = new LocalObjectStore(dataset.path())) {
            verify(
                    dataset,
                    spec,
                    Collections.nCopies(epochs, Dataset.open(store).latestVersion()),
                    partitions);
        }
    }

    /** The same of epochs that have these versions. */
    static void verify(TestDataset dataset, OrderSpec spec, List<Long> versions, Map<Integer, List<Found>> partitions)
            throws IOException {
        try (LocalObjectStore store = new LocalObjectStore(dataset.path())) {
            RecordValue values = new RecordValue(TestDataset.FIELDS);
            for (int lane : partitions.keySet()) {
                List<Found> records = firsts(partitions.get(lane));
                int at = 0;
                for (int epoch = 0; epoch < versions.size(); epoch++) {
                    var snapshot = Dataset.open(store).snapshot(versions.get(epoch));
                    StreamOrder order = new StreamOrder(snapshot.stream("train"), spec);
                    List<String> classes = snapshot.classes().names("label");
                    assertThat(partitions).hasSize(order.lanes());
                    Fingerprint fingerprint =
                            Fingerprint.of(dataset.id(), versions.get(epoch), "train", snapshot.stream("train"), spec);
                    int of = epoch;
                    assertThat(records)
                            .filteredOn(record -> record.header().epoch() == of)
                            .allMatch(record -> record.header().version() == versions.get(of)
                                    && record.header().fingerprint().equals(fingerprint));
                    assertThat(records.get(at++).header().position()).isEqualTo(RecordPosition.begin(epoch));
                    EpochOrder epochOrder = order.epoch(epoch);
                    int rows = 0;
                    int first = at;
                    for (long number = 0; number < order.size().batches(); number++) {
                        List<Piece> pieces = epochOrder.batch(number);
                        for (int piece = 0; piece < pieces.size(); piece++) {
                            if (pieces.get(piece).lane() == lane) {
                                at = piece(dataset, epochOrder, number, piece, classes, values, records, at);
                                rows += pieces.get(piece).rows();
                            }
                        }
                    }
                    Found end = records.get(at);
                    assertThat(end.header().position()).isEqualTo(RecordPosition.end(epoch));
                    assertThat(new String(end.value(), StandardCharsets.UTF_8))
                            .endsWith("\"records\":" + (at - first) + ",\"rows\":" + rows + ",\"skipped\":0}}");
                    at++;
                }
                assertThat(records).hasSize(at);
            }
        }
    }

    /** Checks the records of a piece; returns the index after them. */
    private static int piece(
            TestDataset dataset,
            EpochOrder epoch,
            long number,
            int index,
            List<String> classes,
            RecordValue values,
            List<Found> records,
            int from) {
        List<Piece> pieces = epoch.batch(number);
        List<TestDataset.Sample> samples = samples(dataset, epoch, pieces.get(index));
        int parts = records.get(from).header().parts();
        for (int part = 0; part < parts; part++) {
            RecordHeader header = records.get(from + part).header();
            assertThat(header.kind()).isEqualTo(RecordKind.BATCH);
            assertThat(List.of(header.epoch(), header.batch(), (long) header.piece(), (long) header.part()))
                    .isEqualTo(List.of(epoch.epoch(), number, (long) index, (long) part));
            assertThat(header.pieces()).isEqualTo(pieces.size());
            assertThat(header.parts()).isEqualTo(parts);
            List<TestDataset.Sample> mine =
                    samples.subList(part * samples.size() / parts, (part + 1) * samples.size() / parts);
            ByteBuffer message = NaiveBatch.of(mine, classes);
            assertThat(records.get(from + part).value())
                    .isEqualTo(values.around(new ByteBuffer[] {message}, message.remaining()));
        }
        return from + parts;
    }

    private static List<TestDataset.Sample> samples(TestDataset dataset, EpochOrder epoch, Piece piece) {
        List<TestDataset.Sample> samples = new ArrayList<>();
        var lane = epoch.lane(piece.lane());
        for (WindowSlice slice : lane.slices(piece.firstRow(), piece.rows())) {
            Window window = lane.window(slice.window());
            for (int i = slice.from(); i < slice.to(); i++) {
                samples.add(dataset.samples(window.chunkAt(i)).get(window.rowAt(i)));
            }
        }
        return samples;
    }
}
