package dev.stoker.storage;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Runs two programs against one store, one at a time, and switches between them before the calls to the store that a
 * schedule names. A test can choose the order of its programs' calls, and gets the same order each time.
 *
 * <p>A program may use threads, as long as the order of its calls does not depend on them. A listing counts as two
 * calls, of which each finds a part of the names: what others create or delete between them may or may not be listed,
 * as with real stores.
 */
public final class Interleaving implements AutoCloseable {

    /** Something that uses a store; two of them run at once. */
    @FunctionalInterface
    public interface Program {
        void run(ObjectStore store) throws Exception;
    }

    /**
     * Which program runs when.
     *
     * @param first 0 or 1
     * @param calls how many calls the first makes, then how many the other, and so on; after the last the program that
     *     is on runs to its end, and then the other
     */
    public record Schedule(int first, List<Integer> calls) {
        public Schedule {
            calls = List.copyOf(calls);
        }
    }

    /**
     * The end of a program's process.
     *
     * @param program 0 or 1
     * @param call from 0
     * @param after whether the call still has its effect
     */
    public record Crash(int program, int call, boolean after) {}

    /**
     * A call.
     *
     * @param zone the first two parts of the object's name
     * @param changes whether it may change the store
     */
    public record Call(String zone, boolean changes) {}

    /**
     * The outcome of one interleaving.
     *
     * @param failures by program; empty for one that has done its work
     * @param calls by program
     */
    public record Outcome(List<Optional<Throwable>> failures, List<List<Call>> calls) {}

    private interface Action<T> {
        T run() throws IOException;
    }

    private final ExecutorService threads = Executors.newCachedThreadPool(work -> {
        Thread thread = new Thread(work, "program");
        thread.setDaemon(true);
        return thread;
    });

    /** Runs two programs to their ends. */
    public Outcome run(ObjectStore store, List<Program> programs, Schedule schedule, Optional<Crash> crash)
            throws InterruptedException {
        Run run = new Run(store, programs.size(), schedule, crash);
        List<Future<Optional<Throwable>>> running = new ArrayList<>();
        for (int p = 0; p < programs.size(); p++) {
            int number = p;
            Program program = programs.get(p);
            running.add(threads.submit(() -> run.whole(number, program)));
        }
        List<Optional<Throwable>> failures = new ArrayList<>();
        for (Future<Optional<Throwable>> end : running) {
            try {
                failures.add(end.get());
            } catch (ExecutionException e) {
                throw new AssertionError("The schedule " + schedule + " broke off", e.getCause());
            }
        }
        return new Outcome(failures, run.calls);
    }

    @Override
    public void close() {
        threads.shutdownNow();
    }

    /** The state of one run; its lock is the object's own. */
    private static final class Run {
        private final ObjectStore store;
        private final Iterator<Integer> segments;
        private final Optional<Crash> crash;
        private final List<List<Call>> calls = new ArrayList<>();
        private final boolean[] ended;
        private final boolean[] crashed;
        private int turn;
        private int left;

        Run(ObjectStore store, int programs, Schedule schedule, Optional<Crash> crash) {
            this.store = store;
            this.crash = crash;
            this.segments = schedule.calls.iterator();
            this.turn = schedule.first;
            this.left = segments.hasNext() ? segments.next() : Integer.MAX_VALUE;
            this.ended = new boolean[programs];
            this.crashed = new boolean[programs];
            for (int p = 0; p < programs; p++) {
                calls.add(Collections.synchronizedList(new ArrayList<>()));
            }
        }

        Optional<Throwable> whole(int program, Program work) throws InterruptedException {
            try {
                await(program);
                work.run(new Gated(this, program));
                return Optional.empty();
            } catch (InterruptedException e) {
                throw e;
            } catch (Exception | Error e) {
                return Optional.of(e);
            } finally {
                end(program);
            }
        }

        private synchronized void await(int program) throws InterruptedException {
            while (turn != program) {
                wait();
            }
        }

        private synchronized void end(int program) {
            ended[program] = true;
            if (turn == program) {
                pass();
            }
        }

        private void pass() {
            for (int other = 0; other < ended.length; other++) {
                if (other != turn && !ended[other]) {
                    turn = other;
                    left = segments.hasNext() ? segments.next() : Integer.MAX_VALUE;
                    notifyAll();
                    return;
                }
            }
        }

