package dev.stoker.metadata.audit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.SampleDatasets;
import dev.stoker.metadata.Snapshot;
import dev.stoker.metadata.audit.report.AuditReport;
import dev.stoker.metadata.commit.VersionRequest;
import dev.stoker.metadata.follow.EpochVersions;
import dev.stoker.metadata.ledger.DeliverySign;
import dev.stoker.metadata.work.SerializedWorkers;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.batch.BatchBuilder;
import dev.stoker.schemas.batch.BatchChunk;
import dev.stoker.schemas.batch.View;
import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.schemas.chunk.ChunkSummary;
import dev.stoker.schemas.dataset.EpochChoice;
import dev.stoker.schemas.ledger.Consumer;
import dev.stoker.schemas.ledger.LedgerRecord;
import dev.stoker.schemas.ledger.LedgerWriter;
import dev.stoker.schemas.ledger.Receipt;
import dev.stoker.schemas.ledger.Receipts;
import dev.stoker.schemas.ledger.Source;
import dev.stoker.schemas.ledger.Subscription;
import dev.stoker.schemas.order.EpochOrder;
import dev.stoker.schemas.order.Fingerprint;
import dev.stoker.schemas.order.OrderSpec;
import dev.stoker.schemas.order.StreamChunks;
import dev.stoker.schemas.order.StreamOrder;
import dev.stoker.schemas.order.Window;
import dev.stoker.schemas.order.delivery.DeliveredBatch;
import dev.stoker.schemas.order.delivery.DeliveredPiece;
import dev.stoker.schemas.order.delivery.Delivery;
import dev.stoker.schemas.order.delivery.Participant;
import dev.stoker.schemas.order.delivery.TailPolicy;
import dev.stoker.storage.InMemoryObjectStore;
import dev.stoker.storage.ObjectInfo;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.PrivateFiles;
import dev.stoker.storage.Stores;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.zip.CRC32C;

/**
 * A small dataset and the ledgers that training on it leaves. Receipts have the checksum of messages that are really
 * built, byte for byte, row by row.
 */
public final class TrainedStream {

    static final UUID FEED = UUID.fromString("6f1d2c3b-4a59-5687-8877-665544332211");
    static final OrderSpec SPEC = OrderSpec.fromJson(
            "{\"function\":1,\"seed\":7,\"batch_size\":4,\"lanes\":3,\"shuffle_window\":10000,\"shuffle\":\"window\","
                    + "\"lane_order\":\"mixed\"}");

    public final InMemoryObjectStore store;
    public final InMemoryObjectStore ledger;
    final Dataset dataset;
    final Snapshot snapshot;
    public final StreamOrder order;
    public final Fingerprint fingerprint;
    private View view;
    private int files;

    public static final EpochChoice.Pass PASS = new EpochChoice.Pass(FEED, "train", "default");

    /** @param chunkRows samples of each chunk */
    public TrainedStream(int... chunkRows) throws IOException {
        this(
                new InMemoryObjectStore(SampleDatasets.CLOCK),
                new InMemoryObjectStore(SampleDatasets.CLOCK),
                true,
                chunkRows);
    }

    private TrainedStream(InMemoryObjectStore store, InMemoryObjectStore ledger, boolean fresh, int... chunkRows)
            throws IOException {
        this.store = store;
        this.ledger = ledger;
        dataset = fresh ? Dataset.create(store, SampleDatasets.info()) : Dataset.open(store);
        view = View.whole(dataset.info().fields().stream().map(Field::name).toList());
        int before = fresh ? 0 : dataset.snapshot().table().size();
        List<ChunkSummary> chunks = new ArrayList<>();
        int key = 1000 * before;
        for (int chunk = 0; chunk < chunkRows.length; chunk++) {
            String[] keys = new String[chunkRows[chunk]];
            for (int i = 0; i < keys.length; i++) {
                keys[i] = (key % 3 == 0 ? "cat/" : "dog/") + key++;
            }
            chunks.add(SampleDatasets.write(store, SampleDatasets.id(before + chunk), "a", "train", keys));
        }
        SampleDatasets.committer(dataset)
                .commit(VersionRequest.append(
                        "ingest-" + before, chunks, Map.of("label", List.of("cat", "dog")), Map.of()));
        snapshot = dataset.snapshot();
        StreamChunks stream = snapshot.stream("train");
        order = new StreamOrder(stream, SPEC);
        fingerprint = Fingerprint.of(dataset.info().id(), snapshot.version(), "train", stream, SPEC);
    }

    /** The same stream and ledger, at a further version with more chunks. */
    public TrainedStream append(int... chunkRows) throws IOException {
        TrainedStream next = new TrainedStream(store, ledger, false, chunkRows);
        next.files = files + 1000;
        return next;
    }

    /** Writes down that an epoch reads this version. */
    public TrainedStream chosenFor(long epoch) throws IOException {
        new EpochVersions(dataset, PASS, SampleDatasets.CLOCK)
                .choose(epoch, OptionalLong.of(snapshot.version()), version -> {});
        return this;
    }

