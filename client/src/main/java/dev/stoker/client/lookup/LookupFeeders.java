package dev.stoker.client.lookup;

import dev.stoker.client.errors.ConnectTimeoutException;
import dev.stoker.client.errors.FeedException;
import dev.stoker.client.errors.FeedNotFoundException;
import dev.stoker.client.errors.FeedProtocolException;
import dev.stoker.client.errors.StateMismatchException;
import dev.stoker.client.source.ClientOptions;
import dev.stoker.client.transport.Address;
import dev.stoker.client.transport.HostNames;
import dev.stoker.client.transport.LocalTransport;
import dev.stoker.client.transport.Target;
import dev.stoker.schemas.order.OrderOverlay;
import dev.stoker.schemas.order.delivery.Participant;
import dev.stoker.schemas.protocol.Hello;
import dev.stoker.schemas.protocol.Welcome;
import dev.stoker.schemas.protocol.parts.UnixAddress;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.InetAddress;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The feeders of a feed: opens sessions, keeps idle ones, and repeats a request at another feeder if one fails.
 * Thread-safe; the monitor of this object guards the fields, and no thread holds it while it waits for a feeder.
 */
final class LookupFeeders {
    /** Idle sessions that are kept. */
    private static final int KEPT = 4;

    /** Answers that may break the protocol before a request fails. */
    private static final int MAX_BROKEN = 4;

    private static final int MAX_DOUBLINGS = 6;
    private static final Duration FIRST_PAUSE = Duration.ofMillis(50);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(2);

    /** A request in a session. */
    public interface Request<T> {
        T make(LookupSession session) throws IOException, RefusedException;
    }

    private final Target target;
    private final ClientOptions options;
    private final HostNames names = new HostNames(InetAddress::getAllByName);
    private final AtomicInteger attempts = new AtomicInteger();
    private final Deque<LookupSession> idle = new ArrayDeque<>();
    /** Addresses, those that failed last at the end. */
    private final Set<String> known = new LinkedHashSet<>();

    private Map<String, UnixAddress> unix = Map.of();
    private @Nullable Welcome first;
    private boolean isClosed;

    LookupFeeders(Target target, ClientOptions options) {
        this.target = target;
        this.options = options;
    }

    /** Connects for the first time. Returns the first WELCOME; those of later sessions agree with it. */
    Welcome connect() {
        LookupSession session = open(options.connectTimeout());
        Welcome welcome = session.welcome();
        put(session);
        return welcome;
    }

    /**
     * Makes a request, and repeats it at another feeder if one fails.
     *
     * @throws FeedException if the request is refused, or no feeder answers in time
     */
    <T> T call(Request<T> request) {
        int broken = 0;
        int failures = 0;
        long deadline = 0;
        while (true) {
            LookupSession session = take();
            if (session == null) {
                session = open(
                        deadline == 0
                                ? options.reconnectTimeout()
                                : Duration.ofNanos(Math.max(0, deadline - System.nanoTime())));
            }
            FeedException failure;
            try {
                T result = request.make(session);
                put(session);
                return result;
            } catch (InterruptedIOException e) {
                session.close();
                throw new FeedException(String.valueOf(e.getMessage()), e);
            } catch (IOException e) {
                failure = new FeedException(session.address() + ": " + e.getMessage(), e);
            } catch (FeedProtocolException e) {
                failure = e;
                broken++;
            } catch (RefusedException e) {
                failure = e.error();
                broken += e.reaction() == RefusedException.Reaction.RETRY ? 1 : 0;
                if (e.reaction() == RefusedException.Reaction.STOP) {
                    session.close();
                    throw failure;
                }
            } catch (RuntimeException | Error e) {
                // An answer may be half received.
                session.close();
                throw e;
            }
            session.close();
            avoid(session.address());
            deadline = deadline == 0
                    ? System.nanoTime() + options.reconnectTimeout().toNanos()
                    : deadline;
            if (broken >= MAX_BROKEN || System.nanoTime() > deadline) {
                throw failure;
            }
            if (failures > 0) {
                // The first failure may be of a session that was idle for long.
                Duration pause = FIRST_PAUSE.multipliedBy(1L << Math.min(failures, MAX_DOUBLINGS));
                pause(pause.compareTo(LONGEST_PAUSE) < 0 ? pause : LONGEST_PAUSE);
            }
            failures++;
        }
    }

    /** Ends all sessions. Later requests fail. */
    void close() {
        List<LookupSession> sessions;
        synchronized (this) {
            isClosed = true;
            sessions = List.copyOf(idle);
            idle.clear();
        }
        sessions.forEach(LookupSession::end);
    }

    private synchronized @Nullable LookupSession take() {
        if (isClosed) {
            throw new FeedException("the feed is closed");
        }
        return idle.poll();
    }

    private void put(LookupSession session) {
        synchronized (this) {
            if (!isClosed && idle.size() < KEPT) {
                idle.push(session);
                return;
            }
        }
        session.end();
    }

    /** Closes idle sessions with a feeder that has failed, and asks the others first. */
    private void avoid(String address) {
        List<LookupSession> failed = new ArrayList<>();
        synchronized (this) {
            known.remove(address);
            known.add(address);
            for (LookupSession session : idle) {
                if (session.address().equals(address)) {
                    failed.add(session);
                }
            }
            idle.removeAll(failed);
        }
        failed.forEach(LookupSession::close);
    }

