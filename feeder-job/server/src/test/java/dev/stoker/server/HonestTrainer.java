package dev.stoker.server;

import dev.stoker.schemas.order.delivery.TailPolicy;
import dev.stoker.schemas.protocol.Batch;
import dev.stoker.schemas.protocol.BatchIdentity;
import dev.stoker.schemas.protocol.ErrorMessage;
import dev.stoker.schemas.protocol.Frame;
import dev.stoker.schemas.protocol.Frame.Durable;
import dev.stoker.schemas.protocol.Frame.EpochEnd;
import dev.stoker.schemas.protocol.Frame.Grant;
import dev.stoker.schemas.protocol.Hello;
import dev.stoker.schemas.protocol.Subscribe;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import javax.net.ssl.SSLContext;

/**
 * A trainer that does nothing wrong: reads epoch after epoch over one connection, compares every byte, acknowledges
 * each batch, and waits until its receipts are durable. It runs in its own thread, which {@link #finish} ends.
 */
public final class HonestTrainer implements AutoCloseable {
    private final TestFeed feed;
    private final RawClient client;
    private final Thread thread;
    private volatile boolean finishing;
    private volatile int epochs;
    private volatile Throwable failure;
    private long receipts;
    private long durable;

    public HonestTrainer(TestFeed feed, String address, Optional<SSLContext> tls, String group) throws IOException {
        this.feed = feed;
        client = tls.isPresent() ? RawClient.connect(address, tls.get()) : RawClient.connect(address);
        client.join(hello(group));
        thread = new Thread(this::run, "honest");
        thread.setDaemon(true);
        thread.start();
    }

    /** The HELLO of the only rank of a group. */
    public static Hello hello(String group) {
        Hello hello = RawClient.hello();
        return new Hello(
                hello.token(),
                hello.client(),
                new Hello.PassRequest(
                        hello.pass().feed(),
                        hello.pass().stream(),
                        group,
                        hello.pass().order()),
                hello.participant(),
                0,
                0);
    }

    private void run() {
        try {
            do {
                read(epochs);
                epochs++;
            } while (!finishing);
        } catch (Throwable e) {
            failure = e;
        }
    }

    private void read(int epoch) throws IOException {
        long count = feed.streamOrder.size().batches();
        Subscribe subscribe = new Subscribe(epoch + 1, epoch, 0, 1, count, TailPolicy.KEEP, List.of());
        client.send(subscribe);
        client.send(new Grant(subscribe.subscription(), 1));
        List<String> names = new ArrayList<>();
        boolean ended = false;
        while (!ended || durable < receipts) {
            Frame frame = client.receive();
            if (frame instanceof Batch batch) {
                feed.verify(batch, subscribe.tail());
                BatchIdentity id = batch.header().identity();
                names.add(id.number() + "." + id.piece());
                client.send(TestFeed.ack(batch));
                receipts++;
                client.send(new Grant(subscribe.subscription(), id.number() + 2));
            } else if (frame instanceof EpochEnd) {
                ended = true;
            } else if (frame instanceof Durable told) {
                durable = told.entries();
            } else if (frame instanceof ErrorMessage error) {
                throw new RawClient.Ended(error);
            }
        }
        if (!names.equals(expected(epoch, count))) {
            throw new AssertionError("epoch " + epoch + ": " + names);
        }
        if (durable > receipts) {
            throw new AssertionError(durable + " of " + receipts + " receipts are durable");
        }
    }

    private List<String> expected(int epoch, long count) {
        List<String> names = new ArrayList<>();
        for (long number = 0; number < count; number++) {
            int pieces = feed.batch(epoch, number, TailPolicy.KEEP).pieces().size();
            for (int piece = 0; piece < pieces; piece++) {
                names.add(number + "." + piece);
            }
        }
        return names;
    }

    /** Returns the number of epochs that it has read completely. */
    public int epochs() {
        return epochs;
    }

    /** Fails if it has noticed anything. */
    public void requireContent() {
        if (failure != null) {
            throw new AssertionError("the honest trainer failed in epoch " + epochs + ": " + failure, failure);
        }
    }

    /** Reads its epoch to the end and fails if it has noticed anything. */
    public void finish() throws InterruptedException {
        finishing = true;
        thread.join(60_000);
        requireContent();
        if (thread.isAlive()) {
            throw new AssertionError("the honest trainer hangs in epoch " + epochs + ": " + receipts + " receipts, "
                    + durable + " of them durable");
        }
    }

    @Override
    public void close() throws IOException {
        client.close();
    }
}