    public long batches() {
        return order.size().batches();
    }

    Source source() {
        return new Source(dataset.info().id().toString(), snapshot.version(), "train", SPEC.toJson());
    }

    public Consumer consumer(long run, Participant participant) {
        return new Consumer(
                FEED.toString(),
                "train",
                "default",
                fingerprint.text(),
                run,
                participant.rank(),
                participant.worldSize(),
                participant.worker(),
                participant.workers(),
                0);
    }

    public Delivery delivery(TailPolicy tail, Participant participant, long start) {
        return new Delivery(order.size(), tail, participant, start);
    }

    /** From now on, subscriptions and receipts are for these columns. */
    void select(String... columns) {
        view = View.of(dataset.info().fields().stream().map(Field::name).toList(), List.of(columns));
    }

    Subscription subscription(long run, long epoch, Delivery delivery) {
        return new Subscription(
                1000,
                consumer(run, delivery.participant()),
                epoch,
                delivery.first(),
                delivery.stride(),
                delivery.steps(),
                delivery.tail().text(),
                source(),
                view.text());
    }

    /** Receipts of a participant's steps [0, steps) of an epoch. */
    Receipts receipts(long run, long epoch, Delivery delivery, long steps) throws IOException {
        List<Receipt> entries = new ArrayList<>();
        for (long step = 0; step < Math.min(steps, delivery.steps()); step++) {
            entries.addAll(receipts(epoch, delivery.tail(), delivery.number(step)));
        }
        return new Receipts(2000, consumer(run, delivery.participant()), epoch, view.tag(), entries);
    }

    List<Receipt> receipts(long epoch, TailPolicy tail, long number) throws IOException {
        EpochOrder epochOrder = order.epoch(epoch);
        DeliveredBatch batch = Delivery.batch(epochOrder.numbering(), tail, number);
        List<Receipt> receipts = new ArrayList<>();
        for (int piece = 0; piece < batch.pieces().size(); piece++) {
            receipts.add(receipt(epochOrder, batch, piece, List.of()));
        }
        return receipts;
    }

    /** @param skipped indexes within the piece that are left out */
    Receipt receipt(EpochOrder epoch, DeliveredBatch batch, int index, List<Integer> skipped) throws IOException {
        DeliveredPiece piece = batch.pieces().get(index);
        List<BatchChunk> chunks = new ArrayList<>();
        List<Integer> rows = new ArrayList<>();
        BatchBuilder builder = new BatchBuilder(dataset.info().fields());
        for (int i = 0; i < piece.rows(); i++) {
            if (!skipped.contains(i)) {
                long row = piece.firstRow() + i;
                Window window =
                        epoch.lane(piece.lane()).window(epoch.lane(piece.lane()).windowOfRow(row));
                int at = (int) (row - window.firstRow());
                chunks.add(chunk(builder, window.chunkAt(at)));
                rows.add(window.rowAt(at));
            }
        }
        int[] chunkOf = new int[rows.size()];
        int[] rowOf = rows.stream().mapToInt(Integer::intValue).toArray();
        for (int i = 0; i < chunkOf.length; i++) {
            chunkOf[i] = i;
        }
        ByteBuffer whole = message(builder, chunks, chunkOf, rowOf);
        ByteBuffer message = message(new BatchBuilder(dataset.info().fields(), view), chunks, chunkOf, rowOf);
        CRC32C sourceCrc = new CRC32C();
        sourceCrc.update(whole);
        ByteBuffer header = ByteBuffer.allocate(64).order(ByteOrder.LITTLE_ENDIAN);
        header.put((byte) 5).put((byte) (piece.repeated() ? 1 : 0)).putShort((short) 0);
        header.putLong(FEED.getMostSignificantBits()).putLong(fingerprint.tag());
        header.putInt((int) epoch.epoch()).putInt(piece.lane()).putLong(batch.number());
        header.putShort((short) index).putShort((short) batch.pieces().size());
        header.putInt(rowOf.length).putInt(skipped.size());
        header.putInt(rowOf.length).putLong(view.tag()).putInt((int) sourceCrc.getValue());
        CRC32C crc = new CRC32C();
        crc.update(header.flip());
        crc.update(message);
        return new Receipt(
                batch.number(),
                index,
                piece.repeated(),
                rowOf.length,
                skipped.size(),
                (int) crc.getValue(),
                rowOf.length,
                (int) sourceCrc.getValue());
    }

    private static ByteBuffer message(BatchBuilder builder, List<BatchChunk> chunks, int[] chunkOf, int[] rowOf) {
        ByteBuffer message = ByteBuffer.allocate(1 << 16);
        builder.build(chunks.toArray(BatchChunk[]::new), chunkOf, rowOf, 0, rowOf.length, ByteBuffer::allocate)
                .writeTo(message);
        return message.flip();
    }

