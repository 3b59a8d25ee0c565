package dev.stoker.metadata;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Sends small requests to a remote store, 16 at a time: about 800 a second at 20 ms for each answer. */
public final class ParallelRequests {

    private static final int THREADS = 16;

    /** Sends one request. Called on several threads at a time. */
    @FunctionalInterface
    public interface Request<A, R> {
        R send(A argument) throws IOException;
    }

    private ParallelRequests() {}

    /**
     * Sends a request for each argument, and returns the answers in the order of the arguments. If requests fail,
     * throws the exception of the first one in this order.
     *
     * @param interrupted message of the exception if the caller is interrupted
     * @throws InterruptedIOException if the caller is interrupted
     */
    public static <A, R> List<R> send(List<A> arguments, Request<A, R> request, String interrupted) throws IOException {
        ExecutorService threads = Executors.newFixedThreadPool(Math.min(THREADS, arguments.size()), work -> {
            Thread thread = new Thread(work, "stoker-requests");
            thread.setDaemon(true);
            return thread;
        });
        try {
            List<Future<R>> running = new ArrayList<>();
            for (A argument : arguments) {
                running.add(threads.submit(() -> request.send(argument)));
            }
            List<R> answers = new ArrayList<>();
            for (Future<R> answer : running) {
                answers.add(answer.get());
            }
            return answers;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException(interrupted);
        } catch (ExecutionException e) {
            throw unchanged(Objects.requireNonNull(e.getCause(), "a failed request has a cause"));
        } finally {
            threads.shutdownNow();
        }
    }

    private static IOException unchanged(Throwable failure) {
        if (failure instanceof RuntimeException e) {
            throw e;
        }
        if (failure instanceof Error e) {
            throw e;
        }
        return (IOException) failure;
    }
}
