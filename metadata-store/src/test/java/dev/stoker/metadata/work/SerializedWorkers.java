package dev.stoker.metadata.work;

import dev.stoker.storage.ObjectStore;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * Sends work and results as bytes, as to other processes: each of them does every second piece.
 *
 * @param store that these processes open
 */
public record SerializedWorkers(ObjectStore store) implements Workers {

    private static final int PROCESSES = 2;

    @Override
    public <R extends Serializable> void run(int pieces, PieceWork<R> work, Consumer<? super R> results)
            throws IOException, InterruptedException {
        List<PieceWorker<R>> workers = new ArrayList<>();
        for (int i = 0; i < PROCESSES; i++) {
            workers.add(copy(work).open(store).get());
        }
        for (int piece = pieces - 1; piece >= 0; piece--) {
            results.accept(copy(workers.get(piece % PROCESSES).run(piece)));
        }
        for (PieceWorker<R> worker : workers) {
            worker.close();
        }
    }

    @SuppressWarnings({"unchecked", "BanSerializableRead"}) // The bytes are from here.
    private static <T> T copy(T value) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
            out.writeObject(value);
        }
        try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray()))) {
            return (T) in.readObject();
        } catch (ClassNotFoundException e) {
            throw new IOException(e);
        }
    }
}