    private BatchChunk chunk(BatchBuilder builder, int index) throws IOException {
        StreamChunks all = order.chunks();
        String name = ChunkNames.path(all.id(index));
        ByteBuffer bytes = ByteBuffer.wrap(store.readAll(name, 1 << 20)).order(ByteOrder.LITTLE_ENDIAN);
        ChunkHead head = ChunkHead.parse(
                bytes.duplicate().order(ByteOrder.LITTLE_ENDIAN).limit(all.headLength(index)), all.length(index), name);
        List<String> names = head.classes(0);
        int[] ids = names.stream().mapToInt(List.of("cat", "dog")::indexOf).toArray();
        return builder.chunk(head, bytes, 0, new int[][] {ids, null});
    }

    /** Returns the records of a run that reads an epoch from {@code start}, and then whole epochs. */
    public List<LedgerRecord> run(long run, int world, int workers, TailPolicy tail, long epoch, long start, int epochs)
            throws IOException {
        List<LedgerRecord> records = new ArrayList<>();
        for (int e = 0; e < epochs; e++) {
            records.addAll(part(run, world, workers, tail, epoch + e, e == 0 ? start : 0, Long.MAX_VALUE));
        }
        return records;
    }

    /** What a run leaves of one epoch, each worker having done {@code steps} steps. */
    List<LedgerRecord> part(long run, int world, int workers, TailPolicy tail, long epoch, long start, long steps)
            throws IOException {
        List<LedgerRecord> records = new ArrayList<>();
        for (int rank = 0; rank < world; rank++) {
            for (int worker = 0; worker < workers; worker++) {
                Delivery delivery = delivery(tail, new Participant(rank, world, worker, workers), start);
                records.add(subscription(run, epoch, delivery));
                records.add(receipts(run, epoch, delivery, steps));
            }
        }
        return records;
    }

    static byte[] file(List<LedgerRecord> records) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        LedgerWriter writer = new LedgerWriter(out, new byte[16]);
        for (LedgerRecord entry : records) {
            writer.write(entry);
        }
        writer.finish();
        return out.toByteArray();
    }

    public TrainedStream write(List<LedgerRecord> records) throws IOException {
        ledger.createIfAbsent("part-" + files++ + "-0.avro", file(records));
        return this;
    }

    public AuditReport audit() throws IOException {
        return audit(OptionalLong.empty(), Audit.DEFAULT_RECEIPTS);
    }

    /** Audits in this process alone. */
    AuditReport auditHere() throws IOException {
        return audit(RequiredEpochs.NONE);
    }

    /** Audits in this process, and requires that other processes come to the same result. */
    public AuditReport audit(OptionalLong number, int receiptsAtOnce) throws IOException {
        RequiredEpochs epochs = new RequiredEpochs(number, Map.of());
        AuditReport report = audit(epochs, receiptsAtOnce, Optional.empty());
        Path directory = Files.createTempDirectory("audit");
        try {
            Path copy = copy(store, directory.resolve("dataset"));
            ObjectStore files =
                    Stores.open(copy(ledger, directory.resolve("ledger")).toString());
            AuditReport shared = audit(
                    epochs,
                    receiptsAtOnce,
                    Optional.of(new AuditWorkers(new SerializedWorkers(files), 3, List.of(copy.toString()))));
            assertThat(shared.passes()).isEqualTo(report.passes());
            assertThat(shared.counts()).isEqualTo(report.counts());
            assertThat(shared.duplicates()).isEqualTo(report.duplicates());
            assertThat(shared.findings()).hasSameSizeAs(report.findings());
        } finally {
            PrivateFiles.delete(directory);
        }
        return report;
    }

    /** Audits with epochs that must be complete, by group. */
    public AuditReport audit(RequiredEpochs epochs) throws IOException {
        return audit(epochs, Audit.DEFAULT_RECEIPTS, Optional.empty());
    }

    private AuditReport audit(RequiredEpochs epochs, int receiptsAtOnce, Optional<AuditWorkers> workers)
            throws IOException {
        return new Audit(
                        ledger,
                        List.of(dataset),
                        Optional.of(FEED),
                        epochs,
                        List.of(),
                        text -> {},
                        workers,
                        receiptsAtOnce)
                .run();
    }

    private static Path copy(ObjectStore from, Path target) throws IOException {
        Files.createDirectories(target);
        for (ObjectInfo object : from.list("").toList()) {
            Path file = target.resolve(object.name());
            Files.createDirectories(file.getParent());
            Files.write(file, from.readAll(object.name(), Integer.MAX_VALUE));
        }
        return target;
    }

    /** Audits with the signs that ledger files with receipts of the epochs from 0 on were written. */
    AuditReport auditSigned(String... filesOfEpochs) throws IOException {
        List<DeliverySign> signs = new ArrayList<>();
        for (String file : filesOfEpochs) {
            signs.add(new DeliverySign("the sign", FEED, signs.size(), file));
        }
        return new Audit(ledger, List.of(dataset), Optional.of(FEED), RequiredEpochs.NONE, signs, text -> {}).run();
    }
}