        /** Waits until the call may take place; returns its number. */
        synchronized int gate(int program, String name, boolean changes) {
            if (crashed[program]) {
                throw new SimulatedEnd(name);
            }
            boolean isInterrupted = false;
            while (turn != program || left == 0) {
                if (turn == program) {
                    int before = turn;
                    pass();
                    if (turn == before) {
                        left = Integer.MAX_VALUE;
                    }
                    continue;
                }
                try {
                    wait();
                } catch (InterruptedException e) {
                    isInterrupted = true;
                }
            }
            if (isInterrupted) {
                Thread.currentThread().interrupt();
            }
            left--;
            calls.get(program).add(new Call(zone(name), changes));
            return calls.get(program).size() - 1;
        }

        private static String zone(String name) {
            String[] parts = name.split("/");
            return parts.length > 1 && parts[0].equals("_stoker") ? parts[1] : parts[0];
        }

        <T> T call(int program, String name, boolean changes, Action<T> action) throws IOException {
            int number = gate(program, name, changes);
            boolean isLast = crash.isPresent() && crash.get().program == program && crash.get().call == number;
            if (isLast && !crash.get().after) {
                crashed[program] = true;
                throw new SimulatedEnd(name);
            }
            T result = action.run();
            if (isLast) {
                crashed[program] = true;
                throw new SimulatedEnd(name);
            }
            return result;
        }
    }

    /** The end of the process; nothing that it still tries has an effect. */
    public static final class SimulatedEnd extends Error {
        private static final long serialVersionUID = 1L;

        SimulatedEnd(String name) {
            super("The process ended at " + name);
        }
    }

    /** The store as one program sees it. Closing it closes nothing. */
    private record Gated(Run run, int program) implements ObjectStore {

        @Override
        public String describe(String name) {
            return run.store.describe(name);
        }

        @Override
        public long length(String name) throws IOException {
            return run.call(program, name, false, () -> run.store.length(name));
        }

        @Override
        public void read(String name, long offset, ByteBuffer target) throws IOException {
            run.call(program, name, false, () -> {
                run.store.read(name, offset, target);
                return null;
            });
        }

        @Override
        public byte[] readAll(String name, long limitBytes) throws IOException {
            return run.call(program, name, false, () -> run.store.readAll(name, limitBytes));
        }

        @Override
        public boolean createIfAbsent(String name, byte[] content) throws IOException {
            return run.call(program, name, true, () -> run.store.createIfAbsent(name, content));
        }

        @Override
        public void replace(String name, byte[] content) throws IOException {
            run.call(program, name, true, () -> {
                run.store.replace(name, content);
                return true;
            });
        }

        @Override
        public ObjectWriter write(String name) throws IOException {
            ObjectWriter writer = run.call(program, name, true, () -> run.store.write(name));
            return new ObjectWriter() {
                @Override
                public void write(ByteBuffer bytes) throws IOException {
                    writer.write(bytes);
                }

                @Override
                public long position() {
                    return writer.position();
                }

                @Override
                public void commit() throws IOException {
                    run.call(program, name, true, () -> {
                        writer.commit();
                        return null;
                    });
                }

                @Override
                public void close() throws IOException {
                    if (!run.crashed[program]) {
                        writer.close();
                    }
                }
            };
        }

        @Override
        public ObjectIterator list(String prefix, String after) throws IOException {
            return torn(prefix, () -> run.store.list(prefix, after).toList());
        }

        @Override
        public ObjectIterator listUnfinished(String prefix) throws IOException {
            return torn(prefix, () -> run.store.listUnfinished(prefix).toList());
        }

        /** Lists names whose last digit is odd before the others. */
        private ObjectIterator torn(String prefix, Action<List<ObjectInfo>> list) throws IOException {
            Map<String, ObjectInfo> found = new HashMap<>();
            for (ObjectInfo object : run.call(program, prefix, false, list)) {
                if (isEarly(object.name())) {
                    found.put(object.name(), object);
                }
            }
            for (ObjectInfo object : run.call(program, prefix, false, list)) {
                if (!isEarly(object.name())) {
                    found.put(object.name(), object);
                }
            }
            Iterator<ObjectInfo> objects =
                    found.keySet().stream().sorted().map(found::get).iterator();
            return new ObjectIterator() {
                @Override
                public boolean hasNext() {
                    return objects.hasNext();
                }

                @Override
                public ObjectInfo next() {
                    return objects.next();
                }
            };
        }

        private static boolean isEarly(String name) {
            int dot = name.lastIndexOf('.');
            return name.charAt((dot < 0 ? name.length() : dot) - 1) % 2 != 0;
        }

        @Override
        public boolean delete(String name) throws IOException {
            return run.call(program, name, true, () -> run.store.delete(name));
        }

        @Override
        public Optional<Path> localPath(String name) {
            return Optional.empty();
        }

        @Override
        public void close() {}
    }
}