    /** Connects to one of the feeders. */
    private LookupSession open(Duration limit) {
        long deadline = System.nanoTime() + limit.toNanos();
        Duration pause = FIRST_PAUSE;
        while (true) {
            FeedException failure = null;
            String why = "no feeder is known";
            for (String address : addresses()) {
                try {
                    return greet(address);
                } catch (InterruptedIOException e) {
                    throw new FeedException(String.valueOf(e.getMessage()), e);
                } catch (IOException e) {
                    why = String.valueOf(e.getMessage());
                } catch (FeedProtocolException e) {
                    failure = e;
                } catch (RefusedException e) {
                    failure = e.error();
                    if (e.reaction() == RefusedException.Reaction.STOP) {
                        throw failure;
                    }
                }
                attempts.incrementAndGet();
            }
            if (System.nanoTime() >= deadline) {
                String reason = "no feeder of " + target + " answered within " + limit.toSeconds() + " s: " + why;
                throw failure != null
                        ? failure
                        : new ConnectTimeoutException(target.ended().orElse(reason));
            }
            pause(pause);
            pause = pause.multipliedBy(2).compareTo(LONGEST_PAUSE) < 0 ? pause.multipliedBy(2) : LONGEST_PAUSE;
        }
    }

    private static void pause(Duration time) {
        try {
            TimeUnit.NANOSECONDS.sleep(time.toNanos());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new FeedException("Interrupted while waiting for a feeder", e);
        }
    }

    private List<String> addresses() {
        List<String> named;
        try {
            named = target.addresses();
        } catch (FeedNotFoundException e) {
            synchronized (this) {
                if (first == null) {
                    throw e;
                }
            }
            // A restarted feed is named again.
            named = List.of();
        }
        List<String> wanted = new ArrayList<>();
        synchronized (this) {
            known.addAll(named);
            for (String address : known) {
                if (named.contains(address)) {
                    wanted.add(address);
                }
            }
            for (String address : known) {
                if (!named.contains(address)) {
                    wanted.add(address);
                }
            }
        }
        return wanted;
    }

    private LookupSession greet(String address) throws IOException, RefusedException {
        Optional<UnixAddress> near = near(address);
        if (near.isPresent()) {
            try {
                SocketAddress place = UnixDomainSocketAddress.of(near.get().path());
                return checked(new LookupSession(
                        new LookupSession.Way(address, place, true, Optional.empty()), hello(), options.timing()));
            } catch (InterruptedIOException e) {
                throw e;
            } catch (IOException e) {
                // The address may answer if the socket does not.
            }
        }
        Address parsed =
                Address.parse(address).orElseThrow(() -> new IOException("'" + address + "' is not host:port"));
        SocketAddress place = parsed.path().isPresent()
                ? UnixDomainSocketAddress.of(parsed.path().get())
                : parsed.resolve(attempts.get(), names);
        return checked(new LookupSession(
                new LookupSession.Way(
                        address,
                        place,
                        parsed.path().isPresent(),
                        options.security().tlsFor(target, address)),
                hello(),
                options.timing()));
    }

    private Optional<UnixAddress> near(String address) {
        if (options.local() == LocalTransport.TCP || !options.security().allowsUnix()) {
            return Optional.empty();
        }
        UnixAddress place;
        synchronized (this) {
            place = unix.get(address);
        }
        return Optional.ofNullable(place != null ? place : target.unix().get(address))
                .filter(LocalTransport::isUsable);
    }

    private Hello hello() {
        Optional<Welcome> agreed;
        synchronized (this) {
            agreed = Optional.ofNullable(first);
        }
        Hello hello = new Hello(
                options.security().tokenFor(target),
                "stoker-java/"
                        + Optional.ofNullable(LookupFeeders.class.getPackage().getImplementationVersion())
                                .orElse("dev"),
                new Hello.PassRequest(
                        agreed.map(welcome -> welcome.feed().id().toString()).or(target::name),
                        agreed.map(welcome -> welcome.stream().name()).or(options::stream),
                        options.group(),
                        OrderOverlay.NONE),
                Participant.rank(0, 1),
                0,
                0);
        return hello.by(options.caller())
                .lookingAt(
                        agreed.isPresent()
                                ? OptionalLong.of(agreed.get().stream().version())
                                : options.version());
    }

    private LookupSession checked(LookupSession session) {
        Welcome.StreamName stream = session.welcome().stream();
        try {
            options.split().filter(split -> !split.equals(stream.split())).ifPresent(split -> {
                throw new StateMismatchException(
                        "stream " + stream.name() + ": split " + stream.split() + ", asked for " + split);
            });
            if (options.version().orElse(stream.version()) != stream.version()) {
                throw new StateMismatchException("stream " + stream.name() + ": version " + stream.version()
                        + ", asked for " + options.version().getAsLong());
            }
            synchronized (this) {
                if (first != null && !first.stream().equals(stream)) {
                    throw new StateMismatchException(target + " was restarted with other data: it serves " + stream
                            + ", expected " + first.stream() + "; open it again");
                }
                first = first == null ? session.welcome() : first;
                unix = session.welcome().laneMap().unix();
                known.addAll(session.welcome().laneMap().addresses());
            }
            return session;
        } catch (StateMismatchException e) {
            session.end();
            throw e;
        }
    }
}
